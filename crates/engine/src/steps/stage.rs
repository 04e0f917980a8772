//! Stage: look for what the agent may not do, then stage everything and write the patch down.

use dandori_domain::paths::FORBIDDEN;
use dandori_domain::run::{Fact, RunFacts, Sandbox};
use dandori_domain::{Failure, Finding};
use dandori_git::{Fingerprint, GitError, StageAnswer};
use dandori_host::machine;

use crate::Engine;
use crate::drive::StepError;
use crate::repos::Known;
use crate::trouble::git_reason;

/// With less than this nothing can be staged.
const LITTLE: u64 = 8 << 20;

impl Engine {
    pub(crate) async fn stage(&self, run: &RunFacts) -> Result<Vec<Fact>, StepError> {
        let known = self.known_for(run).await?;
        let run = run.clone();
        self.blocking(move |engine| engine.stage_now(&known, &run).map_err(|error| engine.or_disk_is_full(error)))
            .await?
    }

    /// What git says of a full disk helps nobody.
    fn or_disk_is_full(&self, error: StepError) -> StepError {
        let free = machine::free_disk(self.layout().root()).unwrap_or(u64::MAX);
        match error {
            StepError::Failed(Failure::Staging { .. }) if free < LITTLE => Failure::DiskFull { free }.into(),
            other => other,
        }
    }

    fn stage_now(&self, known: &Known, run: &RunFacts) -> Result<Vec<Fact>, StepError> {
        let Some(workspace) = &run.workspace else { return Err(StepError::LookAgain) };
        let tampered = |findings: Vec<Finding>| StepError::from(Failure::Tampered { findings });
        let files = self.layout().repo(run.spec.repo).run(run.spec.id);
        if !run.sandbox.as_ref().is_some_and(Sandbox::holds_files) {
            // Before any other git command: those would run what the configuration says.
            let before = std::fs::read(files.config_fingerprint()).ok();
            let before = before.and_then(|bytes| serde_json::from_slice::<Fingerprint>(&bytes).ok());
            let after = known.git.exec_config_fingerprint().map_err(|e| staging(&e))?;
            if let Some(key) = before.and_then(|before| before.changed(&after)) {
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
        match tree.stage_on(&workspace.base_oid, &forbidden).map_err(|e| staging(&e))? {
            StageAnswer::Refused { findings } => Err(tampered(findings)),
            StageAnswer::Staged { tree: oid, parent, changes } => {
                if changes.is_some() {
                    tree.write_patch(&parent, &oid, &files.patch()).map_err(|e| staging(&e))?;
                }
                Ok(vec![Fact::Staged { tree: oid, parent, changes }])
            }
        }
    }
}

fn staging(error: &GitError) -> StepError {
    if let GitError::Unfit { paths } = error {
        return Failure::Unstageable { paths: paths.clone() }.into();
    }
    Failure::Staging { reason: git_reason(error) }.into()
}
