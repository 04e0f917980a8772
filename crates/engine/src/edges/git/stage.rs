//! Look for what the agent may not do, then stage everything and write the patch down.

use dandori_domain::paths::FORBIDDEN;
use dandori_domain::run::{Fact, Run, Work};
use dandori_domain::{Failure, Finding};
use dandori_git::{Bounds, Fingerprint, GitError, Repository, StageAnswer};
use dandori_host::layout::{Layout, RunLayout};

use crate::repos::Known;
use crate::run::StepError;
use crate::trouble::git_reason;

pub(super) fn stage(layout: &Layout, known: &Known, run: &Run, work: &Work) -> Result<Vec<Fact>, StepError> {
    let workspace = &work.workspace;
    let tampered = |findings: Vec<Finding>| StepError::from(Failure::Tampered { findings });
    let files = layout.repo(run.spec.repo).run(run.spec.id);
    if !work.sandbox.holds_files() {
        // Before any other git command: those would run what the configuration says.
        if let Some(key) = config_changed(&files, &known.git).map_err(|e| staging(&e))? {
            return Err(tampered(vec![Finding::GitConfigChanged { key }]));
        }
    }
    let Some(tree) = known.git.worktree(&workspace.path).map_err(|e| staging(&e))? else {
        return Err(tampered(vec![Finding::WorktreeMissing { path: workspace.path.clone() }]));
    };
    let findings = tree.findings(&workspace.branch, &workspace.base_oid).map_err(|e| staging(&e))?;
    if !findings.is_empty() {
        return Err(tampered(findings));
    }
    if let Some(conflict) = tree.conflict().map_err(|e| staging(&e))? {
        if !conflict.marked.is_empty() {
            return Err(Failure::ConflictLeft { files: conflict.marked }.into());
        }
        tree.forget_conflict().map_err(|e| staging(&e))?;
    }
    let further = run.spec.settings.forbidden_paths.iter().map(String::as_str);
    let forbidden: Vec<&str> = FORBIDDEN.iter().copied().chain(further).collect();
    let (parent, merges) = (&workspace.base_oid, workspace.merges.as_deref());
    let answer = if run.spec.settings.read_only {
        tree.stage_as_merged(parent, None)
    } else if run.gives_back() {
        // What the check wrote is nobody's work.
        tree.stage_as_merged(parent, merges)
    } else {
        tree.stage_merge(parent, merges, &forbidden, Bounds::default())
    };
    match answer.map_err(|e| staging(&e))? {
        StageAnswer::Refused { findings } => Err(tampered(findings)),
        StageAnswer::Staged { tree: oid, parent, changes } => {
            if changes.is_some() {
                tree.write_patch(&parent, &oid, &files.patch()).map_err(|e| staging(&e))?;
            }
            Ok(vec![Fact::Staged { tree: oid, parent, changes }])
        }
    }
}

/// The setting an agent has changed that makes git run something.
pub(crate) fn config_changed(files: &RunLayout, git: &Repository) -> Result<Option<String>, GitError> {
    let before = std::fs::read(files.config_fingerprint()).ok();
    let before = before.and_then(|bytes| serde_json::from_slice::<Fingerprint>(&bytes).ok());
    let after = git.exec_config_fingerprint()?;
    Ok(before.and_then(|before| before.changed(&after)))
}

fn staging(error: &GitError) -> StepError {
    if let GitError::Unfit { paths } = error {
        return Failure::Unstageable { paths: paths.clone() }.into();
    }
    Failure::Staging { reason: git_reason(error) }.into()
}
