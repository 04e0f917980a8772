//! Programs that run the command given to them.

use crate::launchers::{plain_wrapper, runner};
use crate::options::{self, Spec};
use crate::reading::{Reach, Remote, Why, Word};
use crate::scope::{Input, Output};
use crate::walk::Walker;

pub(crate) const fn spec(short: &'static str, long: &'static [&'static str]) -> Spec<'static> {
    Spec { short, long, stops: true }
}

impl Walker<'_> {
    /// Runs what is wrapped, when the program is a wrapper.
    pub(crate) fn wrapper(&mut self, program: &str, args: &[Word], input: &Input) -> Option<Output> {
        match program {
            "env" => return Some(self.env(args, input)),
            "command" => {
                let parsed = options::parse(args, spec("", &[]));
                return Some(if parsed.has(&["v", "V"]) {
                    Output::Text(crate::run::lines(parsed.operands.iter()))
                } else {
                    self.run_wrapped(program, &parsed.operands, input)
                });
            }
            "xargs" | "gxargs" => return Some(self.xargs(args, input)),
            "parallel" => return Some(self.parallel(args, input)),
            "find" | "gfind" | "fd" | "fdfind" => return Some(self.find(program, args)),
            "ssh" | "docker" | "podman" | "kubectl" | "nerdctl" | "vagrant" | "multipass" | "lxc" | "distrobox" => {
                if program == "ssh" || args.iter().any(|a| matches!(a.text.as_str(), "exec" | "run" | "ssh")) {
                    let text = args.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
                    self.reading.remote.push(Remote { by: program.to_owned(), text });
                }
                return Some(Output::Unknown);
            }
            "script" => {
                let parsed = options::parse(args, Spec { short: "cEIOBTm", long: &["command"], stops: false });
                for code in parsed.values(&["c", "command"]).cloned().collect::<Vec<_>>() {
                    self.shell_text("script", &code, input);
                }
                if let Some(file) = parsed.operands.first() {
                    self.writes(file.clone(), crate::How::Output);
                }
                if !parsed.has(&["c", "command"]) {
                    // BSD: script FILE COMMAND…
                    match parsed.operands.get(1..) {
                        Some(argv) if !argv.is_empty() => {
                            self.run_wrapped("script", argv, input);
                        }
                        _ => self.opaque(Why::Interactive, "script"),
                    }
                }
                return Some(Output::Unknown);
            }
            "su" | "runuser" => {
                let parsed =
                    options::parse(args, Spec { short: "csgGuw", long: &["command", "shell", "user"], stops: false });
                match parsed.value(&["c", "command"]).cloned() {
                    Some(code) => {
                        self.shell_text(program, &code, input);
                    }
                    None => self.opaque(Why::Interactive, program),
                }
                return Some(Output::Unknown);
            }
            "busybox" | "toybox" => return Some(self.run_wrapped(program, args, input)),
            "hyperfine" | "concurrently" => {
                let short = if program == "hyperfine" { "wmMrpcSNniLP" } else { "nckpm" };
                let parsed = options::parse(
                    args,
                    Spec {
                        short,
                        long: &[
                            "warmup",
                            "runs",
                            "prepare",
                            "names",
                            "setup",
                            "cleanup",
                            "export-json",
                            "export-markdown",
                        ],
                        stops: false,
                    },
                );
                let prepared = ["p", "prepare", "setup", "cleanup"];
                let code: Vec<Word> = parsed.operands.iter().chain(parsed.values(&prepared)).cloned().collect();
                for code in code {
                    self.shell_text(program, &code, &Input::Unseen);
                }
                return Some(Output::Unknown);
            }
            "nix-shell" => {
                let parsed = options::parse(args, Spec { short: "pAIE", long: &["run", "command"], stops: false });
                for code in parsed.values(&["run", "command"]).cloned().collect::<Vec<_>>() {
                    self.shell_text(program, &code, input);
                }
                return Some(Output::Unknown);
            }
            "tmux" | "screen" => return Some(self.multiplexer(program, args)),
            "at" | "batch" => return Some(self.code_on_input(program, args, input)),
            _ => {}
        }
        if let Some(skip) = runner(program, args) {
            let rest = args.get(skip..).unwrap_or_default();
            let values: &[&str] = &[
                "with",
                "from",
                "package",
                "python",
                "extra",
                "group",
                "name",
                "env-file",
                "project",
                "directory",
                "command",
                "c",
                "n",
                "p",
            ];
            let parsed = options::parse(rest, Spec { short: "cnp", long: values, stops: true });
            for code in parsed.values(&["c", "call", "command"]).cloned().collect::<Vec<_>>() {
                self.shell_text(program, &code, input);
            }
            let argv: Vec<Word> = parsed.operands.into_iter().skip_while(|w| w.text == "--").collect();
            return Some(if argv.is_empty() { Output::Unknown } else { self.run_wrapped(program, &argv, input) });
        }
        let (spec, operands) = plain_wrapper(program)?;
        let parsed = options::parse(args, spec);
        let command: Vec<Word> = parsed
            .operands
            .into_iter()
            .skip(operands)
            .skip_while(|w| w.text == "--")
            .skip_while(|w| matches!(program, "sudo" | "doas" | "systemd-run") && is_assignment(&w.text))
            .collect();
        if program == "sudo" && parsed.flags.iter().any(|(f, _)| f == "e" || f == "edit") {
            for file in &command {
                self.writes(file.clone(), crate::How::InPlace);
            }
            return Some(Output::Unknown);
        }
        if command.is_empty() {
            if matches!(program, "sudo" | "doas") && parsed.flags.iter().any(|(f, _)| f == "s" || f == "i") {
                self.opaque(Why::Interactive, program);
            }
            return Some(Output::nothing());
        }
        if program == "flock" && command.first().is_some_and(|w| w.text == "-c") {
            let code = command.get(1).cloned().unwrap_or_else(|| Word::literal(""));
            return Some(self.shell_text(program, &code, input));
        }
        if program == "watch" {
            let text = command.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
            return Some(self.code_apart(&text, Reach::Wrapper("watch".to_owned()), &Input::Unseen));
        }
        Some(self.run_wrapped(program, &command, input))
    }

    fn env(&mut self, args: &[Word], input: &Input) -> Output {
        let parsed = options::parse(args, spec("uCSa", &["unset", "chdir", "split-string"]));
        let mut command: Vec<Word> = Vec::new();
        for text in parsed.values(&["S", "split-string"]) {
            if text.is_computed() {
                self.opaque(Why::ComputedCommand, &text.text);
            }
        }
        for text in parsed.values(&["S", "split-string"]).cloned().collect::<Vec<_>>() {
            // env splits much as the shell does; `${X}` in it is a variable.
            for piece in split_words(&text.text) {
                command.extend(self.expand(&piece));
            }
        }
        command.extend(parsed.operands.iter().cloned());
        let mut assignments = Vec::new();
        let mut command = command.into_iter().peekable();
        while let Some(word) = command.next_if(|w| is_assignment(&w.text) || w.text == "--" || w.text == "-") {
            if let Some((name, value)) = word.text.split_once('=') {
                let value = Word { text: value.to_owned(), certainty: word.certainty };
                self.setting(name, &value);
                assignments.push((name.to_owned(), value));
            }
        }
        let command: Vec<Word> = command.collect();
        if let Some(folder) = parsed.value(&["C", "chdir"]).cloned() {
            return self.apart(Reach::Wrapper("env".to_owned()), |walker| {
                walker.change_folder(Some(&folder));
                walker.run(&command, assignments, input)
            });
        }
        self.within(Reach::Wrapper("env".to_owned()), |walker| walker.run(&command, assignments, input))
    }

    fn multiplexer(&mut self, program: &str, args: &[Word]) -> Output {
        let verb = args.iter().find(|w| !w.text.starts_with('-')).map(|w| w.text.clone()).unwrap_or_default();
        if program == "screen" {
            let parsed = options::parse(args, spec("SctTXep", &[]));
            if parsed.has(&["X"]) {
                self.opaque(Why::UnseenCode, "screen -X");
            } else if !parsed.operands.is_empty() {
                self.run_wrapped(program, &parsed.operands, &Input::Inherited);
            }
            return Output::Unknown;
        }
        let after: Vec<Word> = args.iter().skip_while(|w| w.text != verb).skip(1).cloned().collect();
        match verb.as_str() {
            "new" | "new-session" | "new-window" | "neww" | "split-window" | "splitw" | "run" | "run-shell"
            | "respawn-pane" | "if-shell" | "popup" | "display-popup" | "pipe-pane" => {
                let parsed = options::parse(&after, spec("censtxyFlp", &[]));
                for code in &parsed.operands {
                    self.shell_text(program, code, &Input::Unseen);
                }
            }
            "send" | "send-keys" => {
                let parsed = options::parse(&after, spec("tN", &[]));
                let keys = parsed.operands.iter().map(|w| match w.text.as_str() {
                    "Enter" | "C-m" | "KPEnter" => "\n",
                    "Space" => " ",
                    other => other,
                });
                let code: String = keys.collect();
                if !matches!(code.as_str(), "C-c" | "q" | "C-d" | "\n") {
                    self.shell_text(program, &Word::literal(code), &Input::Unseen);
                }
            }
            _ => {}
        }
        Output::Unknown
    }
}

pub(crate) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The words of a text, as source: quotes stay.
fn split_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, c) if c.is_whitespace() => {
                words.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(word) = words.last_mut() {
            word.push(c);
        }
    }
    words.retain(|w| !w.is_empty());
    words
}
