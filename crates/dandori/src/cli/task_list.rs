//! `dandori task list`: those at work first, then those that wait, then the newest.

use std::collections::HashMap;
use std::fmt::Write;
use std::process::ExitCode;

use camino::Utf8Path;
use clap::Args;
use clap::builder::PossibleValuesParser;
use dandori_api::{RunView, TaskList, TaskView};
use dandori_domain::WaitReason;
use dandori_text::ui::{self, Head, head};
use dandori_text::{Table, lists, pulls};
use jiff::Timestamp;

use super::{Context, told};
use crate::client::{Client, in_path, quoted};
use crate::out::{Failed, Out, state};

#[derive(Args)]
pub(crate) struct TaskListArgs {
    /// All repositories
    #[arg(long, short = 'A')]
    all: bool,
    /// Only unfinished tasks
    #[arg(long)]
    open: bool,
    #[arg(
        long,
        value_name = "STATE",
        value_delimiter = ',',
        ignore_case = true,
        value_parser = PossibleValuesParser::new(STATES),
        hide_possible_values = true,
        help = format!("Only tasks with a run in one of these states: {}", STATES.join(", ")),
    )]
    state: Vec<String>,
    /// Only tasks with a run of this agent
    #[arg(long, short = 'a')]
    agent: Option<String>,
    /// Show at most this many
    #[arg(long, short = 'n', default_value_t = 20)]
    limit: u32,
}

/// As they are typed.
const STATES: [&str; 8] = ["pending", "running", "staging", "committing", "pushing", "succeeded", "failed", "canceled"];

impl TaskListArgs {
    fn query(&self, context: &Context) -> Result<String, Failed> {
        let mut query = format!("/v1/tasks?limit={}&open={}", self.limit, self.open);
        if !self.all {
            let _ = write!(query, "&path={}", in_path(&context.here()?));
        }
        if !self.state.is_empty() {
            let _ = write!(query, "&state={}", quoted(&self.state.join(",")));
        }
        if let Some(agent) = &self.agent {
            let _ = write!(query, "&agent={}", quoted(agent));
        }
        Ok(query)
    }

    fn is_narrowed(&self) -> bool {
        self.open || !self.state.is_empty() || self.agent.is_some()
    }

    /// A run that was asked for: its task may have others.
    fn is_meant(&self, run: &RunView) -> bool {
        let is_in = |state: &String| state.eq_ignore_ascii_case(run.state.as_str());
        let is_by = |agent: &String| run.agent == *agent || run.agent.starts_with(&format!("{agent}:"));
        (self.state.is_empty() || self.state.iter().any(is_in)) && self.agent.as_ref().is_none_or(is_by)
    }

    /// The same list with all there are.
    fn whole(&self, total: u64) -> String {
        let mut command = "dandori task list".to_owned();
        for (word, is_set) in [(" -A", self.all), (" --open", self.open)] {
            command.push_str(if is_set { word } else { "" });
        }
        if !self.state.is_empty() {
            let _ = write!(command, " --state {}", self.state.join(","));
        }
        if let Some(agent) = &self.agent {
            let _ = write!(command, " --agent {}", dandori_domain::shell_word(agent));
        }
        format!("{command} -n {total}")
    }
}

pub(crate) async fn run(args: TaskListArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let list: TaskList = client.get(&args.query(context)?).await?;
    let out = &context.out;
    out.object(&list);
    if list.tasks.is_empty() && list.total > 0 {
        out.say(lists::more(out.lang, 0, list.total, &args.whole(list.total)));
        return Ok(ExitCode::SUCCESS);
    }
    if list.tasks.is_empty() {
        out.say(if args.is_narrowed() { lists::none_fit(out.lang) } else { ui::no_tasks(out.lang) });
        return Ok(ExitCode::SUCCESS);
    }
    out.table(&table(&args, &list.tasks, out));
    for reason in lacking(&list.tasks) {
        out.note(ui::lacking(out.lang, &reason));
    }
    if u64::try_from(list.tasks.len()).unwrap_or(u64::MAX) < list.total {
        out.say(lists::more(out.lang, list.tasks.len(), list.total, &args.whole(list.total)));
    }
    Ok(ExitCode::SUCCESS)
}

fn table(args: &TaskListArgs, tasks: &[TaskView], out: &Out) -> Table {
    let columns = [
        Head::Task,
        Head::Run,
        Head::Agent,
        Head::State,
        Head::Age,
        Head::Changes,
        Head::Pull,
        Head::Repository,
        Head::Title,
    ];
    let mut rows = Table::new(columns.map(|h| head(out.lang, h)));
    let places = short_names(tasks);
    for task in tasks {
        for (i, run) in task.runs.iter().filter(|run| args.is_meant(run)).enumerate() {
            let of_first = |text: &str| if i == 0 { text.to_owned() } else { String::new() };
            let lacking = ui::lacking_word(out.lang, &told::waits_for(run)).map(|word| format!(" {word}"));
            let place = run.place.map(|p| format!(" #{p}{}", lacking.unwrap_or_default())).unwrap_or_default();
            let at: Option<Timestamp> = run.created_at.parse().ok();
            let repository = places.get(task.repository.as_str()).map_or("", String::as_str);
            rows.row([
                of_first(&task.number),
                if task.picked.as_ref() == Some(&run.key) {
                    format!("{} {}", run.key, pulls::PICKED)
                } else {
                    run.key.clone()
                },
                // A command line as an agent is known by its beginning.
                dandori_text::table::fit(&run.agent, 24),
                format!("{}{place}", state(run.state)),
                at.map(|at| ui::age(out.lang, dandori_host::now().duration_since(at).as_secs())).unwrap_or_default(),
                told::result(out, run),
                run.pr.as_ref().map(|p| format!("#{}", p.number)).unwrap_or_default(),
                if args.all { of_first(repository) } else { String::new() },
                of_first(&task.title),
            ]);
        }
    }
    rows.rank([0, 4, 6, 0, 3, 5, 2, 1, 0]).shrink(2, 10).title_last()
}

/// The last part of each repository's path, and as much before it as two of the same name need.
fn short_names(tasks: &[TaskView]) -> HashMap<&str, String> {
    let all: std::collections::BTreeSet<&str> = tasks.iter().map(|task| task.repository.as_str()).collect();
    let end = |path: &str, parts: usize| -> String {
        let names: Vec<&str> = Utf8Path::new(path).components().map(|part| part.as_str()).collect();
        names.get(names.len().saturating_sub(parts)..).unwrap_or_default().join("/")
    };
    let name = |path: &str| {
        let most = Utf8Path::new(path).components().count();
        let is_alone = |parts: &usize| all.iter().filter(|other| end(other, *parts) == end(path, *parts)).count() == 1;
        end(path, (1..most).find(is_alone).unwrap_or(most))
    };
    all.iter().map(|path| (*path, name(path))).collect()
}

/// What some of them wait for other than their turn, each once.
fn lacking(tasks: &[TaskView]) -> Vec<WaitReason> {
    let mut found = Vec::new();
    for run in tasks.iter().flat_map(|task| &task.runs) {
        let reason = told::waits_for(run);
        if reason != WaitReason::Place && !found.contains(&reason) {
            found.push(reason);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_can_be_asked_for() {
        assert_eq!(STATES.map(str::to_ascii_uppercase), dandori_domain::Status::ALL.map(|state| state.to_string()));
    }
}
