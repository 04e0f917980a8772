//! Programs with a way out to the shell: an option, a command of their own language, a file of settings.

use crate::options::{self, Parsed, Spec};
use crate::reading::{How, Reach, Why, Word};
use crate::walk::Walker;
use crate::walk::scope::{Input, Variable};

const fn all(short: &'static str, long: &'static [&'static str]) -> Spec<'static> {
    Spec { short, long, stops: false }
}

impl Walker<'_> {
    /// Runs what a program is told to run besides its work.
    pub(crate) fn escapes(&mut self, program: &str, args: &[Word], input: &Input) {
        match program {
            "split" => {
                self.code_of(program, &options::parse(args, all("abCnlt", &["filter", "lines", "bytes"])), &["filter"]);
            }
            "sort" => {
                let long = &["compress-program", "key", "output", "temporary-directory", "field-separator"];
                self.code_of(program, &options::parse(args, all("kotST", long)), &["compress-program"]);
            }
            "wget" => self.code_of(program, &options::parse(args, all("", &["use-askpass"])), &["use-askpass"]),
            "nc" | "ncat" | "netcat" => {
                let parsed = options::parse(args, all("ecpsiwqXxGgo", &["exec", "sh-exec"]));
                self.code_of(program, &parsed, &["e", "c", "exec", "sh-exec"]);
            }
            "compgen" | "complete" => {
                self.code_of(program, &options::parse(args, all("ACFGPSWX", &[])), &["C"]);
            }
            "socat" => self.socat(args),
            "man" => self.code_of(
                program,
                &options::parse(args, all("PCRLmMSerpH", &["pager", "html"])),
                &["P", "pager", "H", "html"],
            ),
            "zip" => {
                let tests = args.iter().position(|w| matches!(w.text.as_str(), "-TT" | "--unzip-command"));
                if let Some(code) = tests.and_then(|at| args.get(at + 1)).cloned() {
                    self.shell_text(program, &code, &Input::Unseen);
                }
            }
            "gdb" | "lldb" => self.debugger(program, args),
            "sqlite3" | "psql" | "mysql" | "mariadb" | "duckdb" => self.database(program, args, input),
            "dc" => {
                let parsed = options::parse(args, all("ef", &["expression", "file"]));
                let texts = parsed.values(&["e", "expression"]).map(|w| w.text.clone());
                for text in texts.chain(text_of(input)).collect::<Vec<_>>() {
                    for code in text.lines().filter_map(|line| line.split_once('!')).map(|(_, code)| code.to_owned()) {
                        // `!<x`, `!=x`, `!>x` compare.
                        if !code.starts_with(['<', '=', '>']) {
                            self.code_apart(&code, Reach::Interpreter(program.to_owned()), &Input::Unseen);
                        }
                    }
                }
            }
            "m4" => {
                let texts = args.iter().map(|w| w.text.clone()).chain(text_of(input));
                for text in texts.filter(|text| text.contains("syscmd")).collect::<Vec<_>>() {
                    self.opaque(Why::Interpreter, &text);
                }
            }
            "go" => self.go(args),
            "gh" => self.gh_alias(args),
            "ssh" | "scp" | "sftp" | "mosh" => self.ssh_options(program, args),
            _ => {}
        }
    }

    fn code_of(&mut self, program: &str, parsed: &Parsed, names: &[&str]) {
        for code in parsed.values(names).cloned().collect::<Vec<_>>() {
            self.shell_text(program, &code, &Input::Unseen);
        }
    }

    /// `socat - EXEC:'sh -c x',pty`
    fn socat(&mut self, args: &[Word]) {
        for word in args {
            let Some((kind, rest)) = word.text.split_once(':') else { continue };
            if matches!(kind.to_ascii_lowercase().as_str(), "exec" | "system" | "shell") {
                let code = rest.split(',').next().unwrap_or_default().to_owned();
                self.code_apart(&code, Reach::Wrapper("socat".to_owned()), &Input::Unseen);
            }
        }
    }

    fn debugger(&mut self, program: &str, args: &[Word]) {
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let takes = ["-ex", "--ex", "-eval-command", "--eval-command", "-iex", "--iex", "-o", "-O", "--one-line"];
            let told = match word.text.split_once('=') {
                Some((name, told)) if takes.contains(&name) => Some(told.to_owned()),
                _ if takes.contains(&word.text.as_str()) => words.next().map(|w| w.text.clone()),
                _ => None,
            };
            let Some(told) = told else { continue };
            let (verb, rest) = told.trim().split_once(' ').unwrap_or((told.trim(), ""));
            match verb {
                "shell" | "!" | "platform" | "make" => {
                    let code = rest.strip_prefix("shell ").unwrap_or(rest).to_owned();
                    self.code_apart(&code, Reach::Interpreter(program.to_owned()), &Input::Unseen);
                }
                "python" | "py" | "pi" | "script" => self.foreign_code("python3", rest, &[]),
                "pipe" | "|" => {
                    let code = rest.split_once('|').map_or("", |(_, code)| code).to_owned();
                    self.code_apart(&code, Reach::Interpreter(program.to_owned()), &Input::Unseen);
                }
                _ if verb.starts_with('!') => {
                    let code = told.trim().trim_start_matches('!').to_owned();
                    self.code_apart(&code, Reach::Interpreter(program.to_owned()), &Input::Unseen);
                }
                "call" | "print" | "p" if rest.contains("system(") => self.opaque(Why::Interpreter, &told),
                _ => {}
            }
        }
    }

    /// `.shell`, `\!`, `system`: what a database's prompt hands to the shell.
    fn database(&mut self, program: &str, args: &[Word], input: &Input) {
        let texts: Vec<String> = args.iter().map(|w| w.text.clone()).chain(text_of(input)).collect();
        for line in texts.iter().flat_map(|text| text.lines()) {
            let line = line.trim();
            let code = match program {
                "sqlite3" | "duckdb" => {
                    [".shell ", ".system ", ".sh ", ".sy ", ".sys "].iter().find_map(|p| line.strip_prefix(p))
                }
                "psql" => {
                    if let Some((_, code)) = line.split_once("\\o |").or_else(|| line.split_once("\\g |")) {
                        Some(code)
                    } else if line.to_ascii_lowercase().contains(" program '") {
                        line.split('\'').nth(1)
                    } else {
                        line.split_once("\\!").map(|(_, code)| code)
                    }
                }
                _ => line.strip_prefix("system ").or_else(|| line.split_once("\\!").map(|(_, code)| code)),
            };
            if let Some(code) = code {
                let code = code.trim().to_owned();
                self.code_apart(&code, Reach::Interpreter(program.to_owned()), &Input::Unseen);
            }
            for told in [".output ", ".once ", ".import "].iter().filter_map(|p| line.strip_prefix(p)) {
                match told.trim().strip_prefix('|') {
                    Some(code) => {
                        self.code_apart(code, Reach::Interpreter(program.to_owned()), &Input::Unseen);
                    }
                    None if !line.starts_with(".import") => self.writes(Word::literal(told.trim()), How::Output),
                    None => {}
                }
            }
        }
    }

    /// `go test -exec 'sudo -E'`: flags with one dash and a command.
    fn go(&mut self, args: &[Word]) {
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let name = word.text.trim_start_matches('-');
            let told = match name.split_once('=') {
                Some(("exec" | "toolexec" | "vettool", told)) => Some(told.to_owned()),
                _ if word.text.starts_with('-') && matches!(name, "exec" | "toolexec" | "vettool") => {
                    words.next().map(|w| w.text.clone())
                }
                _ => None,
            };
            if let Some(code) = told {
                self.code_apart(&code, Reach::Wrapper("go".to_owned()), &Input::Unseen);
            }
        }
    }

    /// `gh alias set x '!…'`: what `gh x` runs later is said now.
    fn gh_alias(&mut self, args: &[Word]) {
        let operands: Vec<&Word> = args.iter().filter(|w| !w.text.starts_with('-')).collect();
        let [alias, set, _, code, ..] = operands.as_slice() else { return };
        if alias.text != "alias" || set.text != "set" {
            return;
        }
        let is_shell = args.iter().any(|w| matches!(w.text.as_str(), "-s" | "--shell"));
        let text = code.text.strip_prefix('!').map(str::to_owned).or_else(|| is_shell.then(|| code.text.clone()));
        let code = text.unwrap_or_else(|| format!("gh {}", code.text));
        self.code_apart(&code, Reach::Setting("gh alias".to_owned()), &Input::Unseen);
    }

    /// `ssh -o ProxyCommand=…` runs it here, not there.
    pub(crate) fn ssh_options(&mut self, program: &str, args: &[Word]) {
        let parsed = options::parse(args, Spec { stops: program == "ssh", ..ssh_spec() });
        for option in parsed.values(&["o"]).cloned().collect::<Vec<_>>() {
            let Some((name, value)) = option.text.split_once(['=', ' ']) else { continue };
            let runs = ["proxycommand", "localcommand", "knownhostscommand"];
            let value = value.trim().trim_matches('"');
            if runs.contains(&name.trim().to_ascii_lowercase().as_str()) && value != "none" {
                self.code_apart(value, Reach::Wrapper(program.to_owned()), &Input::Unseen);
            }
        }
        if matches!(program, "scp" | "sftp") {
            self.code_of(program, &parsed, &["S"]);
        }
    }

    /// What `make` is told besides its goals.
    pub(crate) fn make_arguments(&mut self, program: &str, args: &[Word]) {
        for word in args {
            if let Some(text) = word.text.strip_prefix("--eval=") {
                self.recipes(program, &text.replace(';', "\n\t"));
            }
            if word.text.starts_with("/dev/fd/") || word.text.ends_with("=/dev/fd/63") {
                match std::rc::Rc::make_mut(&mut self.scope.variables).remove("<(") {
                    Some(Variable::Words(words)) => {
                        let text: String = words.into_iter().map(|w| w.text).collect();
                        self.recipes(program, &text);
                    }
                    _ => self.opaque(Why::UnseenCode, &format!("{program} {}", word.text)),
                }
            }
            let Some((name, value)) = word.text.split_once('=').filter(|(name, _)| !name.starts_with('-')) else {
                continue;
            };
            if matches!(name, "SHELL" | ".SHELLFLAGS" | "MAKEFLAGS") {
                self.opaque(Why::Setting, &word.text);
            } else if let Some((_, code)) = value.split_once("$(shell ") {
                let code = code.trim_end_matches(')').to_owned();
                self.code_apart(&code, Reach::Setting(name.to_owned()), &Input::Unseen);
            } else if !word.is_computed() && (value.contains([';', '|', '&', '`']) || names_program(name, value)) {
                // Put into a recipe, this is a command, or more than one.
                self.code_apart(value, Reach::Setting(name.to_owned()), &Input::Unseen);
            }
        }
    }

    /// `cargo --config …runner=`, `cargo watch -s …`.
    pub(crate) fn cargo_arguments(&mut self, args: &[Word]) {
        let long = &["config", "shell", "exec", "manifest-path", "package", "features", "target", "bin", "color"];
        let parsed = options::parse(args, all("sxpFjZC", long));
        for told in parsed.values(&["config"]).cloned().collect::<Vec<_>>() {
            let Some((key, value)) = told.text.split_once('=') else { continue };
            let last = key.trim().rsplit('.').next().unwrap_or_default();
            if matches!(last, "runner" | "linker" | "rustc-wrapper" | "rustc-workspace-wrapper" | "rustc" | "rustdoc") {
                let code = value.trim().trim_matches(['"', '\'', '[', ']']).replace("\", \"", " ");
                self.code_apart(&code, Reach::Setting(key.to_owned()), &Input::Unseen);
                if code.contains('/') {
                    self.opaque(Why::Setting, &told.text);
                }
            }
        }
        if parsed.operands.first().is_some_and(|w| w.text == "watch") {
            self.code_of("cargo", &parsed, &["s", "shell"]);
            for told in parsed.values(&["x", "exec"]).cloned().collect::<Vec<_>>() {
                self.code_apart(&format!("cargo {}", told.text), Reach::Wrapper("cargo".to_owned()), &Input::Unseen);
            }
        }
    }
}

/// A variable of make that names a program, or a value that is a shell's line.
fn names_program(name: &str, value: &str) -> bool {
    const PROGRAMS: &[&str] = &[
        "CC", "CXX", "LD", "AR", "AS", "CPP", "RM", "MV", "CP", "INSTALL", "MAKE", "PYTHON", "NODE", "GO", "CARGO",
        "SUDO",
    ];
    // A bare name runs with the words of the recipe.
    value.contains(' ')
        && (PROGRAMS.contains(&name) || value.split_whitespace().next().is_some_and(crate::walk::shells::is_shell))
}

/// ssh's options that take a value.
pub(crate) const fn ssh_spec() -> Spec<'static> {
    Spec { short: "BbcDEeFIiJLlmOoPpQRSWw", long: &[], stops: true }
}

fn text_of(input: &Input) -> Option<String> {
    match input {
        Input::Text(text) => Some(text.clone()),
        _ => None,
    }
}
