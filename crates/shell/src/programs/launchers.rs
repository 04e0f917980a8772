//! Which programs run the command given to them, and where in their words it stands.
//!
//! An option whose value is not declared here would be taken for the command, and the command for its arguments: each
//! entry names every option that takes a value as the next word.

use dandori_domain::Client;

use crate::options::{self, Spec};
use crate::programs::wrappers::{is_assignment, spec};
use crate::reading::Word;

/// Wrappers that take options, then so many operands of their own, then the command.
pub(crate) fn plain_wrapper(program: &str) -> Option<(Spec<'static>, usize)> {
    Some(match program {
        "exec" => (spec("a", &[]), 0),
        "builtin" | "nohup" | "setsid" | "caffeinate" | "doas" | "dbus-run-session" | "fakeroot" | "unbuffer"
        | "setarch" | "linux64" | "linux32" | "eatmydata" | "proxychains4" | "proxychains" | "torsocks" | "chronic"
        | "vglrun" | "catchsegv" | "no" | "noglob" | "nocorrect" | "-" | "annotate-output" | "dbus-launch"
        | "primusrun" | "optirun" | "gamemoderun" | "mispipe" | "shx" => (spec("uC", &[]), 0),
        "time" => (spec("fo", &["format", "output"]), 0),
        "timeout" | "gtimeout" => (spec("ks", &["kill-after", "signal"]), 1),
        "nice" => (spec("n", &["adjustment"]), 0),
        "ionice" => (spec("cnpPu", &["class", "classdata"]), 0),
        "stdbuf" => (spec("ioe", &["input", "output", "error"]), 0),
        "chrt" => (spec("TPD", &["sched-runtime", "sched-period", "sched-deadline"]), 1),
        "taskset" => (spec("", &[]), 1),
        "flock" => (spec("wE", &["timeout", "wait", "conflict-exit-code"]), 1),
        "chroot" => (spec("", &[]), 1),
        "strace" | "ltrace" => (spec("eopsuaESPIObAnlwF", &["output", "attach", "trace", "env", "user"]), 0),
        "valgrind" | "gdb" => (spec("", &[]), 0),
        "perf" => (
            spec("eoFprtCIGmcjdkDSBWPu", &["event", "output", "freq", "count", "repeat", "call-graph", "pid", "tid"]),
            0,
        ),
        "unshare" => (
            spec(
                "RwSGl",
                &["root", "wd", "setuid", "setgid", "map-user", "map-group", "map-users", "map-groups", "propagation"],
            ),
            0,
        ),
        "nsenter" => (spec("tSG", &["target", "setuid", "setgid", "net-socket"]), 0),
        "firejail" => (spec("", &[]), 0),
        "prlimit" => (spec("po", &["pid", "output"]), 0),
        "setpriv" => (
            spec(
                "",
                &[
                    "reuid",
                    "regid",
                    "ruid",
                    "euid",
                    "rgid",
                    "egid",
                    "groups",
                    "inh-caps",
                    "ambient-caps",
                    "bounding-set",
                    "securebits",
                    "pdeathsig",
                    "selinux-label",
                    "apparmor-profile",
                    "ptracer",
                ],
            ),
            0,
        ),
        "numactl" => {
            (spec("NmCipPwx", &["cpunodebind", "membind", "physcpubind", "interleave", "preferred", "weighted"]), 0)
        }
        "cgexec" => (spec("g", &[]), 0),
        "faketime" => (spec("f", &[]), 1),
        "proot" => (spec("rbqwvkRSi", &["rootfs", "bind", "qemu", "pwd", "cwd", "kernel-release"]), 0),
        "ssh-agent" => (spec("aEtPO", &[]), 0),
        "rlwrap" => (spec("bCDfFHlmOPqsStwz", &["history-filename", "file", "prompt-colour", "filter", "logfile"]), 0),
        "daemonize" => (spec("ceopuEl", &[]), 0),
        "xvfb-run" => (spec("efnpsw", &["server-args", "server-num", "auth-file", "error-file"]), 0),
        "systemd-run" => (
            spec(
                "pEuMHd",
                &["property", "setenv", "unit", "slice", "uid", "gid", "working-directory", "description", "machine"],
            ),
            0,
        ),
        "systemd-inhibit" => (spec("", &["what", "who", "why", "mode"]), 0),
        "sudo" => (
            spec("ugpCchrtTUDR", &["user", "group", "prompt", "chdir", "host", "role", "type", "close-from", "chroot"]),
            0,
        ),
        "watch" => (spec("nqs", &["interval", "equexit"]), 0),
        "watchexec" => (
            spec(
                "weifEsdpj",
                &[
                    "watch",
                    "exts",
                    "ignore",
                    "filter",
                    "env",
                    "signal",
                    "delay-run",
                    "debounce",
                    "shell",
                    "workdir",
                    "stop-signal",
                    "ignore-file",
                    "filter-file",
                    "project-origin",
                    "on-busy-update",
                ],
            ),
            0,
        ),
        "entr" => (spec("", &[]), 0),
        "direnv" => (spec("", &[]), 2),
        "cross-env" | "env-cmd" => (spec("fer", &["file", "environments", "rc-file"]), 0),
        "dotenv" | "chpst" | "envdir" | "softlimit" | "dotenvx" => (spec("fepvuU", &["file"]), 0),
        name if name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so" => {
            (spec("", &["library-path", "inhibit-rpath", "preload", "audit", "argv0", "glibc-hwcaps-prepend"]), 0)
        }
        _ => return None,
    })
}

/// Takes `NAME=value` words before the command.
pub(crate) fn takes_assignments(program: &str) -> bool {
    matches!(program, "sudo" | "doas" | "systemd-run" | "cross-env")
}

/// What a package manager's word for running a command runs.
pub(crate) enum Runs {
    /// These words.
    Words(Vec<Word>),
    /// A text for a shell.
    Code(Word),
}

/// `uv run pytest`, `pnpm --filter web exec tsc`: the options before the word for running, the word, the options after
/// it, the command.
pub(crate) fn runner(program: &str, args: &[Word]) -> Option<Vec<Runs>> {
    let before = options::parse(args, own_options(program));
    let verb = before.operands.first().map(|w| w.text.as_str()).unwrap_or_default();
    let second = before.operands.get(1).map(|w| w.text.as_str()).unwrap_or_default();
    let skip = match (program, verb) {
        ("npx" | "bunx" | "pnpx" | "uvx", _) => 0,
        ("pipx", _) => usize::from(verb == "run"),
        ("npm" | "pnpm", "exec" | "dlx" | "x") | ("yarn", "exec" | "dlx") | ("bun", "x") => 1,
        ("yarn", "workspace") if matches!(before.operands.get(2), Some(w) if w.text == "exec") => 3,
        ("yarn", "workspaces") if second == "foreach" => {
            let at = before.operands.iter().position(|w| matches!(w.text.as_str(), "exec" | "dlx"))?;
            at + 1
        }
        ("lerna", "exec") | ("foreman" | "honcho" | "devbox" | "nf", "run") => 1,
        ("uv" | "poetry" | "pipenv" | "rye" | "pdm" | "hatch" | "conda" | "mamba" | "micromamba" | "pixi", "run") => 1,
        ("bundle" | "mise" | "rtx" | "asdf" | "rbenv" | "pyenv" | "nodenv" | "fnm" | "volta", "exec" | "run" | "x") => {
            1
        }
        ("rustup", "run") => 2,
        ("nix", "develop" | "shell" | "run") => return Some(nix(&before.operands)),
        ("op" | "doppler" | "infisical" | "dotenv" | "dotenvx", "run") => 1,
        ("chamber" | "aws-vault", "exec") => 1,
        ("sops", "exec-env") => return Some(before.operands.get(2).cloned().map(Runs::Code).into_iter().collect()),
        ("opam" | "stack" | "cabal" | "heroku", "exec") | ("heroku", "local:run") | ("flox", "activate") => 1,
        _ => return None,
    };
    // What stands before the word for running is the manager's own; a runner without such a word has it all after.
    let rest = if skip == 0 { args } else { before.operands.get(skip..).unwrap_or_default() };
    let values: &[&str] = &[
        "with",
        "with-requirements",
        "from",
        "package",
        "python",
        "extra",
        "group",
        "name",
        "env-file",
        "project",
        "directory",
        "command",
        "call",
        "scope",
        "workspace",
        "filter",
        "prefix",
    ];
    let short = if program == "uvx" { "cnpw" } else { "cnp" };
    let parsed = options::parse(rest, Spec { short, long: values, stops: true });
    let mut runs: Vec<Runs> = parsed.values(&["c", "call", "command"]).cloned().map(Runs::Code).collect();
    // Whose secrets the command is to have.
    let own = usize::from(matches!(program, "chamber" | "aws-vault"));
    let mut argv: Vec<Word> = parsed.operands.into_iter().skip(own).skip_while(|w| w.text == "--").collect();
    if let Some(first) = argv.first_mut() {
        if let Some(program) = program_of_package(&first.text) {
            first.text = program;
        }
        runs.push(Runs::Words(argv));
    }
    Some(runs)
}

/// The program that a package is run for: `rimraf` for `rimraf@5`. Of a scoped one it is the name behind the scope, unless
/// the package calls its program otherwise.
fn program_of_package(text: &str) -> Option<String> {
    let name = match text.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/')?.1,
        None => text,
    };
    let bare = name.split('@').next().unwrap_or(name);
    if bare.is_empty() || name.contains(['/', ':', '$']) {
        return None;
    }
    let package = text.get(..text.len() - name.len() + bare.len()).unwrap_or(text);
    let programs = Client::ALL.iter().map(|client| &client.describe().program);
    let client = programs.into_iter().find(|program| program.package == package);
    Some(client.map_or(bare, |program| program.name).to_owned())
}

/// The options a manager takes before its word.
pub(crate) fn own_options(program: &str) -> Spec<'static> {
    match program {
        "npm" => spec("w", &["prefix", "workspace", "loglevel", "userconfig", "registry"]),
        "pnpm" => spec("FC", &["filter", "dir", "filter-prod", "reporter", "loglevel", "workspace-concurrency"]),
        "yarn" => spec("", &["cwd"]),
        "uv" => spec("", &["directory", "project", "config-file", "cache-dir"]),
        "poetry" => spec("CP", &["directory", "project"]),
        "lerna" => spec("", &["scope", "loglevel"]),
        "mise" | "rtx" => spec("CEj", &["cd", "env", "jobs"]),
        "conda" | "mamba" | "micromamba" => spec("np", &["name", "prefix"]),
        "op" => spec("", &["account", "config"]),
        "dotenv" | "dotenvx" => spec("fev", &["file", "env-file"]),
        "chamber" => spec("b", &["backend", "retries"]),
        "doppler" => spec("pct", &["project", "config", "token", "scope"]),
        _ => spec("", &[]),
    }
}

/// `nix develop -c make test`, `nix run nixpkgs#coreutils -- rm x`: all words after it are the command.
fn nix(words: &[Word]) -> Vec<Runs> {
    let is_mark = |w: &Word| matches!(w.text.as_str(), "-c" | "--command" | "--");
    let at = words.iter().position(is_mark);
    at.and_then(|at| words.get(at + 1..))
        .filter(|argv| !argv.is_empty())
        .map(|a| Runs::Words(a.to_vec()))
        .into_iter()
        .collect()
}

/// bwrap's options are all long, and each takes its own number of words.
pub(crate) fn in_bubble(args: &[Word]) -> &[Word] {
    let mut at = 0;
    while let Some(option) = args.get(at).and_then(|w| w.text.strip_prefix("--")) {
        at += 1 + match option {
            "" => return args.get(at + 1..).unwrap_or_default(),
            "overlay" => 3,
            "bind" | "bind-try" | "dev-bind" | "dev-bind-try" | "ro-bind" | "ro-bind-try" | "bind-fd"
            | "ro-bind-fd" | "symlink" | "setenv" | "file" | "bind-data" | "ro-bind-data" | "chmod" => 2,
            "remount-ro" | "proc" | "dev" | "tmpfs" | "mqueue" | "dir" | "unsetenv" | "lock-file" | "sync-fd"
            | "exec-label" | "file-label" | "uid" | "gid" | "hostname" | "chdir" | "args" | "argv0" | "seccomp"
            | "add-seccomp-fd" | "block-fd" | "userns-block-fd" | "info-fd" | "json-status-fd" | "cap-add"
            | "cap-drop" | "perms" | "size" | "overlay-src" | "tmp-overlay" | "ro-overlay" | "userns" | "userns2"
            | "pidns" => 1,
            _ => 0,
        };
    }
    args.get(at..).unwrap_or_default()
}

/// The command of `start-stop-daemon --start --exec /bin/x -- args`.
pub(crate) fn started(args: &[Word]) -> Vec<Word> {
    let long = &["exec", "startas", "pidfile", "name", "user", "group", "chuid", "chdir", "signal", "retry", "output"];
    let parsed = options::parse(args, spec("xapnugcdsRO", long));
    let program = parsed.value(&["exec", "x", "startas", "a"]).cloned();
    program.into_iter().chain(parsed.operands).collect()
}

/// The words after the options, and after the assignments where a program takes them.
pub(crate) fn wrapped(program: &str, operands: Vec<Word>, own: usize) -> Vec<Word> {
    operands
        .into_iter()
        .skip(own)
        .skip_while(|w| w.text == "--")
        .skip_while(|w| takes_assignments(program) && is_assignment(&w.text))
        .collect()
}
