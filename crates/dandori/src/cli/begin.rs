//! Where a run starts, said before it does, and where its work ended up.

use clap::Args;
use dandori_api::{RunView, StartView};
use dandori_domain::Oid;
use dandori_domain::run::{LeftOut, Offline, Start};
use dandori_text::{begin, ui};

use crate::out::Out;

/// What to start from.
#[derive(Args)]
pub(crate) struct BaseArgs {
    /// Branch, tag or commit to start from; HEAD is your current commit (default: from the configuration, or the remote's default branch, or the current branch without a remote)
    #[arg(long, short = 'b')]
    base: Option<String>,
    /// Start from your current commit, pushed or not; same as --base HEAD
    #[arg(long, conflicts_with = "base")]
    here: bool,
}

impl BaseArgs {
    pub(crate) fn name(self) -> Option<String> {
        if self.here { Some("HEAD".to_owned()) } else { self.base }
    }
}

/// `from origin/main 3bfe953 (your 1 unpushed commit is not included)`
pub(crate) fn line(out: &Out, start: &StartView) -> String {
    said(out, &start_of(start))
}

pub(crate) fn said(out: &Out, start: &Start) -> String {
    begin::start(out.lang, start, dandori_host::now())
}

/// Where the commit of a run is that has succeeded with one.
pub(crate) fn end(out: &Out, run: &RunView) -> Option<String> {
    let (branch, commit) = (run.branch.as_ref()?, run.commit.as_ref()?);
    let is_pushed = run.pushed?;
    Some(if is_pushed {
        ui::pushed(out.lang, branch, begin::short(commit))
    } else {
        begin::committed(out.lang, branch, commit)
    })
}

fn start_of(view: &StartView) -> Start {
    let left_out = view.commits.zip(view.changed).map(|(commits, changed)| LeftOut {
        branch: view.branch.clone(),
        commits,
        unpushed: view.unpushed,
        changed,
    });
    let offline = view.offline.as_ref().map(|offline| Offline {
        reason: offline.reason.clone(),
        fetched_at: offline.fetched_at.as_ref().and_then(|at| at.parse().ok()),
    });
    Start { base: view.base.clone(), commit: Oid::new(view.commit.as_str()), offline, left_out }
}
