//! Shells and the builtins that take code.

use std::rc::Rc;

use crate::reading::{Reach, ScriptRun, Why, Word};
use crate::source::scan;
use crate::walk::Walker;
use crate::walk::scope::{Input, Output, Variable};

/// A program that takes command lines, by its bare name.
pub fn is_shell(program: &str) -> bool {
    matches!(
        program,
        "sh" | "bash"
            | "zsh"
            | "dash"
            | "ash"
            | "ksh"
            | "mksh"
            | "rbash"
            | "fish"
            | "yash"
            | "csh"
            | "tcsh"
            | "pwsh"
            | "powershell"
    )
}

impl Walker<'_> {
    /// Code given as a word.
    pub(crate) fn shell_text(&mut self, by: &str, code: &Word, input: &Input) -> Output {
        self.code_apart(&code.text, Reach::ShellCode(by.to_owned()), input)
    }

    /// `bash …`.
    pub(crate) fn shell(&mut self, program: &str, args: &[Word], input: &Input) -> Output {
        let mut code = None;
        let mut takes_code = false;
        let mut from_input = false;
        let mut operands = Vec::new();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            match text {
                "--" | "-" if operands.is_empty() => {
                    operands.extend(words.by_ref().cloned());
                    break;
                }
                "--rcfile" | "--init-file" | "-o" | "+o" | "-O" | "+O" => {
                    let value = words.next();
                    if text.starts_with("--")
                        && let Some(file) = value
                    {
                        self.script_file(program, file, &[], &Input::Unseen);
                    }
                }
                "--version" | "--help" => return Output::Unknown,
                "--command" | "-Command" | "-EncodedCommand" => takes_code = true,
                _ if text.starts_with("--") => {}
                _ if text.starts_with(['-', '+']) && text.len() > 1 => {
                    takes_code |= text.contains('c');
                    from_input |= text.contains('s');
                    if text.contains('n') && !text.contains('c') && text.len() == 2 {
                        // `bash -n script` only checks.
                        return Output::Unknown;
                    }
                    if text.ends_with('o') {
                        words.next();
                    }
                }
                _ => {
                    operands.push(word.clone());
                    operands.extend(words.by_ref().cloned());
                }
            }
        }
        if takes_code && !operands.is_empty() {
            code = Some(operands.remove(0));
        }
        if let Some(code) = code {
            // The word after the code is `$0`.
            let positional = operands.get(1..).unwrap_or_default().to_vec();
            if is_unseen(&code) {
                self.opaque(Why::UnseenCode, &code.text);
                return Output::Unknown;
            }
            return self.apart(Reach::ShellCode(program.to_owned()), |walker| {
                walker.scope.positional = Some(Rc::new(positional));
                if let Some(name) = operands.first() {
                    walker.scope.put("0", Variable::Words(vec![name.clone()]));
                }
                walker.code(&code.text, input)
            });
        }
        match operands.first().cloned() {
            Some(file) if !from_input => self.script_file(program, &file, operands.get(1..).unwrap_or_default(), input),
            _ => self.code_on_input(program, &operands, input),
        }
    }

    /// Code that comes on standard input.
    pub(crate) fn code_on_input(&mut self, program: &str, positional: &[Word], input: &Input) -> Output {
        match input {
            Input::Text(text) => self.apart(Reach::ShellCode(program.to_owned()), |walker| {
                walker.scope.positional = Some(Rc::new(positional.to_vec()));
                walker.code(text, &Input::Inherited)
            }),
            Input::Unseen | Input::Names(_) => {
                self.opaque(Why::UnseenCode, program);
                Output::Unknown
            }
            Input::Inherited => {
                self.opaque(Why::Interactive, program);
                Output::Unknown
            }
        }
    }

    /// A script file is run: by a shell, or sourced.
    pub(crate) fn script_file(&mut self, by: &str, file: &Word, args: &[Word], input: &Input) -> Output {
        if file.text.starts_with("/dev/fd/") || matches!(file.text.as_str(), "/dev/stdin" | "/proc/self/fd/0") {
            let text = match Rc::make_mut(&mut self.scope.variables).remove("<(") {
                Some(Variable::Words(words)) => words.into_iter().next().map(|w| w.text),
                _ => match input {
                    Input::Text(text) => Some(text.clone()),
                    _ => None,
                },
            };
            return match text {
                Some(text) => self.code_apart(&text, Reach::ShellCode(by.to_owned()), &Input::Inherited),
                None => {
                    self.opaque(Why::UnseenCode, &format!("{by} {}", file.text));
                    Output::Unknown
                }
            };
        }
        let path = self.at(file);
        self.reading.scripts.push(ScriptRun { path, by: by.to_owned() });
        match self.fresh_text(&file.text) {
            None => Output::Unknown,
            Some(Output::Unknown | Output::Names(_)) => {
                self.opaque(Why::FreshScript, &file.text);
                Output::Unknown
            }
            Some(Output::Text(text)) => self.script_text(by, &file.text, &text, args, input),
        }
    }

    fn script_text(&mut self, by: &str, name: &str, text: &str, args: &[Word], input: &Input) -> Output {
        let first = text.lines().next().unwrap_or_default();
        let interpreter = first.strip_prefix("#!").map(|l| {
            let mut words = l.split_whitespace().map(|w| w.rsplit('/').next().unwrap_or_default());
            let program = words.next().unwrap_or_default();
            if program == "env" { words.find(|w| !w.starts_with('-')).unwrap_or_default() } else { program }.to_owned()
        });
        let language = match interpreter {
            Some(program) if by.is_empty() => program,
            _ if by.is_empty() => "sh".to_owned(),
            _ => by.to_owned(),
        };
        if is_shell(&language) || matches!(by, "source" | ".") {
            return self.apart(Reach::Script(name.to_owned()), |walker| {
                walker.scope.positional = Some(Rc::new(args.to_vec()));
                walker.code(text, input)
            });
        }
        self.within(Reach::Script(name.to_owned()), |walker| walker.foreign_code(&language, text, args));
        Output::Unknown
    }

    pub(crate) fn eval(&mut self, args: &[Word], input: &Input) -> Output {
        let code = args.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
        // `eval "$(ssh-agent -s)"`: everything is computed, so nothing can be seen.
        if args.iter().any(Word::is_computed) && Self::is_one_unknown(&code) {
            if is_known_setup(&code) {
                return Output::nothing();
            }
            self.opaque(Why::UnseenCode, &format!("eval {code}"));
            return Output::Unknown;
        }
        self.within(Reach::Eval, |walker| walker.code(&code, input))
    }

    fn is_one_unknown(code: &str) -> bool {
        let code = code.trim();
        (code.starts_with("$(") && code.ends_with(')'))
            || code
                .strip_prefix('$')
                .is_some_and(|n| n.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '@' | '*')))
    }

    pub(crate) fn trap(&mut self, args: &[Word]) {
        let mut args = args.iter().skip_while(|w| w.text == "--");
        let Some(code) = args.next() else { return };
        if args.next().is_none() || matches!(code.text.as_str(), "-" | "" | "-l" | "-p") {
            return;
        }
        if code.is_computed() && code.text.starts_with('$') && !code.text.contains(' ') {
            return self.opaque(Why::UnseenCode, &format!("trap {}", code.text));
        }
        let text = code.text.clone();
        self.apart(Reach::Trap, |walker| walker.code(&text, &Input::Inherited));
    }
}

/// The whole code is only known when it runs: `$(cat x)`, `$A $B`.
pub(crate) fn is_unseen(code: &Word) -> bool {
    if !code.is_computed() {
        return false;
    }
    let mut rest = code.text.trim();
    let mut seen = 0;
    while let Some(after) = rest.strip_prefix('$') {
        let inner = after.get(1..).unwrap_or_default();
        let end = match after.chars().next() {
            Some('(') => scan::closing_parens(inner, 1).first().map(|end| end + 2),
            Some('{') => scan::closing_brace(inner).map(|end| end + 2),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').or(Some(after.len()))
            }
            Some(c) => Some(c.len_utf8()),
            None => None,
        };
        rest = end.and_then(|end| after.get(end..)).unwrap_or_default().trim_start_matches([' ', '\t', '\n', ';']);
        seen += 1;
    }
    seen > 0 && rest.is_empty()
}

/// Set-up lines that are in every README; what they print is settings of their own.
fn is_known_setup(code: &str) -> bool {
    let inner = code.trim().trim_start_matches("$(").trim_end_matches(')');
    let plain = !inner.contains(['|', ';', '&', '<', '>', '`', '\n', '$']);
    plain && is_setup(inner.split_whitespace())
}

/// A command that prints settings for the shell that asks: `pyenv init -`, `kubectl completion bash`.
pub(crate) fn is_setup<'w>(mut words: impl Iterator<Item = &'w str>) -> bool {
    const PRINTS_SETTINGS: &[&str] = &[
        "ssh-agent",
        "direnv",
        "starship",
        "zoxide",
        "pyenv",
        "rbenv",
        "nodenv",
        "fnm",
        "mise",
        "brew",
        "/opt/homebrew/bin/brew",
        "opam",
        "luarocks",
        "dircolors",
        "thefuck",
        "conda",
        "goenv",
        "jenv",
        "minikube",
        "keychain",
        "register-python-argcomplete",
        "docker-machine",
        "asdf",
        "atuin",
        "fzf",
    ];
    /// The same, when they are asked for completions.
    const COMPLETES: &[&str] = &[
        "kubectl",
        "helm",
        "gh",
        "glab",
        "docker",
        "podman",
        "nerdctl",
        "npm",
        "pnpm",
        "rustup",
        "just",
        "poetry",
        "kind",
        "k3d",
        "flux",
        "argocd",
        "istioctl",
        "oc",
        "deno",
        "uv",
        "uvx",
        "ruff",
        "pip",
        "pip3",
        "pipx",
        "pdm",
        "hatch",
        "golangci-lint",
        "hugo",
        "cilium",
        "stern",
        "op",
        "chezmoi",
        "bat",
        "ng",
        "yq",
        "kustomize",
        "kubebuilder",
        "velero",
        "terraform-docs",
        "goreleaser",
        "cosign",
        "trivy",
        "talosctl",
        "eksctl",
        "doctl",
        "hcloud",
        "flyctl",
        "rclone",
        "restic",
        "task",
        "tilt",
        "skaffold",
        "k9s",
        "vcluster",
        "linkerd",
        "cmctl",
        "rg",
        "jj",
        "delta",
    ];
    let Some(program) = words.next() else { return false };
    let asks = |word: &str| word.trim_start_matches('-').starts_with("completion") || word == "shell-completion";
    PRINTS_SETTINGS.contains(&program) || COMPLETES.contains(&program) && words.any(asks)
}
