//! Interpreters of other languages: where their code is, on the command line or elsewhere.

use crate::options::{self, Spec};
use crate::reading::{How, Reach, Why, Word};
use crate::walk::Walker;
use crate::walk::scope::Input;
use crate::walk::shells::is_unseen;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    Node,
    Ruby,
    Perl,
    Php,
    Lua,
    Groovy,
    Tcl,
    Other,
}

pub(crate) fn language(program: &str) -> Option<Language> {
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match bare {
        "python" | "pypy" | "ipython" => Language::Python,
        "node" | "nodejs" | "deno" | "tsx" | "ts-node" => Language::Node,
        "ruby" | "irb" => Language::Ruby,
        "perl" => Language::Perl,
        "php" => Language::Php,
        "lua" | "luajit" | "texlua" => Language::Lua,
        "groovy" | "groovysh" => Language::Groovy,
        "tclsh" | "expect" | "wish" => Language::Tcl,
        "osascript" | "Rscript" | "R" | "julia" | "guile" | "elixir" | "iex" | "erl" => Language::Other,
        _ => return None,
    })
}

impl Walker<'_> {
    /// Tcl has no brackets to tell a call by: each command is a line, or stands in `[…]` or `{…}`.
    pub(crate) fn tcl(&mut self, program: &str, code: &str) {
        let reach = || Reach::Interpreter(program.to_owned());
        for piece in code.split(['\n', ';', '[', ']', '{', '}']).map(str::trim) {
            let (verb, rest) = piece.split_once(char::is_whitespace).unwrap_or((piece, ""));
            let rest = rest.trim();
            match verb {
                "exec" | "spawn" | "system" | "overlay" => {
                    let words = rest.split_whitespace().skip_while(|w| w.starts_with('-')).collect::<Vec<_>>();
                    self.within(reach(), |walker| walker.code_apart(&words.join(" "), reach(), &Input::Unseen));
                }
                "eval" | "uplevel" | "subst" | "source" | "send" if rest.contains('$') => {
                    self.opaque(Why::Interpreter, piece);
                }
                "open" if rest.starts_with('|') || rest.starts_with("\"|") => {
                    let code = rest.trim_start_matches('"').trim_start_matches('|').trim_end_matches('"').to_owned();
                    self.code_apart(&code, reach(), &Input::Unseen);
                }
                "open" => {
                    let mut words = rest.split_whitespace();
                    if let (Some(file), Some(mode)) = (words.next(), words.next())
                        && mode.contains(['w', 'a', '+'])
                    {
                        self.writes(tcl_word(file), How::Interpreter);
                    }
                }
                "file" => {
                    let mut words = rest.split_whitespace();
                    let how = match words.next() {
                        Some("delete") => How::Removed,
                        Some("rename") => How::MovedAway,
                        Some("copy") => How::Copied,
                        _ => continue,
                    };
                    for file in words.filter(|w| !w.starts_with('-')) {
                        self.writes(tcl_word(file), how);
                    }
                }
                _ => {}
            }
        }
    }

    pub(crate) fn interpreter(&mut self, program: &str, language: Language, args: &[Word], input: &Input) {
        if args.iter().any(|w| matches!(w.text.as_str(), "--version" | "-V" | "--help" | "-h"))
            || (args.len() == 1 && args.iter().any(|w| w.text == "-v"))
        {
            return;
        }
        let (short, code_flags): (&'static str, &[&str]) = match language {
            Language::Python => ("cmWX", &["c"]),
            Language::Node => ("epr", &["e", "p", "eval", "print"]),
            Language::Ruby => ("eIrC", &["e"]),
            Language::Perl => ("eEIMm", &["e", "E"]),
            Language::Php => ("rdBRFE", &["r", "B", "R", "E"]),
            Language::Lua => ("el", &["e"]),
            Language::Tcl => ("cfbd", &["c"]),
            Language::Groovy => ("e", &["e"]),
            Language::Other if program == "guile" => ("ceLls", &["c", "e"]),
            Language::Other => ("eElr", &["e", "E", "eval", "rpc-eval"]),
        };
        let long = &["eval", "print", "require", "import", "loader", "env-file", "test-name-pattern"];
        // `-pi -e`, `-i.bak`: what follows `-i` belongs to it.
        let args: Vec<Word> = args
            .iter()
            .map(|w| match w.text.find("i.") {
                Some(at)
                    if w.text.starts_with('-')
                        && !w.text.starts_with("--")
                        && matches!(language, Language::Perl | Language::Ruby) =>
                {
                    Word { text: w.text.get(..=at).unwrap_or_default().to_owned(), certainty: w.certainty }
                }
                _ => w.clone(),
            })
            .collect();
        let parsed = options::parse(&args, Spec { short, long, stops: language == Language::Python });
        let mut operands = parsed.operands.clone();
        let mut codes: Vec<Word> = parsed.values(code_flags).cloned().collect();
        if program == "deno" && operands.first().is_some_and(|w| w.text == "eval") {
            codes.extend(operands.get(1).cloned());
        } else if program == "deno" {
            return;
        }
        if let Some(module) = parsed.value(&["m"]).filter(|_| language == Language::Python) {
            return self.python_module(&module.text.clone(), &args);
        }
        let in_place = matches!(language, Language::Perl | Language::Ruby) && parsed.has(&["i"]);
        if in_place {
            for file in &operands {
                self.writes(file.clone(), How::InPlace);
            }
        }
        if !codes.is_empty() {
            for code in codes {
                if is_unseen(&code) {
                    self.opaque(Why::UnseenCode, &format!("{program} {}", code.text));
                }
                self.foreign_code(program, &code.text, &operands);
            }
            return;
        }
        // `node --test`, `node --run build`: no prompt and no code of this line.
        let own_work = ["test", "run", "v8-options", "completion-bash", "prof-process", "build-sea"];
        if language == Language::Node && parsed.has(&own_work) && (operands.is_empty() || parsed.has(&["run"])) {
            return;
        }
        match operands.first().cloned() {
            Some(file) if file.text != "-" && !file.text.starts_with("/dev/stdin") => {
                operands.remove(0);
                self.script_file(program, &file, &operands, input);
            }
            _ => match input {
                Input::Text(text) => self.foreign_code(program, &text.clone(), &operands),
                Input::Unseen | Input::Names(_) => self.opaque(Why::UnseenCode, program),
                Input::Inherited => self.opaque(Why::Interactive, program),
            },
        }
    }
}

fn tcl_word(text: &str) -> Word {
    let bare = text.trim_matches('"');
    if bare.contains('$') { Word::computed(bare) } else { Word::literal(bare) }
}
