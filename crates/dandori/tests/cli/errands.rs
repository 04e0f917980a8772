//! Runs that no verb asks for: what the formation has done for it.

use dandori_domain::run::{Brings, OnConflict, RunSettings, SetUpChoice};
use dandori_domain::task::Task;
use dandori_domain::{AgentName, Oid, Run, RunId, RunKind, TaskId};
use dandori_host::{now, random};
use dandori_store::{Location, NewRun, NewTask, Store, TaskFilter};
use dandori_testkit::env::{TestEnv, wait_for};
use serde_json::Value;

use crate::machine;

/// The store of a machine, for as long as its daemon does not run.
pub(crate) fn with_store<T>(env: &TestEnv, work: impl AsyncFnOnce(&Store, Vec<Run>) -> T) -> T {
    let _ = env.dandori(["daemon", "stop"]).ok();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let database = dandori_host::layout::Layout::at(env.state()).database();
    let done = runtime.block_on(async {
        let (store, _) = Store::open(Location::Sqlite(database), now()).await.unwrap();
        let page = store.tasks(TaskFilter::default(), 100).await.unwrap();
        work(&store, page.tasks.into_iter().flat_map(|task| task.runs).collect()).await
    });
    drop(runtime);
    let _ = env.dandori(["daemon", "start"]).ok();
    done
}

/// A run as the formation would ask for it, in the repository of an earlier one.
pub(crate) fn like(earlier: &Run, agent: &str) -> NewRun {
    NewRun {
        id: RunId::mint(now(), random()),
        host: earlier.spec.host,
        agent: agent.parse::<AgentName>().unwrap(),
        kind: RunKind::First,
        instruction: "Merge what was done".to_owned(),
        base: None,
        here: None,
        checkout: None,
        brings: None,
        errand: None,
        settings: RunSettings { set_up: SetUpChoice::Nothing, ..RunSettings::default() },
        again: None,
        created_at: now(),
    }
}

pub(crate) async fn create(store: &Store, earlier: &Run, run: NewRun) -> (Task, Run) {
    let id = TaskId::mint(now(), random());
    let task = NewTask { id, repo: earlier.spec.repo, title: "an order".to_owned(), created_at: now() };
    let (task, mut runs) = store.create_task(task, vec![run]).await.unwrap();
    (task, runs.remove(0))
}

/// The newest run of a task, once it is over.
pub(crate) fn over(env: &TestEnv, task: &str, runs: usize) -> Value {
    wait_for("the run is over", || {
        let shown = env.dandori(["task", "show", task, "--json"]).json();
        let all = shown["runs"].as_array().unwrap();
        let run = all.last().filter(|_| all.len() == runs)?.clone();
        ["SUCCEEDED", "FAILED", "CANCELED"].contains(&run["state"].as_str().unwrap()).then_some(run)
    })
}

fn commit_of(env: &TestEnv, run: &Value) -> Oid {
    Oid::new(env.git(["rev-parse", run["branch"].as_str().unwrap()]).trim())
}

fn giving_back(oid: &Oid, name: &str) -> Brings {
    Brings::Commit { oid: oid.clone(), name: name.to_owned(), on_conflict: OnConflict::GiveBack }
}

/// One more run of the task of `earlier`, on its branch.
async fn follow_up(store: &Store, runs: &[Run], earlier: &Run, run: NewRun) -> Run {
    let newest = runs.iter().rfind(|run| run.spec.task == earlier.spec.task).unwrap();
    let kind = match newest.next_workspace() {
        Some(workspace) => RunKind::FollowUp { after: newest.spec.id, workspace, session: None },
        None => RunKind::First,
    };
    store.add_run(earlier.spec.task, NewRun { kind, ..run }).await.unwrap()
}

fn list(env: &TestEnv, reference: &str) -> String {
    env.git(["ls-tree", "-r", "--name-only", reference])
}

#[test]
fn work_is_integrated_as_git_merges_it_once_the_check_agrees_and_given_back_otherwise() {
    let env = machine();
    let done = |words: &str, agent: &str| env.run_json([words, "--agent", agent])["runs"][0].clone();
    let first = commit_of(&env, &done("add a", "exec:echo a > a.txt"));
    let second = commit_of(&env, &done("add b", "exec:echo b > b.txt; echo more >> README.md"));
    let rival = commit_of(&env, &done("add c", "exec:echo other > a.txt"));
    let twin = commit_of(&env, &done("add d", "exec:echo a > a.txt"));

    // A first run brings a commit that is simply ahead. What the check writes is nobody's work.
    let order = with_store(&env, async |store, runs| {
        let mut run = like(&runs[0], "exec:exit 9");
        run.brings = Some(giving_back(&first, "T-1"));
        run.settings.check = Some("test -f a.txt && echo built > built.txt && echo x >> README.md".to_owned());
        create(store, &runs[0], run).await.1
    });
    let ran = over(&env, "T-5", 1);
    assert_eq!(ran["state"], "SUCCEEDED", "{ran}");
    let branch = ran["branch"].as_str().unwrap().to_owned();
    let files = list(&env, &branch);
    assert!(files.contains("a.txt") && !files.contains("built.txt"), "{files}");
    let parents = env.git(["log", "-1", "--format=%P", &branch]);
    assert!(parents.trim().ends_with(first.as_str()) && parents.split_whitespace().count() == 2, "{parents}");
    assert!(env.git(["log", "-1", "--format=%s", &branch]).starts_with("Merge T-1 into dandori/"));
    assert_eq!(env.git_in(&env.origin(), ["rev-parse", &branch]), env.git(["rev-parse", &branch]), "pushed");

    // The check refuses: nothing is committed, and its words are the reason.
    let before = env.git(["rev-parse", &branch]);
    let _ = with_store(&env, async |store, runs| {
        let mut run = like(&order, "exec:exit 9");
        run.brings = Some(giving_back(&second, "T-2"));
        run.settings.check = Some("echo left > left.txt; echo 'two tests failed'; exit 3".to_owned());
        follow_up(store, &runs, &order, run).await
    });
    let ran = over(&env, "T-5", 2);
    assert_eq!((&ran["state"], &ran["error"]["code"]), (&"FAILED".into(), &"check".into()), "{ran}");
    assert!(ran["error"].to_string().contains("two tests failed"), "{ran}");
    assert_eq!(env.git(["rev-parse", &branch]), before);

    // A conflict is known before anything is touched.
    let _ = with_store(&env, async |store, runs| {
        let mut run = like(&order, "exec:exit 9");
        run.brings = Some(giving_back(&rival, "T-3"));
        follow_up(store, &runs, &order, run).await
    });
    let ran = over(&env, "T-5", 3);
    assert_eq!((&ran["state"], &ran["error"]["code"]), (&"FAILED".into(), &"does_not_merge".into()), "{ran}");
    assert!(ran["error"].to_string().contains("a.txt"), "{ran}");

    // The second comes in after all; what the refused check had left behind is kept elsewhere and not part of it.
    let _ = with_store(&env, async |store, runs| {
        let mut run = like(&order, "exec:exit 9");
        run.brings = Some(giving_back(&second, "T-2"));
        run.settings.check = Some("test ! -e left.txt && test -f a.txt && test -f b.txt".to_owned());
        follow_up(store, &runs, &order, run).await
    });
    let ran = over(&env, "T-5", 4);
    assert_eq!(ran["state"], "SUCCEEDED", "{ran}");
    let files = list(&env, &branch);
    assert!(files.contains("b.txt") && !files.contains("left.txt") && !files.contains("built.txt"), "{files}");
    assert!(env.git(["for-each-ref", "refs/dandori/preserved/"]).lines().count() >= 1, "what was left is kept");

    // One that did the same as another changes no file and is part of the branch all the same.
    let _ = with_store(&env, async |store, runs| {
        let mut run = like(&order, "exec:exit 9");
        run.brings = Some(giving_back(&twin, "T-4"));
        follow_up(store, &runs, &order, run).await
    });
    let ran = over(&env, "T-5", 5);
    assert_eq!(ran["state"], "SUCCEEDED", "{ran}");
    assert!(env.git(["log", "-1", "--format=%P", &branch]).trim().ends_with(twin.as_str()));

    // Once more the same: there is nothing to bring, and nothing is committed.
    let before = env.git(["rev-parse", &branch]);
    let _ = with_store(&env, async |store, runs| {
        let mut run = like(&order, "exec:exit 9");
        run.brings = Some(giving_back(&second, "T-2"));
        follow_up(store, &runs, &order, run).await
    });
    assert_eq!(over(&env, "T-5", 6)["state"], "SUCCEEDED");
    assert_eq!(env.git(["rev-parse", &branch]), before);
}

#[test]
fn whoever_has_to_resolve_finds_both_sides_in_the_files_and_is_told_what_is_merged() {
    let env = machine();
    let mine = env.run_json(["add a", "--agent", "exec:echo mine > a.txt"])["runs"][0].clone();
    let other = env.run_json(["add a", "--agent", "exec:echo other > a.txt"])["runs"][0].clone();
    let other = commit_of(&env, &other);
    let _ = with_store(&env, async |store, runs| {
        let earlier = runs.iter().find(|run| run.branch() == mine["branch"].as_str()).unwrap();
        let agent = "exec:cat > told.txt; grep -q '<<<<<<<' a.txt && echo both > a.txt";
        let mut run = like(earlier, agent);
        let oid = other.clone();
        run.brings = Some(Brings::Commit { oid, name: "the order".to_owned(), on_conflict: OnConflict::Resolve });
        follow_up(store, &runs, earlier, run).await
    });
    let ran = over(&env, "T-1", 2);
    assert_eq!(ran["state"], "SUCCEEDED", "{ran}");
    let branch = ran["branch"].as_str().unwrap();
    assert_eq!(env.git(["show", &format!("{branch}:a.txt")]), "both");
    let told = env.git(["show", &format!("{branch}:told.txt")]);
    assert!(told.contains("the order is being merged into this branch"), "{told}");
    assert!(env.git(["log", "-1", "--format=%P", branch]).contains(other.as_str()));
}

#[test]
fn a_run_that_may_only_read_sees_its_worktree_changes_nothing_of_it_and_succeeds() {
    let env = machine();
    let _ = env.run_json(["add a", "--agent", "exec:echo a > a.txt"]);
    let run = with_store(&env, async |store, runs| {
        let tries =
            "echo x > new.txt; echo x >> README.md; rm README.md; mkdir made; chmod 700 README.md; mv README.md b";
        let agent = format!("exec:({tries}) 2> /dev/null; cat README.md > $TMPDIR/seen && ls -A && cat $TMPDIR/seen");
        let mut run = like(&runs[0], &agent);
        run.settings.read_only = true;
        create(store, &runs[0], run).await.1
    });
    let ran = over(&env, "T-2", 1);
    assert_eq!((&ran["state"], &ran["changes"]), (&"SUCCEEDED".into(), &Value::Null), "{ran}");
    let files = dandori_host::layout::Layout::at(env.state()).repo(run.spec.repo).run(run.spec.id);
    let said = std::fs::read_to_string(files.output()).unwrap();
    assert!(said.starts_with(".git\n") && said.contains("README.md\n"), "{said}");
    assert!(["new.txt", "made", "\nx\n"].iter().all(|trace| !said.contains(trace)), "{said}");
    assert_eq!(ran["preserved"], Value::Null, "there was nothing to keep");
}
