//! Pull requests as the wire shows them.

use dandori_api::{
    ChangesView, PullCommit, PullDone, PullFile, PullLink, PullMerge, PullMoved, PullPage, PullPut, PullView,
};
use dandori_domain::pull::{Pull, PullChange, PullState, Standing};
use dandori_engine::{Ended, Moved, PageFile, PullContents, PullEntry, PutHow};

pub(crate) fn pull(entry: PullEntry) -> PullView {
    let PullEntry { record, maker } = entry;
    PullView {
        number: record.number,
        title: record.draft.title,
        body: record.draft.body,
        state: record.state,
        head: record.draft.head,
        base: record.draft.base,
        commit: record.commit,
        url: record.url,
        forge: record.forge.to_owned(),
        task: maker.as_ref().map(|maker| maker.task.to_string()),
        agent: maker.as_ref().map(|maker| maker.agent.to_string()),
        run: maker.map(|maker| maker.run).or(record.run).map(|run| run.key().to_string()),
        created_at: record.created_at.to_string(),
    }
}

/// Where the pull request of a run's branch is.
pub(super) fn link(pull: &Pull) -> Option<PullLink> {
    let state = match &pull.standing {
        Standing::Merged { .. } => PullState::Merged,
        Standing::Closed { .. } | Standing::Changing { change: PullChange::Reopen, .. } => PullState::Closed,
        Standing::Wanted { .. }
        | Standing::Putting { .. }
        | Standing::Open { .. }
        | Standing::Failed { .. }
        | Standing::Changing { .. } => PullState::Open,
    };
    pull.link().map(|link| PullLink { number: link.number, url: link.url.clone(), state: Some(state) })
}

pub(crate) fn pull_put(entry: PullEntry, how: PutHow) -> PullPut {
    PullPut { pull: pull(entry), outcome: how.as_str().to_owned() }
}

pub(crate) fn pull_done(ended: Ended) -> PullDone {
    PullDone {
        pull: pull(ended.entry),
        base_commit: ended.base_oid.map(|oid| oid.to_string()),
        base_here: ended.here.map(|here| here.as_str().to_owned()),
        preserved: ended.kept.and_then(|run| run.preserved).map(|kept| kept.reference),
    }
}

pub(crate) fn pull_moved(moved: &Moved) -> PullMoved {
    let record = &moved.entry.record;
    PullMoved {
        pr: PullLink { number: record.number, url: record.url.clone(), state: Some(record.state) },
        before: moved.before,
        branch: record.draft.head.clone(),
    }
}

pub(crate) fn pull_page(page: dandori_engine::PullPage) -> PullPage {
    let is_embedded = page.entry.record.is_embedded();
    let merge = page.look.map(|look| PullMerge { can: page.obstacles.is_empty(), obstacles: page.obstacles, look });
    let changes = page.contents.as_ref().map(|contents| changes(&contents.files));
    let commit_count = page.contents.as_ref().map(|contents| contents.commit_count);
    let (commits, files) = match page.contents {
        Some(PullContents { commits, files, .. }) => (Some(commits), Some(files)),
        None => (None, None),
    };
    let commit = |line: dandori_engine::PageCommit| PullCommit {
        commit: line.oid.to_string(),
        subject: line.subject,
        author: line.author,
        committed_at: line.at.map(|at| at.to_string()),
    };
    let file = |file: PageFile| PullFile {
        insertions: (!file.is_binary).then_some(file.insertions),
        deletions: (!file.is_binary).then_some(file.deletions),
        path: file.path,
    };
    PullPage {
        pull: pull(page.entry),
        commits: commits.map(|lines| lines.into_iter().map(commit).collect()),
        commit_count,
        files: files.map(|files| files.into_iter().map(file).collect()),
        changes,
        checks: is_embedded.then(Vec::new),
        merge,
        base_fetched_at: page.base_fetched_at.map(|at| at.to_string()),
        ours: page.is_ours,
    }
}

fn changes(files: &[PageFile]) -> ChangesView {
    ChangesView {
        files: u32::try_from(files.len()).unwrap_or(u32::MAX),
        insertions: files.iter().map(|file| file.insertions).sum(),
        deletions: files.iter().map(|file| file.deletions).sum(),
    }
}
