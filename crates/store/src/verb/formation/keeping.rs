//! What whoever keeps a formation going has to find, beyond what its protocol needs.

use dandori_domain::id::{CommandId, TaskId};
use dandori_formation::{Command, Ledger, Message, ResultRow, Task, TaskState};

use super::Book;
use crate::error::Result;
use crate::tx::params;

impl Book<'_> {
    /// The oldest report of a command whose work is to be merged.
    pub fn to_verify(&mut self, command: CommandId) -> Result<Option<(Command, Task, ResultRow)>> {
        let sql = "SELECT body FROM plan_task WHERE command = $1 AND state = 'verify_pending'";
        let waiting: Vec<Task> = self.many(sql, params![command])?;
        let reported = |task: &Task| match task.state {
            TaskState::VerifyPending { result, since } => Some((since, result)),
            _ => None,
        };
        let Some((task, (_, result))) = waiting
            .into_iter()
            .filter_map(|task| Some((reported(&task)?, task)))
            .map(|(at, task)| (task, at))
            .min_by_key(|(task, at)| (at.0, task.ordinal))
        else {
            return Ok(None);
        };
        let (command, result) = (self.command(command)?, self.result(result)?);
        Ok(command.zip(result).map(|(command, result)| (command, task, result)))
    }

    /// The step that dandori takes itself, once it may be taken.
    pub fn commit_step(&mut self, command: CommandId) -> Result<Option<TaskId>> {
        if !self.continuous()?.enabled {
            return Ok(None);
        }
        let sql = "SELECT body FROM plan_task WHERE command = $1 AND state = 'ready'";
        let ready: Vec<Task> = self.many(sql, params![command])?;
        Ok(ready.iter().find(|task| task.is_system() && task.is_current()).map(|task| task.id))
    }

    /// Messages whose lease has run out by now.
    pub fn expired_now(&mut self) -> Result<Vec<Message>> {
        let now = self.now;
        self.expired(now)
    }
}
