//! Stories without a remote, and of a canceled run that is taken up again.

use crate::sound::{LAUNCHES, Left, assert_lines, assert_published, assert_sound, text};
use crate::stage::{Stage, wait_for_file};

const NO_POOL: &str = "worktrees.pool = 0\n";

/// Committed on its branch, with a pull request; the worktree goes at once, and the branch is the only copy.
pub(crate) fn without_a_remote(point: Option<&str>) {
    let mut stage = Stage::new(point, &format!("cleanup = \"push\"\n{NO_POOL}"));
    stage.env.git(["remote", "remove", "origin"]);
    stage.arm();
    let task = stage.run("stay here", "exec:echo launched >> launches.txt", &["--pr"]);
    let run = stage.settled(&task);
    assert_eq!((&run["state"], &run["pushed"]), (&"SUCCEEDED".into(), &false.into()), "{run:#}\n{}", stage.log());
    let (branch, commit) = (text(&run, "branch"), text(&run, "commit"));
    assert_eq!(stage.env.git(["rev-parse", &branch]), commit);
    assert_eq!(stage.env.git(["rev-list", "--count", &format!("main..{branch}")]), "1", "committed once");
    assert!(run["worktree"].is_null() && run["preserved"].is_null(), "it is where it belongs: {run:#}");
    assert_lines(&stage, &run, LAUNCHES, 1);
    assert_eq!(run["pr"]["number"], 1, "{run:#}");
    // What must hold at the end is asked of a repository with an origin.
    stage.env.git(["remote", "add", "origin", stage.env.origin().as_str()]);
    stage.env.git(["fetch", "--quiet", "origin"]);
    assert_sound(&mut stage, &Left { unpushed: vec![branch], pulls: 1, ..Left::default() });
}

/// The work that was kept of a canceled run comes back, however often the daemon dies over it.
pub(crate) fn canceled_and_taken_up(point: Option<&str>) {
    let mut stage = Stage::new(point, NO_POOL);
    let agent = "exec:echo launched >> launches.txt; [ -e half.txt ] && echo whole >> half.txt || \
        { echo half > half.txt; echo up > \"$TMPDIR/up\"; sleep 1000; }";
    let task = stage.run("begin", agent, &[]);
    let run = stage.running(&task);
    wait_for_file(&stage.run_folder(&run).join("tmp/up"));
    let canceled = stage.cancel(&task);
    assert_eq!(canceled["state"], "CANCELED", "{canceled:#}");
    stage.arm();
    stage.follow_up(&task, "finish it", &[]);
    let run = stage.settled(&task);
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 2);
    assert_eq!(stage.env.git(["show", &format!("{}:half.txt", text(&run, "commit"))]), "half\nwhole");
    let branch = text(&run, "branch");
    assert_eq!(branch, format!("dandori/{}", text(&canceled, "run")), "its own branch again");
    assert_sound(&mut stage, &Left { branches: vec![branch], ..Left::default() });
}
