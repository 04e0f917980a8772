//! Builtins of the shell: what they do to what it knows, and what they print.

use std::rc::Rc;

use crate::options::{self, Spec};
use crate::programs::wrappers::is_assignment;
use crate::reading::{Certainty, Why, Word};
use crate::source::expand::unescape;
use crate::walk::Walker;
use crate::walk::run::known;
use crate::walk::scope::{Input, Output, Variable};

impl Walker<'_> {
    pub(crate) fn builtin(&mut self, program: &str, args: &[Word], input: &Input) -> Option<Output> {
        match program {
            "cd" | "chdir" | "pushd" => {
                let to = args.iter().find(|w| !w.text.starts_with('-') || w.text == "-");
                self.change_folder(to);
            }
            "popd" => self.change_back(),
            "eval" => return Some(self.eval(args, input)),
            "source" | "." => {
                let Some(file) = args.first() else { return Some(Output::Unknown) };
                return Some(self.script_file("source", file, args.get(1..).unwrap_or_default(), input));
            }
            "trap" => self.trap(args),
            "alias" => {
                for word in args {
                    if let Some((name, text)) = word.text.split_once('=') {
                        self.scope.aliases.insert(name.to_owned(), text.to_owned());
                    }
                }
            }
            "unalias" => {
                for word in args {
                    self.scope.aliases.remove(&word.text);
                }
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(program, args),
            "mapfile" | "readarray" => {
                let parsed = options::parse(args, Spec { short: "CcdnOsu", long: &[], stops: false });
                for code in parsed.values(&["C"]).cloned().collect::<Vec<_>>() {
                    self.shell_text(program, &code, &Input::Unseen);
                }
                let name = parsed.operands.first().map_or("MAPFILE", |w| w.text.as_str()).to_owned();
                match input {
                    Input::Names(names) => self.scope.put(&name, Variable::Words(names.clone())),
                    _ => self.scope.forget(&name),
                }
            }
            "read" => {
                let parsed = options::parse(args, Spec { short: "adinNptu", long: &[], stops: false });
                let list = parsed.values(&["a"]).cloned();
                let mut names: Vec<Word> = list.chain(parsed.operands.iter().cloned()).collect();
                if names.is_empty() {
                    names.push(Word::literal("REPLY"));
                }
                for name in names {
                    self.runs_within(&name.text);
                    self.receive(&name.text, input);
                }
            }
            "getopts" | "unset" | "let" => {
                for word in args.iter().filter(|w| !w.text.starts_with('-')) {
                    // A subscript is expanded once more.
                    self.runs_within(&word.text);
                    if program == "let" {
                        self.evaluates(&word.text);
                    }
                    self.scope.forget(&word.text);
                }
            }
            "hash" if args.iter().any(|w| w.text.starts_with("-p")) => {
                self.opaque(Why::Setting, &format!("hash {}", line(args)));
            }
            "enable" => {
                if args.iter().any(|w| w.text.starts_with("-f")) {
                    self.opaque(Why::Setting, &format!("enable {}", line(args)));
                }
            }
            "history" => {
                if let Some(rest) = args.strip_prefix(&[Word::literal("-s")]) {
                    // `fc` runs it.
                    self.joined_code(program, rest);
                }
            }
            "test" | "[" => {
                const EVALUATE: &[&str] = &["-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
                if args.iter().any(|w| EVALUATE.contains(&w.text.as_str())) {
                    for word in args {
                        self.runs_within(&word.text);
                    }
                }
            }
            "set" => {
                self.scope.stops_on_failure |= has_letter(args, 'e') || args.iter().any(|w| w.text == "errexit");
                if let Some(at) = args.iter().position(|w| w.text == "--") {
                    self.scope.positional = Some(Rc::new(args.get(at + 1..).unwrap_or_default().to_vec()));
                }
            }
            "shift" => {
                if let Some(positional) = &mut self.scope.positional
                    && !positional.is_empty()
                {
                    Rc::make_mut(positional).remove(0);
                }
            }
            "echo" => return Some(echo(args)),
            "printf" => {
                if let Some(at) = args.iter().position(|w| w.text == "-v") {
                    let value = printf(args.get(at + 2..).unwrap_or_default());
                    if let Some(name) = args.get(at + 1) {
                        self.runs_within(&name.text);
                        self.scope.put(&name.text, known(value));
                    }
                    return Some(Output::nothing());
                }
                return Some(printf(args));
            }
            "pwd" => return Some(self.here().map_or(Output::Unknown, Output::Text)),
            "which" | "type" => {
                return Some(Output::Text(crate::walk::run::lines(args.iter().filter(|w| !w.text.starts_with('-')))));
            }
            ":" | "true" | "false" | "exit" | "return" | "break" | "continue" | "wait" | "sleep" | "shopt"
            | "umask" | "ulimit" | "hash" | "bind" | "complete" | "disown" | "fg" | "bg" | "jobs" | "kill" => {}
            _ => return None,
        }
        Some(Output::nothing())
    }

    /// `declare`, with what its options make of the names.
    fn declare(&mut self, program: &str, args: &[Word]) {
        let is_reference = program != "export" && has_letter(args, 'n');
        let is_number = has_letter(args, 'i');
        for word in args.iter().filter(|w| !w.text.starts_with(['-', '+'])) {
            let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
            if is_reference {
                let target = self.expand_one(value);
                let target = if target.is_computed() { String::new() } else { target.text };
                self.scope.references.insert(name.to_owned(), target);
                continue;
            }
            if is_number && is_assignment(&word.text) {
                let value = self.expand_one(value);
                self.runs_within(&value.text);
                self.evaluates(&value.text);
            }
            if is_assignment(&word.text) && !word.text.contains('\'') && !self.scope.variables.contains_key(name) {
                let value = self.expand_one(value);
                self.setting(name, &value);
                self.scope.set(name, value);
            }
        }
    }

    /// A variable gets what comes on standard input.
    fn receive(&mut self, name: &str, input: &Input) {
        match input {
            Input::Names(names) => self.scope.put(name, Variable::Words(names.iter().take(1).cloned().collect())),
            _ => self.scope.forget(name),
        }
    }
}

/// An option with this letter.
pub(crate) fn has_letter(words: &[Word], letter: char) -> bool {
    words.iter().any(|w| w.text.starts_with('-') && !w.text.starts_with("--") && w.text.contains(letter))
}

fn line(words: &[Word]) -> String {
    words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Patterns that are printed one by one are names of files.
fn printed(words: &[&Word]) -> Output {
    let is_pattern = |w: &&&Word| matches!(w.certainty, Certainty::Glob | Certainty::Names);
    if words.is_empty() || !words.iter().all(|w| is_pattern(&w)) {
        return Output::Unknown;
    }
    Output::Names(words.iter().map(|w| Word::names(w.text.clone())).collect())
}

fn echo(args: &[Word]) -> Output {
    let flags = args.iter().take_while(|w| matches!(w.text.as_str(), "-e" | "-n" | "-E" | "-ne" | "-en")).count();
    let escapes = args.iter().take(flags).any(|w| w.text.contains('e'));
    let newline = !args.iter().take(flags).any(|w| w.text.contains('n'));
    let words = args.get(flags..).unwrap_or_default();
    if words.iter().any(|w| !w.is_literal()) {
        return printed(&words.iter().collect::<Vec<_>>());
    }
    let mut text = words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
    if escapes {
        text = unescape(&text);
    }
    if newline {
        text.push('\n');
    }
    Output::Text(text)
}

fn printf(args: &[Word]) -> Output {
    let mut args = args.iter().skip_while(|w| w.text == "--");
    let Some(format) = args.next() else { return Output::nothing() };
    let values: Vec<&Word> = args.collect();
    if !format.is_literal() || values.iter().any(|w| !w.is_literal()) {
        let is_list = format.is_literal() && matches!(format.text.as_str(), "%s\\n" | "%s\\0" | "%s " | "%s");
        return if is_list { printed(&values) } else { Output::Unknown };
    }
    let mut out = String::new();
    let mut values = values.into_iter();
    loop {
        let left = values.len();
        let mut chars = format.text.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
                if c == '\\' {
                    out.extend(chars.next());
                }
                continue;
            }
            let kind = chars.by_ref().find(|c| c.is_ascii_alphabetic() || *c == '%');
            let value = if kind == Some('%') { None } else { values.next() };
            match kind {
                Some('%') => out.push('%'),
                // Escapes are undone in the whole below; what `%s` puts in must come out as it went in.
                Some('s') => out.extend(value.map(|w| w.text.replace('\\', "\\\\"))),
                Some('b') => out.extend(value.map(|w| w.text.clone())),
                Some('q' | 'd' | 'i' | 'u') => out.extend(value.map(|w| w.text.clone())),
                _ => return Output::Unknown,
            }
        }
        if values.len() == 0 || values.len() == left || out.len() > crate::MAX_BYTES {
            return Output::Text(unescape(&out));
        }
    }
}
