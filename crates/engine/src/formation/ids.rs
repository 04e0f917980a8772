//! Ids that follow from others: whoever asks for the same thing again, after a crash or because nobody answered, asks for the
//! same subject.

use dandori_domain::{CommandId, MessageId, RepoId, ResultId, TaskId};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

/// The order's own task: on its branch the workers' commits come together, and it gets the pull request.
pub fn order_task(command: CommandId) -> TaskId {
    let (at, random) = derived(command.uuid().as_u128(), "order");
    TaskId::mint(at, random)
}

/// The planner's conversation about an order.
pub fn planning_task(command: CommandId) -> TaskId {
    let (at, random) = derived(command.uuid().as_u128(), "plan");
    TaskId::mint(at, random)
}

/// The orchestrator's conversation, over all orders of a repository.
pub(crate) fn orchestrator_task(repo: RepoId) -> TaskId {
    let (at, random) = derived(repo.uuid().as_u128(), "orchestrator");
    TaskId::mint(at, random)
}

/// A result is brought into the order's branch as if a message had asked for it.
pub(crate) fn integration(result: ResultId) -> MessageId {
    let (at, random) = derived(result.uuid().as_u128(), "integrate");
    MessageId::mint(at, random)
}

/// The moment of the id it follows from, and random bits of its own.
fn derived(id: u128, purpose: &str) -> (Timestamp, u128) {
    let hash = Sha256::digest(format!("{id:032x} {purpose}"));
    let random = hash.first_chunk::<16>().copied().map_or(0, u128::from_be_bytes);
    let millis = i64::try_from(id >> 80).unwrap_or(0);
    (Timestamp::from_millisecond(millis).unwrap_or_default(), random)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_asked_for_under_the_same_id_and_nothing_else() {
        let command = CommandId::mint(Timestamp::UNIX_EPOCH, 7 << 64);
        assert_eq!(order_task(command), order_task(command));
        assert_ne!(order_task(command), planning_task(command));
        assert_ne!(order_task(command), order_task(CommandId::mint(Timestamp::UNIX_EPOCH, 8 << 64)));
        let result = |seed: u128| ResultId::mint(Timestamp::UNIX_EPOCH, seed << 64);
        assert_ne!(integration(result(7)), integration(result(8)));
    }
}
