//! What others do to the remote while a task is at work.

use dandori_testkit::env::TestEnv;

/// A colleague pushes to `branch` before our next push can come.
pub(crate) fn overtake(env: &TestEnv, branch: &str, file: &str, text: &str) {
    let folder = env.colleague();
    env.git_in(&folder, ["fetch", "--quiet", "origin"]);
    env.git_in(&folder, ["checkout", "--quiet", "-B", branch, &format!("origin/{branch}")]);
    std::fs::write(folder.join(file), format!("{text}\n")).unwrap();
    env.git_in(&folder, ["add", "-A"]);
    env.git_in(&folder, ["commit", "--quiet", "-m", text]);
    env.git_in(&folder, ["push", "--quiet", "origin", branch]);
}

/// From now on the remote takes no push, or takes them again.
pub(crate) fn refuse_pushes(env: &TestEnv, refuse: bool) {
    use std::os::unix::fs::PermissionsExt;
    let hook = env.origin().join("hooks/pre-receive");
    if !refuse {
        return std::fs::remove_file(&hook).unwrap();
    }
    std::fs::write(&hook, "#!/bin/sh\necho not now >&2; exit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
}
