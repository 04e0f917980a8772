//! What must go on working behind the fence: warm caches, terminals and sockets of one's own, ports on loopback.

use dandori_testkit::env::TestEnv;

use crate::ground::{Ground, Kind, Who, kinds, own, run};

/// A second repository of the same user.
fn another_repository(ground: &Ground) -> camino::Utf8PathBuf {
    let env: &TestEnv = &ground.env;
    let (origin, repo) = (env.root().join("second.git"), env.root().join("second"));
    env.command("git", ["clone", "--quiet", "--bare", env.origin().as_str(), origin.as_str()], env.root());
    env.command("git", ["clone", "--quiet", origin.as_str(), repo.as_str()], env.root());
    repo
}

#[test]
fn caches_are_read_through_and_what_runs_write_stays_with_their_repository() {
    for kind in kinds() {
        let ground = Ground::new(kind);
        let env = &ground.env;
        // Where the user's lies with namespaces, and where the tool is told it lies without.
        let cache = if kind.namespaces { "$HOME/.npm" } else { "$npm_config_cache" };
        let line = format!(
            "exec:cat {cache}/content > read.txt; cat {cache}/new >> read.txt; echo mine > {cache}/new; echo $RANDOM$$ > x"
        );
        let ended = run(&ground, &line);
        assert_eq!(ended["state"], "SUCCEEDED", "{kind:?}: {ended:#}");
        let seen = |branch: &str| env.git_in(&env.origin(), ["show", &format!("{branch}:read.txt")]);
        let expected = if kind.namespaces { "package" } else { "" };
        assert_eq!(seen(ended["branch"].as_str().unwrap()), expected, "{kind:?}: warm from the user's");
        assert!(!ground.home(".npm/new").exists(), "{kind:?}: the user's cache is his own");
        let again = run(&ground, &line);
        let branch = again["branch"].as_str().unwrap();
        assert_eq!(seen(branch), format!("{expected}mine"), "{kind:?}: the next run of the repository finds it");
        let second = another_repository(&ground);
        let told = env.dandori_in(&second, ["run", "x", "--agent", &line, "--json"]).json();
        assert_eq!(told["runs"][0]["state"], "SUCCEEDED", "{told:#}");
        let branch = told["runs"][0]["branch"].as_str().unwrap().to_owned();
        let read = env.git_in(&env.root().join("second.git"), ["show", &format!("{branch}:read.txt")]);
        assert_eq!(read, expected, "{kind:?}: another repository's run does not");
    }
}

#[test]
fn tmux_terminals_and_ports_work_inside() {
    for kind in kinds() {
        let ground = Ground::new(kind);
        ground.plant(
            "inside.sh",
            "set -e\n\
             tmux -S \"$TMPDIR/t\" -f /dev/null new-session -d 'tty > tty.txt; exec sleep 5'\n\
             for i in $(seq 200); do [ -s tty.txt ] && break; sleep 0.05; done\n\
             grep -q /dev/pts/ tty.txt\n\
             script -qec 'test -t 1 && echo terminal' typed.txt > /dev/null\n\
             python3 - <<'END'\n\
             import http.server, threading, urllib.request\n\
             server = http.server.HTTPServer((\"127.0.0.1\", 0), http.server.SimpleHTTPRequestHandler)\n\
             threading.Thread(target=server.serve_forever, daemon=True).start()\n\
             assert b\"demo\" in urllib.request.urlopen(f\"http://127.0.0.1:{server.server_port}/README.md\").read()\n\
             import multiprocessing.shared_memory as m\n\
             s = m.SharedMemory(create=True, size=16) if __import__('os').environ.get('XDG_RUNTIME_DIR') else None\n\
             s and (s.close(), s.unlink())\n\
             END\n\
             test -w /tmp || test -w \"$TMPDIR\"\n\
             rm -f typed.txt tty.txt; echo done > done.txt\n",
        );
        let ended = run(&ground, "exec:sh inside.sh");
        let log = ground.env.dandori(["task", "log", "T-1"]).stdout;
        assert_eq!(ended["state"], "SUCCEEDED", "{kind:?}: {ended:#}\n{log}");
        let branch = ended["branch"].as_str().unwrap();
        let done = ground.env.git_in(&ground.env.origin(), ["show", &format!("{branch}:done.txt")]);
        assert_eq!(done, "done", "{kind:?}: {log}");
    }
}

/// A machine that has not every layer starts nothing when all are required, and says what is missing.
#[test]
fn what_is_required_and_missing_starts_nothing() {
    let ground = Ground::new(Kind { who: Who::Self_, namespaces: false });
    ground.env.write_user_config("[sandbox]\nmode = \"require\"\n");
    if ground.kind.who == Who::Ordinary {
        own(&ground.home(".config"));
    }
    let ended = run(&ground, "exec:echo x > x.txt");
    assert_eq!(ended["state"], "FAILED", "{ended:#}");
    assert!(ended["error"]["message"].as_str().unwrap().contains("namespaces"), "{ended:#}");
    let whole = Ground::new(Kind { who: Who::Self_, namespaces: true });
    whole.env.write_user_config("[sandbox]\nmode = \"require\"\n");
    assert_eq!(run(&whole, "exec:echo x > x.txt")["state"], "SUCCEEDED");
}

/// What ran before the agent, behind the same fence, does not choose what the agent's own folders are.
#[test]
fn a_set_up_command_cannot_widen_the_agent_s_fence() {
    for kind in kinds() {
        let ground = Ground::new(kind);
        let set_up =
            "for f in $TMPDIR/* $TMPDIR/../*; do mv $f $f.was; ln -s $HOME $f; done; ln -s $HOME $TMPDIR/tmp; true";
        ground.env.write_user_config(&format!("[worktrees]\nset_up = ['{set_up}']\n"));
        if kind.who == Who::Ordinary {
            own(&ground.home(".config"));
        }
        let line = "exec:ls -A /tmp > seen.txt; cat /tmp/.ssh/id_ed25519 /var/tmp/.ssh/id_ed25519 >> seen.txt; \
             echo evil >> /tmp/.bashrc; echo evil >> $TMPDIR/tmp/.bashrc; echo x > x.txt";
        let ended = run(&ground, line);
        assert_eq!(ended["state"], "SUCCEEDED", "{kind:?}: {ended:#}");
        let branch = ended["branch"].as_str().unwrap();
        let seen = ground.env.git_in(&ground.env.origin(), ["show", &format!("{branch}:seen.txt")]);
        assert!(!seen.contains("s3cret") && !seen.contains(".ssh"), "{kind:?}: {seen}");
        assert_eq!(std::fs::read_to_string(ground.home(".bashrc")).unwrap(), "# mine\n", "{kind:?}");
    }
}
