//! sed, awk and the line editors: small languages that write files and run commands.

use crate::options::{self, Spec};
use crate::reading::{How, Reach, Why, Word};
use crate::walk::Walker;
use crate::walk::scope::{Input, Output};
use crate::walk::shells::is_unseen;

impl Walker<'_> {
    pub(crate) fn text_tool(&mut self, program: &str, args: &[Word], input: &Input) -> Output {
        match program {
            "sed" | "gsed" => self.sed(args),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(args),
            _ => self.editor(program, args, input),
        }
        Output::Unknown
    }

    fn sed(&mut self, args: &[Word]) {
        let parsed =
            options::parse(args, Spec { short: "efli", long: &["expression", "file", "line-length"], stops: false });
        // `-i` takes its value in the same word only; taken apart here so that `-i` does not eat the script.
        let mut in_place = false;
        let mut scripts: Vec<Word> = Vec::new();
        let mut operands: Vec<Word> = Vec::new();
        let mut named = false;
        let mut words = args.iter();
        while let Some(word) = words.next() {
            match word.text.as_str() {
                "-e" | "--expression" => {
                    named = true;
                    scripts.extend(words.next().cloned());
                }
                "-f" | "--file" => {
                    named = true;
                    if let Some(file) = words.next() {
                        match self.fresh_text(&file.text) {
                            Some(Output::Text(text)) => scripts.push(Word::literal(text)),
                            Some(Output::Unknown | Output::Names(_)) => self.opaque(Why::FreshScript, &file.text),
                            None => {}
                        }
                    }
                }
                "--" => operands.extend(words.by_ref().cloned()),
                text if text.starts_with("--in-place") => in_place = true,
                text if text.starts_with("--expression=") => {
                    named = true;
                    scripts.push(Word::literal(text.trim_start_matches("--expression=")));
                }
                text if text.starts_with("--") => {}
                text if text.starts_with('-') && text.len() > 1 => {
                    let letters = text.get(1..).unwrap_or_default();
                    let upto = letters.find('i').map_or(letters, |at| letters.get(..=at).unwrap_or_default());
                    in_place |= upto.contains('i');
                    if !upto.contains('i') && letters.ends_with('e') {
                        named = true;
                        scripts.extend(words.next().cloned());
                    }
                }
                _ => operands.push(word.clone()),
            }
        }
        drop(parsed);
        if !named && !operands.is_empty() {
            scripts.push(operands.remove(0));
            // BSD: `sed -i '' 's/…/' file`.
            if in_place && scripts.first().is_some_and(|s| s.text.is_empty()) && !operands.is_empty() {
                scripts.push(operands.remove(0));
            }
        }
        for script in &scripts {
            self.sed_script(&script.text);
        }
        for file in operands {
            if in_place {
                self.writes(file.clone(), How::InPlace);
            }
            self.reads(file, "sed");
        }
    }

    fn sed_script(&mut self, script: &str) {
        for deed in sed_deeds(script) {
            match deed {
                SedDeed::Write(file) => self.writes(Word::literal(file), How::Output),
                SedDeed::Run(code) if code.is_empty() => self.opaque(Why::UnseenCode, script),
                SedDeed::Run(code) => {
                    self.code_apart(&code, Reach::Interpreter("sed".to_owned()), &Input::Unseen);
                }
            }
        }
    }

    fn awk(&mut self, args: &[Word]) {
        let parsed = options::parse(
            args,
            Spec { short: "fFvieE", long: &["file", "assign", "field-separator", "include", "source"], stops: true },
        );
        let mut operands = parsed.operands.clone();
        let mut programs: Vec<Word> = parsed.values(&["e", "source"]).cloned().collect();
        for file in parsed.values(&["f", "file", "E"]).cloned().collect::<Vec<_>>() {
            match self.fresh_text(&file.text) {
                Some(Output::Text(text)) => programs.push(Word::literal(text)),
                Some(Output::Unknown | Output::Names(_)) => self.opaque(Why::FreshScript, &file.text),
                None => {}
            }
        }
        if programs.is_empty() && !parsed.has(&["f", "file"]) && !operands.is_empty() {
            programs.push(operands.remove(0));
        }
        let given: Vec<Word> = parsed
            .values(&["v", "assign"])
            .chain(operands.iter())
            .map(|w| Word::literal(w.text.split_once('=').map_or(w.text.as_str(), |(_, v)| v)))
            .collect();
        for program in &programs {
            if is_unseen(program) {
                self.opaque(Why::UnseenCode, &format!("awk {}", program.text));
            }
            self.awk_program(&program.text, &given);
        }
        let in_place = parsed.values(&["i", "include"]).any(|w| w.text == "inplace");
        for file in operands {
            if in_place {
                self.writes(file.clone(), How::InPlace);
            }
            self.reads(file, "awk");
        }
    }

    fn awk_program(&mut self, code: &str, given: &[Word]) {
        let mut printing = false;
        let mut brackets = 0usize;
        let mut last_string: Option<String> = None;
        let mut rest = code;
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            rest = after;
            match c {
                '#' => rest = after.get(after.find('\n').unwrap_or(after.len())..).unwrap_or_default(),
                '"' => {
                    let (text, tail) = crate::code::tokens::string_body(after, '"');
                    last_string = Some(text);
                    rest = tail;
                }
                '/' if !printing || brackets == 0 => rest = skip_regex(after),
                '(' => brackets += 1,
                ')' => brackets = brackets.saturating_sub(1),
                ';' | '\n' | '{' | '}' => {
                    printing = false;
                    brackets = 0;
                }
                'p' if after.starts_with("rint") => printing = true,
                's' if after.starts_with("ystem(") || after.starts_with("ystem (") => {
                    let inner = after.get(after.find('(').map_or(0, |n| n + 1)..).unwrap_or_default().trim_start();
                    self.awk_command(inner);
                }
                '|' if after.starts_with('|') => rest = after.get(1..).unwrap_or_default(),
                '|' => {
                    let next = after.trim_start_matches(['&', ' ', '\t']);
                    if next.starts_with("getline") {
                        match &last_string {
                            Some(code) => {
                                self.code_apart(&code.clone(), Reach::Interpreter("awk".to_owned()), &Input::Unseen);
                            }
                            None => self.opaque(Why::Interpreter, code),
                        }
                    } else {
                        self.awk_command(next);
                    }
                }
                '>' if printing && brackets == 0 && !after.starts_with('=') => {
                    let next = after.trim_start_matches(['>', ' ', '\t']);
                    match next.strip_prefix('"') {
                        Some(text) => {
                            let (text, tail) = crate::code::tokens::string_body(text, '"');
                            // `"a" n`: the name goes on.
                            let goes_on = tail
                                .trim_start_matches([' ', '\t'])
                                .starts_with(|c: char| c.is_alphanumeric() || c == '$' || c == '"');
                            let word = if goes_on { Word::computed(format!("{text}$")) } else { Word::literal(text) };
                            self.writes(word, How::Output);
                        }
                        None => {
                            for word in given {
                                self.writes(word.clone(), How::Output);
                            }
                            self.writes(Word::computed("$AWK"), How::Output);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// A command after `|` or in `system(…)`.
    fn awk_command(&mut self, source: &str) {
        let Some(text) = source.strip_prefix('"') else {
            return self.opaque(Why::Interpreter, source);
        };
        let (text, tail) = crate::code::tokens::string_body(text, '"');
        let goes_on = tail.trim_start().starts_with(|c: char| c.is_alphanumeric() || c == '$' || c == '"');
        let code = if goes_on { format!("{text}\"$AWK\"") } else { text };
        self.code_apart(&code, Reach::Interpreter("awk".to_owned()), &Input::Unseen);
    }

    fn editor(&mut self, program: &str, args: &[Word], input: &Input) {
        let mut commands: Vec<String> = Vec::new();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            match word.text.as_str() {
                "-c" | "--cmd" | "-eval" | "--eval" => commands.extend(words.next().map(|w| w.text.clone())),
                "-S" | "-u" | "-l" | "--load" => {
                    if let Some(file) = words.next()
                        && self.fresh_text(&file.text).is_some()
                    {
                        self.opaque(Why::FreshScript, &file.text);
                    }
                }
                text if text.starts_with('+') => commands.push(text.trim_start_matches('+').to_owned()),
                text if text.starts_with('-') && text.ends_with('c') && !text.starts_with("--") => {
                    commands.extend(words.next().map(|w| w.text.clone()));
                }
                text if text.starts_with('-') => {}
                _ => self.writes(word.clone(), How::InPlace),
            }
        }
        if let Input::Text(text) = input {
            commands.extend(text.lines().map(str::to_owned));
        }
        for command in commands {
            let bare = command.trim_start_matches([':', ' ', '%']);
            let foreign = ["lua ", "lua=", "py3 ", "python3 ", "py ", "python "];
            if let Some(code) = foreign.iter().find_map(|verb| bare.strip_prefix(verb)) {
                let language = if bare.starts_with("lua") { "lua" } else { "python3" };
                self.foreign_code(language, code, &[]);
                continue;
            }
            for part in command.split('|') {
                let part = part.trim_start_matches([':', ' ', '%']);
                if let Some(code) =
                    part.strip_prefix('!').or_else(|| part.strip_prefix("r !")).or_else(|| part.strip_prefix("r!"))
                {
                    self.code_apart(code, Reach::Interpreter(program.to_owned()), &Input::Unseen);
                } else if let Some(code) = part.strip_prefix("w !") {
                    self.code_apart(code, Reach::Interpreter(program.to_owned()), &Input::Unseen);
                } else if let Some(file) =
                    ["w! ", "w ", "write ", "sav ", "saveas "].iter().find_map(|p| part.strip_prefix(p))
                {
                    self.writes(Word::literal(file.trim()), How::Output);
                } else if let Some(file) = part.strip_prefix("e ").or_else(|| part.strip_prefix("edit ")) {
                    self.writes(Word::literal(file.trim()), How::InPlace);
                } else if [
                    "call system(",
                    "shell-command",
                    "call-process",
                    "python",
                    "py3",
                    "luafile",
                    "luado",
                    "call writefile",
                ]
                .iter()
                .any(|p| part.contains(p))
                {
                    self.opaque(Why::Interpreter, part);
                }
            }
        }
    }
}

/// After the first slash of a regular expression; a division is told by there being no second on the line.
fn skip_regex(after: &str) -> &str {
    let mut escaped = false;
    for (at, c) in after.char_indices() {
        match c {
            '\n' => return after,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '/' => return after.get(at + 1..).unwrap_or_default(),
            _ => {}
        }
    }
    after
}

#[derive(Debug, PartialEq, Eq)]
enum SedDeed {
    Write(String),
    Run(String),
}

/// What a sed script does beyond printing.
fn sed_deeds(script: &str) -> Vec<SedDeed> {
    let mut deeds = Vec::new();
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}', '!', ',', '$', '~', '+']);
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let Some(c) = rest.chars().next() else { return deeds };
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let line_end = after.find('\n').unwrap_or(after.len());
        let (line, next) = (after.get(..line_end).unwrap_or_default(), after.get(line_end..).unwrap_or_default());
        rest = match c {
            '/' => past(after, '/'),
            '\\' => {
                let delimiter = after.chars().next().unwrap_or('/');
                past(after.get(delimiter.len_utf8()..).unwrap_or_default(), delimiter)
            }
            's' | 'y' => {
                let delimiter = after.chars().next().unwrap_or('/');
                let tail = past(past(after.get(delimiter.len_utf8()..).unwrap_or_default(), delimiter), delimiter);
                let flags = tail.find([';', '\n', '}', ' ', 'w']).unwrap_or(tail.len());
                if c == 's' && tail.get(..flags).unwrap_or_default().contains('e') {
                    deeds.push(SedDeed::Run(String::new()));
                }
                tail.get(flags..).unwrap_or_default()
            }
            'w' | 'W' => {
                deeds.push(SedDeed::Write(line.trim().to_owned()));
                next
            }
            'e' => {
                deeds.push(SedDeed::Run(line.trim().to_owned()));
                next
            }
            'a' | 'i' | 'c' => {
                // Text, continued while lines end in a backslash.
                let mut tail = after;
                loop {
                    let end = tail.find('\n').unwrap_or(tail.len());
                    let continued = tail.get(..end).unwrap_or_default().ends_with('\\');
                    tail = tail.get((end + 1).min(tail.len())..).unwrap_or_default();
                    if !continued {
                        break tail;
                    }
                }
            }
            '#' | 'r' | 'R' => next,
            ':' | 'b' | 't' | 'T' => {
                after.get(after.find([';', '\n', '}']).unwrap_or(after.len())..).unwrap_or_default()
            }
            _ => after,
        };
    }
}

/// The text after the next delimiter that is neither escaped nor in a class.
fn past(text: &str, delimiter: char) -> &str {
    let mut escaped = false;
    let mut class = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' if text.get(at..).is_some_and(|t| t.contains(']')) => class = true,
            ']' => class = false,
            c if c == delimiter && !class => return text.get(at + c.len_utf8()..).unwrap_or_default(),
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_writes_and_runs_only_where_it_is_told_to() {
        assert_eq!(sed_deeds("w out.txt"), [SedDeed::Write("out.txt".into())]);
        assert_eq!(sed_deeds("s/a/b/w out.txt"), [SedDeed::Write("out.txt".into())]);
        assert_eq!(sed_deeds("/x/{s|a|b|g;w o\n}"), [SedDeed::Write("o".into())]);
        assert_eq!(sed_deeds("1e git push"), [SedDeed::Run("git push".into())]);
        assert_eq!(sed_deeds("s/x/git push/e"), [SedDeed::Run(String::new())]);
        assert_eq!(sed_deeds("s/foo/w bar/"), []);
        assert_eq!(sed_deeds("10,20p;s/e/w/g;/we w/d"), []);
        assert_eq!(sed_deeds("1i\\\nw hello\n2d"), []);
    }
}
