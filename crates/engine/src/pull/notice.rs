//! What happens to a pull request without anybody asking us: merged by hand, closed or merged on the forge, more commits on
//! its branch.

use dandori_config::Config;
use dandori_domain::Problem;
use dandori_domain::pull::{Pull, PullFact, PullLink, PullState, PullWanted, Standing, WantedBy};
use dandori_domain::task::{Repo, Task};

use super::PullRecord;
use crate::Engine;
use crate::edges::{Containment, Site};

impl Engine {
    /// Whose head is in its base is merged, whoever did it. No forge is asked: git knows.
    pub(crate) async fn notice_merged(&self, repo: &Repo) {
        let Ok(pulls) = self.store().current_pulls(repo.id).await else { return };
        self.notice_merged_among(repo, pulls).await;
    }

    /// The same for the pull requests of one task.
    pub async fn notice_merged_of(&self, task: &Task) {
        let Ok(pulls) = self.store().pulls_of(task.id).await else { return };
        let Ok(repo) = self.store().repo(task.repo).await else { return };
        self.notice_merged_among(&repo, pulls).await;
    }

    async fn notice_merged_among(&self, repo: &Repo, pulls: Vec<Pull>) {
        let open: Vec<(Pull, PullLink)> = pulls
            .into_iter()
            .filter_map(|pull| match &pull.standing {
                Standing::Open { link } => Some((pull.clone(), link.clone())),
                _ => None,
            })
            .collect();
        if open.is_empty() || repo.host != self.life().host || self.0.edges.git.is_gone(repo) {
            return;
        }
        let asked: Vec<Containment> = open
            .iter()
            .map(|(pull, link)| Containment {
                base: pull.wanted.base.clone(),
                head_oid: pull.wanted.head_oid.clone(),
                // Another forge has no base but the remote's.
                here_too: link.is_embedded(),
            })
            .collect();
        let site = Site { repo: repo.clone(), base: None, own: self.0.own.clone() };
        let at = site.clone();
        let contained = self.blocking(move |engine| engine.0.edges.git.contained(&at, &asked)).await;
        let Ok(Ok(contained)) = contained else { return };
        for ((pull, link), _) in open.iter().zip(contained).filter(|(_, is_in)| *is_in) {
            if link.is_embedded()
                && let Ok(config) = self.config_of(repo)
                && self.0.edges.forge.make(&site, &config, link.number, PullState::Merged).await.is_err()
            {
                continue;
            }
            self.record_end(pull, PullFact::PullMerged { number: link.number }).await;
        }
    }

    /// In every repository of this host, while nobody waits for it.
    pub(crate) async fn notice_merges(&self) {
        let Ok(repos) = self.store().repos(self.life().host).await else { return };
        for repo in repos.iter().filter(|repo| repo.root.is_dir()) {
            self.notice_merged(repo).await;
        }
    }

    /// What was closed or merged on the forge is so here, too. `seen` are those in `state`; one that is not among the open
    /// ones any more is looked at by itself.
    pub(super) async fn notice_ends(
        &self,
        site: &Site,
        config: &Config,
        seen: &[PullRecord],
        state: Option<PullState>,
    ) {
        let Ok(followed) = self.store().current_pulls(site.repo.id).await else { return };
        for pull in followed {
            let Some(number) = pull.link().map(|link| link.number) else { continue };
            let record = match seen.iter().find(|record| record.number == number) {
                Some(record) => Some(record.clone()),
                None if state.is_none() => None,
                None => self.0.edges.forge.show(site, config, number).await.ok(),
            };
            let fact = match record.map(|record| record.state) {
                None | Some(PullState::Open) => continue,
                Some(PullState::Closed) => PullFact::PullClosed { number },
                Some(PullState::Merged) => PullFact::PullMerged { number },
            };
            self.record_end(&pull, fact).await;
        }
    }

    async fn record_end(&self, pull: &Pull, fact: PullFact) {
        // Somebody else may have seen it first.
        if let Ok(recorded) = self.0.kernel.record_just::<Pull>(pull.spec.id, vec![fact]).await {
            recorded.touched.iter().for_each(|touched| self.wake(&touched.subject));
        }
    }

    /// A pull request of the embedded forge shows what its branch has, whoever pushed it there.
    pub(super) async fn follow_branch(&self, site: &Site, pull: &Pull) -> Result<bool, Problem> {
        let is_embedded = matches!(&pull.standing, Standing::Open { link } if link.is_embedded());
        if !is_embedded {
            return Ok(false);
        }
        let (known, head) = (self.0.opener.open_as(site.repo.clone(), &site.own), pull.head().to_owned());
        let standing = self.blocking(move |_| known.git.base_standing(&head, dandori_git::Fetch::Never)).await?;
        let Ok(Ok(Some(standing))) = standing else { return Ok(false) };
        if standing.oid == pull.wanted.head_oid {
            return Ok(false);
        }
        let wanted =
            PullWanted { head_oid: standing.oid, wanted_by: WantedBy::Run, at: self.now(), ..pull.wanted.clone() };
        let fact = PullFact::PullWanted { wanted };
        if self.0.kernel.record_just::<Pull>(pull.spec.id, vec![fact]).await.is_err() {
            return Ok(false);
        }
        self.0.kernel.walk(&self.pulls(), pull.spec.id);
        self.answered(pull.spec.id).await?;
        Ok(true)
    }
}
