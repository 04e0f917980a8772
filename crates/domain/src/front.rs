//! The front door: which three commands fit the situation somebody finds.

/// A command worth typing next. Its words are elsewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Suggestion {
    Demo,
    Run,
    Doctor,
    Inbox,
    /// The command that resolves the newest need.
    Resolve {
        command: String,
    },
    Watch {
        task: String,
    },
    Cancel {
        task: String,
    },
    Diff {
        run: String,
    },
    FollowUp {
        task: String,
    },
    CreatePull {
        run: String,
    },
    ShowPull {
        number: u64,
    },
    Tasks,
    AllTasks,
    Help,
}

/// What somebody finds who looks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Situation {
    pub in_repository: bool,
    /// Whether there has ever been a task.
    pub has_tasks: bool,
    /// The command that resolves the newest need, when something needs a person.
    pub resolve: Option<String>,
    pub needs: usize,
    /// The newest task with something at work.
    pub running: Option<String>,
    /// The newest run that ended well.
    pub done: Option<Done>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Done {
    pub task: String,
    pub run: String,
    pub has_changes: bool,
    /// The number of its open pull request.
    pub pull: Option<u64>,
}

const SHOWN: usize = 3;

/// Three commands that can be typed now, the most useful first.
pub fn suggestions(situation: &Situation) -> Vec<Suggestion> {
    let mut found = Vec::new();
    if let Some(command) = &situation.resolve {
        found.push(Suggestion::Resolve { command: command.clone() });
        if situation.needs > 1 {
            found.push(Suggestion::Inbox);
        }
    }
    if let Some(task) = &situation.running {
        found.push(Suggestion::Watch { task: task.clone() });
        found.push(Suggestion::Cancel { task: task.clone() });
    }
    if let Some(done) = &situation.done {
        if done.has_changes {
            found.push(Suggestion::Diff { run: done.run.clone() });
        }
        // Pull requests are looked for in the repository the command is typed in.
        match done.pull {
            Some(number) if situation.in_repository => found.push(Suggestion::ShowPull { number }),
            None if situation.in_repository && done.has_changes => {
                found.push(Suggestion::CreatePull { run: done.run.clone() });
            }
            _ => {}
        }
        found.push(Suggestion::FollowUp { task: done.task.clone() });
    }
    match (situation.has_tasks, situation.in_repository) {
        (false, true) => found.extend([Suggestion::Demo, Suggestion::Run, Suggestion::Doctor]),
        (false, false) => found.extend([Suggestion::Demo, Suggestion::Doctor, Suggestion::Help]),
        (true, true) => found.extend([Suggestion::Run, Suggestion::Tasks, Suggestion::Help]),
        (true, false) => found.extend([Suggestion::AllTasks, Suggestion::Doctor, Suggestion::Help]),
    }
    found.truncate(SHOWN);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(situation: &Situation) -> Vec<Suggestion> {
        let found = suggestions(situation);
        assert_eq!(found.len(), SHOWN, "{situation:?}");
        found
    }

    #[test]
    fn three_commands_fit_what_is_found() {
        use Suggestion::{
            AllTasks, CreatePull, Demo, Diff, Doctor, FollowUp, Help, Inbox, Resolve, Run, ShowPull, Watch,
        };
        let fresh = Situation { in_repository: true, ..Situation::default() };
        assert_eq!(named(&fresh), [Demo, Run, Doctor]);
        assert_eq!(named(&Situation::default()), [Demo, Doctor, Help], "a run needs a repository");
        let done = Done { task: "T-1".into(), run: "abcd".into(), has_changes: true, pull: None };
        let after = Situation { has_tasks: true, done: Some(done.clone()), ..fresh.clone() };
        let (task, run) = ("T-1".to_owned(), "abcd".to_owned());
        assert_eq!(
            named(&after),
            [Diff { run: run.clone() }, CreatePull { run: run.clone() }, FollowUp { task: task.clone() }]
        );
        let with_pull = Situation { done: Some(Done { pull: Some(7), ..done.clone() }), ..after.clone() };
        assert_eq!(named(&with_pull)[1], ShowPull { number: 7 });
        let unchanged = Situation { done: Some(Done { has_changes: false, ..done }), ..after.clone() };
        assert_eq!(named(&unchanged)[..2], [FollowUp { task: task.clone() }, Run]);
        let outside = Situation { in_repository: false, ..after };
        assert_eq!(named(&outside), [Diff { run }, FollowUp { task: task.clone() }, AllTasks]);
        let busy = Situation { has_tasks: true, running: Some(task.clone()), ..fresh.clone() };
        assert_eq!(named(&busy)[0], Watch { task });
        let needy = Situation { resolve: Some("dandori trust".into()), needs: 2, has_tasks: true, ..fresh };
        assert_eq!(named(&needy), [Resolve { command: "dandori trust".into() }, Inbox, Run]);
    }
}
