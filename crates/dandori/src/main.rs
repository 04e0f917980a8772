//! The `dandori` binary: hot paths first, then verbs.

mod args;
mod cli;
mod client;
mod daemon;
mod demo;
mod documents;
mod guarded;
mod localise;
mod misuse;
mod out;
mod person;
mod rehearse;

use std::process::ExitCode;

use camino::Utf8PathBuf;

fn main() -> ExitCode {
    // A hook answers an agent that waits, and the shim is one small process per run: neither must pay for a command
    // line parser or a runtime.
    let mut words = std::env::args_os().skip(1);
    match words.next().as_deref().and_then(|w| w.to_str()) {
        Some("hook") => return hook(words),
        Some("shim") => return shim(words.next(), dandori_host::shim::main),
        Some("fenced") => return stage(words.next()),
        Some("fence") => return code(dandori_host::fenced::command_main(&dandori_host::Env::of_process())),
        Some("fence-doors") => return doors(words.next()),
        Some("fence-probe") => return code(dandori_host::fenced::probe_main()),
        Some("gather") => return gather(words.next()),
        Some("rehearse") => return rehearse::main(),
        _ => {}
    }
    args::main()
}

fn hook(words: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let words = words.filter_map(|word| word.into_string().ok());
    ExitCode::from(dandori_hook::main(&dandori_hook::Called::from_words(words), &dandori_host::Env::of_process()))
}

/// One of the processes on the way to a program behind the fence.
fn stage(name: Option<std::ffi::OsString>) -> ExitCode {
    match name.as_deref().and_then(|n| n.to_str()) {
        Some(name) => code(dandori_host::fenced::stage_main(name)),
        None => ExitCode::from(2),
    }
}

fn doors(order: Option<std::ffi::OsString>) -> ExitCode {
    match order.and_then(|o| o.into_string().ok()) {
        Some(order) => code(dandori_host::fenced::doors_main(&order)),
        None => ExitCode::from(2),
    }
}

/// git reads a work tree, behind the fence.
fn gather(order: Option<std::ffi::OsString>) -> ExitCode {
    match order.and_then(|o| o.into_string().ok()) {
        Some(order) => code(dandori_git::gather_main(&order, &dandori_host::Env::of_process())),
        None => ExitCode::from(2),
    }
}

fn code(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(70))
}

fn shim(folder: Option<std::ffi::OsString>, main: fn(&camino::Utf8Path) -> i32) -> ExitCode {
    let folder = folder.and_then(|f| f.into_string().ok()).map(Utf8PathBuf::from);
    match folder {
        Some(folder) => code(main(&folder)),
        None => ExitCode::from(2),
    }
}
