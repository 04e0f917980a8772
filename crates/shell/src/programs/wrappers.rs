//! Programs that run the command given to them.

use crate::options::{self, Spec};
use crate::programs::launchers::{Runs, in_bubble, plain_wrapper, runner, started, wrapped};
use crate::reading::{Reach, Why, Word};
use crate::walk::Walker;
use crate::walk::scope::{Input, Output};

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
                    Output::Text(crate::walk::run::lines(parsed.operands.iter()))
                } else {
                    self.run_wrapped(program, &parsed.operands, input)
                });
            }
            "xargs" | "gxargs" => return Some(self.xargs(args, input)),
            "parallel" => return Some(self.parallel(args, input)),
            "find" | "gfind" | "fd" | "fdfind" => return Some(self.find(program, args)),
            "ssh" | "docker" | "podman" | "kubectl" | "oc" | "nerdctl" | "docker-compose" | "podman-compose"
            | "vagrant" | "multipass" | "lxc" | "distrobox" => return Some(self.elsewhere(program, args, input)),
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
            "perf" => {
                let verbs = usize::from(
                    matches!(args.first(), Some(w) if matches!(w.text.as_str(), "mem" | "sched" | "lock" | "kmem" | "c2c")),
                );
                let runs = matches!(args.get(verbs), Some(w) if matches!(w.text.as_str(), "stat" | "record" | "trace"));
                let (spec, _) = plain_wrapper(program)?;
                let argv = options::parse(args.get(verbs + 1..).unwrap_or_default(), spec).operands;
                return Some(if runs { self.run_wrapped(program, &argv, input) } else { Output::Unknown });
            }
            "bwrap" => return Some(self.run_wrapped(program, in_bubble(args), input)),
            "start-stop-daemon" => return Some(self.run_wrapped(program, &started(args), input)),
            "capsh" => {
                let at = args.iter().position(|w| matches!(w.text.as_str(), "--" | "=="));
                let rest = at.and_then(|at| args.get(at + 1..));
                return Some(rest.map_or(Output::Unknown, |rest| self.shell("bash", rest, input)));
            }
            "cross-env-shell" => return Some(self.joined_code(program, &wrapped("cross-env", args.to_vec(), 0))),
            "nodemon" | "ts-node-dev" => {
                let long = &["exec", "watch", "ext", "ignore", "delay", "signal", "config", "cwd"];
                let parsed = options::parse(args, spec("xweidC", long));
                let code: Vec<Word> =
                    parsed.value(&["x", "exec"]).cloned().into_iter().chain(parsed.operands).collect();
                return Some(self.joined_code(program, &code));
            }
            "tmux" | "screen" => return Some(self.multiplexer(program, args)),
            "at" | "batch" => return Some(self.code_on_input(program, args, input)),
            // The other side of a machine with both: `cmd.exe /c git push`, `wsl.exe -e git push`.
            "cmd" => {
                let at = args.iter().position(|w| matches!(w.text.as_str(), "/c" | "/C" | "/k" | "/K"))?;
                return Some(self.joined_code(program, args.get(at + 1..).unwrap_or_default()));
            }
            "wsl" => {
                let parsed = options::parse(args, Spec { stops: true, ..spec("du", &["distribution", "user", "cd"]) });
                return Some(self.run_wrapped(program, &parsed.operands, input));
            }
            _ => {}
        }
        if let Some(runs) = runner(program, args) {
            let mut output = Output::Unknown;
            for run in runs {
                output = match run {
                    Runs::Code(code) => self.shell_text(program, &code, input),
                    Runs::Words(argv) => self.run_wrapped(program, &argv, input),
                };
            }
            return Some(output);
        }
        let (spec, own) = plain_wrapper(program)?;
        let parsed = options::parse(args, spec);
        let command = wrapped(program, parsed.operands, own);
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
        if matches!(program, "watch" | "watchexec") {
            return Some(self.joined_code(program, &command));
        }
        Some(self.run_wrapped(program, &command, input))
    }

    /// Words that a program puts together and hands to a shell.
    pub(crate) fn joined_code(&mut self, by: &str, words: &[Word]) -> Output {
        let text = words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
        self.code_apart(&text, Reach::Wrapper(by.to_owned()), &Input::Unseen)
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
            for piece in split_words(&text.text.replace("\\_", " ")) {
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
