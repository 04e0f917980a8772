//! All attempts in one run, for each kind of machine.

use std::os::unix::fs::PermissionsExt;

use camino::Utf8PathBuf;
use dandori_testkit::env::{is_alive, wait_until};
use serde_json::{Value, json};

use crate::ground::{Door, Ground, Kept, Kind, Who, kinds, own, places, run};
use crate::lures::{Letters, Shared, Terminal};

/// What a machine without namespaces cannot stop, and how `doctor` says so.
const WITHOUT_NAMESPACES: &[(&str, &str)] = &[
    ("reach a socket in the home folder", "sockets in the file system"),
    ("reach a socket in the temporary folder", "sockets in the file system"),
    ("have a shell from tmux", "sockets in the file system"),
    ("have ssh-agent sign", "sockets in the file system"),
    ("reach the daemon", "sockets in the file system"),
    ("read another terminal", "other terminals"),
    ("write to another terminal", "other terminals"),
    ("see a process", "command lines of your other processes"),
    ("change a mode", "mode, owner and times"),
    ("change times", "mode, owner and times"),
    ("change attributes", "mode, owner and times"),
    ("change an owner", "mode, owner and times"),
    ("change a process' priority", "priority and CPU affinity"),
    ("change a process' affinity", "priority and CPU affinity"),
    ("change all priorities of the user", "priority and CPU affinity"),
    ("change a process' scheduler", "priority and CPU affinity"),
    ("change a process' scheduler anew", "priority and CPU affinity"),
    ("change a process' priority at the disk", "priority and CPU affinity"),
    ("change a mode through an open file", "mode, owner and times"),
    ("change a mode by its newest call", "mode, owner and times"),
    ("change times through an open file", "mode, owner and times"),
    ("change attributes by their newest call", "mode, owner and times"),
    ("change flags of a file", "mode, owner and times"),
    ("send to a socket in the home folder", "sockets in the file system"),
    ("hand a file to a service", "sockets in the file system"),
    ("reach a socket through a link", "sockets in the file system"),
    ("reach a socket through an open file", "sockets in the file system"),
    ("take a terminal from its session", "other terminals"),
    ("see the names in a hidden folder", "names, sizes and times of hidden files"),
    ("see the names in the daemon's folder", "names, sizes and times of hidden files"),
    ("see the size of a hidden file", "names, sizes and times of hidden files"),
    ("watch a hidden file", "names, sizes and times of hidden files"),
    ("be notified of a hidden file", "names, sizes and times of hidden files"),
    ("attach shared memory", "shared memory, semaphores and message queues"),
    ("send to a message queue", "shared memory, semaphores and message queues"),
    ("raise a semaphore", "shared memory, semaphores and message queues"),
    ("read the password in the remote's address", "password in the URL of a git remote"),
];

fn try_everything(kind: Kind) {
    let ground = Ground::new(kind);
    let env = &ground.env;
    let service = Door::at(&ground.home("service.sock"));
    let in_tmp: Utf8PathBuf = format!("/tmp/dd-door-{}-{}", std::process::id(), u8::from(kind.namespaces)).into();
    let _ = std::fs::remove_file(&in_tmp);
    let tmp_door = Door::at(&in_tmp);
    let name = format!("dandori-door-{}-{}-{:?}", std::process::id(), kind.namespaces, kind.who);
    let abstract_door = Door::abstract_(&name);
    let victim = Kept(ground.start("sleep", &["1000"]));
    let agent_socket = ground.home("agent.sock");
    let _agent = Kept(ground.start("ssh-agent", &["-D", "-a", agent_socket.as_str()]));
    let tmux_socket = ground.home("tmux.sock");
    let _tmux = Kept(ground.start("tmux", &["-S", tmux_socket.as_str(), "-D", "-f", "/dev/null"]));
    let terminal = Terminal::open(kind);
    let shared = Shared::make(&ground);
    let spare = Kept(ground.start("sleep", &["1000.5"]));
    let letters = [Letters::at(&ground.home("letters.sock")), Letters::abstract_(&format!("{name}-letters"))];
    wait_until("ssh-agent and tmux listen", || agent_socket.exists() && tmux_socket.exists());
    if kind.who == Who::Ordinary {
        own(&ground.home("service.sock"));
        own(&ground.home("letters.sock"));
    }
    let _ = env.dandori(["daemon", "start"]).ok();
    let nap =
        format!("1000.{}{}", std::process::id(), u8::from(kind.namespaces) + 2 * u8::from(kind.who == Who::Ordinary));
    let more = json!({
        "victim": victim.0.id(), "daemon": env.daemon_pid().unwrap(), "tmp_socket": in_tmp, "abstract": name,
        "ssh_agent": agent_socket, "tmux": tmux_socket, "pts": terminal.path, "shm_key": shared.key, "nap": nap,
        "many": if kind.namespaces { 5000 } else { 300 }, "skip": [], "restore": false,
        "queue": shared.queue, "letters": format!("{name}-letters"), "spare": spare.0.id(),
    });
    plant_attempts(&ground, &more);
    let listed = ground.doctor();
    assert_eq!(listed["hint"].is_null(), kind.namespaces, "{listed}");

    let before = fingerprint(&ground);
    let ended = run(&ground, "exec:python3 -B attempts.py");
    assert_eq!(ended["state"], "SUCCEEDED", "{kind:?}: {ended:#}\n{}", env.dandori(["task", "log", "T-1"]).stdout);
    let branch = ended["branch"].as_str().unwrap();
    let show = |file: &str| env.git_in(&env.origin(), ["show", &format!("{branch}:{file}")]);
    let outcome: Value = serde_json::from_str(&show("outcome.json")).unwrap();
    let tried = outcome.as_object().unwrap();
    assert!(tried.len() >= 200, "{}", tried.len());

    let excused = |name: &str| WITHOUT_NAMESPACES.iter().find(|(n, _)| !kind.namespaces && *n == name);
    let out: Vec<&String> = tried.iter().filter(|(_, o)| *o == "OUT").map(|(name, _)| name).collect();
    let loose: Vec<&&String> = out.iter().filter(|name| excused(name).is_none()).collect();
    assert!(loose.is_empty(), "{kind:?}: got out: {loose:?}\n{}", env.dandori(["task", "log", "T-1"]).stdout);
    for (name, words) in WITHOUT_NAMESPACES {
        assert!(tried.contains_key(*name), "{name} is not tried any more");
        let is_listed = listed["hint"].as_str().unwrap_or_default().contains(words);
        assert!(kind.namespaces || is_listed, "doctor does not list “{words}”: {listed}");
    }
    // From outside: nothing came, nothing changed, nobody is left.
    let after = fingerprint(&ground);
    if kind.namespaces {
        assert_eq!((service.visits(), tmp_door.visits()), (0, 0), "{kind:?}");
        assert_eq!(after, before, "{kind:?}");
        assert!(!ground.home("from-tmux").exists());
        assert_eq!(terminal.seen(), "", "{kind:?}");
    } else {
        assert_eq!(contents(&after), contents(&before), "{kind:?}");
    }
    assert_eq!(abstract_door.visits(), 0, "{kind:?}");
    let received = letters.each_ref().map(Letters::count);
    assert!(received[1] == 0 && (received[0] == 0 || !kind.namespaces), "{kind:?}: {received:?}");
    assert!(is_alive(spare.0.id()), "{kind:?}: a process was ended");
    for path in [format!("/tmp/evil-{}", ground.uid), format!("/dev/shm/evil-{}", ground.uid)] {
        assert!(!std::path::Path::new(&path).exists(), "{kind:?}: {path}");
    }
    assert_eq!(sleepers(&nap), 0, "{kind:?}: survivors");
    assert!(show("made.txt").parse::<u32>().unwrap() >= 250, "{kind:?}: they were made");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", victim.0.id())).unwrap();
    let files = limits.lines().find(|l| l.starts_with("Max open files")).unwrap();
    assert!(!files.contains(" 3 "), "{files}");
    let _ = std::fs::remove_file(in_tmp);
    drop(shared);
}

fn plant_attempts(ground: &Ground, more: &Value) {
    ground.plant("places.json", &places(ground, more));
    ground.plant("attempts.py", include_str!("attempts.py"));
    ground.plant("attempts_more.py", include_str!("attempts_more.py"));
}

/// Every file of the home folder and the checkout with what is in it, its mode and its time.
fn fingerprint(ground: &Ground) -> Vec<(String, String, u32, i64)> {
    use std::os::unix::fs::MetadataExt;
    let mut all = Vec::new();
    let mut folders = vec![ground.env.home(), ground.env.repo()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir_utf8().unwrap().flatten() {
            let meta = entry.path().symlink_metadata().unwrap();
            let is_ours = entry.path().as_str().contains("/repo/.git/");
            if meta.is_dir() {
                folders.push(entry.path().to_owned());
            } else if meta.is_file() && !is_ours {
                let text = String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned();
                all.push((entry.path().to_string(), text, meta.permissions().mode(), meta.mtime()));
            } else if !meta.is_file() && entry.path().extension() != Some("sock") && !is_ours {
                all.push((entry.path().to_string(), "special".into(), 0, 0));
            }
        }
    }
    all.sort();
    all
}

fn contents(all: &[(String, String, u32, i64)]) -> Vec<(&str, &str)> {
    let ours = all.iter().filter(|(path, ..)| !path.ends_with("/from-tmux"));
    ours.map(|(path, text, ..)| (path.as_str(), text.as_str())).collect()
}

fn sleepers(nap: &str) -> usize {
    let lines = std::fs::read_dir("/proc").unwrap().flatten().map(|e| std::fs::read(e.path().join("cmdline")));
    lines.flatten().filter(|line| line.split(|b| *b == 0).any(|word| word == nap.as_bytes())).count()
}

#[test]
fn nothing_gets_out_with_every_layer() {
    for kind in kinds().into_iter().filter(|k| k.namespaces) {
        try_everything(kind);
    }
}

#[test]
fn without_namespaces_only_what_doctor_lists_gets_out() {
    for kind in kinds().into_iter().filter(|k| !k.namespaces) {
        try_everything(kind);
    }
}

/// What would end the test itself, or what it stands on.
const TOO_MUCH: &[&str] = &[
    "trace one's parent",
    "change the limits of one's parent",
    "end the daemon",
    "stop the daemon",
    "change the limits of the daemon",
    "end a process",
];

/// What an ordinary user cannot do in the open either: it needs a superuser, a device, or something that is only there behind
/// the fence or not offered in this test.
const HELD_ANYWAY: &[&str] = &[
    "ask for a key",
    "bind a folder",
    "change a mount",
    "change an owner",
    "change the limits of the first process",
    "change the network",
    "count processes into a file",
    "dump core into a program",
    "end the first process",
    "enter the namespaces of another",
    "go below another root",
    "have a file of the parent's",
    "have a shell from tmux",
    "have more open files than allowed",
    "have ssh-agent sign",
    "have the namespace above one's own",
    "leave one's group of processes",
    "listen to the network's frames",
    "load a module",
    "load a program into the kernel",
    "make a group of processes",
    "mount /proc in namespaces of one's own",
    "mount over a folder",
    "open a file system",
    "open a file system of one's own",
    "open a network of one's own",
    "open a tree",
    "open a virtual machine",
    "open the console",
    "read a disk",
    "read a disk by a node of one's own",
    "read by handle",
    "read the kernel's log",
    "read the memory of the machine",
    "read the screen",
    "read through the root of the first process",
    "remount the root writable",
    "send packets of one's own making",
    "set the clock",
    "set the name of the domain",
    "set the name of the machine",
    "swap",
    "take a terminal from its session",
    "trace the first process",
    "type as a keyboard",
    "uncover it from namespaces of one's own",
    "uncover what is hidden",
    "wake the machine",
    "watch the processor",
    "write a job of cron's",
    "write to /etc",
    "write to core_pattern",
    "write to sysrq",
    "write to the helper of devices",
    "write to the list of users",
    "write to the loader of modules",
    "write to the number of namespaces",
    "write to the scheduler of a disk",
    "write to the settings of memory",
    "write to what every program loads",
];

/// Calls that older kernels do not have.
const NEWER: &[(&str, (u32, u32))] = &[
    ("change a mode by its newest call", (6, 6)),
    ("have the mounts of a process by its file", (6, 11)),
    ("change attributes by their newest call", (6, 13)),
    ("open a tree with attributes in namespaces of one's own", (6, 15)),
];

fn kernel_has(name: &str) -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let is = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    NEWER.iter().all(|(newer, since)| *newer != name || is >= *since)
}

/// The attempts are real ones: without a fence an ordinary user gets through with most that needs no superuser.
#[test]
fn without_a_fence_the_attempts_succeed() {
    let who = if crate::ground::is_root() { Who::Ordinary } else { Who::Self_ };
    let ground = Ground::new(Kind { who, namespaces: true });
    let service = Door::at(&ground.home("service.sock"));
    let name = format!("dandori-open-{}", std::process::id());
    let _abstract = Door::abstract_(&name);
    let victim = Kept(ground.start("sleep", &["1000"]));
    std::fs::create_dir_all(ground.home(".config/dandori")).unwrap();
    std::fs::write(ground.home(".config/dandori/config.toml"), "[sandbox]\nmode = \"off\"\n").unwrap();
    let _ = ground.env.dandori(["daemon", "start"]).ok();
    if who == Who::Ordinary {
        own(&ground.home("service.sock"));
    }
    let terminal = Terminal::open(ground.kind);
    let shared = Shared::make(&ground);
    let spare = Kept(ground.start("sleep", &["1000.5"]));
    let _letters = [Letters::at(&ground.home("letters.sock")), Letters::abstract_(&format!("{name}-letters"))];
    let more = json!({
        "victim": victim.0.id(), "daemon": ground.env.daemon_pid().unwrap(), "tmp_socket": ground.home("service.sock"),
        "abstract": name, "ssh_agent": "", "tmux": "", "pts": terminal.path, "shm_key": shared.key, "nap": "0", "many": 0,
        "skip": TOO_MUCH, "restore": true, "queue": shared.queue, "letters": format!("{name}-letters"),
        "spare": spare.0.id(),
    });
    plant_attempts(&ground, &more);
    let ended = run(&ground, "exec:python3 -B attempts.py; git checkout -q -- . 2>/dev/null; cat outcome.json");
    let log = ground.env.dandori(["task", "log", "T-1"]).stdout;
    let outcome = log.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{ended:#}\n{log}"));
    let outcome: Value = serde_json::from_str(outcome).unwrap();
    let held: Vec<&String> =
        outcome.as_object().unwrap().iter().filter(|(_, o)| *o == "held").map(|(name, _)| name).collect();
    let is_excused = |name: &str| HELD_ANYWAY.contains(&name) || !kernel_has(name);
    let unreal: Vec<&&String> = held.iter().filter(|name| !is_excused(name)).collect();
    assert!(unreal.is_empty(), "these get nobody anywhere: {unreal:#?}");
    assert!(service.visits() > 0);
    let _ = std::fs::remove_file(format!("/tmp/evil-{}", ground.uid));
    let _ = std::fs::remove_file(format!("/dev/shm/evil-{}", ground.uid));
}

#[test]
fn doctor_tries_the_doors_itself_and_finds_open_what_it_lists() {
    for kind in kinds() {
        let ground = Ground::new(kind);
        let listed = ground.doctor();
        let tried = ground.env.dandori(["doctor", "--sandbox", "--json"]).json();
        let doors: Vec<&Value> =
            tried["checks"].as_array().unwrap().iter().filter(|c| c["check"] == "sandbox_self_test").collect();
        assert!(doors.len() >= 14, "{tried}");
        let codes: std::collections::HashSet<&str> = doors.iter().map(|door| door["code"].as_str().unwrap()).collect();
        assert_eq!(codes.len(), doors.len(), "each has a name of its own: {tried}");
        let open: Vec<&&Value> = doors.iter().filter(|door| door["ok"] == false).collect();
        assert_eq!(open.is_empty(), kind.namespaces, "{kind:?}: {open:?}");
        for door in open {
            let words = door["hint"].as_str().unwrap_or_else(|| panic!("{kind:?}: a fault: {door}"));
            assert!(listed["hint"].as_str().unwrap().contains(words), "{kind:?}: {door} is not in {listed}");
        }
    }
}

#[test]
fn what_the_fence_refused_is_named_so_that_it_can_be_granted() {
    for kind in kinds() {
        let ground = Ground::new(kind);
        let home = ground.env.home();
        let ended =
            run(&ground, &format!("exec:echo x > {home}/out.txt; cat {home}/.ssh/id_ed25519; echo ok > ok.txt"));
        assert_eq!(ended["state"], "SUCCEEDED", "{ended:#}");
        let shown = ground.env.dandori(["task", "show", "T-1"]).ok();
        assert!(shown.contains(&format!("{home}/out.txt (sandbox.write)")), "{kind:?}: {shown}");
        assert!(shown.contains(&format!("{home}/.ssh/id_ed25519 (sandbox.read)")), "{kind:?}: {shown}");
        // And granted it is.
        let config = format!("[sandbox]\nwrite = [\"{home}/notes.txt\"]\nread = [\"~/.ssh\"]\n");
        ground.env.write_user_config(&config);
        if kind.who == Who::Ordinary {
            own(&ground.home(".config"));
        }
        let ended =
            run(&ground, &format!("exec:echo more >> {home}/notes.txt; cp {home}/.ssh/authorized_keys seen.txt"));
        assert_eq!(ended["state"], "SUCCEEDED", "{ended:#}");
        assert_eq!(std::fs::read_to_string(ground.home("notes.txt")).unwrap(), "notesmore\n", "{kind:?}");
        let branch = ended["branch"].as_str().unwrap();
        assert_eq!(
            ground.env.git_in(&ground.env.origin(), ["show", &format!("{branch}:seen.txt")]),
            "mine",
            "{kind:?}"
        );
    }
}
