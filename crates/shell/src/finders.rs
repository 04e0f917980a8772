//! Programs that list files, and those that run a command for each of what they find or are told.

use crate::options;
use crate::reading::{Reach, Why, Word};
use crate::scope::{Input, Output};
use crate::walk::Walker;
use crate::wrappers::spec;

impl Walker<'_> {
    pub(crate) fn xargs(&mut self, args: &[Word], input: &Input) -> Output {
        let parsed = options::parse(
            args,
            spec(
                "adEIiLlnPs",
                &["arg-file", "delimiter", "replace", "max-lines", "max-args", "max-procs", "max-chars"],
            ),
        );
        let mut command = parsed.operands.clone();
        if command.is_empty() {
            return Output::Unknown;
        }
        let delimiter = match parsed.value(&["d", "delimiter"]) {
            Some(word) => crate::expand::unescape(&word.text).chars().next(),
            None => parsed.has(&["0", "null"]).then_some('\0'),
        };
        let items: Option<Vec<String>> = match input {
            Input::Text(text) if !parsed.has(&["a", "arg-file"]) => {
                let ends = |c: char| delimiter.map_or(c.is_whitespace(), |d| c == d);
                let items = text.split(ends).filter(|s| !s.is_empty());
                Some(items.map(|s| s.trim_matches(['"', '\'']).to_owned()).collect())
            }
            _ => None,
        };
        let mark = parsed.value(&["I", "replace"]).map_or("{}", |w| w.text.as_str());
        if parsed.has(&["I", "i", "replace"]) {
            let Some(items) = items else {
                for word in &mut command {
                    if word.text.contains(mark) {
                        // Whoever runs it as code does not know what it says.
                        *word = Word::computed(word.text.replace(mark, "$XARGS"));
                    }
                }
                return self.run_wrapped("xargs", &command, &Input::Unseen);
            };
            let lines: Vec<String> = match input {
                Input::Text(text) => text.lines().map(|l| l.trim().to_owned()).collect(),
                _ => items,
            };
            for item in lines.iter().take(16) {
                let filled: Vec<Word> =
                    command.iter().map(|w| Word { text: w.text.replace(mark, item), certainty: w.certainty }).collect();
                self.run_wrapped("xargs", &filled, &Input::Unseen);
            }
            return Output::Unknown;
        }
        match items {
            Some(items) => command.extend(items.into_iter().map(Word::literal)),
            None => command.push(Word::computed("$XARGS")),
        }
        self.run_wrapped("xargs", &command, &Input::Unseen)
    }

    pub(crate) fn parallel(&mut self, args: &[Word], input: &Input) -> Output {
        let parsed = options::parse(args, spec("jNnSa", &["jobs", "max-args", "joblog", "results", "arg-file"]));
        let (command, values): (Vec<&Word>, Vec<&Word>) = {
            let at = parsed.operands.iter().position(|w| w.text.starts_with(":::")).unwrap_or(parsed.operands.len());
            let (a, b) = parsed.operands.split_at(at);
            (a.iter().collect(), b.iter().filter(|w| !w.text.starts_with(":::")).collect())
        };
        let code = command.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
        let items: Vec<String> = match input {
            _ if !values.is_empty() => values.iter().map(|w| w.text.clone()).collect(),
            Input::Text(text) => text.lines().map(str::to_owned).collect(),
            _ if code.is_empty() => {
                self.opaque(Why::UnseenCode, "parallel");
                return Output::Unknown;
            }
            _ => vec!["\"$PARALLEL\"".to_owned()],
        };
        for item in items.iter().take(16) {
            let line = if code.contains("{}") { code.replace("{}", item) } else { format!("{code} {item}") };
            self.code_apart(&line, Reach::Wrapper("parallel".to_owned()), &Input::Unseen);
        }
        Output::Unknown
    }

    pub(crate) fn find(&mut self, program: &str, args: &[Word]) -> Output {
        if program.starts_with("fd") {
            let at = args.iter().position(|w| matches!(w.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"));
            if let Some(command) = at.and_then(|at| args.get(at + 1..)) {
                let found = Word::computed("$FOUND");
                let mut command: Vec<Word> = filled(command, &found);
                command.push(found);
                self.run_wrapped(program, &command, &Input::Unseen);
            }
            return Output::Unknown;
        }
        let found = crate::files::found_by(args);
        let mut at = 0;
        while let Some(word) = args.get(at) {
            at += 1;
            match word.text.as_str() {
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let rest = args.get(at..).unwrap_or_default();
                    let len = rest.iter().position(|w| w.text == ";" || w.text == "+").unwrap_or(rest.len());
                    let command = filled(rest.get(..len).unwrap_or_default(), &found);
                    self.run_wrapped("find", &command, &Input::Inherited);
                    at += len;
                }
                "-delete" => self.writes(found.clone(), crate::How::Removed),
                "-fprint" | "-fprintf" | "-fls" | "-fprint0" => {
                    if let Some(file) = args.get(at) {
                        self.writes(file.clone(), crate::How::Output);
                    }
                }
                _ => {}
            }
        }
        Output::Unknown
    }
}

fn filled(command: &[Word], with: &Word) -> Vec<Word> {
    let fill = |w: &Word| match w.text.as_str() {
        "{}" => with.clone(),
        text if text.contains("{}") => {
            Word { text: text.replace("{}", &with.text), certainty: w.certainty.max(with.certainty) }
        }
        _ => w.clone(),
    };
    command.iter().map(fill).collect()
}
