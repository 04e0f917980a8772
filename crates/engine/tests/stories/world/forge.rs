//! A forge that shows what it was told.

use dandori_config::Config;
use dandori_domain::Problem;
use dandori_domain::pull::{PlannedMerge, PullState, PutPull};
use dandori_engine::PullRecord;
use dandori_engine::edges::{ForgeEdge, Site};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::World;

impl ForgeEdge for World {
    fn put<'a>(
        &'a self,
        _site: &'a Site,
        _config: &'a Config,
        step: &'a PutPull,
    ) -> BoxFuture<'a, Result<PullRecord, Problem>> {
        async move {
            let PutPull { wanted, link } = step;
            let waits = {
                let mut inner = self.lock();
                inner.puts_begun += 1;
                inner.forge_waits
            };
            if waits {
                self.answers.notified().await;
            }
            let mut inner = self.lock();
            if inner.forge_says_no {
                return Err(Problem::ForgeRefused { reason: "no".into() });
            }
            let heads = if inner.no_remote { &inner.branches } else { &inner.remote };
            let has_it = heads.get(&wanted.head).is_some_and(|tip| inner.has_ancestor(tip, &wanted.head_oid));
            assert!(has_it, "a pull request of what is not there");
            let open = |p: &&mut PullRecord| p.draft.head == wanted.head && p.state == PullState::Open;
            if let Some(open) = inner.pulls.iter_mut().find(open) {
                open.commit = Some(wanted.head_oid.to_string());
                return Ok(open.clone());
            }
            let known = |p: &&mut PullRecord| {
                p.state == PullState::Open && link.as_ref().is_some_and(|link| link.number == p.number)
            };
            if let Some(moved) = inner.pulls.iter_mut().find(known) {
                moved.draft = wanted.draft();
                moved.run = Some(wanted.run);
                moved.commit = Some(wanted.head_oid.to_string());
                return Ok(moved.clone());
            }
            let number = inner.pulls.len() as u64 + 1;
            let pull = PullRecord {
                number,
                url: if inner.forge_merges {
                    format!("https://forge.example/pull/{number}")
                } else {
                    format!("dandori:story/pulls/{number}")
                },
                draft: wanted.draft(),
                state: PullState::Open,
                commit: Some(wanted.head_oid.to_string()),
                forge: if inner.forge_merges { "github" } else { "local" },
                run: Some(wanted.run),
                created_at: wanted.at,
            };
            inner.pulls.push(pull.clone());
            Ok(pull)
        }
        .boxed()
    }

    fn make<'a>(
        &'a self,
        _: &'a Site,
        _: &'a Config,
        number: u64,
        state: PullState,
    ) -> BoxFuture<'a, Result<PullRecord, Problem>> {
        async move {
            let mut inner = self.lock();
            if inner.forge_says_no {
                return Err(Problem::ForgeRefused { reason: "no".into() });
            }
            let pull = inner.pulls.iter_mut().find(|pull| pull.number == number);
            let pull = pull.ok_or(Problem::NoSuchPull { number })?;
            if pull.state != PullState::Merged {
                pull.state = state;
            }
            Ok(pull.clone())
        }
        .boxed()
    }

    fn merge<'a>(
        &'a self,
        _: &'a Site,
        _: &'a Config,
        number: u64,
        planned: &'a PlannedMerge,
    ) -> BoxFuture<'a, Result<PullRecord, Problem>> {
        async move {
            let mut inner = self.lock();
            assert!(inner.forge_merges, "git merges here");
            let at = inner.pulls.iter().position(|pull| pull.number == number).unwrap();
            if inner.pulls[at].state != PullState::Merged {
                inner.merged += 1;
                let tip = inner.remote[&planned.base].clone();
                let mut files = inner.files_of(&tip);
                files.extend(inner.files_of(&planned.head_oid));
                let to = inner.commit(Some(tip), files, "merged there");
                inner.merges.insert(to.clone(), planned.head_oid.clone());
                inner.remote.insert(planned.base.clone(), to);
                inner.pulls[at].state = PullState::Merged;
            }
            Ok(inner.pulls[at].clone())
        }
        .boxed()
    }

    fn list<'a>(
        &'a self,
        _: &'a Site,
        _: &'a Config,
        state: Option<PullState>,
    ) -> BoxFuture<'a, Result<Vec<PullRecord>, Problem>> {
        async move {
            let all = self.lock().pulls.clone();
            Ok(all.into_iter().filter(|pull| state.is_none_or(|state| pull.state == state)).collect())
        }
        .boxed()
    }

    fn show<'a>(&'a self, _: &'a Site, _: &'a Config, number: u64) -> BoxFuture<'a, Result<PullRecord, Problem>> {
        async move {
            let found = self.lock().pulls.iter().find(|pull| pull.number == number).cloned();
            found.ok_or(Problem::NoSuchPull { number })
        }
        .boxed()
    }
}
