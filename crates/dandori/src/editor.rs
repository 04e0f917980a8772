//! The user's editor, as git finds it, in the user's terminal.

use std::io::IsTerminal;
use std::process::Stdio;

use camino::Utf8Path;
use dandori_host::Cmd;
use dandori_text::editor;

use crate::cli::Context;
use crate::out::Failed;

/// Opens a file and comes back when the editor is closed.
pub(crate) fn open(context: &Context, file: &Utf8Path) -> Result<(), Failed> {
    let lang = context.out.lang;
    // GIT_EDITOR, core.editor, VISUAL, EDITOR, and what git was built with: whoever uses git has set one of them.
    let found = Cmd::new("git", &context.env).args(["var", "GIT_EDITOR"]).run().map(|output| output.text());
    let line = found.ok().filter(|line| !line.is_empty()).ok_or_else(|| Failed::Refused(editor::none(lang)))?;
    if needs_terminal(&line) && !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        return Err(Failed::Usage(editor::no_terminal(lang, &line, file.as_str())));
    }
    let failed = |reason: String| Failed::Refused(editor::failed(lang, &line, &reason));
    let status = in_foreground(context, "/bin/sh", &["-c", &format!("{line} \"$@\""), &line, file.as_str()], None)
        .map_err(|e| failed(e.to_string()))?;
    if status.success() { Ok(()) } else { Err(failed(status.to_string())) }
}

/// Those that draw on the screen they are started from, and wait there for keys.
fn needs_terminal(line: &str) -> bool {
    let program = line.split_whitespace().next().and_then(|word| word.rsplit('/').next());
    let is_known = |name| ["vi", "vim", "nvim", "nano", "pico", "micro", "hx", "joe", "ne"].contains(&name);
    // What Debian calls whichever of them is installed.
    line == "editor" || program.is_some_and(is_known)
}

/// Runs a program in the terminal the user sits at, for as long as the user likes.
#[expect(clippy::disallowed_methods, reason = "a person works in it: it has no deadline")]
pub(crate) fn in_foreground(
    context: &Context,
    program: &str,
    args: &[&str],
    folder: Option<&Utf8Path>,
) -> std::io::Result<std::process::ExitStatus> {
    let mut command = std::process::Command::new(program);
    command.args(args).env_clear().envs(context.env.iter());
    command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    command.status()
}
