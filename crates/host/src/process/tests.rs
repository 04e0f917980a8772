use super::*;

use std::process::Stdio;

#[expect(clippy::disallowed_methods, reason = "a process of its own, to be found and ended")]
fn sleeper(env: &[(&str, &str)]) -> std::process::Child {
    let mut command = std::process::Command::new("sleep");
    command.arg("600").envs(env.iter().copied()).stdin(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn a_process_is_itself_and_no_other() {
    let mut child = sleeper(&[]);
    let process = identify(child.id()).unwrap();
    assert!(is_alive(&process));
    assert!(!is_alive(&ProcessRef { started: process.started + 1, ..process.clone() }), "another start");
    assert!(!is_alive(&ProcessRef { boot: "another".into(), ..process.clone() }), "another boot");
    assert!(hold(&ProcessRef { started: process.started + 1, ..process.clone() }).is_none());
    let held = hold(&process).unwrap();
    assert!(!wait_gone(&held, Duration::from_millis(1)));
    child.kill().unwrap();
    assert!(wait_gone(&held, Duration::from_secs(10)));
    assert!(!is_alive(&process), "a zombie is not alive");
    child.wait().unwrap();
    assert!(identify(child.id()).is_none_or(|p| p != process));
}

#[test]
fn only_what_carries_the_marker_is_ended_never_the_caller() {
    let value = format!("{:x}", crate::random());
    let mut marked = sleeper(&[("DANDORI_TEST_MARK", &value)]);
    let mut other = sleeper(&[("DANDORI_TEST_MARK", &format!("{value}0"))]);
    // The child's environment is there only once it has exec'd.
    let until = Instant::now() + Duration::from_secs(10);
    while !table::has_marker(marked.id(), "DANDORI_TEST_MARK", &value) && Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(end_marked("DANDORI_TEST_MARK", &value).unwrap(), 1);
    marked.wait().unwrap();
    assert!(is_alive(&identify(other.id()).unwrap()));
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a stand-in for a program that tidies up")]
fn what_is_asked_to_end_may_tidy_up_first() {
    let folder = tempfile::tempdir().unwrap();
    let value = format!("tidy-{}", std::process::id());
    let script = "trap 'rm lock; exit 0' TERM; touch lock; while true; do sleep 0.02; done";
    let mut marked = std::process::Command::new("sh")
        .args(["-c", script])
        .current_dir(folder.path())
        .env("DANDORI_TEST_MARK", &value)
        .spawn()
        .unwrap();
    let lock = folder.path().join("lock");
    let until = Instant::now() + Duration::from_secs(10);
    while !lock.exists() && Instant::now() < until {
        std::thread::yield_now();
    }
    end_marked("DANDORI_TEST_MARK", &value).unwrap();
    marked.wait().unwrap();
    assert!(!lock.exists());
}

#[test]
fn the_caller_and_its_ancestors_are_never_ended() {
    let mut child = sleeper(&[]);
    let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get().unsigned_abs();
    assert_eq!(end_found(|_| vec![1, parent, std::process::id()]).unwrap(), 0);
    assert!(is_alive(&identify(child.id()).unwrap()), "what is below us is not found through us");
    child.kill().unwrap();
    child.wait().unwrap();
}
