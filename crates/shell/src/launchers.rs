//! Which programs run the command given to them, and where in their words it stands.

use crate::options::Spec;
use crate::reading::Word;
use crate::wrappers::spec;

/// Wrappers that take options, then so many operands of their own, then the command.
pub(crate) fn plain_wrapper(program: &str) -> Option<(Spec<'static>, usize)> {
    Some(match program {
        "exec" => (spec("a", &[]), 0),
        "builtin" | "nohup" | "setsid" | "caffeinate" | "doas" | "dbus-run-session" | "fakeroot" | "unbuffer"
        | "setarch" | "eatmydata" | "proxychains4" | "proxychains" | "torsocks" | "chronic" | "vglrun"
        | "catchsegv" | "no" | "noglob" | "nocorrect" | "-" => (spec("uC", &[]), 0),
        "time" => (spec("fo", &["format", "output"]), 0),
        "timeout" | "gtimeout" => (spec("ks", &["kill-after", "signal"]), 1),
        "nice" => (spec("n", &["adjustment"]), 0),
        "ionice" => (spec("cnpPu", &["class", "classdata"]), 0),
        "stdbuf" => (spec("ioe", &["input", "output", "error"]), 0),
        "chrt" => (spec("TPD", &[]), 1),
        "taskset" => (spec("", &[]), 1),
        "flock" => (spec("wE", &["timeout", "wait", "conflict-exit-code"]), 1),
        "chroot" => (spec("", &[]), 1),
        "strace" | "ltrace" => (spec("eopsuaESPIOb", &[]), 0),
        "perf" | "valgrind" | "gdb" => (spec("", &[]), 0),
        "unshare" | "nsenter" | "firejail" | "bwrap" => (spec("RwS", &[]), 0),
        "xvfb-run" => (spec("efnpsw", &["server-args", "server-num"]), 0),
        "systemd-run" => (spec("pEuM", &["property", "setenv", "unit", "slice", "uid", "gid", "working-directory"]), 0),
        "sudo" => (
            spec("ugpCchrtTUDR", &["user", "group", "prompt", "chdir", "host", "role", "type", "close-from", "chroot"]),
            0,
        ),
        "watch" => (spec("nq", &["interval", "equexit"]), 0),
        "entr" => (spec("", &[]), 0),
        "direnv" => (spec("", &[]), 2),
        "dotenv" | "chpst" | "envdir" | "softlimit" => (spec("fep", &[]), 0),
        "ts-node" | "tsx" => return None,
        _ => return None,
    })
}

/// `uv run pytest`: a package manager's word for running a command.
pub(crate) fn runner(program: &str, args: &[Word]) -> Option<usize> {
    let first = args.first().map(|w| w.text.as_str())?;
    match (program, first) {
        ("npx" | "bunx" | "pnpx" | "uvx" | "pipx", _) => Some(usize::from(program == "pipx" && first == "run")),
        ("npm" | "pnpm" | "yarn", "exec" | "dlx" | "x") | ("bun", "x") => Some(1),
        ("uv" | "poetry" | "pipenv" | "rye" | "pdm" | "hatch" | "conda" | "mamba", "run") => Some(1),
        ("bundle" | "mise" | "rtx" | "asdf" | "rbenv" | "pyenv" | "nodenv" | "fnm" | "volta", "exec" | "run" | "x") => {
            Some(1)
        }
        ("rustup", "run") => Some(2),
        ("nix", "develop" | "shell" | "run") | ("op" | "doppler", "run") | ("chamber" | "aws-vault", "exec") => Some(1),
        ("opam" | "stack" | "cabal" | "heroku", "exec") => Some(1),
        _ => None,
    }
}
