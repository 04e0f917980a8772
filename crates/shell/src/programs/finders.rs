//! Programs that list files, and those that run a command for each of what they find or are told.

use crate::options::{self, Spec};
use crate::programs::search::{Act, Deed, Search};
use crate::programs::wrappers::spec;
use crate::reading::{Certainty, How, Reach, Why, Word};
use crate::walk::Walker;
use crate::walk::scope::{Input, Output};

/// Items of a list that is written out for which a command is read, each on its own.
const MAX_ITEMS: usize = 64;

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
            Some(word) => crate::source::expand::unescape(&word.text).chars().next(),
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
                let names: Vec<Option<&Word>> = match input {
                    Input::Names(names) if !names.is_empty() => names.iter().map(Some).collect(),
                    _ => vec![None],
                };
                self.only_some(names.len(), "xargs");
                for listed in names.into_iter().take(MAX_ITEMS) {
                    let fill = |word: &Word| match listed {
                        Some(name) if word.text == mark => name.clone(),
                        // Whoever runs it as code does not know what it says.
                        _ if word.text.contains(mark) => Word::computed(word.text.replace(mark, "$XARGS")),
                        _ => word.clone(),
                    };
                    let filled: Vec<Word> = command.iter().map(fill).collect();
                    self.run_wrapped("xargs", &filled, &Input::Unseen);
                }
                return Output::Unknown;
            };
            let lines: Vec<String> = match input {
                Input::Text(text) => text.lines().map(|l| l.trim().to_owned()).collect(),
                _ => items,
            };
            self.only_some(lines.len(), "xargs");
            for item in lines.iter().take(MAX_ITEMS) {
                if !self.afford(0) {
                    break;
                }
                let filled: Vec<Word> =
                    command.iter().map(|w| Word { text: w.text.replace(mark, item), certainty: w.certainty }).collect();
                self.run_wrapped("xargs", &filled, &Input::Unseen);
            }
            return Output::Unknown;
        }
        match items {
            Some(items) => command.extend(items.into_iter().map(Word::literal)),
            None => match input {
                Input::Names(names) if !parsed.has(&["a", "arg-file"]) => command.extend(names.iter().cloned()),
                _ => command.push(Word::computed("$XARGS")),
            },
        }
        self.run_wrapped("xargs", &command, &Input::Unseen)
    }

    pub(crate) fn parallel(&mut self, args: &[Word], input: &Input) -> Output {
        let parsed = options::parse(args, spec("jNnSa", &["jobs", "max-args", "joblog", "results", "arg-file"]));
        if parsed.has(&["version", "help", "citation", "number-of-cores", "number-of-cpus", "V", "h"]) {
            return Output::Unknown;
        }
        let (command, values): (Vec<&Word>, Vec<&Word>) = {
            let at = parsed.operands.iter().position(|w| w.text.starts_with(":::")).unwrap_or(parsed.operands.len());
            let (a, b) = parsed.operands.split_at(at);
            (a.iter().collect(), b.iter().filter(|w| !w.text.starts_with(":::")).collect())
        };
        if let (Input::Names(names), true) = (input, values.is_empty()) {
            let words: Vec<Word> = command.iter().map(|w| (*w).clone()).collect();
            for name in names {
                if !self.afford(0) {
                    break;
                }
                let mut line = filled(&words, name);
                if line == words {
                    line.push(name.clone());
                }
                self.run_wrapped("parallel", &line, &Input::Unseen);
            }
        }
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
        self.only_some(items.len(), "parallel");
        for item in items.iter().take(MAX_ITEMS) {
            if !self.afford(code.len() + item.len()) {
                break;
            }
            let line = if code.contains("{}") { code.replace("{}", item) } else { format!("{code} {item}") };
            self.code_apart(&line, Reach::Wrapper("parallel".to_owned()), &Input::Unseen);
        }
        Output::Unknown
    }

    pub(crate) fn find(&mut self, program: &str, args: &[Word]) -> Output {
        if program.starts_with("fd") {
            return self.fd(program, args);
        }
        let search = Search::of(args);
        let mut output = Output::nothing();
        for deed in &search.deeds {
            if !self.spend() {
                return Output::Unknown;
            }
            match &deed.act {
                Act::Run(command) => {
                    for found in self.found(&search, deed) {
                        if !self.afford(0) {
                            break;
                        }
                        self.run_wrapped("find", &filled(command, &found), &Input::Inherited);
                    }
                    output = Output::Unknown;
                }
                Act::Delete => {
                    for found in self.found(&search, deed) {
                        self.writes(found, How::Removed);
                    }
                }
                Act::PrintTo(file) => self.writes(file.clone(), How::Output),
                Act::Report => output = Output::Unknown,
                Act::Print => output = output.then(self.listed(&search, deed)),
            }
        }
        output
    }

    /// Of more items than are read, the rest is said to be unseen.
    fn only_some(&mut self, items: usize, program: &str) {
        if items > MAX_ITEMS {
            self.opaque(Why::TooLarge, program);
        }
    }

    fn found(&mut self, search: &Search, deed: &Deed) -> Vec<Word> {
        search.found(deed).unwrap_or_else(|| {
            self.opaque(Why::TooLarge, "find");
            vec![Word::computed("$FOUND")]
        })
    }

    /// What a finder prints: a name that was looked for, or everything below its folders.
    fn listed(&mut self, search: &Search, deed: &Deed) -> Output {
        let names = search.listed(deed).unwrap_or_default();
        let length: usize = names.iter().map(|name| name.text.len() + size_of::<Word>()).sum();
        if names.is_empty() || !self.afford(length) { Output::Unknown } else { Output::Names(names) }
    }

    fn fd(&mut self, program: &str, args: &[Word]) -> Output {
        let search = Search::of_fd(args);
        let Some(deed) = search.deeds.first() else { return Output::Unknown };
        let folder = search.roots.first().map_or(".", |root| root.text.as_str());
        let found = if deed.is_choosy { Word::computed("$FOUND") } else { Word::names(format!("{folder}/**")) };
        let Act::Run(command) = &deed.act else { return self.listed(&search, deed) };
        let mut command: Vec<Word> = filled(command, &found);
        command.push(found);
        self.run_wrapped(program, &command, &Input::Unseen);
        Output::Unknown
    }

    /// A program that does nothing but print names of files.
    pub(crate) fn listing(program: &str, args: &[Word]) -> Option<Output> {
        let has = |names: &[&str]| args.iter().any(|w| names.contains(&w.text.as_str()));
        let operands: Vec<&Word> = args.iter().filter(|w| !w.text.starts_with('-')).collect();
        match program {
            "ls" => {
                let letters = |c: char| {
                    args.iter().any(|w| w.text.starts_with('-') && !w.text.starts_with("--") && w.text.contains(c))
                };
                if letters('l') || letters('R') || letters('s') || letters('i') {
                    return None;
                }
                if operands.iter().all(|w| matches!(w.text.as_str(), "." | "./")) {
                    return Some(Output::Names(vec![Word::names("*")]));
                }
                let is_pattern = |w: &&Word| w.certainty == Certainty::Glob;
                let named = || operands.iter().map(|w| Word::names(w.text.clone())).collect();
                operands.iter().all(is_pattern).then(|| Output::Names(named()))
            }
            // Of what git knows: all of it, unless something says which.
            "git" if operands.first().is_some_and(|w| w.text == "ls-files") => {
                let chooses =
                    has(&["-o", "-i", "-m", "-d", "-u", "-k", "--others", "--ignored", "--modified", "--deleted"]);
                (operands.len() == 1 && !chooses).then(|| Output::Names(vec![Word::names("**")]))
            }
            "rg" if has(&["--files"]) => {
                let chooses = has(&["-g", "--glob", "-t", "--type", "--iglob"]) || !operands.is_empty();
                (!chooses).then(|| Output::Names(vec![Word::names("**")]))
            }
            _ => None,
        }
    }
}

/// Hands on every name it gets, or all but some, and each of them whole.
pub(crate) fn keeps_names(program: &str, args: &[Word]) -> bool {
    let has_operand = args.iter().any(|w| !w.text.starts_with('-'));
    let words: Vec<&str> = args.iter().map(|w| w.text.as_str()).collect();
    let are_all = |allowed: &[&str]| words.iter().all(|word| allowed.contains(word));
    match program {
        "sort" | "tac" => !has_operand,
        "uniq" => are_all(&["-u", "-d", "-D", "-i", "-z"]),
        "cat" => are_all(&["-", "-u"]),
        "shuf" => are_all(&["-", "-z", "-r"]),
        "tr" => matches!(words.as_slice(), ["\\n" | "\\0" | "\\000" | "\n", "\\n" | "\\0" | "\\000" | " " | "\n"]),
        "tee" => true,
        // A name without blanks is its first and its last field.
        "awk" | "gawk" | "mawk" => matches!(words.as_slice(), [code] if matches!(
            code.replace(' ', "").as_str(),
            "{print}" | "{print;}" | "{print$0}" | "{print$1}" | "{print$NF}" | "1"
        )),
        "sed" | "gsed" => matches!(words.as_slice(), ["s/^\\.\\///" | "s|^\\./||" | "s#^\\./##" | "s,^\\./,,"]),
        "grep" | "egrep" | "fgrep" | "rg" => leaves_names_out(args),
        _ => false,
    }
}

/// `grep -v`, with nothing that prints more or less than the lines, or reads other ones.
fn leaves_names_out(args: &[Word]) -> bool {
    const INVERTED: &[&str] = &["v", "invert-match"];
    const PATTERN: &[&str] = &["e", "regexp", "f", "file"];
    const PLAIN: &[&str] = &[
        "E",
        "F",
        "P",
        "G",
        "i",
        "w",
        "x",
        "z",
        "a",
        "s",
        "S",
        "extended-regexp",
        "fixed-strings",
        "perl-regexp",
        "ignore-case",
        "word-regexp",
        "line-regexp",
        "null-data",
        "line-buffered",
    ];
    let parsed = options::parse(args, Spec { short: "efmABC", long: &["regexp", "file"], stops: false });
    let is_plain = |name: &str| [INVERTED, PATTERN, PLAIN].iter().any(|known| known.contains(&name));
    parsed.has(INVERTED)
        && parsed.flags.iter().all(|(name, _)| is_plain(name))
        && parsed.operands.len() == usize::from(!parsed.has(PATTERN))
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
