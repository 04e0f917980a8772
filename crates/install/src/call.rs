//! How a hook of ours is called: the program, and where the guards' own files are.
//!
//! The places stand in the call itself. What the client's environment says of them counts for nothing: whoever starts a
//! client, or plants a variable where shells read them, would decide by which rules it is watched.

use crate::Client;
use crate::tree::Value;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Call {
    /// As it is written: a path, or a name for the PATH.
    pub program: String,
    pub places: Places,
}

/// Paths that a hook is given. Hooks of earlier versions have none, and go by the environment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places {
    /// The state folder.
    pub state: Option<String>,
    /// The user's own configuration.
    pub config: Option<String>,
    /// The user's home.
    pub home: Option<String>,
}

const STATE: &str = "--state";
const CONFIG: &str = "--config";
const HOME: &str = "--home";

impl Call {
    /// Without places.
    pub fn bare(program: &str) -> Self {
        Self { program: program.to_owned(), places: Places::default() }
    }

    /// The one a handler makes, when it is one of ours by its form: `<program> hook <agent>`, places, and nothing else.
    pub(crate) fn of(handler: &Value, client: Client) -> Option<Self> {
        let command = handler.property("command")?.value.text()?;
        let (program, words) = match handler.property("args") {
            Some(args) => {
                let words: Option<Vec<String>> =
                    args.value.elements().iter().map(|word| word.text().map(str::to_owned)).collect();
                (command.to_owned(), words?)
            }
            None => {
                let mut words = shell_words(command)?.into_iter();
                (words.next()?, words.collect())
            }
        };
        match words.split_at_checked(2) {
            Some(([hook, agent], rest)) if hook == "hook" && agent == client.name() => {
                Some(Self { program, places: Places::read(rest)? })
            }
            _ => None,
        }
    }
}

impl Places {
    /// All that a hook needs to go by nothing else.
    pub(crate) fn are_whole(&self) -> bool {
        self.state.is_some() && self.config.is_some() && self.home.is_some()
    }

    /// Each with its option.
    pub fn named(&self) -> [(&'static str, Option<&str>); 3] {
        [(STATE, self.state.as_deref()), (CONFIG, self.config.as_deref()), (HOME, self.home.as_deref())]
    }

    pub(crate) fn words(&self) -> Vec<&str> {
        self.named().into_iter().filter_map(|(option, value)| Some([option, value?])).flatten().collect()
    }

    fn read(words: &[String]) -> Option<Self> {
        let mut places = Self::default();
        for pair in words.chunks(2) {
            let [option, value] = pair else { return None };
            let slot = match option.as_str() {
                STATE => &mut places.state,
                CONFIG => &mut places.config,
                HOME => &mut places.home,
                _ => return None,
            };
            if slot.replace(value.clone()).is_some() {
                return None;
            }
        }
        Some(places)
    }
}

/// The words that a shell would read here; `None` when it is more than one plain command.
fn shell_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert_default();
        match c {
            '\'' => loop {
                match rest.next()? {
                    '\'' => break,
                    c => word.push(c),
                }
            },
            '"' => loop {
                match rest.next()? {
                    '"' => break,
                    '\\' => word.push(rest.next()?),
                    c => word.push(c),
                }
            },
            '\\' => word.push(rest.next()?),
            c if ";&|<>()".contains(c) => return None,
            c => word.push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    fn call(handler: &str) -> Option<Call> {
        Call::of(&tree::parse(handler).unwrap().root.unwrap(), Client::Codex)
    }

    #[test]
    fn places_are_read_in_both_forms_and_nothing_else_is_taken_for_one() {
        let places =
            Places { state: Some("/s t".to_owned()), config: Some("/c".to_owned()), home: Some("/it's".to_owned()) };
        let want = Call { program: "/d".to_owned(), places };
        for handler in [
            r#"{"command": "/d", "args": ["hook", "codex", "--state", "/s t", "--config", "/c", "--home", "/it's"]}"#,
            r#"{"command": "/d hook codex --state '/s t' --config /c --home '/it'\\''s'"}"#,
        ] {
            assert_eq!(call(handler), Some(want.clone()), "{handler}");
        }
        assert!(want.places.are_whole());
        assert_eq!(call(r#"{"command": "/d hook codex"}"#), Some(Call::bare("/d")));
        for handler in [
            r#"{"command": "/d hook codex --state"}"#,
            r#"{"command": "/d hook codex --state /a --state /b"}"#,
            r#"{"command": "/d hook codex --run /a"}"#,
            r#"{"command": "/d hook codex --state /a; rm x"}"#,
            r#"{"command": "/d", "args": ["hook", "codex", "--state", 3]}"#,
        ] {
            assert_eq!(call(handler), None, "{handler}");
        }
    }
}
