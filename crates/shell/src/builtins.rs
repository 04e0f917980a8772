//! Builtins of the shell: what they do to what it knows, and what they print.

use crate::expand::unescape;
use crate::reading::Word;
use crate::scope::{Input, Output, Variable};
use crate::walk::Walker;
use crate::wrappers::is_assignment;

impl Walker<'_> {
    pub(crate) fn builtin(&mut self, program: &str, args: &[Word], input: &Input) -> Option<Output> {
        match program {
            "cd" | "chdir" | "pushd" => {
                let to = args.iter().find(|w| !w.text.starts_with('-') || w.text == "-");
                self.change_folder(to);
            }
            "popd" => self.change_folder(None),
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
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                for word in args.iter().filter(|w| is_assignment(&w.text) && !w.text.contains('\'')) {
                    if let Some((name, value)) = word.text.split_once('=')
                        && !self.scope.variables.contains_key(name)
                    {
                        let value = self.expand_one(value);
                        self.setting(name, &value);
                        self.scope.set(name, value);
                    }
                }
            }
            "read" | "mapfile" | "readarray" | "getopts" | "unset" | "let" => {
                for word in args.iter().filter(|w| !w.text.starts_with('-')) {
                    self.scope.forget(&word.text);
                }
                self.scope.forget("REPLY");
                self.scope.forget("MAPFILE");
            }
            "set" => {
                if let Some(at) = args.iter().position(|w| w.text == "--") {
                    self.scope.positional = Some(args.get(at + 1..).unwrap_or_default().to_vec());
                }
            }
            "shift" => {
                if let Some(positional) = &mut self.scope.positional
                    && !positional.is_empty()
                {
                    positional.remove(0);
                }
            }
            "echo" => return Some(echo(args)),
            "printf" => {
                if let Some(at) = args.iter().position(|w| w.text == "-v") {
                    let value = printf(args.get(at + 2..).unwrap_or_default());
                    if let Some(name) = args.get(at + 1) {
                        let value = match value {
                            Output::Text(text) => Variable::Words(vec![Word::literal(text)]),
                            Output::Unknown => Variable::Unknown,
                        };
                        self.scope.put(&name.text, value);
                    }
                    return Some(Output::nothing());
                }
                return Some(printf(args));
            }
            "pwd" => return Some(self.here().map_or(Output::Unknown, Output::Text)),
            "which" | "type" => {
                return Some(Output::Text(crate::run::lines(args.iter().filter(|w| !w.text.starts_with('-')))));
            }
            ":" | "true" | "false" | "[" | "test" | "exit" | "return" | "break" | "continue" | "wait" | "sleep"
            | "shopt" | "umask" | "ulimit" | "hash" | "bind" | "complete" | "disown" | "fg" | "bg" | "jobs"
            | "kill" => {}
            _ => return None,
        }
        Some(Output::nothing())
    }
}

fn echo(args: &[Word]) -> Output {
    let flags = args.iter().take_while(|w| matches!(w.text.as_str(), "-e" | "-n" | "-E" | "-ne" | "-en")).count();
    let escapes = args.iter().take(flags).any(|w| w.text.contains('e'));
    let newline = !args.iter().take(flags).any(|w| w.text.contains('n'));
    let words = args.get(flags..).unwrap_or_default();
    if words.iter().any(|w| !w.is_literal()) {
        return Output::Unknown;
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
        return Output::Unknown;
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
