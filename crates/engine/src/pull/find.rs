//! What people call a pull request: `3`, `#3`, its task, a run, or its branch.

use camino::Utf8Path;
use dandori_domain::pull::Pull;
use dandori_domain::run::Run;
use dandori_domain::{Problem, RunId};

use super::{PullRecord, pull_of_branch};
use crate::Engine;
use crate::edges::Site;
use crate::trouble::store_problem;

/// A pull request that was found, and where.
pub(super) struct Found {
    pub(super) site: Site,
    pub(super) record: PullRecord,
    /// What we know of it; `None` when somebody else opened it.
    pub(super) pull: Option<Pull>,
}

impl Engine {
    pub(crate) async fn site_at(&self, path: &Utf8Path) -> Result<Site, Problem> {
        Ok(Site { repo: self.repo_at(path).await?, base: None, own: self.0.own.clone() })
    }

    pub(super) async fn find_pull(&self, path: &Utf8Path, text: &str) -> Result<Found, Problem> {
        let text = text.trim();
        if let Ok(number) = text.strip_prefix('#').unwrap_or(text).parse::<u64>() {
            let site = self.site_at(path).await?;
            return self.found_numbered(site, number).await;
        }
        let missing = || Problem::NoPullOf { text: text.to_owned() };
        let is_task = text.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("t-"));
        match self.store().find_runs(text).await {
            Ok(runs) => {
                let pull = self.pull_of_any(&runs).await?.ok_or_else(missing)?;
                return self.found_as(pull).await;
            }
            Err(dandori_store::StoreError::NotFound { .. }) if !is_task => {}
            Err(e) => return Err(store_problem(&e)),
        }
        let site = self.site_at(path).await?;
        let pulls = self.store().pulls_on(site.repo.id, text.to_owned()).await.map_err(|e| store_problem(&e))?;
        let known = pulls.iter().find(|pull| !pull.is_over()).or_else(|| pulls.last());
        if let Some(pull) = known {
            return self.found_as(pull.clone()).await;
        }
        // On a forge that others use as well, it may be anybody's branch.
        let config = self.config_of(&site.repo)?;
        let all = self.0.edges.forge.list(&site, &config, None).await?;
        let record = all.into_iter().find(|record| record.draft.head == text).ok_or_else(missing)?;
        Ok(Found { site, record, pull: None })
    }

    /// Of a task's runs: the one that is open, else the newest.
    async fn pull_of_any(&self, runs: &[Run]) -> Result<Option<Pull>, Problem> {
        let Some(newest) = runs.last() else { return Ok(None) };
        let pulls = self.store().pulls_of(newest.spec.task).await.map_err(|e| store_problem(&e))?;
        if let [run] = runs {
            return Ok(pull_of_branch(&pulls, run).cloned());
        }
        Ok(pulls.iter().find(|pull| !pull.is_over()).or_else(|| pulls.last()).cloned())
    }

    async fn found_as(&self, pull: Pull) -> Result<Found, Problem> {
        let missing = || Problem::NoPullOf { text: pull.head().to_owned() };
        let site = self.site_of(pull.spec.repo, pull.wanted.run).await?;
        let number = match (pull.link(), pull.problem()) {
            (Some(link), _) => link.number,
            // Why there is none says more than that.
            (None, Some(problem)) => return Err(problem.clone()),
            (None, None) => return Err(missing()),
        };
        let config = self.config_of(&site.repo)?;
        let record = self.0.edges.forge.show(&site, &config, number).await?;
        Ok(Found { site, record, pull: Some(pull) })
    }

    async fn found_numbered(&self, site: Site, number: u64) -> Result<Found, Problem> {
        let config = self.config_of(&site.repo)?;
        let record = self.0.edges.forge.show(&site, &config, number).await?;
        let pull = self.pull_known_as(&site.repo, &record).await;
        Ok(Found { site, record, pull })
    }

    /// What we know of a pull request that only we can end.
    pub(super) fn require_ours(found: &Found) -> Result<Pull, Problem> {
        let PullRecord { number, url, .. } = &found.record;
        found.pull.clone().ok_or_else(|| Problem::ForeignPull { number: *number, url: url.clone() })
    }

    /// The task a run belongs to, as people call it.
    pub(super) async fn task_name(&self, run: RunId) -> Option<String> {
        self.store().run(run).await.ok().map(|run| run.spec.number.to_string())
    }
}
