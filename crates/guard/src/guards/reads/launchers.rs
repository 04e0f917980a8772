//! Commands whose words are another command's, which stands in the line on its own.
//!
//! Many programs run a helper beside their own work (`tar -I gzip`, `rsync -e ssh`): that they run something does not
//! say whose their words are. Those that hand on all of them are listed.

use dandori_shell::{Command, Reach};

/// What follows their own options is a command, and nothing else of theirs is a file that is shown.
const WRAPPERS: &[&str] = &[
    "env",
    "command",
    "exec",
    "builtin",
    "sudo",
    "doas",
    "nohup",
    "setsid",
    "time",
    "timeout",
    "gtimeout",
    "nice",
    "ionice",
    "chrt",
    "taskset",
    "stdbuf",
    "unbuffer",
    "flock",
    "chroot",
    "caffeinate",
    "chronic",
    "fakeroot",
    "faketime",
    "eatmydata",
    "strace",
    "ltrace",
    "valgrind",
    "perf",
    "unshare",
    "nsenter",
    "prlimit",
    "setpriv",
    "setarch",
    "linux32",
    "linux64",
    "numactl",
    "cgexec",
    "firejail",
    "bwrap",
    "proot",
    "proxychains",
    "proxychains4",
    "torsocks",
    "dbus-run-session",
    "dbus-launch",
    "ssh-agent",
    "rlwrap",
    "daemonize",
    "start-stop-daemon",
    "xvfb-run",
    "systemd-run",
    "systemd-inhibit",
    "annotate-output",
    "noglob",
    "nocorrect",
    "busybox",
    "toybox",
    "watch",
    "watchexec",
    "entr",
    "nodemon",
    "ts-node-dev",
    "screen",
    "shx",
];

/// They take a file of variables for the command, and run it with them.
const WITH_VARIABLES: &[&str] =
    &["cross-env", "cross-env-shell", "env-cmd", "dotenv", "dotenvx", "direnv", "envdir", "chpst", "softlimit"];

/// With their word for running (`uv run`, `npm exec`) they are wrappers, with any other they are not.
const RUNNERS: &[&str] = &[
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "pipx",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "lerna",
    "foreman",
    "honcho",
    "nf",
    "devbox",
    "uv",
    "poetry",
    "pipenv",
    "rye",
    "pdm",
    "hatch",
    "conda",
    "mamba",
    "micromamba",
    "pixi",
    "bundle",
    "mise",
    "rtx",
    "asdf",
    "rbenv",
    "pyenv",
    "nodenv",
    "fnm",
    "volta",
    "rustup",
    "nix",
    "op",
    "doppler",
    "chamber",
    "aws-vault",
    "opam",
    "stack",
    "cabal",
    "heroku",
];

/// `after` are the commands of the line that follow.
pub(super) fn is_wrapper(command: &Command, after: &[Command]) -> bool {
    let name = command.program.as_str();
    // The loader of programs has its machine in its name.
    let is_loader = name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so";
    let is_listed = is_loader || [WRAPPERS, WITH_VARIABLES, RUNNERS].iter().any(|list| list.contains(&name));
    is_listed && runs_another(command, after)
}

/// What a command runs comes right after it, and was reached by the same way and one step more. Another call of the
/// same program elsewhere in the line says nothing about this one.
fn runs_another(command: &Command, after: &[Command]) -> bool {
    let way = command.reached.as_slice();
    let is_run = |inner: &Command| match inner.reached.strip_prefix(way) {
        Some([Reach::Wrapper(by), ..]) => *by == command.program,
        _ => false,
    };
    after.iter().take_while(|inner| inner.reached.len() > way.len()).any(is_run)
}
