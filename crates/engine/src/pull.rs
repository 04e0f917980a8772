//! Pull requests: walked until the forge shows what is wanted, and asked for by hand.

mod forge;

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use dandori_domain::plain::{plain, plain_line};
use dandori_domain::pull::{Pull, PullDraft, PullFact, PullLink, PullState, PullWords, PutPull, WantedBy};
use dandori_domain::run::{Run, Status};
use dandori_domain::{Problem, PullId, RunId};
use dandori_host::Env;
use dandori_store::Recorded;
use jiff::Timestamp;
use tokio::sync::Notify;

use crate::Engine;
use crate::edges::Site;
use crate::kernel::{Kernel, WalkError, Walker};
use crate::run::check_words;
use crate::trouble::store_problem;

pub(crate) use forge::RealForge;

/// How long whoever asks for a pull request by hand waits for the forge. Its own limits are below.
const PATIENCE: Duration = Duration::from_mins(3);

/// A pull request of either forge.
#[derive(Clone, Debug)]
pub struct PullRecord {
    pub number: u64,
    pub url: String,
    pub draft: PullDraft,
    pub state: PullState,
    pub commit: Option<String>,
    pub forge: &'static str,
    pub run: Option<RunId>,
    pub created_at: Timestamp,
}

/// How pull requests are walked.
#[derive(Clone)]
pub(crate) struct PullWalker(pub(crate) Engine);

impl Walker for PullWalker {
    type Machine = Pull;

    fn kernel(&self) -> &Kernel {
        &self.0.0.kernel
    }

    /// One that cannot be opened does not undo the push: it says why, and waits to be wanted again.
    async fn take(&self, step: PutPull, _pull: &Pull, _bell: &Notify) -> Result<Vec<PullFact>, WalkError> {
        match self.0.put_pull(&step).await {
            Ok(record) => {
                let link = PullLink { number: record.number, url: record.url };
                let is_new = step.link.as_ref().is_none_or(|known| *known != link);
                Ok(vec![if is_new { PullFact::PullOpened { link } } else { PullFact::PullUpdated { link } }])
            }
            Err(problem @ (Problem::StoreUnavailable { .. } | Problem::StoreFull)) => Err(WalkError::Trouble(problem)),
            Err(problem) => Ok(vec![PullFact::PullFailed { problem }]),
        }
    }

    fn recorded(&self, recorded: &Recorded<Pull>) {
        recorded.touched.iter().for_each(|touched| self.0.wake(&touched.subject));
    }

    fn rests(&self, pull: &Pull) {
        self.0.forget_caller(pull.wanted.run);
    }
}

impl Engine {
    async fn put_pull(&self, step: &PutPull) -> Result<PullRecord, Problem> {
        let wanted = &step.wanted;
        let site = self.site_of(wanted.repo, wanted.run).await?;
        let config = self.config_of(&site.repo)?;
        self.0.edges.forge.put(&site, &config, wanted).await
    }

    /// The pull request of a run's branch: the one that is open or wanted, else the newest.
    pub(crate) async fn pull_of(&self, run: &Run) -> Result<Option<Pull>, Problem> {
        let pulls = self.store().pulls_of(run.spec.task).await.map_err(|e| store_problem(&e))?;
        Ok(pull_of_branch(&pulls, run).cloned())
    }

    /// `dandori pr create`: for a run that ended without one, or whose one failed.
    pub async fn create_pull(
        &self,
        run: &Run,
        title: Option<String>,
        body: Option<String>,
        caller: Option<Arc<Env>>,
    ) -> Result<PullRecord, Problem> {
        let nothing = || Problem::NothingToPull { run: run.spec.id.key().to_string(), status: run.status() };
        if run.status() != Status::Succeeded {
            return Err(nothing());
        }
        let repo = self.repo_here(run.spec.repo).await?;
        if let Some(title) = &title {
            check_words("title", title)?;
        }
        if let Some(body) = &body {
            check_words("body", body)?;
        }
        let ours = PullWords::of(run);
        let wanted_by = if title.is_some() || body.is_some() { WantedBy::Hand } else { WantedBy::Run };
        let words = PullWords {
            title: title.map_or(ours.title, |title| plain_line(&title)),
            body: body.map_or(ours.body, |body| plain(&body)),
        };
        let wanted = run.pull_wanted(words, wanted_by, self.now()).ok_or_else(nothing)?;
        let pull = self.store().want_pull(self.life(), wanted, self.now()).await.map_err(|e| store_problem(&e))?;
        self.0.kernel.recorded::<Pull>(&PullFact::PullWanted { wanted: pull.wanted.clone() }).await;
        self.remember_caller(run.spec.id, caller.as_ref());
        self.0.kernel.walk(&self.pulls(), pull.spec.id);
        let pull = self.answered(pull.spec.id).await?;
        let link = match (pull.problem(), pull.link()) {
            (Some(problem), _) => return Err(problem.clone()),
            (None, Some(link)) => link,
            (None, None) => return Err(nothing()),
        };
        // The walk has let go of the caller by now.
        let site = Site { repo, base: None, own: self.own_env_for(caller.as_ref()) };
        let config = self.config_of(&site.repo)?;
        self.0.edges.forge.show(&site, &config, link.number).await
    }

    /// Until the forge has answered to what is wanted.
    async fn answered(&self, id: PullId) -> Result<Pull, Problem> {
        let mut events = self.store().watch_events();
        let waited = async {
            loop {
                events.borrow_and_update();
                let pull: Pull = self.store().subject(id).await.map_err(|e| store_problem(&e))?;
                if !pull.is_pending() {
                    return Ok(pull);
                }
                // The log is the truth; the bell may be lost.
                let _ = tokio::time::timeout(Duration::from_secs(1), events.changed()).await;
            }
        };
        let late = Problem::ForgeUnreachable { reason: "it has not answered yet; it is asked again".to_owned() };
        tokio::time::timeout(PATIENCE, waited).await.unwrap_or(Err(late))
    }

    pub async fn list_pulls(&self, path: &Utf8Path) -> Result<Vec<PullRecord>, Problem> {
        let site = self.site_at(path).await?;
        let config = self.config_of(&site.repo)?;
        let records = self.0.edges.forge.list(&site, &config).await?;
        self.notice_ends(&site, &records).await;
        Ok(records)
    }

    pub async fn show_pull(&self, path: &Utf8Path, number: u64) -> Result<PullRecord, Problem> {
        let site = self.site_at(path).await?;
        let config = self.config_of(&site.repo)?;
        let record = self.0.edges.forge.show(&site, &config, number).await?;
        self.notice_ends(&site, std::slice::from_ref(&record)).await;
        Ok(record)
    }

    async fn site_at(&self, path: &Utf8Path) -> Result<Site, Problem> {
        Ok(Site { repo: self.repo_at(path).await?, base: None, own: self.0.own.clone() })
    }

    /// What was closed or merged on the forge is so here, too.
    async fn notice_ends(&self, site: &Site, records: &[PullRecord]) {
        let Ok(followed) = self.store().current_pulls(site.repo.id).await else { return };
        for pull in followed {
            let number = pull.link().map(|link| link.number);
            let Some(record) = records.iter().find(|record| Some(record.number) == number) else { continue };
            let fact = match record.state {
                PullState::Open => continue,
                PullState::Closed => PullFact::PullClosed { number: record.number },
                PullState::Merged => PullFact::PullMerged { number: record.number },
            };
            // Somebody else may have seen it first.
            let _ = self.0.kernel.record_just::<Pull>(pull.spec.id, vec![fact]).await;
        }
    }
}

/// The one that is open or wanted, else the newest. They come oldest first.
pub fn pull_of_branch<'p>(pulls: &'p [Pull], run: &Run) -> Option<&'p Pull> {
    let mut of_branch = pulls.iter().filter(|pull| Some(pull.spec.head.as_str()) == run.branch());
    of_branch.clone().find(|pull| !pull.is_over()).or_else(|| of_branch.next_back())
}
