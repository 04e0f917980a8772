//! What users do, each from the first order to the settled end, and what must have come of it.
//!
//! A story is played with and without a death of the daemon: its end is the same.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_testkit::env::wait_until;
use serde_json::Value;

use crate::sound::{
    LAUNCHES, Left, SET_UPS, assert_failed, assert_lines, assert_published, assert_restorable, assert_sound,
    assert_trash_goes, processes, text, worktree_of,
};
use crate::stage::{Stage, read, wait_for_file};

pub(crate) type Story = fn(Option<&str>);

/// Edits, and is done.
const EDITS: &str = "exec:echo launched >> launches.txt; echo work > work.txt; cat > /dev/null";
/// Edits, waits for the file `go`, and is done.
const WAITS: &str = "exec:echo launched >> launches.txt; echo work > work.txt; \
    until [ -e go ]; do sleep 0.02; done; rm go";
/// Edits, and goes on for ever, with a child in a session of its own.
pub(crate) const LINGERS: &str = "exec:echo launched >> launches.txt; echo work > work.txt; \
    setsid sh -c 'echo up > \"$TMPDIR/child\"; exec sleep 1000' < /dev/null > /dev/null 2>&1 & sleep 1000";
const SETS_UP: &str = r#"worktrees.set_up = ["echo set-up >> set-ups.txt", "true"]"#;
/// Slots are made in the background; where a story is not about them they only cost time.
const NO_POOL: &str = "worktrees.pool = 0\n";

fn plain_config() -> String {
    format!("{NO_POOL}{SETS_UP}\n")
}

/// Set up, edited, committed, pushed, a pull request; the main checkout is dirty, which is told.
pub(crate) fn published(point: Option<&str>) {
    published_after(point, 1);
}

/// The same with as many deaths as wanted.
pub(crate) fn published_after(point: Option<&str>, deaths: usize) {
    let mut stage = Stage::new(point, &plain_config()).dying(deaths);
    stage.env.write("mine.txt", "not committed\n");
    stage.arm();
    let task = stage.run("publish it", EDITS, &["--pr"]);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 1);
    assert_lines(&stage, &run, SET_UPS, 1);
    assert_eq!(run["pr"]["number"], 1, "{run:#}");
    assert_eq!((&run["start"]["base"], &run["start"]["changed"]), (&"origin/main".into(), &1.into()), "{run:#}");
    let left = Left { branches: vec![text(&run, "branch")], pulls: 1, dirty: vec!["mine.txt"], ..Left::default() };
    assert_sound(&mut stage, &left);
}

/// The worktree comes from a warm slot.
pub(crate) fn from_a_warm_slot(point: Option<&str>) {
    let mut stage = Stage::new(point, "worktrees.pool = 1\n");
    let first = stage.run("first", "exec:true", &[]);
    stage.settled(&first);
    let pool = stage.below_repos("pool");
    // The index is dated a second after its files: before that the slot is not whole.
    let slots = || pool.read_dir_utf8().map_or(0, |d| d.flatten().filter(|e| e.path().is_dir()).count());
    wait_until("there is a slot", || slots() == 1);
    stage.arm();
    let task = stage.run("second", EDITS, &[]);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 1);
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], ..Left::default() });
}

/// The agent names its conversation, which a follow-up goes on with.
pub(crate) fn conversation(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    put_claude(&mut stage);
    stage.arm();
    let task = stage.run("talk", "claude", &[]);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 1);
    assert_eq!(run["summary"], "all done", "{run:#}");
    assert_guarded(&stage, &run);
    let session = text(&run, "session");
    stage.follow_up(&task, "go on", &[]);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 1);
    assert_eq!(text(&run, "session"), session);
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], ..Left::default() });
}

/// Its rules are whole, and of where it works, however often they were written.
fn assert_guarded(stage: &Stage, run: &Value) {
    let id = text(run, "id");
    let folder = stage.below_repos("runs").join(&id[id.len() - 8..]);
    let rules: Value = serde_json::from_str(&read(&folder.join("rules.json"))).unwrap();
    assert_eq!(rules["worktree"], run["worktree"], "{rules:#}");
    assert!(rules["rules"]["constraints"].is_object(), "{rules:#}");
    let names: Vec<String> = folder.read_dir_utf8().unwrap().map(|e| e.unwrap().file_name().to_owned()).collect();
    assert!(!names.iter().any(|name| Utf8Path::new(name).extension() == Some("new")), "{names:?}");
}

/// A stand-in that speaks Claude's protocol: it takes the session it is given and says so.
fn put_claude(stage: &mut Stage) {
    let script = r#"#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in --session-id|--resume) session="$2";; esac; shift; done
echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$session\",\"model\":\"m\",\"tools\":[]}"
echo launched >> launches.txt
sleep 0.3
echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"all done\",\"session_id\":\"$session\"}"
"#;
    put_program(stage, "claude", script);
    let path = format!("{}:{}", stage.env.root().join("bin"), std::env::var("PATH").unwrap());
    stage.env.var("PATH", path).var("ANTHROPIC_API_KEY", "none");
}

fn put_program(stage: &Stage, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let program = stage.env.root().join("bin").join(name);
    std::fs::create_dir_all(stage.env.root().join("bin")).unwrap();
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Somebody else pushes to the run's branch while the agent works.
fn overtake(stage: &Stage, run: &Value, file: &str, content: &str) {
    let colleague = stage.env.colleague();
    let branch = text(run, "branch");
    stage.env.git_in(&colleague, ["checkout", "--quiet", "-b", &branch, "origin/main"]);
    std::fs::write(colleague.join(file), content).unwrap();
    stage.env.git_in(&colleague, ["add", "-A"]);
    stage.env.git_in(&colleague, ["commit", "--quiet", "-m", "theirs"]);
    stage.env.git_in(&colleague, ["push", "--quiet", "origin", &branch]);
}

fn go(run: &Value) {
    std::fs::write(worktree_of(run).join("go"), "").unwrap();
}

/// Overtaken on the remote: rebased and pushed.
pub(crate) fn overtaken(point: Option<&str>) {
    overtaken_in(Stage::new(point, NO_POOL));
}

/// The same for a user who signs his commits: no two of them are the same, made from the same or not.
pub(crate) fn signed(point: Option<&str>) {
    let stage = Stage::new(point, NO_POOL);
    sign(&stage, "");
    overtaken_in(stage);
}

/// A user who signs, with a program that does `first` before it does.
fn sign(stage: &Stage, first: &str) {
    let script = format!(
        r#"#!/bin/sh
cat > /dev/null
{first}
echo "[GNUPG:] SIG_CREATED D" >&2
printf -- '-----BEGIN PGP SIGNATURE-----\n\n%s\n-----END PGP SIGNATURE-----\n' "$(od -An -N12 -tx1 /dev/urandom)"
"#
    );
    put_program(stage, "gpg", &script);
    let program = stage.env.root().join("bin/gpg");
    stage.env.git(["config", "--global", "gpg.program", program.as_str()]);
    stage.env.git(["config", "--global", "commit.gpgSign", "true"]);
}

/// A signing program without a key fails the commit and keeps the work; when the key is there, the commit is resumed.
pub(crate) fn unsigned_and_retry(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    let key = stage.env.root().join("key");
    sign(&stage, &format!("[ -e {key} ] || exit 2"));
    stage.arm();
    let task = stage.run("sign", EDITS, &["--pr"]);
    let run = stage.settled(&task);
    assert_failed(&stage, &run, "commit");
    assert_eq!(read(&worktree_of(&run).join("work.txt")), "work\n");
    std::fs::write(&key, "").unwrap();
    stage.order(&["task", "retry", &task, "--detach"], || stage.newest(&task)["state"] != "FAILED");
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 1);
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], pulls: 1, ..Left::default() });
}

fn overtaken_in(mut stage: Stage) {
    stage.arm();
    let task = stage.run("be overtaken", WAITS, &["--pr"]);
    let run = stage.running(&task);
    overtake(&stage, &run, "theirs.txt", "theirs\n");
    go(&run);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 1);
    assert_lines(&stage, &run, LAUNCHES, 1);
    assert_eq!(read(&worktree_of(&run).join("theirs.txt")), "theirs\n");
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], pulls: 1, ..Left::default() });
}

/// A real conflict fails the run and keeps the work; when it is out of the way, the push is resumed.
pub(crate) fn conflict_and_retry(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    stage.arm();
    let task = stage.run("conflict", WAITS, &["--pr"]);
    let run = stage.running(&task);
    overtake(&stage, &run, "work.txt", "theirs\n");
    go(&run);
    let run = stage.settled(&task);
    assert_failed(&stage, &run, "push_conflict");
    assert_eq!(run["error"]["detail"]["files"][0], "work.txt");
    let branch = text(&run, "branch");
    assert_eq!(stage.env.git(["show", &format!("{branch}:work.txt")]), "work", "branch and work are intact");
    let colleague = stage.env.colleague();
    stage.env.git_in(&colleague, ["push", "--quiet", "--delete", "origin", &branch]);
    stage.order(&["task", "retry", &task, "--detach"], || stage.newest(&task)["state"] != "FAILED");
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 1);
    assert_sound(&mut stage, &Left { branches: vec![branch], pulls: 1, ..Left::default() });
}

/// After a real conflict a follow-up finds both sides in its files; what the first run committed is kept.
pub(crate) fn conflict_brought_together(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    let agent = "exec:echo launched >> launches.txt; [ -e work.txt ] && { grep -c '^[<>=]' work.txt > marks.txt; \
        echo both > work.txt; exit; }; echo work > work.txt; until [ -e go ]; do sleep 0.02; done; rm go";
    let task = stage.run("conflict", agent, &[]);
    let run = stage.running(&task);
    overtake(&stage, &run, "work.txt", "theirs\n");
    go(&run);
    let run = stage.settled(&task);
    assert_failed(&stage, &run, "push_conflict");
    let ours = text(&run, "commit");
    stage.arm();
    stage.follow_up(&task, "put it together", &[]);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 1);
    assert_lines(&stage, &run, LAUNCHES, 2);
    let show = |file: &str| stage.env.git(["show", &format!("{}:{file}", text(&run, "commit"))]);
    assert_eq!((show("work.txt").as_str(), show("marks.txt").as_str()), ("both", "3"), "{run:#}");
    let kept = text(&run, "preserved");
    assert_eq!(stage.env.git(["merge-base", &kept, &ours]), ours, "the first run's commit is kept");
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], ..Left::default() });
}

/// No changes: no commit, no push, and no trace of it.
pub(crate) fn no_changes(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    stage.arm();
    let task = stage.run("do nothing", "exec:true", &["--pr"]);
    let run = stage.settled(&task);
    assert_eq!((&run["state"], &run["commit"], &run["changes"]), (&"SUCCEEDED".into(), &Value::Null, &Value::Null));
    assert_trash_goes(&stage);
    assert_sound(&mut stage, &Left::default());
}

/// The agent fails with edits in its worktree; a follow-up goes on with them.
pub(crate) fn agent_fails(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    stage.arm();
    let fails_once = "exec:echo launched >> launches.txt; [ -e work.txt ] || { echo work > work.txt; exit 7; }";
    let task = stage.run("fail", fails_once, &[]);
    let run = stage.settled(&task);
    assert_failed(&stage, &run, "agent");
    assert_eq!(read(&worktree_of(&run).join("work.txt")), "work\n");
    stage.follow_up(&task, "again", &[]);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 2);
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], ..Left::default() });
}

/// An agent that never says a word is ended, with everything it started; its edits stay.
pub(crate) fn silent(point: Option<&str>) {
    let mut stage = Stage::new(point, &format!("{NO_POOL}limits.start = \"1s\"\n"));
    stage.arm();
    let task = stage.run("say nothing", LINGERS, &[]);
    let run = stage.settled(&task);
    assert_failed(&stage, &run, "timed_out");
    assert_eq!(read(&worktree_of(&run).join("work.txt")), "work\n");
    assert_sound(&mut stage, &Left { unpushed: vec![text(&run, "branch")], ..Left::default() });
}

/// The agent touches what it may not.
pub(crate) fn forbidden(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    stage.arm();
    let task = stage.run("leak", "exec:echo KEY=1 > .env", &["--pr"]);
    let run = stage.settled(&task);
    assert_failed(&stage, &run, "tampered");
    assert_eq!(read(&worktree_of(&run).join(".env")), "KEY=1\n");
    assert_sound(&mut stage, &Left { unpushed: vec![text(&run, "branch")], ..Left::default() });
}

/// The worktree cannot be made, nor can what was made of it be taken back at once: nothing half-made stays, and a retry
/// begins anew.
pub(crate) fn worktree_fails(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    let (broken, lock) = (stage.env.root().join("broken"), stage.env.repo().join(".git/dandori.lock"));
    // Where the lock should be there is a folder: whoever wants to take back what it made cannot.
    let real = stage.env.command("sh", ["-c", "command -v git"], stage.env.root());
    let git = format!(
        "#!/bin/sh\ncase \" $* \" in *\" read-tree --reset \"*) [ -e {broken} ] && \
         {{ rm {broken}; rm -f {lock}; mkdir {lock}; exit 1; }};; esac\nexec {real} \"$@\"\n"
    );
    put_program(&stage, "git", &git);
    let path = format!("{}:{}", stage.env.root().join("bin"), std::env::var("PATH").unwrap());
    stage.env.var("PATH", path);
    std::fs::write(&broken, "").unwrap();
    stage.arm();
    let task = stage.run("cannot begin", EDITS, &[]);
    let run = stage.newest_when(&task, "the run has failed", |run| run["state"] == "FAILED");
    assert_failed(&stage, &run, "worktree");
    let half_made = stage.below_repos("worktrees").join(format!("run_{}", text(&run, "run")));
    if point.is_none() {
        assert!(half_made.exists() && run["settled"] == false, "it is not taken back yet: {run:#}");
    }
    std::fs::remove_dir(&lock).unwrap();
    let run = stage.settled(&task);
    assert_eq!((&run["worktree"], &run["branch"]), (&Value::Null, &Value::Null), "{run:#}");
    assert!(!half_made.exists(), "{half_made} is gone");
    assert_eq!(stage.env.git(["worktree", "list"]).lines().count(), 1);
    assert_eq!(stage.env.git(["for-each-ref", "refs/heads/dandori", "refs/dandori"]), "");
    stage.order(&["task", "retry", &task, "--detach"], || stage.runs(&task).len() == 2);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 1);
    // The next life has no memory of the trouble.
    let _ = stage.env.dandori(["daemon", "stop"]).ok();
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], ..Left::default() });
}

/// The project's set-up fails; the agent never starts.
pub(crate) fn set_up_fails(point: Option<&str>) {
    let config = r#"worktrees.set_up = ["echo set-up >> set-ups.txt", "exit 3"]"#;
    let mut stage = Stage::new(point, &format!("{NO_POOL}{config}\n"));
    stage.arm();
    let task = stage.run("cannot begin", EDITS, &[]);
    let run = stage.settled(&task);
    assert_failed(&stage, &run, "set_up");
    let worktree = worktree_of(&run);
    assert_eq!((read(&worktree.join(SET_UPS)).lines().count(), worktree.join(LAUNCHES).exists()), (1, false));
    assert_sound(&mut stage, &Left { unpushed: vec![text(&run, "branch")], ..Left::default() });
}

/// Canceled while the agent runs: the whole tree of processes, worktree and branch are gone, the edits kept.
pub(crate) fn canceled_running(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    stage.arm();
    let task = stage.run("be canceled", LINGERS, &[]);
    let run = stage.running(&task);
    wait_for_file(&stage.run_folder(&run).join("tmp/child"));
    let run = stage.cancel(&task);
    assert_eq!(run["state"], "CANCELED", "{run:#}");
    assert!(
        !dandori_testkit::env::TestEnv::has_processes_of(&text(&run, "id")),
        "the child in its own session is gone"
    );
    let path = stage.below_repos(&format!("worktrees/run_{}", text(&run, "run")));
    assert!(!path.exists(), "{path} is gone");
    let reference = text(&run, "preserved");
    let kept = stage.env.git(["rev-parse", &reference]);
    assert_sound(&mut stage, &Left::default());
    assert_restorable(&stage, &run, "work.txt", "work");
    assert_eq!(stage.env.git(["rev-parse", &reference]), kept);
}

/// Canceled in the middle of the set-up.
pub(crate) fn canceled_in_set_up(point: Option<&str>) {
    let config =
        r#"worktrees.set_up = ["echo half > half.txt; setsid sleep 1000 & echo up > \"$TMPDIR/up\"; sleep 1000"]"#;
    let mut stage = Stage::new(point, &format!("{NO_POOL}{config}\n"));
    stage.arm();
    let task = stage.run("never begin", EDITS, &[]);
    let run = stage.newest_when(&task, "the worktree is there", |run| run["worktree"].is_string());
    let up = stage.run_folder(&run).join("tmp/up");
    // The daemon may have died before it came to the set-up: asking brings it back.
    wait_until("the set-up runs", || stage.newest(&task)["state"] == "PENDING" && !read(&up).is_empty());
    let run = stage.cancel(&task);
    assert_eq!(run["state"], "CANCELED", "{run:#}");
    assert_sound(&mut stage, &Left::default());
    assert_restorable(&stage, &run, "half.txt", "half");
}

/// Canceled while it waits for its turn; the run before it is not disturbed.
pub(crate) fn canceled_waiting(point: Option<&str>) {
    let mut stage = Stage::new(point, &format!("{NO_POOL}runs.max_parallel = 1\n"));
    stage.arm();
    let first = stage.run("first", WAITS, &[]);
    let running = stage.running(&first);
    let second = stage.run("second", EDITS, &[]);
    let waiting = stage.newest(&second);
    assert_eq!((&waiting["state"], &waiting["place"]), (&"PENDING".into(), &1.into()), "{waiting:#}");
    let run = stage.cancel(&second);
    assert_eq!((&run["state"], &run["worktree"]), (&"CANCELED".into(), &Value::Null), "{run:#}");
    go(&running);
    let run = stage.settled(&first);
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 1);
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], ..Left::default() });
}

/// A follow-up in the worktree that is still there, onto the pull request that is open.
pub(crate) fn follow_up(point: Option<&str>) {
    let mut stage = Stage::new(point, &plain_config());
    let agent = "exec:echo launched >> launches.txt; cat > /dev/null";
    let task = stage.run("begin", agent, &["--pr"]);
    stage.settled(&task);
    stage.arm();
    stage.follow_up(&task, "go on", &["--pr"]);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 1);
    assert_lines(&stage, &run, LAUNCHES, 2);
    assert_lines(&stage, &run, SET_UPS, 1);
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], pulls: 1, ..Left::default() });
}

/// A follow-up whose worktree was removed when the branch was pushed: made again, set up again, removed again.
pub(crate) fn follow_up_remade(point: Option<&str>) {
    // Ignored, so that the fresh worktree does not have it from the commit.
    let config = r#"worktrees.set_up = ["echo set-up >> deps.log"]"#;
    let mut stage = Stage::new(point, &format!("cleanup = \"push\"\n{NO_POOL}{config}\n"));
    stage.env.write(".gitignore", "deps.log\n");
    stage.env.git(["add", "-A"]);
    stage.env.git(["commit", "--quiet", "-m", "ignore"]);
    stage.env.git(["push", "--quiet", "origin", "main"]);
    let task = stage.run("begin", "exec:echo launched >> launches.txt; wc -l < deps.log > set-ups.txt", &[]);
    let first = stage.settled(&task);
    assert!(first["worktree"].is_null(), "{first:#}");
    stage.arm();
    stage.follow_up(&task, "go on", &[]);
    let run = stage.settled(&task);
    // The agent saw one set-up in each of its two worktrees: its only changes are the launches.
    assert_published(&stage, &run, 1);
    assert_lines(&stage, &run, LAUNCHES, 2);
    let seen = stage.env.git(["show", &format!("{}:{SET_UPS}", text(&run, "commit"))]);
    assert_eq!(seen.trim(), "1", "the set-ups the agent found done");
    assert!(run["worktree"].is_null() && run["branch"].is_string(), "{run:#}");
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], ..Left::default() });
}

/// A follow-up canceled in the middle: the branch and what it had stay, the new edits are kept.
pub(crate) fn follow_up_canceled(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    let agent = "exec:echo launched >> launches.txt; [ ! -e work.txt ] && echo work > work.txt || \
        { echo more > more.txt; echo up > \"$TMPDIR/up\"; sleep 1000; }";
    let task = stage.run("begin", agent, &[]);
    let first = stage.settled(&task);
    stage.arm();
    stage.follow_up(&task, "go on", &[]);
    let run = stage.running(&task);
    wait_for_file(&stage.run_folder(&run).join("tmp/up"));
    let run = stage.cancel(&task);
    assert_eq!(run["state"], "CANCELED", "{run:#}");
    let branch = text(&first, "branch");
    assert_eq!(stage.env.git(["rev-parse", &branch]), text(&first, "commit"), "the earlier commit stays");
    assert_sound(&mut stage, &Left { branches: vec![branch], ..Left::default() });
    assert_restorable(&stage, &run, "more.txt", "more");
}

/// A pull request that cannot be opened leaves the run SUCCEEDED, and says so.
pub(crate) fn pull_fails(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    // The origin is a folder: there is no such thing on GitHub.
    stage.env.write("dandori.toml", "forge = \"github\"\n");
    stage.arm();
    let task = stage.run("no pull", EDITS, &["--pr"]);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    assert!(run["pr"].is_null() && !run["pr_error"].is_null(), "{run:#}");
    std::fs::remove_file(stage.env.repo().join("dandori.toml")).unwrap();
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], ..Left::default() });
}

/// A pull request opened by hand, after the end.
pub(crate) fn pull_by_hand(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    let task = stage.run("later", EDITS, &[]);
    stage.settled(&task);
    stage.arm();
    // Whether a lost answer was a yes does not matter: the order may be given again.
    stage.order(&["pr", "create", &task], || false);
    let run = stage.newest(&task);
    assert_published(&stage, &run, 0);
    assert_eq!(run["pr"]["number"], 1, "{run:#}");
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], pulls: 1, ..Left::default() });
}

/// Closed, reopened and merged: each is done once, and the checkout of the base is where the base is.
pub(crate) fn ended(point: Option<&str>) {
    ended_after(point, 1);
}

pub(crate) fn ended_after(point: Option<&str>, deaths: usize) {
    let mut stage = Stage::new(point, NO_POOL).dying(deaths);
    let task = stage.run("merge it", EDITS, &["--pr"]);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    stage.arm();
    let is = |stage: &Stage, state: &str| stage.newest(&task)["pr"]["state"] == state;
    stage.order(&["pr", "close", &task], || is(&stage, "closed"));
    stage.order(&["pr", "reopen", &task], || is(&stage, "open"));
    stage.order_at_terminal(&format!("pr merge {task} --yes"), || is(&stage, "merged"));
    // Its worktree goes with the merge.
    stage.settled(&task);
    let main = stage.env.git(["rev-parse", "main"]);
    assert_eq!(main, text(&run, "commit"));
    assert!(stage.env.repo().join("work.txt").is_file());
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], pulls: 1, ..Left::default() });
}

/// A merge commit, made once, and its tree in the checkout.
pub(crate) fn merged_behind_others(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    let task = stage.run("merge it", EDITS, &["--pr"]);
    let run = stage.settled(&task);
    let colleague = stage.env.colleague();
    std::fs::write(colleague.join("theirs.txt"), "theirs\n").unwrap();
    stage.env.git_in(&colleague, ["add", "-A"]);
    stage.env.git_in(&colleague, ["commit", "--quiet", "-m", "theirs"]);
    stage.env.git_in(&colleague, ["push", "--quiet", "origin", "main"]);
    stage.arm();
    stage.order_at_terminal(&format!("pr merge {task} --yes"), || stage.newest(&task)["pr"]["state"] == "merged");
    // Its worktree goes with the merge.
    stage.settled(&task);
    let env = &stage.env;
    assert_eq!(env.git(["rev-list", "--count", "--merges", "main"]), "1");
    assert!(["work.txt", "theirs.txt"].iter().all(|file| env.repo().join(file).is_file()));
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], pulls: 1, ..Left::default() });
}

/// The worktree goes as soon as the pull request is open; ignored files beside it are nobody's work.
pub(crate) fn cleaned_up(point: Option<&str>) {
    let mut stage = Stage::new(point, &format!("cleanup = \"pr\"\n{NO_POOL}"));
    stage.arm();
    let task = stage.run("clean up", EDITS, &["--pr"]);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    let path: Utf8PathBuf = stage.below_repos(&format!("worktrees/run_{}", text(&run, "run")));
    assert!(run["worktree"].is_null() && !path.exists(), "{run:#}");
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], pulls: 1, ..Left::default() });
}

/// The agent works on while no daemon lives, and ends before the next one comes.
pub(crate) fn ends_without_a_daemon(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    stage.arm();
    let task = stage.run("work alone", WAITS, &["--pr"]);
    let run = if point.is_some() {
        stage.await_death();
        // Nobody may be asked: the folder tells where the agent is.
        let folder = stage.below_repos("worktrees");
        let worktree = folder.read_dir_utf8().unwrap().flatten().next().unwrap().path().to_owned();
        wait_for_file(&worktree.join("work.txt"));
        std::fs::write(worktree.join("go"), "").unwrap();
        wait_until("the agent and its shim are gone", || {
            processes(&stage).iter().all(|(_, line)| line.contains("daemon serve"))
        });
        stage.settled(&task)
    } else {
        go(&stage.running(&task));
        stage.settled(&task)
    };
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 1);
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], pulls: 1, ..Left::default() });
}
