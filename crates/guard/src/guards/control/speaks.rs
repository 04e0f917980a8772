//! Ways to speak as the user: to type into a terminal in which a client may wait, to have a prompt come by itself, or to
//! use the door that the client has for its other sessions. Whatever comes that way looks to the client like the user's
//! own word, also to a question that the guards have asked.

use dandori_shell::{Command, Word};
use dandori_text::guard::control as text;
use serde_json::Value;

use crate::context::Context;
use crate::event::Tool;
use crate::guards::reads::is_interpreter;
use crate::guards::session::agrees;
use crate::quiet::looks;
use crate::voice::Voice;

/// Variables through which Claude Code lets its other sessions in.
const DOOR: &str = "CLAUDE_CODE_MESSAGING_";

/// Whether something was found that is refused.
pub(super) fn judge(context: &Context, voice: &mut Voice) -> bool {
    if let Some(tool) = schedules_a_yes(context) {
        voice.block(text::schedules(context.lang, &tool));
        return true;
    }
    for command in context.commands() {
        match typing(context, command) {
            Typing::Surely => {
                voice.block(text::types(context.lang, &command.line()));
                return true;
            }
            Typing::OnTheScreen => voice.ask(text::types_on_screen(context.lang, &command.line())),
            Typing::No => {}
        }
    }
    if uses_the_door(context) || pushes_input(context) {
        voice.block(text::speaks(context.lang));
        return true;
    }
    false
}

/// `CronCreate {"prompt": "ok"}`: the client would take it for the user's word when the time has come.
fn schedules_a_yes(context: &Context) -> Option<String> {
    let Some(Tool::Other { name, input }) = &context.event.tool else { return None };
    let plain = name.to_ascii_lowercase();
    let schedules = ["cron", "schedule", "wakeup", "trigger"].iter().any(|word| plain.contains(word));
    let says_yes = |(_, value): (&String, &Value)| value.as_str().is_some_and(agrees);
    let fields = input.as_object().filter(|_| schedules)?;
    fields.iter().any(says_yes).then(|| name.clone())
}

enum Typing {
    No,
    /// Into the terminal of somebody else, as far as can be told.
    Surely,
    /// Wherever the pointer is: it may be a browser that is tested.
    OnTheScreen,
}

fn typing(context: &Context, command: &Command) -> Typing {
    let args = command.args();
    let has = |words: &[&str]| args.iter().any(|word| words.contains(&word.text.as_str()));
    let types = match command.program.as_str() {
        "tmux" => types_by_tmux(context, args),
        "screen" => has(&["-X"]) && has(&["stuff", "paste", "process", "readbuf"]),
        "zellij" => has(&["write", "write-chars", "paste"]),
        "kitty" | "kitten" => has(&["send-text", "send-key"]),
        "wezterm" => has(&["send-text"]),
        "dtach" => has(&["-p"]),
        "ttyecho" | "writevt" | "tiocsti" => true,
        "xdotool" | "ydotool" if has(&["type", "key", "keydown"]) => return Typing::OnTheScreen,
        "wtype" | "dotool" | "cliclick" => return Typing::OnTheScreen,
        "osascript" if args.iter().any(|w| w.text.contains("keystroke") || w.text.contains("key code")) => {
            return Typing::OnTheScreen;
        }
        _ => false,
    };
    if types { Typing::Surely } else { Typing::No }
}

/// Into a pane of a server that is not the agent's own. One that it started under a name of its own has nobody in it.
fn types_by_tmux(context: &Context, args: &[Word]) -> bool {
    let mut own_server = false;
    let mut rest = args.iter().peekable();
    while let Some(word) = rest.next_if(|word| word.text.starts_with('-')) {
        let (letter, value) = word.text.split_at_checked(2).unwrap_or((word.text.as_str(), ""));
        if !matches!(letter, "-L" | "-S" | "-f" | "-c" | "-T") {
            continue;
        }
        let value = if value.is_empty() { rest.next().cloned() } else { Some(Word::literal(value)) };
        if matches!(letter, "-L" | "-S") {
            own_server = value.is_some_and(|server| is_own_server(context, &server));
        }
    }
    let words: Vec<&Word> = rest.collect();
    // Several commands stand behind one another, with a semicolon as a word or at the end of one.
    let calls = words.split_inclusive(|word| word.text.ends_with(';'));
    !own_server && calls.into_iter().any(types_in_a_pane)
}

fn types_in_a_pane(call: &[&Word]) -> bool {
    let Some((verb, args)) = call.split_first() else { return false };
    let name = verb.text.trim_end_matches(';');
    // Any beginning of a name is the name, as long as there is no other.
    let is = |whole: &str, shortest: usize| name.len() >= shortest && whole.starts_with(name);
    let gives_input = || args.iter().any(|w| w.text.starts_with('-') && w.text.contains('I'));
    verb.is_computed()
        || is("send-keys", 4)
        || is("paste-buffer", 2)
        || name == "pasteb"
        || (is("pipe-pane", 2) || name == "pipep") && gives_input()
}

/// Neither the usual one nor the one that the client itself sits in.
fn is_own_server(context: &Context, server: &Word) -> bool {
    let around = context.world.variable("TMUX").unwrap_or_default();
    let socket = around.split(',').next().unwrap_or_default();
    let name = server.text.rsplit('/').next().unwrap_or_default();
    let is_around = !socket.is_empty() && socket.rsplit('/').next() == Some(name);
    !server.is_computed() && !name.is_empty() && name != "default" && !is_around
}

/// The variables are used, or handed to code. Who only looks where they are written uses nothing.
fn uses_the_door(context: &Context) -> bool {
    let Some(Tool::Bash { command: line, .. }) = &context.event.tool else { return false };
    if !line.contains(DOOR) {
        return false;
    }
    let is_filled_in = line.contains(&format!("${DOOR}")) || line.contains(&format!("${{{DOOR}"));
    let names = |word: &Word| word.text.contains(DOOR);
    let is_said = |command: &Command| {
        looks(command) && command.program != "printenv" || matches!(command.program.as_str(), "git" | "gh")
    };
    let is_code = |command: &Command| {
        let name = command.program.as_str();
        is_interpreter(name) || dandori_shell::is_shell(name)
    };
    let hands_it_on = |command: &Command| is_code(command) || !is_said(command) && command.args().iter().any(names);
    is_filled_in || context.commands().iter().any(hands_it_on)
}

/// `ioctl(fd, TIOCSTI, …)`: a letter is put where the terminal reads from.
fn pushes_input(context: &Context) -> bool {
    let Some(Tool::Bash { command: line, .. }) = &context.event.tool else { return false };
    let has_code = || context.commands().iter().any(|command| is_interpreter(&command.program));
    (line.contains("TIOCSTI") || line.contains("0x5412")) && has_code()
}
