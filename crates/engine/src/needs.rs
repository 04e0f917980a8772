//! What needs a person: facts from the store and from the machine, put to [`dandori_domain::need::needs`], and what people
//! did about it.
//!
//! Needs are not stored. Those of tasks are kept in memory beside the number of the newest event they follow from; a look
//! takes in what has happened since and no more, so that neither many tasks nor many failures make it slow. What has no
//! event (files, the disk, silence) is looked at each time.

mod beside;
mod seen;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_config::{Powers, TrustFile};
use dandori_domain::need::{
    Answer, DaemonFacts, DiskFacts, Facts, Need, NeedId, RepoFacts, TaskFacts, Unconfirmed, Untrusted, kept_work_id,
    needs,
};
use dandori_domain::run::{Run, Status};
use dandori_domain::task::Repo;
use dandori_domain::{AgentEvent, Problem, RepoId, RunId, TaskId};
use dandori_journal::waiting_for_consent;
use dandori_store::{EventFilter, StoreError, TaskWithRuns, TrustWanted};
use jiff::{SignedDuration, Timestamp};

use crate::Engine;
use crate::trouble::store_problem;

pub use seen::Now;

/// Events taken in at once.
const PAGE: u32 = 1_000;
/// Further behind than so many pages, everything is looked at anew.
const MOST_PAGES: usize = 10;
/// A session that was refused longer ago is not waiting any more: most likely nobody sits there.
const WAITING_FOR: Duration = Duration::from_hours(2);
/// Answers are kept for so long after their needs are gone.
const KEPT_ANSWERS: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A need with what a person has said about it.
#[derive(Clone, PartialEq, Debug)]
pub struct KnownNeed {
    pub need: Need,
    pub answer: Option<Answer>,
    /// The repository's main checkout.
    pub repository: Option<Utf8PathBuf>,
}

impl KnownNeed {
    /// Nobody has put it out of sight.
    pub fn is_open(&self, now: Timestamp) -> bool {
        !self.answer.as_ref().is_some_and(|answer| answer.hides(now))
    }
}

/// What is remembered between two looks.
#[derive(Default)]
pub(crate) struct Inbox {
    tasks: tokio::sync::Mutex<TaskNeeds>,
    /// Since when what has no event of its own is so, by its name.
    since: Mutex<HashMap<String, Timestamp>>,
    /// What a thorough look at the store has found.
    damage: Mutex<Option<Problem>>,
    sides: beside::KnownSides,
}

#[derive(Default)]
struct TaskNeeds {
    /// The newest event that was taken in; `None` before the first look.
    seq: Option<i64>,
    by_task: HashMap<TaskId, Vec<Need>>,
    /// Tasks with an agent at work.
    at_work: HashMap<TaskId, TaskWithRuns>,
}

impl Engine {
    /// Everything that needs a person, with what was said about it, newest first; of one repository, or of all.
    pub async fn needs(&self, repo: Option<RepoId>) -> Result<Vec<KnownNeed>, Problem> {
        let of_tasks = self.task_needs().await.map_err(|e| store_problem(&e))?;
        let repos = self.store().repos(self.life().host).await.map_err(|e| store_problem(&e))?;
        let (at_work, repo_facts, daemon) = self.other_facts(&repos).await?;
        let silences = self.silences(&at_work).await;
        let tasks: Vec<TaskFacts<'_>> = at_work
            .iter()
            .map(|whole| TaskFacts {
                task: &whole.task,
                runs: &whole.runs,
                // Their other needs are known already.
                pulls: &[],
                open_here: &[],
                silences: &silences,
            })
            .collect();
        let facts = Facts { tasks: &tasks, repos: &repo_facts, daemon: &daemon, now: self.now() };
        let mut all: Vec<Need> = of_tasks;
        let known: HashSet<NeedId> = all.iter().map(|need| need.id.clone()).collect();
        all.extend(needs(&facts).into_iter().filter(|need| !known.contains(&need.id)));
        all.sort_by(|a, b| (b.since, &b.id).cmp(&(a.since, &a.id)));
        let answers = self.store().need_answers().await.map_err(|e| store_problem(&e))?;
        let root = |id: RepoId| repos.iter().find(|repo| repo.id == id).map(|repo| repo.root.clone());
        let of_this = |need: &Need| repo.is_none() || need.subject.repo.is_none() || need.subject.repo == repo;
        let ours = self.beside_bases(all.into_iter().filter(of_this).collect(), &repos).await;
        Ok(ours
            .into_iter()
            .map(|need| KnownNeed {
                answer: answers.get(&need.id).cloned(),
                repository: need.subject.repo.and_then(root),
                need,
            })
            .collect())
    }

    /// One need by the beginning of its id, or by what it is about: `T-3`, a run's key.
    pub async fn find_needs(&self, text: &str) -> Result<Vec<KnownNeed>, Problem> {
        let all = self.needs(None).await?;
        let text = text.trim().to_ascii_lowercase();
        let is_it = |need: &Need| need.id.as_str() == text;
        if let Some(one) = all.iter().find(|known| is_it(&known.need)) {
            return Ok(vec![one.clone()]);
        }
        let about: Vec<KnownNeed> = all.iter().filter(|known| is_about(&known.need, &text)).cloned().collect();
        if !about.is_empty() {
            return Ok(about);
        }
        let begun: Vec<KnownNeed> =
            all.into_iter().filter(|known| !text.is_empty() && known.need.id.as_str().starts_with(&text)).collect();
        match begun.as_slice() {
            [] => Err(Problem::NoSuchNeed { text }),
            [_] => Ok(begun),
            several => {
                let matches = several.iter().map(|known| known.need.id.to_string()).collect();
                Err(Problem::AmbiguousReference { text, matches })
            }
        }
    }

    /// What a person says about needs. All of them, or none when one is unknown.
    pub async fn answer_needs(&self, texts: &[String], answer: &Answer) -> Result<Vec<KnownNeed>, Problem> {
        let mut found: Vec<KnownNeed> = Vec::new();
        for text in texts {
            for new in self.find_needs(text).await? {
                if !found.iter().any(|known| known.need.id == new.need.id) {
                    found.push(new);
                }
            }
        }
        self.answer_all(found, answer).await
    }

    /// The same about everything that is in sight.
    pub async fn answer_open(&self, repo: Option<RepoId>, answer: &Answer) -> Result<Vec<KnownNeed>, Problem> {
        let now = self.now();
        let open = self.needs(repo).await?.into_iter().filter(|known| known.is_open(now)).collect();
        self.answer_all(open, answer).await
    }

    async fn answer_all(&self, mut found: Vec<KnownNeed>, answer: &Answer) -> Result<Vec<KnownNeed>, Problem> {
        let now = self.now();
        for known in &mut found {
            let id = known.need.id.clone();
            self.store().answer_need(id, answer.clone(), now).await.map_err(|e| store_problem(&e))?;
            known.answer = Some(answer.clone());
        }
        Ok(found)
    }

    /// Back in sight.
    pub async fn wake_needs(&self, text: &str) -> Result<Vec<KnownNeed>, Problem> {
        let mut found = self.find_needs(text).await?;
        for known in &mut found {
            let id = known.need.id.clone();
            self.store().wake_need(id, self.now()).await.map_err(|e| store_problem(&e))?;
            known.answer = None;
        }
        Ok(found)
    }

    /// Somebody has looked at what was kept of a run: it needs nobody for that any more.
    pub async fn seen_kept_work(&self, run: &Run) {
        if run.status() != Status::Canceled {
            return;
        }
        let Some(id) = kept_work_id(run) else { return };
        let answered = self.store().need_answers().await.is_ok_and(|answers| answers.contains_key(&id));
        if !answered && let Err(e) = self.store().answer_need(id, Answer::Seen, self.now()).await {
            tracing::info!("that kept work was looked at is not written down: {e}");
        }
    }

    /// A run was refused because the repository's configuration is not trusted.
    pub(crate) async fn trust_was_wanted(&self, repo: &Repo) {
        let Ok(powers) = Powers::of_file(&repo.root.join("dandori.toml")) else { return };
        let wanted = TrustWanted { repo: repo.id, digest: powers.digest(), at: self.now() };
        if let Err(e) = self.store().want_trust(wanted).await {
            tracing::info!("that trust is wanted is not written down: {e}");
        }
    }

    pub(crate) fn damage_found(&self, problem: Option<Problem>) {
        *self.0.inbox.damage.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    /// Answers to needs that have been gone for long.
    pub(crate) async fn drop_old_answers(&self) {
        let Ok(current) = self.needs(None).await else { return };
        let current = current.into_iter().map(|known| known.need.id).collect();
        if let Err(e) = self.store().drop_need_answers(current, self.now() - KEPT_ANSWERS).await {
            tracing::info!("old answers to needs stay: {e}");
        }
    }

    /// Those that follow from tasks, as of the newest event.
    async fn task_needs(&self) -> Result<Vec<Need>, StoreError> {
        let mut known = self.0.inbox.tasks.lock().await;
        let is_known = match known.seq {
            Some(seq) => self.take_in_events(&mut known, seq).await?,
            None => false,
        };
        if !is_known {
            // Before the look: what happens meanwhile is taken in by the next one.
            let seq = self.store().last_seq().await?;
            let found = self.store().needy_tasks(self.life().host).await?;
            *known = TaskNeeds { seq: Some(seq), ..TaskNeeds::default() };
            for whole in found {
                self.derive(&mut known, whole).await?;
            }
        }
        Ok(known.by_task.values().flatten().cloned().collect())
    }

    /// `false`: there is too much of it.
    async fn take_in_events(&self, known: &mut TaskNeeds, mut seq: i64) -> Result<bool, StoreError> {
        let mut touched: HashSet<TaskId> = HashSet::new();
        for page in 0.. {
            let events = self.store().events_after(seq, EventFilter::default(), PAGE).await?;
            let Some(last) = events.last() else { break };
            if page == MOST_PAGES {
                return Ok(false);
            }
            seq = last.seq;
            for event in &events {
                match (event.task, event.run) {
                    (Some(task), _) => drop(touched.insert(task)),
                    (None, Some(run)) => drop(touched.insert(self.store().run(run).await?.spec.task)),
                    (None, None) => {}
                }
            }
        }
        for task in touched {
            match self.store().whole_task(task).await {
                Ok(whole) => self.derive(known, whole).await?,
                // A formation's task that nobody has worked on yet is only planned.
                Err(StoreError::NotFound { .. }) => {}
                Err(e) => return Err(e),
            }
        }
        known.seq = Some(seq);
        Ok(true)
    }

    async fn derive(&self, known: &mut TaskNeeds, whole: TaskWithRuns) -> Result<(), StoreError> {
        let id = whole.task.id;
        known.by_task.remove(&id);
        known.at_work.remove(&id);
        // Another daemon's are told by it.
        if !whole.runs.iter().any(|run| run.spec.host == self.life().host) {
            return Ok(());
        }
        let open_here = match whole.pulls.as_slice() {
            [] => Vec::new(),
            _ => self.store().open_local_pulls(whole.task.repo).await?,
        };
        let facts = TaskFacts {
            task: &whole.task,
            runs: &whole.runs,
            pulls: &whole.pulls,
            open_here: &open_here,
            silences: &[],
        };
        let found = needs(&Facts { tasks: &[facts], repos: &[], daemon: &DaemonFacts::default(), now: self.now() });
        if !found.is_empty() {
            known.by_task.insert(id, found);
        }
        if whole.runs.iter().any(|run| run.status() == Status::Running) {
            known.at_work.insert(id, whole);
        }
        Ok(())
    }

    /// What is looked at each time.
    async fn other_facts(&self, repos: &[Repo]) -> Result<(Vec<TaskWithRuns>, Vec<RepoFacts>, DaemonFacts), Problem> {
        let at_work = self.0.inbox.tasks.lock().await.at_work.values().cloned().collect();
        let wanted = self.store().trust_wanted(self.life().host).await.map_err(|e| store_problem(&e))?;
        let (repos, now) = (repos.to_vec(), self.now());
        let trust_file = self.layout().trust();
        let facts = self
            .blocking(move |engine| {
                let trust = TrustFile::load(&trust_file);
                repos
                    .into_iter()
                    .map(|repo| RepoFacts {
                        repo: repo.id,
                        untrusted: wanted
                            .iter()
                            .find(|wanted| wanted.repo == repo.id)
                            .and_then(|wanted| untrusted(&repo, &trust, wanted)),
                        unconfirmed: unconfirmed(&engine.layout().guard(&repo.root), now),
                    })
                    .collect()
            })
            .await?;
        Ok((at_work, facts, self.daemon_facts(now)))
    }

    fn daemon_facts(&self, now: Timestamp) -> DaemonFacts {
        let rescued = self.notices().into_iter().map(|notice| notice.0);
        let rescued = rescued.filter(|problem| matches!(problem, Problem::StoreDamaged { .. }));
        let current = |slot: &Mutex<Option<Problem>>| slot.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let troubles = [current(&self.0.not_admitted), current(&self.0.inbox.damage)].into_iter().flatten();
        let problems: Vec<Problem> = rescued.chain(troubles).collect();
        let disk = match self.require_disk() {
            Err(Problem::DiskFull { path, free_mib, needed_mib }) => Some((path, free_mib << 20, needed_mib << 20)),
            Ok(()) | Err(_) => None,
        };
        let mut since = self.0.inbox.since.lock().unwrap_or_else(PoisonError::into_inner);
        let names: HashSet<String> =
            problems.iter().map(Problem::code).chain(disk.is_some().then(|| "disk".to_owned())).collect();
        since.retain(|name, _| names.contains(name));
        let mut since = |name: String| *since.entry(name).or_insert(now);
        DaemonFacts {
            notices: problems.into_iter().map(|problem| (problem.clone(), since(problem.code()))).collect(),
            disk: disk.map(|(path, free, needed)| DiskFacts { path, free, needed, since: since("disk".to_owned()) }),
        }
    }

    /// Since when each agent at work has said nothing.
    async fn silences(&self, at_work: &[TaskWithRuns]) -> Vec<(RunId, Timestamp)> {
        let running: Vec<Run> = at_work
            .iter()
            .flat_map(|whole| &whole.runs)
            .filter(|run| run.status() == Status::Running)
            .cloned()
            .collect();
        let looked = self.blocking(move |engine| {
            let silent = |run: &Run| engine.now_of(run)?.silent_since.map(|since| (run.spec.id, since));
            running.iter().filter_map(silent).collect()
        });
        looked.await.unwrap_or_default()
    }
}

fn is_about(need: &Need, text: &str) -> bool {
    let subject = &need.subject;
    let number = subject.number.map(|number| number.to_string().to_ascii_lowercase());
    let key = subject.run.map(|run| run.key());
    number.is_some_and(|number| number == text) || key.is_some_and(|key| key.as_str() == text)
}

/// What was refused, as long as it is what the file says and nobody has trusted it.
fn untrusted(repo: &Repo, trust: &TrustFile, wanted: &TrustWanted) -> Option<Untrusted> {
    let path = repo.root.join("dandori.toml");
    let powers = Powers::of_file(&path).ok()?;
    (powers.digest() == wanted.digest && !trust.trusts(&repo.git_dir, &powers)).then(|| Untrusted {
        path,
        what: powers.0,
        digest: wanted.digest.clone(),
        refused_at: wanted.at,
    })
}

fn unconfirmed(folder: &Utf8Path, now: Timestamp) -> Vec<Unconfirmed> {
    let waiting = waiting_for_consent(folder, now, WAITING_FOR).into_iter();
    waiting.map(|(session, refused_at)| Unconfirmed { session, refused_at }).collect()
}

/// What an agent was about when it was last heard of, in a line.
pub(crate) fn is_telling(event: &AgentEvent) -> bool {
    match event {
        AgentEvent::Message { .. }
        | AgentEvent::ToolCall { .. }
        | AgentEvent::Retrying { .. }
        | AgentEvent::Error { .. }
        | AgentEvent::SetUpBegan { .. }
        | AgentEvent::SetUpLine { .. }
        | AgentEvent::Line { .. } => true,
        AgentEvent::Started { .. }
        | AgentEvent::Thought { .. }
        | AgentEvent::ToolResult { .. }
        | AgentEvent::Usage { .. }
        | AgentEvent::Warning { .. }
        | AgentEvent::Finished { .. }
        | AgentEvent::SetUpEnded { .. }
        | AgentEvent::Unknown { .. } => false,
    }
}
