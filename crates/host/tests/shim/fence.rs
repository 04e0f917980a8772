//! What an agent can and cannot do behind the fence. On a kernel without Landlock these say so and pass.

use dandori_domain::run::{Sandbox, SandboxMode};
use dandori_host::fenced;
use dandori_host::sandbox::SandboxPolicy;
use dandori_host::shim::{LaunchError, LaunchOrder};
use dandori_host::{Cmd, Env};

use crate::bed::{self, Bed, sh};

/// The fence's ABI, or `None` where there is none to test.
fn abi() -> Option<u32> {
    match probe() {
        Sandbox::None { reason } => {
            eprintln!("not tested: {reason}");
            None
        }
        fence => Some(fence.layers().landlock),
    }
}

fn probe() -> Sandbox {
    fenced::probe(camino::Utf8Path::new(bed::PROGRAM))
}

/// Each line is tried by itself; the answer is which of them worked.
fn tried(bed: &Bed, order: impl Fn(&str) -> LaunchOrder, attempts: &[&str]) -> Vec<bool> {
    let lines: Vec<String> =
        attempts.iter().map(|a| format!("if ( {a} ) >/dev/null 2>>why; then echo yes; else echo no; fi")).collect();
    let (record, said) = bed.run_script(&order(&lines.join("\n")));
    assert_eq!(record.code, Some(0), "{said}");
    said.lines().map(|l| l == "yes").collect()
}

#[test]
fn writes_go_into_the_worktree_and_nowhere_else() {
    if abi().is_none() {
        return;
    }
    for bed in Bed::both() {
        bed.write("outside/file", "mine");
        bed.write("outside/dir/x", "");
        std::os::unix::fs::symlink(bed.path("outside"), bed.path("worktree/escape")).unwrap();
        let outside = bed.path("outside");
        let attempts = [
            "echo ok > inside && mkdir d && mv inside d/inside && rm -r d".to_owned(),
            "echo ok > /dev/null && head -c1 /dev/urandom".to_owned(),
            format!("cat {outside}/file"),
            format!("echo no > {outside}/file"),
            format!("echo no > {outside}/new"),
            format!("rm {outside}/file"),
            format!("mv {outside}/file ."),
            format!("ln {outside}/file stolen"),
            format!("mkdir {outside}/d2"),
            format!("rmdir {outside}/dir"),
            "echo no > escape/file".to_owned(),
            "echo no > escape/new".to_owned(),
            format!("echo no > /proc/self/root{outside}/new"),
            format!("echo no > /proc/$PPID/root{outside}/new"),
            "setsid sh -c 'echo no > escape/late'".to_owned(),
        ];
        let attempts: Vec<&str> = attempts.iter().map(String::as_str).collect();
        let worked = tried(&bed, |script| bed.order(&sh(script)), &attempts);
        let yes: Vec<&str> = attempts.iter().zip(&worked).filter(|(_, w)| **w).map(|(a, _)| *a).collect();
        assert_eq!(yes, &attempts[..3], "{}", bed.read("worktree/why"));
        assert_eq!(bed.read("outside/file"), "mine");
    }
}

#[test]
fn what_is_hidden_cannot_be_read_but_its_writable_part_can() {
    if abi().is_none() {
        return;
    }
    for bed in Bed::both() {
        bed.write("state/token", "secret");
        bed.write("state/repo/db", "secret");
        bed.write("state/repo/worktrees/w1/code", "code");
        bed.write("state/agent/settings.json", "settings");
        bed.write("state/agent/sessions/one", "one");
        bed.write("open/file", "open");
        bed.write("single/secret", "secret");
        bed.write("single/open", "open");
        std::os::unix::fs::symlink(bed.path("state"), bed.path("open/link")).unwrap();
        let root = bed.path("");
        let order = |script: &str| {
            let mut order = bed.order(&sh(script));
            let mut policy = SandboxPolicy::new(SandboxMode::Auto);
            policy.hide = vec![bed.path("state"), bed.path("single/secret"), bed.path("state/not/yet")];
            policy.write = vec![bed.worktree.clone(), bed.path("state/repo/worktrees/w1"), bed.path("state/agent")];
            policy.protect = vec![bed.path("state/agent/settings.json")];
            order.sandbox = policy;
            order
        };
        let attempts = [
            format!("cat {root}open/file"),
            format!("cat {root}single/open"),
            format!("cd {root}state/repo/worktrees/w1 && cat code && echo x > new && pwd -P"),
            format!("cat {root}state/agent/settings.json"),
            format!("echo two > {root}state/agent/sessions/two"),
            "git --version && ls / && ls /proc/self".to_owned(),
            format!("cat {root}state/token"),
            format!("cat {root}state/repo/db"),
            format!("cat {root}open/link/token"),
            format!("grep secret {root}single/secret"),
            format!("cp {root}state/token ."),
            format!("ln {root}state/token here"),
            format!("echo x > {root}state/token"),
            format!("echo x > {root}state/agent/settings.json"),
            format!("rm {root}state/agent/settings.json"),
            format!("mv {root}state/agent/sessions/one {root}state/agent/settings.json"),
        ];
        let attempts: Vec<&str> = attempts.iter().map(String::as_str).collect();
        let worked = tried(&bed, order, &attempts);
        let yes: Vec<&str> = attempts.iter().zip(&worked).filter(|(_, w)| **w).map(|(a, _)| *a).collect();
        assert_eq!(yes, &attempts[..6], "{}", bed.read("worktree/why"));
    }
}

#[test]
fn the_shim_cannot_be_signalled_or_looked_into() {
    let Some(abi) = abi() else { return };
    if abi < 6 {
        eprintln!("not tested: signals are fenced from ABI 6 on");
        return;
    }
    for bed in Bed::both() {
        let attempts =
            ["sleep 600 & kill $!", "kill -0 $PPID", "kill -9 $PPID", "cat /proc/$PPID/environ", "cat /proc/1/environ"];
        // In the brackets of `tried`, $PPID is still the script's parent: the shim.
        let worked = tried(&bed, |script| bed.order(&sh(script)), &attempts);
        assert_eq!(worked, [true, false, false, false, false], "{}", bed.read("worktree/why"));
    }
}

#[test]
fn git_reads_and_cannot_commit_where_the_repository_is_not_writable() {
    if abi().is_none() {
        return;
    }
    for bed in Bed::both() {
        let env = Env::from_pairs([("PATH", bed::PATH), ("HOME", bed.path("").as_str())]);
        let git = |args: &[&str]| Cmd::new("git", &env).cwd(&bed.path("")).args(args).run().unwrap();
        git(&["init", "-q", "repo"]);
        git(&[
            "-C",
            "repo",
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@x",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "first",
        ]);
        std::fs::remove_dir(&bed.worktree).unwrap();
        git(&["-C", "repo", "worktree", "add", "-q", bed.worktree.as_str(), "-b", "work"]);
        let head = git(&["-C", "repo", "rev-parse", "work"]).text();
        let attempts = [
            "echo change > file && git status --porcelain | grep -q file",
            "git log -1 && git diff",
            "git add file",
            "git -c user.name=n -c user.email=e@x commit --allow-empty -m no",
            "git branch other",
            "git config core.fsmonitor evil",
            "git update-ref refs/heads/other HEAD",
        ];
        let order = |script: &str| {
            let mut order = bed.order(&sh(script));
            order.env.push(("HOME".into(), bed.path("").into_string()));
            order
        };
        let worked = tried(&bed, order, &attempts);
        assert_eq!(worked, [true, true, false, false, false, false, false], "{}", bed.read("worktree/why"));
        assert_eq!(git(&["-C", "repo", "rev-parse", "work"]).text(), head);
    }
}

#[test]
fn a_script_may_open_its_own_input_and_outputs_by_name() {
    if abi().is_none() {
        return;
    }
    for bed in Bed::both() {
        bed.write("run/instruction", "told\n");
        let script = "echo one; echo two > /dev/stdout; echo three > /dev/stderr; cat /dev/stdin; echo four";
        let mut order = bed.order(&sh(script));
        order.stdin = Some(bed.path("run/instruction"));
        let (record, _) = bed.run_script(&order);
        assert_eq!(record.code, Some(0));
        assert_eq!(bed.read("run/output"), "one\ntwo\ntold\nfour\n", "and nothing is truncated by it");
        assert_eq!(bed.read("run/stderr"), "three\n");
    }
}

/// Agents give their tools a pseudo-terminal; `script` does the same.
#[test]
fn a_tool_may_have_a_terminal_of_its_own() {
    let env = Env::from_pairs([("PATH", bed::PATH)]);
    if abi().is_none() || env.find_program("script").is_none() {
        return;
    }
    for bed in Bed::both() {
        let (record, said) = bed.run_script(&bed.order(&sh("script -qec 'test -t 1 && echo terminal' typed")));
        assert_eq!(record.code, Some(0), "{said}");
        assert!(said.contains("terminal"), "{said}");
    }
}

#[test]
fn the_level_that_holds_is_told_and_a_demand_that_cannot_be_met_refuses() {
    let bed = Bed::new();
    let mut order = bed.order(&sh("true"));
    order.sandbox.mode = SandboxMode::Require;
    match (bed.launch(&order), probe().is_whole()) {
        (Ok(started), true) => assert_eq!(started.sandbox, probe()),
        (Err(LaunchError::SandboxMissing { reason }), false) => assert!(!reason.is_empty()),
        other => panic!("{other:?}"),
    }
    let open = Bed::new();
    let mut order = open.order(&sh(&format!("echo free > {}", open.path("outside"))));
    order.sandbox = SandboxPolicy::off();
    let started = open.launch(&order).unwrap();
    assert!(matches!(started.sandbox, Sandbox::None { reason } if reason.contains("disabled")));
    assert_eq!((open.ended().code, open.read("outside").as_str()), (Some(0), "free\n"));
}

/// Somebody has used up the namespaces of the user since the daemon found that there are some.
#[test]
fn where_namespaces_were_found_nothing_starts_without_them() {
    let bed = Bed::without_namespaces();
    let mut order = bed.order(&sh("touch ran"));
    order.sandbox.needs_namespaces = true;
    assert!(matches!(bed.launch(&order), Err(LaunchError::SandboxMissing { .. })));
    assert!(!bed.path("worktree/ran").exists());
}
