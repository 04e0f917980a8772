//! Whatever a settings file looks like: ours goes in once, comes out without a trace, and nothing else moves.

#![expect(clippy::indexing_slicing, reason = "tests: a panic is how they report")]

use dandori_install::{Call, Client, has_ours, install, uninstall};
use proptest::prelude::*;

const PROGRAM: &str = "/usr/local/bin/dandori";

#[derive(Debug, Clone)]
enum Json {
    Plain(&'static str),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Settings as people have them: what is between the tokens is chosen byte by byte.
fn settings() -> impl Strategy<Value = String> {
    let root = (pairs(any_value()), hooks(), any::<bool>()).prop_map(|(mut pairs, hooks, first)| {
        if let Some(hooks) = hooks {
            let at = if first { 0 } else { pairs.len() };
            pairs.insert(at, ("hooks".to_owned(), hooks));
        }
        Json::Object(pairs)
    });
    let around = prop::sample::select(vec!["", "\n", "\r\n", " ", "\t", "// top\n", "/* top */ "]);
    let bom = prop::sample::select(vec!["", "", "\u{feff}"]);
    (bom, around.clone(), root, around, prop::collection::vec(any::<u8>(), 1..40), 0..3_u8).prop_map(
        |(bom, before, root, after, choices, wildness)| {
            let mut writer = Writer { text: format!("{bom}{before}"), choices, next: 0, wildness };
            writer.write(&root);
            format!("{}{after}", writer.text)
        },
    )
}

fn any_value() -> impl Strategy<Value = Json> {
    let leaf = prop::sample::select(vec!["1", "true", "null", "\"x\"", "\"} // no ]\"", "\"日本\\n\"", "-1.5e3"])
        .prop_map(Json::Plain);
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::List),
            pairs(inner).prop_map(Json::Object)
        ]
    })
}

fn pairs(value: impl Strategy<Value = Json>) -> impl Strategy<Value = Vec<(String, Json)>> {
    let name = prop::sample::select(vec!["a", "env", "permissions", "名前", "a\\\"b"]).prop_map(str::to_owned);
    prop::collection::vec((name, value), 0..3)
}

fn hooks() -> impl Strategy<Value = Option<Json>> {
    let names = vec!["PreToolUse", "PostToolUse", "Stop", "BeforeTool", "SessionStart", "Unknown"];
    let event = prop::sample::select(names).prop_map(str::to_owned);
    let groups = prop::collection::vec(group(), 0..3).prop_map(Json::List);
    prop::option::of(prop::collection::vec((event, groups), 0..4).prop_map(Json::Object))
}

fn group() -> impl Strategy<Value = Json> {
    let command = prop::sample::select(vec!["\"log.sh\"", "\"/x/dandori hook\"", "\"dandori hook claude; true\""]);
    let handler = command.prop_map(|c| Json::Object(vec![("command".to_owned(), Json::Plain(c))]));
    (prop::collection::vec(handler, 0..3), any::<bool>()).prop_map(|(handlers, matched)| {
        let mut pairs = vec![("hooks".to_owned(), Json::List(handlers))];
        if matched {
            pairs.insert(0, ("matcher".to_owned(), Json::Plain("\"Bash\"")));
        }
        Json::Object(pairs)
    })
}

struct Writer {
    text: String,
    choices: Vec<u8>,
    next: usize,
    /// 0: as a program prints it, 1: white space at random, 2: comments and trailing commas too.
    wildness: u8,
}

impl Writer {
    fn choice(&mut self) -> u8 {
        self.next += 1;
        self.choices[self.next % self.choices.len()]
    }

    fn trivia(&mut self) {
        const WHITE: [&str; 7] = ["", "", " ", "\n", "\n\t", "\r\n    ", "  "];
        const LOOSE: [&str; 5] = ["/* c */", " // c\n", "\n  // c\n", "/* a\n b */ ", "//\r\n"];
        if self.wildness == 0 {
            return;
        }
        let choice = usize::from(self.choice());
        self.text.push_str(if self.wildness == 2 && choice.is_multiple_of(3) {
            LOOSE[choice / 3 % LOOSE.len()]
        } else {
            WHITE[choice % WHITE.len()]
        });
    }

    fn items<T>(&mut self, open: char, close: char, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.text.push(open);
        for (i, item) in items.iter().enumerate() {
            self.trivia();
            write(self, item);
            self.trivia();
            if i + 1 < items.len() || (self.wildness == 2 && self.choice().is_multiple_of(4)) {
                self.text.push(',');
            }
        }
        self.trivia();
        self.text.push(close);
    }

    fn write(&mut self, json: &Json) {
        match json {
            Json::Plain(text) => self.text.push_str(text),
            Json::List(items) => self.items('[', ']', items, Self::write),
            Json::Object(pairs) => self.items('{', '}', pairs, |w, (name, value)| {
                w.text.extend(["\"", name, "\""]);
                w.trivia();
                w.text.push(':');
                w.trivia();
                w.write(value);
            }),
        }
    }
}

fn client() -> impl Strategy<Value = Client> {
    prop::sample::select(Client::ALL.to_vec())
}

/// All that is not white space, in order: of `all` something may be left out to get `part`.
fn is_within(part: &str, all: &str) -> bool {
    let mut all = all.chars();
    part.chars().filter(|c| !c.is_whitespace()).all(|c| all.any(|other| other == c))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_in_comes_out_without_a_trace(text in settings(), client in client()) {
        let installed = install(client, &Call::bare(PROGRAM), Some(&text), None).unwrap();
        prop_assert!(has_ours(client, &installed.text), "{}", installed.text);
        let left = uninstall(client, None, &installed.text, installed.memory.as_ref()).unwrap();
        prop_assert_eq!(left.text.as_deref(), Some(text.as_str()), "{}", installed.text);
    }

    #[test]
    fn a_second_time_changes_nothing_and_nothing_else_ever_moves(text in settings(), client in client()) {
        let once = install(client, &Call::bare(PROGRAM), Some(&text), None).unwrap();
        prop_assert!(is_within(&text, &once.text), "{}", once.text);
        let twice = install(client, &Call::bare(PROGRAM), Some(&once.text), once.memory.as_ref()).unwrap();
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn an_older_entry_is_brought_up_to_date_and_comes_out_as_well(text in settings(), client in client()) {
        let old = install(client, &Call::bare("/old place/dandori"), Some(&text), None).unwrap();
        let new = install(client, &Call::bare(PROGRAM), Some(&old.text), old.memory.as_ref()).unwrap();
        prop_assert!(!new.text.contains("old place") && new.text.contains(PROGRAM), "{}", new.text);
        prop_assert_eq!(&new.text, &install(client, &Call::bare(PROGRAM), Some(&text), None).unwrap().text);
        let left = uninstall(client, None, &new.text, new.memory.as_ref()).unwrap();
        prop_assert_eq!(left.text.as_deref(), Some(text.as_str()), "{}", new.text);
    }

    #[test]
    fn without_a_memory_it_comes_out_too_and_what_is_left_can_be_read(text in settings(), client in client()) {
        let installed = install(client, &Call::bare(PROGRAM), Some(&text), None).unwrap();
        let left = uninstall(client, None, &installed.text, None).unwrap().text.unwrap();
        prop_assert!(!has_ours(client, &left) && !left.contains(PROGRAM), "{left}");
        prop_assert!(is_within(&left, &text), "{left}");
        prop_assert!(install(client, &Call::bare(PROGRAM), Some(&left), None).is_ok(), "{left}");
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,60}", client in client()) {
        let _ = install(client, &Call::bare(PROGRAM), Some(&text), None);
        let _ = uninstall(client, None, &text, None);
    }
}
