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
        Some("shim-exec") => return shim(words.next(), dandori_host::shim::exec_main),
        Some("rehearse") => return rehearse::main(),
        _ => {}
    }
    args::main()
}

fn hook(words: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let words = words.filter_map(|word| word.into_string().ok());
    ExitCode::from(dandori_hook::main(&dandori_hook::Called::from_words(words), &dandori_host::Env::of_process()))
}

fn shim(folder: Option<std::ffi::OsString>, main: fn(&camino::Utf8Path) -> i32) -> ExitCode {
    let folder = folder.and_then(|f| f.into_string().ok()).map(Utf8PathBuf::from);
    match folder {
        Some(folder) => ExitCode::from(u8::try_from(main(&folder)).unwrap_or(70)),
        None => ExitCode::from(2),
    }
}
