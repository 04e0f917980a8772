//! Tasks, and the runs that are asked for with them or after them.

use camino::Utf8PathBuf;
use dandori_domain::id::{HostId, PullId, RepoId, RunId, TaskId, TaskNumber};
use dandori_domain::pull::{Pull, PullFact, PullWanted};
use dandori_domain::run::{Brings, Errand, Here, RunSettings};
use dandori_domain::task::Task;
use dandori_domain::{AgentName, Run, RunKind, RunSpec, Status};
use jiff::Timestamp;

use crate::error::{Noun, Result, StoreError};
use crate::event::{About, log};
use crate::store::Store;
use crate::tx::{Row, Tx, Value, params};
use crate::verb::{pull, run, subject};

const SELECT: &str = "SELECT id, number, repo, title, created_at, picked FROM task";

/// A task before the store has given it its number.
#[derive(Clone, PartialEq, Debug)]
pub struct NewTask {
    pub id: TaskId,
    pub repo: RepoId,
    pub title: String,
    pub created_at: Timestamp,
}

/// A run before it belongs to a task: task, number and repository come from there.
#[derive(Clone, PartialEq, Debug)]
pub struct NewRun {
    pub id: RunId,
    pub host: HostId,
    pub agent: AgentName,
    pub kind: RunKind,
    pub instruction: String,
    pub base: Option<String>,
    pub here: Option<Here>,
    pub checkout: Option<Utf8PathBuf>,
    pub brings: Option<Brings>,
    /// A run with one is created once, however often it is asked for.
    pub errand: Option<Errand>,
    pub settings: RunSettings,
    pub again: Option<Again>,
    pub created_at: Timestamp,
}

/// An earlier run asked for once more, and what was known of it: whoever asks at the same moment knows no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Again {
    pub of: RunId,
    /// The newest attempt at it that there was; itself when it had not been tried again.
    pub newest: RunId,
}

impl NewRun {
    fn of(&self, task: &Task) -> Run {
        Run::new(RunSpec {
            id: self.id,
            task: task.id,
            number: task.number,
            repo: task.repo,
            host: self.host,
            agent: self.agent.clone(),
            kind: self.kind.clone(),
            instruction: self.instruction.clone(),
            base: self.base.clone(),
            here: self.here.clone(),
            checkout: self.checkout.clone(),
            brings: self.brings.clone(),
            errand: self.errand.clone(),
            settings: self.settings.clone(),
            retry_of: self.again.map(|again| again.of),
            created_at: self.created_at,
        })
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TaskFilter {
    pub repo: Option<RepoId>,
    /// Only tasks with a run that is not settled, or a pull request the forge has not answered to.
    pub open_only: bool,
    /// Only tasks with a run in one of these; all when there are none.
    pub states: Vec<Status>,
    /// Only tasks with a run of this agent; `exec` is every command.
    pub agent: Option<String>,
}

/// The first tasks of a list, and how many there are.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskPage {
    pub tasks: Vec<TaskWithRuns>,
    pub total: u64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct TaskWithRuns {
    pub task: Task,
    pub runs: Vec<Run>,
    /// The pull requests of its branches, oldest first.
    pub pulls: Vec<Pull>,
}

pub(crate) fn read(row: &Row) -> Result<Task> {
    Ok(Task {
        id: row.parsed(0)?,
        number: TaskNumber(row.int(1)?),
        repo: row.parsed(2)?,
        title: row.text(3)?.to_owned(),
        created_at: row.parsed(4)?,
        picked: row.parsed_if_there(5)?,
    })
}

pub(crate) fn by_number(tx: &mut dyn Tx, number: i64) -> Result<Option<Task>> {
    tx.first(&format!("{SELECT} WHERE number = $1"), params![number])?.as_ref().map(read).transpose()
}

pub(crate) fn by_id(tx: &mut dyn Tx, id: TaskId) -> Result<Option<Task>> {
    tx.first(&format!("{SELECT} WHERE id = $1"), params![id])?.as_ref().map(read).transpose()
}

pub(crate) fn load(tx: &mut dyn Tx, id: TaskId) -> Result<Task> {
    by_id(tx, id)?.ok_or_else(|| StoreError::not_found(Noun::Task, id))
}

fn create(tx: &mut dyn Tx, new: &NewTask, runs: &[NewRun]) -> Result<(Task, Vec<Run>)> {
    if runs.iter().any(|run| run.errand.is_some()) {
        // Whoever asks for the same at this moment waits here, and finds what the first has created.
        let lock = tx.dialect().lock("counter");
        tx.query(&format!("SELECT value FROM counter WHERE name = 'task'{lock}"), &[])?;
        if by_id(tx, new.id)?.is_some() {
            let runs = runs.iter().map(|run| add_run(tx, new.id, run)).collect::<Result<_>>()?;
            return Ok((load(tx, new.id)?, runs));
        }
    }
    // A counter in a row, not a sequence: a task that was not created leaves no gap.
    let number = tx.int("UPDATE counter SET value = value + 1 WHERE name = 'task' RETURNING value", &[])?;
    let task = Task {
        id: new.id,
        number: TaskNumber(number),
        repo: new.repo,
        title: new.title.clone(),
        created_at: new.created_at,
        picked: None,
    };
    tx.execute(
        "INSERT INTO task (number, id, repo, title, created_at) VALUES ($1, $2, $3, $4, $5)",
        params![number, task.id, task.repo, task.title.as_str(), task.created_at],
    )?;
    let about = About { repo: Some(task.repo), task: Some(task.id), ..About::default() };
    log(tx, task.created_at, about, "task_created", &task)?;
    let mut facts = Vec::with_capacity(runs.len());
    for new in runs {
        let run = new.of(&task);
        run::insert(tx, &run)?;
        facts.push(run);
    }
    Ok((task, facts))
}

fn add_run(tx: &mut dyn Tx, task: TaskId, new: &NewRun) -> Result<Run> {
    let task = load(tx, task)?;
    if let Some(there) = done_already(tx, &task, new)? {
        return Ok(there);
    }
    let run = new.of(&task);
    if let Some(again) = new.again {
        require_newest(tx, task.id, again)?;
    }
    run::require_free_branch(tx, &run)?;
    run::insert(tx, &run)?;
    Ok(run)
}

/// The run of an errand that was asked for before.
fn done_already(tx: &mut dyn Tx, task: &Task, new: &NewRun) -> Result<Option<Run>> {
    let Some(errand) = &new.errand else { return Ok(None) };
    let lock = tx.dialect().lock("task");
    tx.query(&format!("SELECT id FROM task WHERE id = $1{lock}"), params![task.id])?;
    let there = match run::load(tx, new.id) {
        Err(StoreError::NotFound { .. }) => return Ok(None),
        found => found?,
    };
    if !there.spec.errand.as_ref().is_some_and(|known| known.is_same(errand)) || there.spec.task != task.id {
        return Err(StoreError::other(format!("{} belongs to another errand", new.id)));
    }
    Ok(Some(there))
}

/// A run is tried again once at a time: [`StoreError::Busy`] names the attempt that came first, also when it is over
/// already and whoever asks has not heard of it.
fn require_newest(tx: &mut dyn Tx, task: TaskId, again: Again) -> Result<()> {
    let lock = tx.dialect().lock("task");
    tx.query(&format!("SELECT id FROM task WHERE id = $1{lock}"), params![task])?;
    let runs = run::of_task(tx, task)?;
    let newest = runs.iter().rfind(|r| r.spec.retry_of == Some(again.of));
    match newest {
        Some(other) if !other.is_settled() || other.spec.id != again.newest => {
            Err(StoreError::Busy { run: other.spec.id, status: other.status() })
        }
        _ => Ok(()),
    }
}

/// Those at work, then those that wait, then the others; the newest of each first. The busy ones are few, whatever the
/// repository has seen, and have an index of their own; of the others no more are looked at than are wanted.
fn list(tx: &mut dyn Tx, filter: &TaskFilter, limit: i64) -> Result<TaskPage> {
    let (narrowed, values) = conditions(filter, Part::Whole);
    let total = tx.int(&format!("SELECT count(*) FROM task{narrowed}"), &values)?;
    let mut rows = page(tx, filter, Part::Busy, limit)?;
    let left = limit - i64::try_from(rows.len()).map_err(StoreError::unreadable)?;
    rows.extend(page(tx, filter, Part::Rest, left)?);
    let tasks = rows
        .iter()
        .map(|row| {
            let task = read(row)?;
            with_runs(tx, task)
        })
        .collect::<Result<_>>()?;
    Ok(TaskPage { tasks, total: u64::try_from(total).map_err(StoreError::unreadable)? })
}

/// The newest tasks whose runs have all come to their end. How many there are is not counted.
fn ended(tx: &mut dyn Tx, repo: Option<RepoId>, limit: i64) -> Result<Vec<TaskWithRuns>> {
    let states: Vec<String> =
        Status::ALL.iter().filter(|state| state.is_terminal()).map(|state| format!("'{state}'")).collect();
    let states = states.join(", ");
    let is_over = format!("NOT EXISTS (SELECT 1 FROM run WHERE run.task = task.id AND run.status NOT IN ({states}))");
    let rows = match repo {
        Some(repo) => tx.query(
            &format!("{SELECT} WHERE repo = $1 AND {is_over} ORDER BY number DESC LIMIT $2"),
            params![repo, limit],
        )?,
        None => tx.query(&format!("{SELECT} WHERE {is_over} ORDER BY number DESC LIMIT $1"), params![limit])?,
    };
    let whole = |row: &Row| {
        let task = read(row)?;
        with_runs(tx, task)
    };
    rows.iter().map(whole).collect()
}

/// Of which tasks a part of the list is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    /// With a run that is at work or in the queue.
    Busy,
    Rest,
}

fn page(tx: &mut dyn Tx, filter: &TaskFilter, part: Part, limit: i64) -> Result<Vec<Row>> {
    let (narrowed, mut values) = conditions(filter, part);
    values.push(Value::Int(limit));
    let last = values.len();
    let order = match part {
        Part::Busy => {
            "CASE WHEN EXISTS (SELECT 1 FROM run WHERE run.task = task.id AND run.live = 1) THEN 0 ELSE 1 END, "
        }
        Part::Whole | Part::Rest => "",
    };
    tx.query(&format!("{SELECT}{narrowed} ORDER BY {order}number DESC LIMIT ${last}"), &values)
}

fn conditions(filter: &TaskFilter, part: Part) -> (String, Vec<Value>) {
    let mut values: Vec<Value> = Vec::new();
    let mut put = |value: Value| {
        values.push(value);
        format!("${}", values.len())
    };
    let mut conditions = Vec::new();
    // Where few tasks are found by their runs, the repository is asked of those: it has more tasks than they are.
    let repo = filter.repo.map(|repo| put(repo.into()));
    let in_repo = |table: &str| repo.as_ref().map(|repo| format!(" AND {table}.repo = {repo}")).unwrap_or_default();
    let busy = format!("SELECT task FROM run WHERE open = 1 AND (live = 1 OR waiting = 1){}", in_repo("run"));
    match part {
        Part::Whole => {}
        Part::Busy => conditions.push(format!("id IN ({busy})")),
        Part::Rest => conditions.push(format!("id NOT IN ({busy})")),
    }
    if filter.open_only {
        let (runs, pulls) = (in_repo("run"), in_repo("pull"));
        // Written so that the index of what is walked is taken, not that of all pull requests.
        conditions.push(format!(
            "id IN (SELECT task FROM run WHERE open = 1{runs}
                 UNION SELECT pull.task FROM subject JOIN pull ON pull.id = subject.id
                     WHERE subject.walked = 1 AND subject.machine || '' = 'pull'{pulls})"
        ));
    }
    if let Some(repo) = repo.as_ref().filter(|_| part != Part::Busy && !filter.open_only) {
        conditions.push(format!("repo = {repo}"));
    }
    // One run has to be both: another's state says nothing about this agent.
    let mut of_run = Vec::new();
    if !filter.states.is_empty() {
        let states: Vec<String> = filter.states.iter().map(|state| put(state.as_str().into())).collect();
        of_run.push(format!(" AND run.status IN ({})", states.join(", ")));
    }
    if let Some(agent) = &filter.agent {
        let (same, begins) = (put(agent.as_str().into()), put(format!("{agent}:%").into()));
        of_run.push(format!(" AND (run.agent = {same} OR run.agent LIKE {begins})"));
    }
    if !of_run.is_empty() {
        let of_run = of_run.concat();
        conditions.push(format!("EXISTS (SELECT 1 FROM run WHERE run.task = task.id{of_run})"));
    }
    let narrowed = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
    (narrowed, values)
}

pub(crate) fn with_runs(tx: &mut dyn Tx, task: Task) -> Result<TaskWithRuns> {
    Ok(TaskWithRuns { runs: run::of_task(tx, task.id)?, pulls: pull::of_task(tx, task.id)?, task })
}

fn pick(
    tx: &mut dyn Tx,
    task: TaskId,
    picked: RunId,
    moved: Option<&(PullId, PullWanted)>,
    now: Timestamp,
) -> Result<Task> {
    let run = run::load(tx, picked)?;
    if run.spec.task != task {
        return Err(StoreError::not_found(Noun::Run, picked));
    }
    tx.execute("UPDATE task SET picked = $2 WHERE id = $1", params![task, picked])?;
    log(tx, now, subject::about(&run), "task_picked", &serde_json::json!({ "run": picked }))?;
    if let Some((id, wanted)) = moved {
        let pull: Pull = subject::load_to_change(tx, *id)?;
        subject::take_in(tx, &pull, &[PullFact::PullWanted { wanted: wanted.clone() }], now)?;
    }
    load(tx, task)
}

impl Store {
    /// A task with the runs asked for along with it. Its number is the next one, without gaps. For an errand the task may be
    /// there, and so may the run: then they are what is answered.
    pub async fn create_task(&self, task: NewTask, runs: Vec<NewRun>) -> Result<(Task, Vec<Run>)> {
        let created = self.write(move |tx| create(tx, &task, &runs)).await?;
        self.note_number(created.0.number.0);
        Ok(created)
    }

    /// One more run of a task; [`StoreError::Busy`] when another unsettled one works on the same branch, or is the same
    /// attempt. The run of an errand that is there already is answered as it is.
    pub async fn add_run(&self, task: TaskId, run: NewRun) -> Result<Run> {
        self.write(move |tx| add_run(tx, task, &run)).await
    }

    /// A task with its runs and pull requests, all as they were at one moment.
    pub async fn whole_task(&self, id: TaskId) -> Result<TaskWithRuns> {
        self.read(move |tx| {
            let task = load(tx, id)?;
            with_runs(tx, task)
        })
        .await
    }

    pub async fn task(&self, id: TaskId) -> Result<Task> {
        self.read(move |tx| load(tx, id)).await
    }

    /// Tasks with their runs: those at work first, then those that wait, then the newest.
    pub async fn tasks(&self, filter: TaskFilter, limit: u32) -> Result<TaskPage> {
        self.read(move |tx| list(tx, &filter, i64::from(limit))).await
    }

    /// The newest tasks that are over, with their runs.
    pub async fn ended_tasks(&self, repo: Option<RepoId>, limit: u32) -> Result<Vec<TaskWithRuns>> {
        self.read(move |tx| ended(tx, repo, i64::from(limit))).await
    }

    pub async fn count_tasks(&self, repo: Option<RepoId>) -> Result<u64> {
        self.read(move |tx| {
            let filter = TaskFilter { repo, ..TaskFilter::default() };
            let (narrowed, values) = conditions(&filter, Part::Whole);
            let total = tx.int(&format!("SELECT count(*) FROM task{narrowed}"), &values)?;
            u64::try_from(total).map_err(StoreError::unreadable)
        })
        .await
    }

    /// This run's branch is the one to go on with. A pull request that is open for another branch of the task moves to it.
    pub async fn pick(
        &self,
        task: TaskId,
        run: RunId,
        moved: Option<(PullId, PullWanted)>,
        now: Timestamp,
    ) -> Result<Task> {
        self.write(move |tx| pick(tx, task, run, moved.as_ref(), now)).await
    }
}
