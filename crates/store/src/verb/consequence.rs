//! What one machine's facts mean for another, in the same transaction.

use dandori_domain::id::{PullId, RunId};
use dandori_domain::machine::{Consequence, Machine, SubjectRef};
use dandori_domain::pull::{Pull, PullFact, PullWanted};
use dandori_domain::{Fact, Run};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::event::log;
use crate::tx::Tx;
use crate::verb::subject::Touched;
use crate::verb::{pull, run, subject, worktree};

/// Which subject it changed, if any.
pub(crate) fn carry_out(tx: &mut dyn Tx, meant: Consequence, at: Timestamp) -> Result<Option<Touched>> {
    match meant {
        Consequence::WantPull(wanted) => {
            let pull = want_pull(tx, wanted, at)?;
            Ok(Some(Touched { subject: SubjectRef::of::<Pull>(pull.id()), fact: "pull_wanted" }))
        }
        Consequence::ReleaseRun(run) => release(tx, run, at),
    }
}

/// The pull request of the branch, brought to what is wanted; a new one where none is open or on its way.
pub(crate) fn want_pull(tx: &mut dyn Tx, wanted: PullWanted, at: Timestamp) -> Result<Pull> {
    if let Some(id) = pull::current(tx, wanted.repo, &wanted.head)? {
        let open: Pull = subject::load_to_change(tx, id)?;
        return Ok(subject::take_in(tx, &open, &[PullFact::PullWanted { wanted }], at)?.subject);
    }
    let pull = Pull::new(new_id(&wanted, at), wanted);
    subject::insert(tx, &pull, at)?;
    log(tx, at, subject::about(&pull), "pull_wanted", &PullFact::PullWanted { wanted: pull.wanted.clone() })?;
    Ok(pull)
}

/// Randomness is not to be had in a transaction that may run twice: the run and the moment are as good.
pub(crate) fn new_id(wanted: &PullWanted, at: Timestamp) -> PullId {
    let hash = Sha256::digest(format!("{} {} {at}", wanted.run, wanted.head));
    let bytes = hash.first_chunk::<16>().copied().unwrap_or_default();
    PullId::mint(at, u128::from_be_bytes(bytes))
}

/// The run's worktree may go, unless another has worked in it since, or somebody has it, or it has gone already.
fn release(tx: &mut dyn Tx, id: RunId, at: Timestamp) -> Result<Option<Touched>> {
    let before: Run = subject::load_to_change(tx, id)?;
    let mut after = before.clone();
    let is_in_use = after.apply(&Fact::Released, at).is_err()
        || run::is_followed_on_its_branch(tx, &after)?
        || after.workspace().map(|w| worktree::is_held(tx, &w.key)).transpose()?.unwrap_or(true);
    if is_in_use {
        return Ok(None);
    }
    subject::take_in(tx, &before, &[Fact::Released], at)?;
    Ok(Some(Touched { subject: SubjectRef::of::<Run>(id), fact: Fact::Released.name() }))
}
