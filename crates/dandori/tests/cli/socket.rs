//! The way to the daemon: nobody else can stand in it.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Stdio;

use camino::Utf8Path;
use dandori_testkit::env::{TestEnv, wait_until};

use crate::machine;

fn mode(path: &Utf8Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_socket_lies_below_the_state_root_however_long_its_path_is() {
    let mut env = machine();
    let long = env.root().join("s".repeat(120)).join("t".repeat(120));
    env.var("DANDORI_STATE_DIR", long.as_str());
    env.unset("XDG_RUNTIME_DIR");
    let answer = env.run_json(["x", "--agent", "exec:true"]);
    assert_eq!(answer["runs"][0]["state"], "SUCCEEDED", "{answer}");
    let socket = std::fs::symlink_metadata(long.join("dandori.sock")).unwrap();
    assert!(std::os::unix::fs::FileTypeExt::is_socket(&socket.file_type()));
    // Two daemons at once, whichever folder they were asked from.
    let _ = env.dandori_in(env.root(), ["daemon", "status"]).ok();
    let _ = env.dandori(["daemon", "stop"]).ok();
    assert!(!long.join("dandori.sock").exists());
}

#[test]
fn a_state_root_that_others_could_enter_is_closed_and_doctor_says_so() {
    let env = machine();
    for folder in [env.state(), env.state().join("private")] {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let report = env.dandori(["doctor", "--json"]).json();
    let told = report["checks"].as_array().unwrap().iter().find(|c| c["check"] == "state_root").unwrap().clone();
    assert!(told["detail"].as_str().unwrap().contains("777"), "{told}");
    let _ = env.dandori(["daemon", "start"]).ok();
    assert_eq!((mode(&env.state()), mode(&env.state().join("private"))), (0o700, 0o700));
    let report = env.dandori(["doctor", "--json"]).json();
    let told = report["checks"].as_array().unwrap().iter().find(|c| c["check"] == "state_root").unwrap().clone();
    assert_eq!(told["ok"], true, "{told}");
}

/// A folder of another user: made for root, found for everybody else.
fn another_user_s(env: &TestEnv) -> camino::Utf8PathBuf {
    if std::fs::metadata(env.root()).unwrap().uid() != 0 {
        return "/usr/lib".into();
    }
    let folder = env.root().join("theirs");
    std::fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::chown(&folder, Some(65_534), None).unwrap();
    folder
}

#[test]
fn another_user_s_state_root_is_refused_and_named() {
    let mut env = machine();
    let theirs = another_user_s(&env);
    env.var("DANDORI_STATE_DIR", theirs.as_str());
    for args in [["task", "list"], ["daemon", "start"]] {
        let said = env.dandori(args).fails(1);
        assert!(said.contains(theirs.as_str()) && said.contains("another user"), "{said}");
    }
    let report = env.dandori(["doctor", "--json"]).json();
    let told = report["checks"].as_array().unwrap().iter().find(|c| c["check"] == "state_root").unwrap().clone();
    assert_eq!((&told["ok"], &told["problem"]["code"]), (&false.into(), &"foreign_state_root".into()), "{told}");
}

#[test]
fn what_somebody_else_put_into_an_open_state_root_is_refused_and_named() {
    let env = machine();
    if std::fs::metadata(env.root()).unwrap().uid() != 0 {
        // Only root can make a file another user's; the rule itself is tested where it is written.
        return;
    }
    let planted = env.state().join("repos");
    std::fs::create_dir_all(&planted).unwrap();
    std::os::unix::fs::chown(&planted, Some(65_534), None).unwrap();
    let said = env.dandori(["daemon", "start"]).fails(1);
    assert!(said.contains(planted.as_str()), "{said}");
}

#[test]
fn nobody_but_the_user_is_told_the_token() {
    let env = machine();
    if std::fs::metadata(env.root()).unwrap().uid() != 0 {
        // Only root can listen as somebody else; the rule itself is tested where it is written.
        return;
    }
    let _ = env.dandori(["daemon", "start"]).ok();
    let _ = env.dandori(["daemon", "stop"]).ok();
    let heard = env.root().join("heard");
    std::fs::create_dir_all(&heard).unwrap();
    std::os::unix::fs::chown(&heard, Some(65_534), None).unwrap();
    env.command("chmod", ["o+x", env.root().as_str()], env.root());
    let script = format!(
        "import socket\ns=socket.socket(socket.AF_UNIX)\ns.bind('{heard}/sock')\ns.listen(8)\nopen('{heard}/up','w').close()\n\
         s.settimeout(30)\nc,_=s.accept()\nc.settimeout(3)\ntry:\n  got=c.recv(65536)\nexcept OSError:\n  got=b''\n\
         open('{heard}/got','wb').write(got)\nopen('{heard}/done','w').close()\n"
    );
    let args = ["--reuid=65534", "--clear-groups", "--", "/usr/bin/python3", "-c", &script];
    let mut listener = env.program("setpriv", args, env.root()).stderr(Stdio::inherit()).spawn().unwrap();
    wait_until("it listens", || heard.join("up").exists());
    std::fs::rename(heard.join("sock"), env.state().join("dandori.sock")).unwrap();
    let said = env.dandori(["daemon", "status"]).fails(1);
    assert!(said.contains("another user"), "{said}");
    wait_until("it has heard all it will", || heard.join("done").exists());
    assert_eq!(std::fs::read(heard.join("got")).unwrap(), b"", "not even a request");
    let _ = listener.wait();
}
