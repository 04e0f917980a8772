//! Launch, adopt, stop, lose: every way a run's processes can go.

use std::time::{Duration, Instant};

use crate::bed::{self, Bed, eventually, sh};
use dandori_host::sandbox::SandboxPolicy;
use dandori_host::shim::{self, LaunchError, Probe, Why};
use dandori_host::{Cmd, Env, process};
use rustix::process::Signal;

#[test]
fn exit_code_and_both_outputs_are_kept_whole() {
    let bed = Bed::new();
    let lines = 20_000;
    let order = bed.order(&sh(&format!("seq 1 {lines}; echo oops >&2; exit 7")));
    bed.launch(&order).unwrap();
    let record = bed.ended();
    assert_eq!((record.code, record.signal, &record.why), (Some(7), None, &Why::Ended));
    let output = bed.read("run/output");
    assert_eq!(output.lines().count(), lines);
    assert_eq!(output.lines().last(), Some("20000"));
    assert_eq!(bed.read("run/stderr"), "oops\n");
    assert_eq!(record.output_bytes, (output.len() + 5) as u64);
}

#[test]
fn what_was_written_just_before_the_end_is_kept() {
    let bed = Bed::new();
    let script = "echo up; while ! test -e go; do sleep 0.02; done; seq 1 9000; exit 4";
    let started = bed.launch(&bed.order(&sh(script))).unwrap();
    eventually("it is up", || bed.read("run/output") == "up\n");
    // The shim sees the output and the end in one moment.
    bed::signal(&started.shim, Signal::STOP);
    bed.write("worktree/go", "");
    eventually("the agent has ended", || !process::is_alive(&started.agent));
    bed::signal(&started.shim, Signal::CONT);
    assert_eq!(bed.ended().code, Some(4));
    assert_eq!(bed.read("run/output").lines().last(), Some("9000"));
}

/// Often over before the shim looks for the first time.
#[test]
fn the_words_of_an_agent_that_is_over_at_once_are_kept() {
    for _ in 0..10 {
        let bed = Bed::new();
        let mut order = bed.order(&["echo".into(), "brief".into()]);
        order.sandbox = SandboxPolicy::off();
        let (record, said) = bed.run_script(&order);
        assert_eq!((record.code, said.as_str()), (Some(0), "brief\n"));
    }
}

#[test]
fn the_agent_gets_exactly_its_environment_folder_and_input() {
    let bed = Bed::new();
    bed.write("run/instruction", "do it\n");
    let mut order =
        bed.order(&sh("cat; cat /dev/stdin < /dev/null; pwd; env | grep -v '^\\(PWD\\|SHLVL\\|_\\|OLDPWD\\|XDG_RUNTIME_DIR\\)=' | sort"));
    order.stdin = Some(bed.path("run/instruction"));
    order.env = vec![("PATH".into(), bed::PATH.into()), ("KEY".into(), "secret-value".into())];
    bed.launch(&order).unwrap();
    assert_eq!(bed.ended().code, Some(0));
    let expected = format!("do it\n{}\nDANDORI_RUN={}\nKEY=secret-value\nPATH={}\n", bed.worktree, bed.run, bed::PATH);
    assert_eq!(bed.read("run/output"), expected);
    assert!(!bed.read("run/launch.json").contains("secret-value"), "secrets do not stay on the disk");
}

#[test]
fn a_killed_agent_is_recorded_with_its_signal() {
    let bed = Bed::new();
    let started = bed.launch(&bed.order(&sh("echo ready; sleep 600 & wait"))).unwrap();
    bed::kill_9(&started.agent);
    let record = bed.ended();
    assert_eq!((record.code, record.signal, record.why), (None, Some(9), Why::Ended));
    assert!(record.ended_descendants <= 1);
}

#[test]
fn the_run_goes_on_when_the_daemon_is_killed() {
    let bed = Bed::new();
    let order = bed.order(&sh("echo before; while ! test -e go; do sleep 0.05; done; echo after; exit 3"));
    bed.write("order.json", &serde_json::to_string(&order).unwrap());
    // A process of its own launches and is killed by SIGKILL at once.
    let daemon = Cmd::new(bed::PROGRAM, &Env::default())
        .args(["launch-and-die", bed.run_dir.as_str(), bed.path("order.json").as_str()])
        .run_any()
        .unwrap();
    assert_eq!(dandori_host::cmd::signal_of(daemon.status), Some(9));
    let Probe::Alive(started) = shim::probe(&bed.run_dir).unwrap() else { panic!("it should live") };
    assert!(process::is_alive(&started.agent));
    assert!(matches!(bed.launch(&order), Err(LaunchError::AlreadyStarted)));
    bed.write("worktree/go", "");
    assert_eq!(bed.ended().code, Some(3));
    assert_eq!(bed.read("run/output"), "before\nafter\n");
}

#[test]
fn stop_ends_a_tree_with_a_setsid_child_and_one_that_ignores_signals() {
    for bed in Bed::both() {
        let nap = bed.nap();
        let script = format!(
            "setsid sh -c 'trap \"\" INT TERM HUP; echo up > escaped; while :; do sleep {nap}; done' & \
             trap '' INT TERM; while ! test -s escaped; do sleep 0.02; done; echo up; while :; do sleep {nap}; done"
        );
        bed.launch(&bed.order(&sh(&script))).unwrap();
        eventually("it is up", || bed.read("run/output") == "up\n" && bed.nappers() >= 2);
        let Probe::Ended(record) = shim::stop(&bed.run_dir, "canceled by the user", Duration::from_secs(1)).unwrap()
        else {
            panic!("it should be over")
        };
        assert_eq!(record.why, Why::Stopped { reason: "canceled by the user".into() });
        assert_eq!(record.signal, Some(9));
        assert!(record.ended_descendants >= 2, "{record:?}");
        assert_eq!(bed.nappers(), 0);
        // Asked twice, it is still the same end.
        assert_eq!(shim::stop(&bed.run_dir, "again", Duration::ZERO).unwrap(), Probe::Ended(record));
    }
}

#[test]
fn an_agent_that_listens_may_say_its_last_words() {
    let bed = Bed::new();
    let script = "trap 'echo saved; exit 0' INT; echo up; while :; do sleep 0.1; done";
    bed.launch(&bed.order(&sh(script))).unwrap();
    eventually("it is up", || bed.read("run/output") == "up\n");
    let begun = Instant::now();
    let Probe::Ended(record) = shim::stop(&bed.run_dir, "enough", Duration::from_secs(30)).unwrap() else { panic!() };
    assert_eq!((record.code, bed.read("run/output").as_str()), (Some(0), "up\nsaved\n"));
    assert!(begun.elapsed() < Duration::from_secs(15), "the grace is a limit, not a wait");
}

#[test]
fn what_an_agent_leaves_running_ends_with_it() {
    for bed in Bed::both() {
        let nap = bed.nap();
        let script =
            format!("setsid sh -c 'echo up > left; exec sleep {nap}' & while ! test -s left; do sleep 0.02; done");
        bed.launch(&bed.order(&sh(&script))).unwrap();
        let record = bed.ended();
        assert_eq!((record.code, record.ended_descendants), (Some(0), 1));
        assert_eq!(bed.nappers(), 0);
    }
}

/// Double forks, cleared environments, other sessions, other groups, other folders: all at once.
const SCATTERED: &str = "setsid sh -c 'echo up > marked; cd /; exec sleep NAP' & \
     setsid env -i sh -c 'echo up > bare; exec /bin/sleep NAP' & \
     sh -c 'setsid sh -c \"sleep NAP & sleep NAP & echo up > double\" &' & \
     while ! test -s marked -a -s bare -a -s double; do sleep 0.02; done; echo up; sleep NAP";

#[test]
fn in_namespaces_nothing_outlives_a_killed_shim() {
    let bed = Bed::new();
    let started = bed.launch(&bed.order(&sh(&SCATTERED.replace("NAP", &bed.nap())))).unwrap();
    if !started.sandbox.layers().namespaces {
        return;
    }
    eventually("it is up", || bed.read("run/output") == "up\n" && bed.nappers() >= 5);
    bed::kill_9(&started.shim);
    eventually("the kernel ends them all", || bed.nappers() == 0);
}

#[test]
fn in_namespaces_the_end_of_any_of_our_processes_is_the_end_of_all() {
    for depth in [1, 2] {
        let bed = Bed::new();
        let started = bed.launch(&bed.order(&sh(&SCATTERED.replace("NAP", &bed.nap())))).unwrap();
        if !started.sandbox.layers().namespaces {
            return;
        }
        eventually("it is up", || bed.read("run/output") == "up\n" && bed.nappers() >= 5);
        // From the agent up: the first process, then the one that made the namespaces.
        let parent = |pid: u32| -> u32 {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            status.lines().find_map(|l| l.strip_prefix("PPid:")).unwrap().trim().parse().unwrap()
        };
        let above = (0..depth).fold(started.agent.pid, |pid, _| parent(pid));
        bed::kill_9(&process::identify(above).unwrap());
        let record = bed.ended();
        assert_eq!((record.code, record.signal, &record.why), (None, Some(9), &Why::Ended), "{depth}");
        assert_eq!(bed.nappers(), 0);
    }
}

#[test]
fn without_namespaces_the_leftovers_of_a_killed_shim_are_found_by_mark_and_by_place() {
    let bed = Bed::without_namespaces();
    let started = bed.launch(&bed.order(&sh(&SCATTERED.replace("NAP", &bed.nap())))).unwrap();
    eventually("it is up", || bed.read("run/output") == "up\n" && bed.nappers() >= 5);
    // The user's own process in the worktree is not part of the run.
    let mut user = bed.bystander();
    bed::kill_9(&started.shim);
    let Probe::Lost(Some(known)) = shim::probe(&bed.run_dir).unwrap() else { panic!("its shim is gone") };
    assert_eq!(known, started);
    eventually("the agent died with its shim", || !process::is_alive(&started.agent));
    assert!(bed.nappers() >= 4, "the kernel does not end these");
    let ended = shim::end_leftovers(&bed.run, &bed.run_dir, &bed.worktree).unwrap();
    assert!(ended >= 4, "{ended}");
    assert_eq!(bed.nappers(), 0);
    assert!(user.is_still_there(), "the user's process goes on");
    assert_eq!(shim::end_leftovers(&bed.run, &bed.run_dir, &bed.worktree).unwrap(), 0);
}

#[test]
fn a_shim_that_does_not_answer_is_ended_by_force() {
    for bed in Bed::both() {
        let nap = bed.nap();
        let script = format!("setsid sh -c 'echo up > child; exec sleep {nap}' & wait");
        let started = bed.launch(&bed.order(&sh(&script))).unwrap();
        eventually("the child is up", || bed.nappers() == 1);
        bed::kill_9(&started.shim);
        let state = shim::stop(&bed.run_dir, "enough", Duration::ZERO).unwrap();
        assert!(matches!(state, Probe::Lost(Some(_))), "{state:?}");
        eventually("nothing is left", || bed.nappers() == 0);
    }
}

#[test]
fn launching_twice_runs_once() {
    let bed = Bed::new();
    let order = bed.order(&sh("echo once >> count; while ! test -e go; do sleep 0.02; done"));
    let answers: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..6).map(|_| scope.spawn(|| bed.launch(&order))).collect();
        all.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(answers.iter().filter(|a| a.is_ok()).count(), 1, "{answers:?}");
    assert!(answers.iter().all(|a| matches!(a, Ok(_) | Err(LaunchError::AlreadyStarted))), "{answers:?}");
    bed.write("worktree/go", "");
    bed.ended();
    assert!(matches!(bed.launch(&order), Err(LaunchError::AlreadyStarted)));
    assert_eq!(bed.read("worktree/count"), "once\n");
}

#[test]
fn a_sealed_folder_launches_nothing_any_more() {
    let bed = Bed::new();
    assert_eq!(shim::probe(&bed.run_dir).unwrap(), Probe::NeverStarted);
    assert_eq!(shim::probe(&bed.path("no/folder")).unwrap(), Probe::NeverStarted);
    let state = shim::stop(&bed.run_dir, "canceled before it began", Duration::ZERO).unwrap();
    let Probe::Ended(record) = state else { panic!("{state:?}") };
    assert_eq!(record.why, Why::NotStarted { detail: "canceled before it began".into() });
    assert!(matches!(bed.launch(&bed.order(&sh("touch ran"))), Err(LaunchError::AlreadyStarted)));
    // A shim that was already on its way comes to the same.
    bed.write("run/launch.json", &serde_json::to_string(&bed.order(&sh("touch ran"))).unwrap());
    Cmd::new(bed::PROGRAM, &Env::default()).args(["shim", bed.run_dir.as_str()]).run_any().unwrap();
    assert!(!bed.path("worktree/ran").exists());
}

#[test]
fn the_deadline_holds_without_a_daemon() {
    let bed = Bed::new();
    let mut order = bed.order(&sh("echo begun; sleep 600"));
    order.deadline_seconds = 1;
    order.grace_seconds = 1;
    bed.launch(&order).unwrap();
    let record = bed.ended();
    assert_eq!(record.why, Why::DeadlinePassed);
    assert_eq!(bed.read("run/output"), "begun\n");
}

#[test]
fn an_agent_that_talks_without_end_is_stopped_at_the_limit() {
    let bed = Bed::new();
    let mut order = bed.order(&sh("yes"));
    order.max_output_bytes = 100_000;
    order.grace_seconds = 1;
    bed.launch(&order).unwrap();
    let record = bed.ended();
    assert_eq!((&record.why, record.output_bytes), (&Why::OutputLimit, 100_000));
    assert!(record.dropped_bytes > 0);
    assert_eq!(bed.read("run/output").len(), 100_000);
}

#[test]
fn what_cannot_start_says_so_and_is_no_exit_of_the_agent() {
    for (argv, expected) in [
        (vec!["no-such-agent".to_owned()], "no-such-agent was not found in PATH (/usr"),
        (vec!["/no/such/agent".to_owned()], "program /no/such/agent does not exist"),
        (vec![], "names no program"),
        (vec!["./script".to_owned()], "the interpreter or loader that it names is missing"),
    ] {
        let bed = Bed::new();
        bed.write("worktree/script", "#!/no/such/interpreter\n");
        bed.make_executable("worktree/script");
        let answer = bed.launch(&bed.order(&argv));
        let Err(LaunchError::NotStarted { detail }) = answer else { panic!("{answer:?}") };
        assert!(detail.contains(expected), "{detail}");
        let Probe::Ended(record) = shim::probe(&bed.run_dir).unwrap() else { panic!("it is over") };
        assert_eq!((record.code, record.signal), (None, None));
        assert_eq!(record.why, Why::NotStarted { detail });
    }
    let bed = Bed::new();
    let mut order = bed.order(&sh("true"));
    order.cwd = bed.path("nowhere");
    let Err(LaunchError::NotStarted { detail }) = bed.launch(&order) else { panic!() };
    assert!(detail.contains("cannot enter its folder"), "{detail}");
}

#[test]
fn a_program_that_is_no_shim_is_an_unclear_launch_not_a_hang() {
    let bed = Bed::new();
    let order = bed.order(&sh("true"));
    let answer = shim::launch(&bed.run_dir, &order, camino::Utf8Path::new("/bin/false"), &Env::default());
    assert!(matches!(answer, Err(LaunchError::Unclear { .. })), "{answer:?}");
    let answer = shim::launch(&bed.run_dir, &order, camino::Utf8Path::new("/no/such"), &Env::default());
    assert!(matches!(answer, Err(LaunchError::ProgramGone { .. })), "{answer:?}");
    assert_eq!(shim::probe(&bed.run_dir).unwrap(), Probe::NeverStarted);
}

#[test]
fn a_waiting_shim_is_small_and_does_not_stir() {
    let bed = Bed::new();
    let started = bed.launch(&bed.order(&sh("echo up; sleep 600"))).unwrap();
    eventually("it is up", || bed.read("run/output") == "up\n");
    let status = || std::fs::read_to_string(format!("/proc/{}/status", started.shim.pid)).unwrap();
    let field = |name: &str| -> u64 {
        let status = status();
        let line = status.lines().find_map(|l| l.strip_prefix(name)).unwrap();
        line.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
    };
    assert!(field("VmRSS:") < 8 * 1024, "{} kB", field("VmRSS:"));
    // Once it sleeps, nothing wakes it but an event.
    let asleep = || field("voluntary_ctxt_switches:");
    let mut seen = asleep();
    eventually("it sleeps", || {
        std::thread::sleep(Duration::from_millis(300));
        let before = std::mem::replace(&mut seen, asleep());
        before == seen
    });
}
