//! What we want to stand in a client's settings: a group for each event that it asks us about, in its own form.

use dandori_domain::client::{CallForm, HookEvent, Hooks};

use crate::Client;
use crate::wanted::Wanted;

/// The groups we want, by event: none for a client without hooks. `more` are words of the call behind the client's name.
pub(crate) fn wanted(client: Client, program: &str, more: &[&str]) -> Vec<(&'static str, Wanted)> {
    let Some(hooks) = client.hooks() else { return Vec::new() };
    let group = |event: &HookEvent| {
        let handlers = ("hooks", Wanted::List(vec![handler(client, hooks, event, program, more)]));
        let matcher = event.has_matcher.then(|| ("matcher", Wanted::text("*")));
        Wanted::object(matcher.into_iter().chain([handlers]))
    };
    hooks.events.iter().map(|event| (event.name, group(event))).collect()
}

/// Settings beside the hooks that we put in where they are missing, each with what it is to say.
pub(crate) fn settings(client: Client) -> impl DoubleEndedIterator<Item = (&'static str, &'static str)> {
    let required = client.hooks().map_or(&[][..], |hooks| hooks.requires);
    required.iter().map(|required| (required.key, required.written()))
}

/// Whether a hook at this event is to be told that its failure is a refusal, and by which key.
pub(crate) fn failure_key(client: Client, event: &str) -> Option<&'static str> {
    let hooks = client.hooks()?;
    let is_closed = hooks.events.iter().any(|known| known.name == event && known.fails_closed);
    hooks.on_failure.as_ref().filter(|_| is_closed).map(|on_failure| on_failure.key)
}

/// What stands behind the program.
pub(crate) fn call_words<'w>(client: Client, more: &[&'w str]) -> impl Iterator<Item = &'w str> {
    ["hook", client.name()].into_iter().chain(more.to_vec())
}

/// The whole call, for a shell.
pub(crate) fn call_line(client: Client, program: &str, more: &[&str]) -> String {
    std::iter::once(program).chain(call_words(client, more)).map(word).collect::<Vec<_>>().join(" ")
}

fn handler(client: Client, hooks: &Hooks, event: &HookEvent, program: &str, more: &[&str]) -> Wanted {
    let kind = ("type", Wanted::text("command"));
    let label = hooks.label.map(|label| ("name", Wanted::text(label)));
    let (command, args) = match hooks.call {
        CallForm::Words => {
            let args = Wanted::List(call_words(client, more).map(Wanted::text).collect());
            (Wanted::text(program), Some(("args", args)))
        }
        CallForm::Line => (Wanted::text(call_line(client, program, more)), None),
    };
    let timeout = ("timeout", Wanted::Number(hooks.time.of_seconds(event.seconds)));
    let closed = hooks.on_failure.as_ref().filter(|_| event.fails_closed);
    let closed = closed.map(|on_failure| (on_failure.key, Wanted::text(on_failure.refuses)));
    let call = label.into_iter().chain([("command", command)]).chain(args);
    Wanted::object(std::iter::once(kind).chain(call).chain([timeout]).chain(closed))
}

/// The text as one word of a shell's command line.
fn word(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%=".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_for_a_shell() {
        assert_eq!(word("/usr/bin/dandori"), "/usr/bin/dandori");
        assert_eq!(word("/my tools/dandori"), "'/my tools/dandori'");
        assert_eq!(word("/it's/$HOME/dandori"), r"'/it'\''s/$HOME/dandori'");
    }
}
