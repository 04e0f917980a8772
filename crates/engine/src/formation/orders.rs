//! Orders: given, named, held up, changed, called off.

use std::sync::Arc;

use camino::Utf8Path;
use dandori_domain::{CommandId, MessageId, Problem};
use dandori_formation::command::Review;
use dandori_formation::message::DEFAULT_PRIORITY;
use dandori_formation::plan::demand;
use dandori_formation::protocol::{self, Amended, NewCommand, Step};
use dandori_formation::{AgentId, Command, Delivery, Ledger, Message, Refused, Standing};
use dandori_host::Env;
use dandori_store::{Book, FormationItem, Scope, StoreError};

use super::{Formation, refusal};
use crate::Engine;

/// Who asks: an agent through its own socket, or a person.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asker {
    Person,
    Agent(AgentId),
}

impl Asker {
    pub fn agent(self) -> Option<AgentId> {
        match self {
            Self::Person => None,
            Self::Agent(agent) => Some(agent),
        }
    }

    pub(super) fn name(self) -> String {
        self.agent().map_or_else(|| "user".to_owned(), |agent| agent.to_string())
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewOrder {
    pub content: String,
    /// `None`: as usual.
    pub priority: Option<u32>,
    pub review: bool,
    /// What it asks for is numbered, and its plan has to say what covers it.
    pub has_demands: bool,
    /// The formation comes up for it, as it was the last time.
    pub brings_up: bool,
}

impl Engine {
    /// An order by its id, or by its number in the repository somebody stands in.
    pub async fn order_named(&self, text: &str, near: Option<&Utf8Path>) -> Result<(Formation, Command), Problem> {
        let missing = || Problem::NoSuchOrder { text: text.to_owned() };
        if let Ok(command) = text.parse::<CommandId>() {
            let formation = self.formation_with(FormationItem::Command(command)).await?;
            let formation = formation.ok_or_else(|| refusal(Refused::UnknownCommand { command }))?;
            let found = formation.order_named(text).await?;
            return Ok((formation, found));
        }
        let near = near.ok_or_else(missing)?;
        let formation = self.formation_at(near).await?;
        let found = formation.order_named(text).await?;
        Ok((formation, found))
    }

    /// The formation that has it; `None`: nobody knows it.
    pub async fn formation_with(&self, item: FormationItem) -> Result<Option<Formation>, Problem> {
        match self.store().formation_with(item).await? {
            Some(repo) => Ok(Some(self.formation_in(repo).await?)),
            None => Ok(None),
        }
    }
}

impl Formation {
    /// One of its own, by id or number.
    pub async fn order_named(&self, text: &str) -> Result<Command, Problem> {
        if let Ok(command) = text.parse::<CommandId>() {
            let found = self.look(move |book| book.command(command)).await?;
            return found.ok_or_else(|| refusal(Refused::UnknownCommand { command }));
        }
        let missing = || Problem::NoSuchOrder { text: text.to_owned() };
        let number = text.strip_prefix('#').unwrap_or(text).parse::<u32>().map_err(|_| missing())?;
        self.look(move |book| book.command_by_number(number)).await?.ok_or_else(missing)
    }

    pub async fn give_order(&self, new: NewOrder, caller: Option<Arc<Env>>) -> Result<Command, Problem> {
        if caller.is_some() {
            self.engine.remember_formation_caller(self.repo.id, caller);
        }
        let brings_up = new.brings_up;
        let demands = if new.has_demands { demand::demands(&new.content) } else { Vec::new() };
        let new = NewCommand {
            content: new.content,
            demands,
            priority: new.priority.unwrap_or(DEFAULT_PRIORITY),
            review: if new.review { Review::Wanted } else { Review::NotWanted },
        };
        let give = move |book: &mut Book<'_>, step: &mut Step<'_>| {
            let command = protocol::order(book, step, new.clone())?;
            let before = book.standing()?;
            if brings_up && !before.is_up {
                book.put_standing(&Standing { is_up: true, since: Some(step.now), ..before })?;
            }
            Ok(command)
        };
        let done = self.step(Scope::Orders, give).await?;
        Ok(done.value)
    }

    /// Words to an agent: to the orchestrator, or about an order to the planner.
    pub async fn say(&self, to: AgentId, command: Option<CommandId>, words: String) -> Result<MessageId, Problem> {
        let say = move |book: &mut Book<'_>, step: &mut Step<'_>| {
            // Whoever keeps formations finds it by its standing.
            let standing = book.standing()?;
            book.put_standing(&standing)?;
            protocol::say(book, step, to, command, words.clone())
        };
        let done = self.step(Scope::Orders, say).await?;
        Ok(done.value)
    }

    pub async fn cancel_order(
        &self,
        command: CommandId,
        asker: Asker,
        by: Option<String>,
        reason: String,
    ) -> Result<Command, Problem> {
        let by = by.unwrap_or_else(|| asker.name());
        Ok(self
            .step(Scope::Command(command), move |book, step| protocol::cancel(book, step, command, &by, &reason))
            .await?
            .value)
    }

    pub async fn pause_order(&self, command: CommandId, reason: String) -> Result<Command, Problem> {
        Ok(self
            .step(Scope::Command(command), move |book, step| protocol::pause(book, step, command, &reason))
            .await?
            .value)
    }

    pub async fn resume_order(&self, command: CommandId) -> Result<Command, Problem> {
        Ok(self.step(Scope::Command(command), move |book, step| protocol::resume(book, step, command)).await?.value)
    }

    pub async fn approve_order(&self, command: CommandId) -> Result<Command, Problem> {
        Ok(self.step(Scope::Command(command), move |book, step| protocol::approve(book, step, command)).await?.value)
    }

    /// The order's number comes from a row that all orders share, so theirs is the lock; the command is locked in the step.
    pub async fn amend_order(&self, command: CommandId, asker: Asker, words: String) -> Result<Amended, Problem> {
        let by = asker.name();
        Ok(self.step(Scope::Orders, move |book, step| protocol::amend(book, step, command, &by, &words)).await?.value)
    }

    /// The oldest first.
    pub async fn dead_letters(&self) -> Result<Vec<Message>, Problem> {
        fn dead_letters(book: &mut Book<'_>) -> Result<Vec<Message>, StoreError> {
            book.dead_letters()
        }
        Ok(self.look(dead_letters).await?)
    }

    /// A message that could not be delivered.
    pub async fn dead_letter(&self, message: MessageId) -> Result<Message, Problem> {
        let found = self.look(move |book| book.message(message)).await?;
        let found = found.ok_or_else(|| refusal(Refused::UnknownMessage { message }))?;
        match found.delivery {
            Delivery::DeadLetter { .. } => Ok(found),
            other => Err(refusal(Refused::NotDead { message, delivery: other.name().to_owned() })),
        }
    }

    pub async fn requeue(&self, message: MessageId) -> Result<protocol::Requeued, Problem> {
        let crew = self.crew_now().await?;
        Ok(self
            .step(Scope::Message(message), move |book, step| protocol::requeue(book, step, message, &crew))
            .await?
            .value)
    }
}
