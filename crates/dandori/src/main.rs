//! The `dandori` binary: hot paths first, then verbs.

mod args;
mod cli;
mod client;
mod complete;
mod daemon;
mod demo;
mod documents;
mod editor;
mod filled;
mod formation_words;
mod guarded;
mod localise;
mod misuse;
mod moving;
mod named;
mod near;
mod news;
mod out;
mod pager;
mod person;
mod rehearse;
mod takeover;
mod templates;

use std::process::ExitCode;

fn main() -> ExitCode {
    // A hook answers an agent that waits, and the shim is one small process per run: neither must pay for a command
    // line parser or a runtime.
    let mut words = std::env::args_os().skip(1);
    match words.next().as_deref().and_then(|w| w.to_str()) {
        Some("hook") => return hook(words),
        Some("shim") => {
            return with_word(words.next(), |folder| dandori_host::shim::main(camino::Utf8Path::new(folder)));
        }
        Some("fenced") => return with_word(words.next(), dandori_host::fenced::stage_main),
        Some("fence") => return code(dandori_host::fenced::command_main(&dandori_host::Env::of_process())),
        Some("fence-doors") => return with_word(words.next(), dandori_host::fenced::doors_main),
        Some("fence-probe") => return code(dandori_host::fenced::probe_main()),
        Some("gather") => {
            return with_word(words.next(), |order| dandori_git::gather_main(order, &dandori_host::Env::of_process()));
        }
        Some("acp") => return code(dandori_acp::main(dandori_host::Env::of_process())),
        Some("rehearse") => return rehearse::main(),
        _ => {}
    }
    args::main()
}

fn hook(words: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let words = words.filter_map(|word| word.into_string().ok());
    ExitCode::from(dandori_hook::main(&dandori_hook::Called::from_words(words), &dandori_host::Env::of_process()))
}

/// A verb with one word, for this program alone.
fn with_word(word: Option<std::ffi::OsString>, main: impl FnOnce(&str) -> i32) -> ExitCode {
    match word.and_then(|word| word.into_string().ok()) {
        Some(word) => code(main(&word)),
        None => ExitCode::from(2),
    }
}

fn code(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(70))
}
