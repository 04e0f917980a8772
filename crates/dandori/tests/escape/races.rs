//! Whatever an agent leaves running to change its files behind the daemon's back: it is gone before they are looked at.

use dandori_testkit::env::TestEnv;

use crate::ground::{Ground, Kind, Who, run};

/// Each round is a run whose agent leaves something behind that swaps a folder for a link to the daemon's secrets, as fast
/// as it can. `DANDORI_RACE_ROUNDS=500` for a long look.
#[test]
fn no_survivor_races_the_staging() {
    let rounds: usize = std::env::var("DANDORI_RACE_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(50);
    for namespaces in [true, false] {
        let ground = Ground::new(Kind { who: Who::Self_, namespaces });
        let swap = format!(
            "import os, sys\nos.setsid()\nif os.fork(): os._exit(0)\nif os.fork(): os._exit(0)\n\
             import resource\n\
             for who in (os.getppid(), {daemon}):\n  try: resource.prlimit(who, resource.RLIMIT_NOFILE, (3, 3))\n  except Exception: pass\n\
             while True:\n  try:\n    os.rename('dir', 'aside'); os.symlink('{private}', 'dir'); os.remove('dir'); os.rename('aside', 'dir')\n  except OSError: pass\n",
            daemon = {
                let _ = ground.env.dandori(["daemon", "start"]).ok();
                ground.env.daemon_pid().unwrap()
            },
            private = ground.env.state().join("private"),
        );
        ground.plant("swap.py", &swap);
        let token = std::fs::read_to_string(ground.env.state().join("private/token")).unwrap();
        for round in 0..rounds / 2 {
            let line =
                format!("exec:mkdir -p dir && echo {round} > dir/token && (setsid python3 swap.py &) ; sleep 0.05");
            let ended = run(&ground, &line);
            assert!(!TestEnv::has_processes_of(ended["id"].as_str().unwrap()), "round {round}: something is alive");
            if let Some(branch) = ended["branch"].as_str().filter(|_| ended["state"] == "SUCCEEDED") {
                let shown =
                    ground.env.git_in(&ground.env.origin(), ["log", "-p", "--format=%s", &format!("main..{branch}")]);
                assert!(!shown.contains(token.trim()), "round {round}: the token was pushed");
            }
        }
    }
}
