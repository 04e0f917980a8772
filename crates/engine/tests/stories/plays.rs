//! What users do, each from the first order to the settled end, and what must have come of it.

use std::time::Duration;

use dandori_domain::pull::{MERGE_TRIES, PullState, Standing};
use dandori_domain::run::{Errand, Note, Purpose, Removal, Role, Run, Status};
use dandori_domain::task::Task;
use dandori_domain::{Epoch, Failure, Limit, MessageId, Oid, Problem, TaskId};
use jiff::Timestamp;

pub(crate) use crate::orders::*;
use crate::scene::Scene;

/// The engine ends at a point of this name, this time it is reached.
pub(crate) type Crash = Option<(String, u32)>;

async fn scene(crash: Crash, config: &str) -> Scene {
    Scene::new(crash, config).await
}

/// One commit of the run's own on its branch, at the remote.
fn assert_published(scene: &Scene, run: &Run, commits: usize) {
    assert_eq!(run.status(), Status::Succeeded, "{run:#?}");
    let branch = run.branch().unwrap();
    let world = scene.world.lock();
    let published = world.published(branch);
    assert_eq!(published.len(), commits, "commits on {branch}: {published:?}");
    assert_eq!(published.first(), run.progress.pushed());
    assert_eq!(world.branches.get(branch), world.remote.get(branch));
}

pub(crate) async fn published(crash: Crash) -> Scene {
    let mut scene = scene(crash, "worktrees.set_up = [\"echo set-up\"]\n").await;
    scene.world.lock().main_is_dirty = true;
    let task = scene.run("publish it", "exec:edits", true).await;
    let run = scene.settled(&task).await;
    assert_published(&scene, &run, 1);
    assert_eq!(scene.world.lock().pulls.len(), 1);
    assert_eq!(scene.pulls(&task).await.len(), 1);
    assert!(matches!(scene.pulls(&task).await[0].standing, Standing::Open { .. }));
    let start = run.start.unwrap();
    assert_eq!((start.base.as_str(), start.left_out.unwrap().changed), ("main", 1));
    scene
}

/// Without a remote the commit on its branch is the end, and a pull request is opened all the same. A remote that is there by
/// the time of the follow-up gets the whole branch.
pub(crate) async fn without_a_remote(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    scene.world.lock().no_remote = true;
    let task = scene.run("stay here", "exec:edits", true).await;
    let run = scene.settled(&task).await;
    assert_eq!((run.status(), run.progress.pushed()), (Status::Succeeded, None), "{run:#?}");
    let (branch, path) = (run.branch().unwrap().to_owned(), run.workspace().unwrap().path.clone());
    {
        let world = scene.world.lock();
        assert_eq!(world.branches.get(&branch), run.progress.delivered());
        assert_eq!((world.remote.len(), world.pulls.len()), (1, 1), "nothing was pushed");
    }
    scene.world.lock().no_remote = false;
    scene.world.lock().worktrees.get_mut(&path).unwrap().insert("more.txt".into(), "more".into());
    scene.follow_up(&task, "and now publish", false).await;
    let run = scene.settled(&task).await;
    assert_published(&scene, &run, 2);
    scene
}

/// The remote goes away while the agent works, after the run was taken on with it.
pub(crate) async fn remote_gone_before_the_push(crash: Crash) -> Scene {
    let mut scene = scene(crash, "cleanup = \"push\"\n").await;
    scene.world.lock().conflicts = true;
    let task = scene.run("lose it", "exec:waits", false).await;
    let run = scene.running(&task).await;
    scene.world.colleague_pushes(run.branch().unwrap(), "work.txt");
    scene.world.let_agents_end();
    let run = scene.settled(&task).await;
    assert!(matches!(run.failure(), Some(Failure::PushConflict { .. })), "{run:#?}");
    scene.world.lock().no_remote = true;
    scene.retry(&task).await;
    let run = scene.settled(&task).await;
    assert_eq!((run.status(), run.progress.pushed()), (Status::Succeeded, None), "{run:#?}");
    let world = scene.world.lock();
    assert_eq!(world.branches.get(run.branch().unwrap()), run.progress.delivered(), "the only copy stays");
    assert!(world.worktrees.is_empty(), "and the worktree goes as it was asked to");
    drop(world);
    scene
}

/// What was kept of a canceled run is where a follow-up goes on.
pub(crate) async fn canceled_and_taken_up(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run("begin", "exec:waits", false).await;
    let path = scene.running(&task).await.workspace().unwrap().path.clone();
    scene.world.lock().worktrees.get_mut(&path).unwrap().insert("half.txt".into(), "half".into());
    scene.cancel(&task).await;
    let canceled = scene.settled(&task).await;
    assert_eq!(canceled.status(), Status::Canceled);
    scene.follow_up(&task, "finish it", false).await;
    scene.running(&task).await;
    scene.world.let_agents_end();
    let run = scene.settled(&task).await;
    assert_published(&scene, &run, 1);
    let files = scene.world.lock().files_of(run.progress.pushed().unwrap());
    assert_eq!(files.get("half.txt").map(String::as_str), Some("half"));
    assert!(run.notes.iter().any(|note| matches!(note, Note::KeptWorkBack { .. })), "{:?}", run.notes);
    assert_eq!(run.branch(), canceled.branch());
    scene
}

/// The agent names its conversation, which a follow-up goes on with.
pub(crate) async fn conversation(crash: Crash) -> Scene {
    let mut scene = scene(crash, "agents.claude.model = \"says-hello\"\n").await;
    let task = scene.run("talk", "claude", false).await;
    let run = scene.settled(&task).await;
    assert_published(&scene, &run, 1);
    assert_eq!(run.summary(), Some("all done"));
    let session = run.session.clone().unwrap();
    scene.follow_up(&task, "go on", false).await;
    let run = scene.settled(&task).await;
    assert_eq!(run.conversation(), Some(&session));
    scene
}

pub(crate) async fn overtaken(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run("overtaken", "exec:waits", true).await;
    let run = scene.running(&task).await;
    scene.world.colleague_pushes(run.branch().unwrap(), "theirs.txt");
    scene.world.let_agents_end();
    let run = scene.settled(&task).await;
    assert_published(&scene, &run, 2);
    scene
}

/// A conflict fails the run; once the other side has gone, a retry pushes what was committed, without the agent.
pub(crate) async fn conflict_and_retry(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run("conflict", "exec:waits", false).await;
    let run = scene.running(&task).await;
    scene.world.colleague_pushes(run.branch().unwrap(), "work.txt");
    scene.world.lock().conflicts = true;
    scene.world.let_agents_end();
    let run = scene.settled(&task).await;
    assert!(matches!(run.failure(), Some(Failure::PushConflict { .. })), "{run:#?}");
    scene.world.lock().conflicts = false;
    scene.retry(&task).await;
    let run = scene.settled(&task).await;
    assert_published(&scene, &run, 2);
    scene
}

pub(crate) async fn no_changes(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run("nothing", "exec:true", true).await;
    let run = scene.settled(&task).await;
    assert_eq!((run.status(), run.has_changes()), (Status::Succeeded, false));
    assert!(scene.world.lock().worktrees.is_empty() && scene.world.lock().pulls.is_empty());
    scene
}

/// What failed is run again from the base; what it had left stays.
pub(crate) async fn agent_fails(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run("fail", "exec:fails", false).await;
    let run = scene.settled(&task).await;
    assert_eq!(run.status(), Status::Failed, "{run:#?}");
    scene
}

/// An hour passes at once.
pub(crate) async fn silent(crash: Crash) -> Scene {
    let mut scene = scene(crash, "limits.start = \"10m\"\nlimits.silence = \"20m\"\n").await;
    let task = scene.run("sleep", "exec:waits", false).await;
    let run = scene.settled(&task).await;
    let timed_out = Failure::TimedOut { limit: Limit::Start, seconds: 600 };
    assert_eq!(run.failure(), Some(&timed_out), "{run:#?}");
    assert!(scene.world.lock().worktrees.len() == 1, "its work stays");
    scene
}

pub(crate) async fn forbidden(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run("leak", "exec:leaks", false).await;
    let run = scene.settled(&task).await;
    assert!(matches!(run.failure(), Some(Failure::Tampered { .. })), "{run:#?}");
    assert_eq!(scene.world.lock().remote.len(), 1, "nothing is pushed");
    scene
}

pub(crate) async fn worktree_fails(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    scene.world.lock().worktree_says_no = true;
    let task = scene.run("no place", "exec:edits", false).await;
    let run = scene.settled(&task).await;
    assert!(matches!(run.failure(), Some(Failure::Worktree { .. })), "{run:#?}");
    assert_eq!(scene.world.lock().branches.len(), 1, "no trace of it");
    scene
}

pub(crate) async fn set_up_fails(crash: Crash) -> Scene {
    let mut scene = scene(crash, "worktrees.set_up = [\"fails\"]\n").await;
    let task = scene.run("set up", "exec:edits", false).await;
    let run = scene.settled(&task).await;
    assert!(matches!(run.failure(), Some(Failure::SetUp { .. })), "{run:#?}");
    scene
}

pub(crate) async fn canceled_running(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run("cancel it", "exec:waits", false).await;
    scene.running(&task).await;
    scene.cancel(&task).await;
    let run = scene.settled(&task).await;
    assert_eq!(run.status(), Status::Canceled, "{run:#?}");
    let world = scene.world.lock();
    assert_eq!((world.worktrees.len(), world.branches.len()), (0, 1), "worktree and branch are gone");
    let (_, kept) = &world.preserved[&run.preserved.as_ref().unwrap().reference];
    assert_eq!(kept.get("work.txt").map(String::as_str), Some("waits"), "and its edits are kept");
    drop(world);
    scene
}

pub(crate) async fn canceled_in_set_up(crash: Crash) -> Scene {
    let mut scene = scene(crash, "worktrees.set_up = [\"waits\"]\n").await;
    let task = scene.run("cancel early", "exec:edits", false).await;
    scene.until("the set-up runs", async |scene| scene.world.alive() == 1).await;
    scene.cancel(&task).await;
    let run = scene.settled(&task).await;
    assert_eq!(run.status(), Status::Canceled, "{run:#?}");
    scene
}

pub(crate) async fn canceled_waiting(crash: Crash) -> Scene {
    let mut scene = scene(crash, "runs.max_parallel = 1\n").await;
    let first = scene.run("first", "exec:waits", false).await;
    scene.running(&first).await;
    let second = scene.run("second", "exec:edits", false).await;
    scene.cancel(&second).await;
    let run = scene.settled(&second).await;
    assert_eq!(run.status(), Status::Canceled);
    scene.world.let_agents_end();
    scene.settled(&first).await;
    scene
}

pub(crate) async fn follow_up(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run("begin", "exec:edits", true).await;
    let first = scene.settled(&task).await;
    scene.follow_up(&task, "go on", true).await;
    let run = scene.settled(&task).await;
    assert_eq!((run.status(), run.has_changes()), (Status::Succeeded, false), "it is as it was");
    assert_published(&scene, &first, 1);
    let pulls = scene.pulls(&task).await;
    assert_eq!(pulls.len(), 1, "the branch has one pull request");
    assert_eq!(Some(&pulls[0].wanted.head_oid), first.progress.pushed());
    scene
}

pub(crate) async fn follow_up_updates(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run_with("several", &["exec:edits"], true).await;
    let first = scene.settled(&task).await;
    // The follow-up's agent is the same: another's edit in the tree makes it a change.
    let path = first.workspace().unwrap().path.clone();
    scene.world.lock().worktrees.get_mut(&path).unwrap().insert("more.txt".into(), "more".into());
    scene.follow_up(&task, "more", true).await;
    let run = scene.settled(&task).await;
    assert_published(&scene, &run, 2);
    assert_eq!(scene.world.lock().pulls.len(), 1);
    let shown = scene.world.lock().pulls[0].commit.clone();
    assert_eq!(shown.as_deref(), run.progress.pushed().map(Oid::as_str));
    scene
}

pub(crate) async fn pull_fails_and_is_opened_by_hand(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    scene.world.lock().forge_says_no = true;
    let task = scene.run("no forge", "exec:edits", true).await;
    let run = scene.settled(&task).await;
    assert_eq!(run.status(), Status::Succeeded, "a pull request that cannot be opened does not undo the push");
    assert!(scene.pulls(&task).await[0].problem().is_some());
    scene.world.lock().forge_says_no = false;
    scene.open_pull_by_hand(&task).await;
    scene.settled(&task).await;
    let pulls = scene.pulls(&task).await;
    assert_eq!((pulls.len(), scene.world.lock().pulls.len()), (1, 1));
    assert!(matches!(pulls[0].standing, Standing::Open { .. }), "{pulls:?}");
    scene
}

/// A follow-up pushes while the forge is still being asked: the pull request ends up with what was pushed last.
pub(crate) async fn wanted_again_while_the_forge_is_asked(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    scene.world.lock().forge_waits = true;
    let task = scene.run("slow forge", "exec:edits", true).await;
    scene.until("the forge is asked", async |scene| scene.world.lock().puts_begun > 0).await;
    scene.until("the run is settled", async |scene| scene.newest(&task).await.is_settled()).await;
    let path = scene.newest(&task).await.workspace().unwrap().path.clone();
    scene.world.lock().worktrees.get_mut(&path).unwrap().insert("more.txt".into(), "more".into());
    scene.follow_up(&task, "more", true).await;
    scene
        .until("the follow-up is settled", async |scene| {
            scene.newest(&task).await.is_settled() && scene.runs(&task).await.len() == 2
        })
        .await;
    scene.world.let_forge_answer();
    let run = scene.settled(&task).await;
    assert_published(&scene, &run, 2);
    assert_eq!(scene.pulls(&task).await.len(), 1);
    assert_eq!(scene.world.lock().pulls.len(), 1);
    let shown = scene.world.lock().pulls[0].commit.clone();
    assert_eq!(shown.as_deref(), run.progress.pushed().map(Oid::as_str));
    scene
}

/// A follow-up that failed in the same worktree still needs it, though the first run's pull request is open.
pub(crate) async fn a_worktree_that_a_later_run_left_work_in_stays(crash: Crash) -> Scene {
    let mut scene = scene(crash, "cleanup = \"pr\"\n").await;
    scene.world.lock().forge_waits = true;
    let task = scene.run("first", "exec:edits", true).await;
    scene.until("the run is settled", async |scene| scene.newest(&task).await.is_settled()).await;
    let path = scene.newest(&task).await.workspace().unwrap().path.clone();
    scene.world.lock().worktrees.get_mut(&path).unwrap().insert(".env".into(), "in the way".into());
    scene.follow_up(&task, "second", false).await;
    scene.until("the follow-up has failed", async |scene| scene.newest(&task).await.status() == Status::Failed).await;
    scene.until("and is settled", async |scene| scene.newest(&task).await.is_settled()).await;
    scene.world.let_forge_answer();
    scene.settled(&task).await;
    assert!(scene.world.lock().worktrees.contains_key(&path), "what the follow-up left is still there");
    scene
}

/// What happens on the forge is noticed, and a merged one is over.
pub(crate) async fn closed_and_merged(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let first = scene.run("to be closed", "exec:edits one", true).await;
    scene.settled(&first).await;
    let second = scene.run("to be merged", "exec:edits two", true).await;
    scene.settled(&second).await;
    scene.world.lock().pulls[0].state = PullState::Closed;
    scene.world.lock().pulls[1].state = PullState::Merged;
    scene.look_at_pulls().await;
    scene.settled(&second).await;
    // A daemon that died over the first has not seen the second.
    scene.look_at_pulls().await;
    assert!(matches!(scene.pulls(&first).await[0].standing, Standing::Closed { .. }));
    assert!(matches!(scene.pulls(&second).await[0].standing, Standing::Merged { .. }));
    scene
}

/// The base has the head, once, and the worktree is no longer needed; its branch stays.
async fn assert_merged(scene: &mut Scene, task: &Task, run: &Run) {
    scene.settled(task).await;
    scene.until("the worktree is gone", async |scene| scene.world.lock().worktrees.is_empty()).await;
    let pulls = scene.pulls(task).await;
    assert!(matches!(pulls[0].standing, Standing::Merged { .. }), "{pulls:#?}");
    let world = scene.world.lock();
    assert!(world.has_ancestor(&world.remote["main"], run.progress.pushed().unwrap()));
    assert_eq!((world.pulls[0].state, world.merged), (PullState::Merged, 1));
    assert!(world.branches.contains_key(run.branch().unwrap()));
}

pub(crate) async fn merged(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run("merge it", "exec:edits", true).await;
    let run = scene.settled(&task).await;
    assert_eq!(scene.merge(&task).await, None);
    assert_merged(&mut scene, &task, &run).await;
    let main = scene.world.lock().remote["main"].clone();
    assert_eq!(Some(&main), run.progress.pushed(), "a fast-forward");
    scene
}

/// Others push to the base while it is merged: it is worked out anew, and theirs is not lost.
pub(crate) async fn merged_behind_others(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run("merge it", "exec:edits", true).await;
    let run = scene.settled(&task).await;
    scene.world.lock().overtakes_merges = 2;
    assert_eq!(scene.merge(&task).await, None);
    assert_merged(&mut scene, &task, &run).await;
    let world = scene.world.lock();
    let files = world.files_of(&world.remote["main"]);
    let there: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(there, ["README.md", "theirs-0.txt", "theirs-1.txt", "work.txt"]);
    drop(world);
    scene
}

pub(crate) async fn merge_refused(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run("merge it", "exec:edits", true).await;
    scene.settled(&task).await;
    scene.world.lock().merge_says_no = true;
    assert!(matches!(scene.merge(&task).await, Some(Problem::MergeRefused { .. })));
    assert!(matches!(scene.pulls(&task).await[0].standing, Standing::Open { .. }));
    assert_eq!(scene.world.lock().worktrees.len(), 1, "it is still worked on");
    scene
}

pub(crate) async fn merge_overtaken_too_often(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run("merge it", "exec:edits", true).await;
    scene.settled(&task).await;
    scene.world.lock().overtakes_merges = 99;
    let refused = scene.merge(&task).await;
    assert_eq!(refused, Some(Problem::MergeOvertaken { base: "main".into(), tries: MERGE_TRIES }));
    assert_eq!(scene.world.lock().merged, 0);
    scene
}

/// Where the forge merges, it is asked to, once.
pub(crate) async fn merged_by_the_forge(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    scene.world.lock().forge_merges = true;
    let task = scene.run("merge it", "exec:edits", true).await;
    let run = scene.settled(&task).await;
    assert_eq!(scene.merge(&task).await, None);
    assert_merged(&mut scene, &task, &run).await;
    scene
}

/// A merge that a person has made with git is noticed without asking the forge.
pub(crate) async fn merged_by_hand(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run("merge it", "exec:edits", true).await;
    let run = scene.settled(&task).await;
    {
        let mut world = scene.world.lock();
        let head = run.progress.pushed().unwrap().clone();
        world.branches.insert("main".into(), head.clone());
        world.remote.insert("main".into(), head);
        world.merged = 1;
    }
    scene.look_at_pulls().await;
    assert_merged(&mut scene, &task, &run).await;
    scene
}

pub(crate) async fn closed_and_reopened(crash: Crash) -> Scene {
    let mut scene = scene(crash, "cleanup = \"never\"\n").await;
    let task = scene.run("close it", "exec:edits", true).await;
    scene.settled(&task).await;
    assert_eq!(scene.close(&task).await, None);
    assert!(matches!(scene.pulls(&task).await[0].standing, Standing::Closed { .. }));
    assert_eq!(scene.reopen(&task).await, None);
    let pulls = scene.pulls(&task).await;
    assert!(matches!(pulls[0].standing, Standing::Open { .. }) && pulls.len() == 1, "{pulls:#?}");
    assert_eq!(scene.world.lock().pulls[0].state, PullState::Open);
    scene
}

pub(crate) async fn close_refused(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run("close it", "exec:edits", true).await;
    scene.settled(&task).await;
    scene.world.lock().forge_says_no = true;
    assert!(matches!(scene.close(&task).await, Some(Problem::ForgeRefused { .. })));
    scene.world.lock().forge_says_no = false;
    assert_eq!(scene.close(&task).await, None, "the refusal was of that time");
    scene.until("the worktree is gone", async |scene| scene.world.lock().worktrees.is_empty()).await;
    scene.settled(&task).await;
    scene
}

/// A pick after a pull request moves it: one pull request, for the picked branch.
pub(crate) async fn moved_by_a_pick(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let task = scene.run_with("two", &["exec:edits one", "exec:edits two"], false).await;
    scene.settled(&task).await;
    let runs = scene.runs(&task).await;
    scene.open_pull_of(&runs[0]).await;
    scene.pick(&task, &runs[1]).await;
    scene.settled(&task).await;
    let pulls = scene.pulls(&task).await;
    assert_eq!((pulls.len(), Some(pulls[0].head())), (1, runs[1].branch()));
    assert!(matches!(pulls[0].standing, Standing::Open { .. }), "{pulls:#?}");
    let world = scene.world.lock();
    assert_eq!((world.pulls.len(), Some(world.pulls[0].draft.head.as_str())), (1, runs[1].branch()));
    drop(world);
    scene
}

/// With `cleanup = "pr"` the worktree goes once the pull request is open.
pub(crate) async fn cleaned_up(crash: Crash) -> Scene {
    let mut scene = scene(crash, "cleanup = \"pr\"\n").await;
    let task = scene.run("clean", "exec:edits", true).await;
    scene
        .until("the worktree is gone", async |scene| matches!(scene.newest(&task).await.removal, Removal::Done(_)))
        .await;
    let run = scene.settled(&task).await;
    assert_eq!(run.status(), Status::Succeeded);
    let world = scene.world.lock();
    assert!(world.worktrees.is_empty() && world.branches.contains_key(run.branch().unwrap()));
    drop(world);
    scene
}

/// Three wait while one works: they come in order, each once.
pub(crate) async fn queued(crash: Crash) -> Scene {
    let mut scene = scene(crash, "runs.max_parallel = 1\n").await;
    let mut tasks = Vec::new();
    for name in ["one", "two", "three"] {
        tasks.push(scene.run(name, &format!("exec:edits {name}"), false).await);
    }
    let mut ended = Vec::new();
    for task in &tasks {
        let run = scene.settled(task).await;
        assert_published(&scene, &run, 1);
        ended.push(run.progress.admitted_at().unwrap());
    }
    assert!(ended.is_sorted(), "{ended:?}");
    tokio::time::sleep(Duration::from_secs(5)).await;
    scene
}

/// The run of an errand is one, however often it is asked for: while it waits, works or is over, and after every crash. What
/// else is done for the same message is a run of its own.
pub(crate) async fn errand(crash: Crash) -> Scene {
    let mut scene = scene(crash, "").await;
    let (id, message) = (TaskId::mint(Timestamp::UNIX_EPOCH, 7), MessageId::mint(Timestamp::UNIX_EPOCH, 8));
    let (purpose, agent, role, about) = (Purpose::Work, "worker1".to_owned(), Role::Worker, "it".to_owned());
    let work = Errand { command: None, message, epoch: Epoch(1), purpose, agent, role, about };
    let first = scene.errand(&work, id, None).await;
    let task = scene.store.task(id).await.unwrap();
    scene.running(&task).await;
    assert_eq!(scene.errand(&work, id, None).await.spec.id, first.spec.id);
    scene.world.let_agents_end();
    let run = scene.settled(&task).await;
    assert_published(&scene, &run, 1);
    // Whoever asks may say it in other words by now.
    let amended = Errand { about: "it, amended".to_owned(), ..work.clone() };
    assert_eq!(scene.errand(&amended, id, None).await, run);

    let repair = Errand { purpose: Purpose::Repair, ..work };
    let second = scene.errand(&repair, id, Some(&run)).await;
    assert_ne!(second.spec.id, run.spec.id);
    scene.running(&task).await;
    assert_eq!(scene.errand(&repair, id, Some(&second)).await.spec.id, second.spec.id, "it is not busy with itself");
    scene.world.let_agents_end();
    scene.settled(&task).await;
    assert_eq!(scene.runs(&task).await.len(), 2);
    scene
}
