//! What is said to agents, as data: the words are made outside, in the language that is configured.

use dandori_domain::failure::Failure;
use dandori_domain::{CommandId, Problem, TaskId};
use dandori_formation::continuous::Continuous;
use dandori_formation::result::Of;
use dandori_formation::{
    Brief, Command, Crew, Ledger, Message, MessageKind, Outcome, Phase, ResultRow, Role, Rules, Task, TaskState,
};
use dandori_store::{Book, StoreError};

use super::SeenFormation;

/// A task with what came back from it.
pub type HandedOver = (Task, ResultRow);

/// Something to be put into words.
#[derive(Clone, Debug)]
pub enum ToTell {
    /// What an agent is, before anything else.
    Role(Role),
    Message(Box<MessageToTell>),
    Problem(Problem),
    Failure(Failure),
    /// The formation as a page in Markdown.
    Dashboard(Box<SeenFormation>),
    /// The pull request of an order: a title, a blank line, the body.
    Pull(Box<PullToTell>),
}

#[derive(Clone, Debug)]
pub struct PullToTell {
    pub command: Command,
    pub summary: String,
    pub tasks: Vec<(Task, Option<ResultRow>)>,
}

#[derive(Clone, Debug)]
pub enum MessageToTell {
    Task {
        message: Message,
        task: Task,
        brief: Brief,
        demands: Vec<String>,
        before: Vec<HandedOver>,
        failed: Vec<HandedOver>,
    },
    Order {
        message: Message,
        command: Command,
        crew: Crew,
        rules: Rules,
    },
    Fill {
        message: Message,
        command: Command,
        phase: Phase,
        results: Vec<HandedOver>,
        crew: Crew,
    },
    Digest {
        command: Command,
        results: Vec<HandedOver>,
        paused: Vec<Task>,
        outcome: Option<Outcome>,
    },
    Over {
        command: Command,
        result: ResultRow,
        continuous: Continuous,
        /// Number and address.
        pull: Option<(u64, String)>,
    },
    Words {
        command: Option<Command>,
        words: String,
    },
}

/// What a message is about, as it is now. `None`: it is about nothing any more.
pub(super) fn gather(
    book: &mut Book<'_>,
    message: &Message,
    crew: &Crew,
    rules: &Rules,
) -> Result<Option<MessageToTell>, StoreError> {
    let command = match message.kind.command() {
        Some(id) => book.command(id)?,
        None => None,
    };
    let message = message.clone();
    Ok(match (&message.kind, command) {
        (MessageKind::Words { words, .. }, command) => Some(MessageToTell::Words { command, words: words.clone() }),
        (_, None) => None,
        (MessageKind::Command { .. }, Some(command)) => {
            Some(MessageToTell::Order { crew: crew.clone(), rules: rules.clone(), message, command })
        }
        (MessageKind::Fill { phase, .. }, Some(command)) => {
            let Some(phase) = book.phase(*phase)? else { return Ok(None) };
            let results = handed_over(book, command.id, |task| {
                task.phase.is_some_and(|of| phase.depends_on.contains(&of)) && task.is_current()
            })?;
            Some(MessageToTell::Fill { phase, results, crew: crew.clone(), message, command })
        }
        (MessageKind::Digest { results, .. }, Some(command)) => {
            let mut told = Vec::new();
            for id in results {
                let Some(result) = book.result(*id)? else { continue };
                let Of::Task(task) = result.of else { continue };
                let Some(task) = book.task(task)? else { continue };
                told.push((task, result));
            }
            let mut paused = Vec::new();
            for id in book.paused_tasks(command.id)? {
                paused.extend(book.task(id)?);
            }
            let outcome = dandori_formation::protocol::can_complete(book, &command)?.ok();
            Some(MessageToTell::Digest { results: told, paused, outcome, command })
        }
        (MessageKind::Task { task, .. }, Some(command)) => {
            let Some(task) = book.task(*task)? else { return Ok(None) };
            let brief = book.brief(task.id)?;
            let before = handed_over(book, command.id, |other| task.blocked_by.contains(&other.id))?;
            let failed = earlier_attempts(book, &task)?;
            Some(MessageToTell::Task { brief, demands: command.demands, before, failed, message, task })
        }
        (MessageKind::Notice { source, .. }, Some(command)) => {
            let Some(result) = book.result(*source)? else { return Ok(None) };
            let continuous = book.continuous()?;
            Some(MessageToTell::Over { command, result, continuous, pull: None })
        }
    })
}

/// Everything of an order that a pull request is to tell.
pub(super) fn gather_pull(book: &mut Book<'_>, command: Command, result: &ResultRow) -> Result<PullToTell, StoreError> {
    let mut tasks = Vec::new();
    for task in book.tasks(command.id)?.into_iter().filter(|task| task.is_current() && !task.is_system()) {
        let result = match task.state.result() {
            Some(id) => book.result(id)?,
            None => None,
        };
        tasks.push((task, result));
    }
    Ok(PullToTell { command, summary: result.report.summary.clone(), tasks })
}

fn handed_over(
    book: &mut Book<'_>,
    command: CommandId,
    is_meant: impl Fn(&Task) -> bool,
) -> Result<Vec<HandedOver>, StoreError> {
    let mut found = Vec::new();
    for task in book.tasks(command)?.into_iter().filter(|task| is_meant(task)) {
        if let Some(id) = task.state.result()
            && let Some(result) = book.result(id)?
        {
            found.push((task, result));
        }
    }
    Ok(found)
}

/// The tasks in whose place this one stands, the oldest first.
fn earlier_attempts(book: &mut Book<'_>, task: &Task) -> Result<Vec<HandedOver>, StoreError> {
    let mut found = Vec::new();
    let mut before: Option<TaskId> = task.retry_of;
    while let Some(id) = before {
        let Some(task) = book.task(id)? else { break };
        before = task.retry_of;
        if let TaskState::Failed { result } = task.state
            && let Some(result) = book.result(result)?
        {
            found.push((task, result));
        }
    }
    found.reverse();
    Ok(found)
}
