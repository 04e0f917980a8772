//! A simple command: its words, its redirections, and who understands its program.

use brush_parser::ast::{Assignment, AssignmentName, AssignmentValue, CommandPrefixOrSuffixItem, SimpleCommand};

use crate::git_settings::is_telling;
use crate::plumbing::Plumbing;
use crate::reading::{Certainty, Command, Cwd, Reach, Why, Word};
use crate::scope::{Input, Output, Variable};
use crate::walk::Walker;

/// Variables whose value is a command that others run.
const COMMAND_VARIABLES: &[&str] = &[
    "GIT_SSH_COMMAND",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "GIT_EXTERNAL_DIFF",
    "GIT_ASKPASS",
    "GIT_SSH",
    "GIT_PROXY_COMMAND",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "MANPAGER",
    "PROMPT_COMMAND",
    "LESSOPEN",
    "BROWSER",
    "SSH_ASKPASS",
    "FZF_DEFAULT_COMMAND",
    "RUSTC_WRAPPER",
];
/// Variables that make a shell, the loader or git run a file, or go by settings in one.
const LOADER_VARIABLES: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "LD_PRELOAD",
    "DYLD_INSERT_LIBRARIES",
    "PERL5OPT",
    "PYTHONSTARTUP",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
];

impl Walker<'_> {
    pub(crate) fn simple(&mut self, simple: &SimpleCommand, input: &Input) -> Output {
        let mut plumbing = Plumbing::default();
        let mut assignments = Vec::new();
        for item in simple.prefix.iter().flat_map(|p| &p.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => assignments.push(assignment),
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect, &mut plumbing),
                CommandPrefixOrSuffixItem::Word(word) => {
                    self.expand(&word.value);
                }
                CommandPrefixOrSuffixItem::ProcessSubstitution(kind, shell) => {
                    self.process(kind, &shell.list);
                }
            }
        }
        let Some(name) = &simple.word_or_name else {
            for assignment in assignments {
                self.assign(assignment);
            }
            return self.pour(Output::nothing(), plumbing);
        };
        let assignments: Vec<(String, Word)> = assignments.into_iter().map(|a| self.assignment(a)).collect();
        for (name, value) in &assignments {
            self.setting(name, value);
        }
        let suffix = simple.suffix.iter().flat_map(|s| &s.0);
        if let Some(text) = self.scope.aliases.get(&name.value).cloned()
            && !self.reached.contains(&Reach::Alias(name.value.clone()))
        {
            let mut line = text;
            for item in suffix.clone() {
                if let CommandPrefixOrSuffixItem::Word(w) | CommandPrefixOrSuffixItem::AssignmentWord(_, w) = item {
                    line = format!("{line} {}", w.value);
                }
            }
            self.within(Reach::Alias(name.value.clone()), |walker| walker.code(&line, input));
        }
        let mut argv = self.expand(&name.value);
        let declares = matches!(name.value.as_str(), "export" | "declare" | "typeset" | "local" | "readonly");
        for item in suffix {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect, &mut plumbing),
                CommandPrefixOrSuffixItem::Word(word) => argv.extend(self.expand(&word.value)),
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                    if declares {
                        self.assign(assignment);
                        argv.push(Word::literal(word.value.clone()));
                    } else {
                        argv.extend(self.expand(&word.value));
                    }
                }
                CommandPrefixOrSuffixItem::ProcessSubstitution(kind, shell) => {
                    let output = self.process(kind, &shell.list);
                    self.scope.put("<(", known(output));
                    argv.push(Word::computed("/dev/fd/63"));
                }
            }
        }
        let input = plumbing.input.take().unwrap_or_else(|| input.clone());
        let output = self.run(&argv, assignments, &input);
        self.pour(output, plumbing)
    }

    /// `NAME=value` before a command.
    fn assignment(&mut self, assignment: &Assignment) -> (String, Word) {
        let name = match &assignment.name {
            AssignmentName::VariableName(name) | AssignmentName::ArrayElementName(name, _) => name.clone(),
        };
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => self.expand_one(&word.value),
            AssignmentValue::Array(_) => Word::computed("(…)"),
        };
        (name, value)
    }

    /// `NAME=value` on its own: the shell remembers.
    fn assign(&mut self, assignment: &Assignment) {
        let mut words = match &assignment.value {
            AssignmentValue::Scalar(word) => vec![self.expand_one(&word.value)],
            AssignmentValue::Array(elements) => {
                let mut words = Vec::new();
                for (key, value) in elements {
                    if let Some(key) = key {
                        self.expand_one(&key.value);
                    }
                    words.extend(self.expand(&value.value));
                }
                words
            }
        };
        let AssignmentName::VariableName(name) = &assignment.name else {
            let AssignmentName::ArrayElementName(name, index) = &assignment.name else { return };
            self.expand_one(index);
            return self.scope.forget(name);
        };
        if let Some(word) = words.first() {
            self.setting(name, &word.clone());
        }
        if assignment.append {
            let Some(Variable::Words(old)) = self.scope.variables.get(name).cloned() else {
                return self.scope.forget(name);
            };
            words = match (&assignment.value, old.as_slice(), words.as_slice()) {
                (AssignmentValue::Scalar(_), [old], [new]) => vec![Word {
                    text: format!("{}{}", old.text, new.text),
                    certainty: old.certainty.max(new.certainty),
                }],
                _ => old.into_iter().chain(words).collect(),
            };
        }
        let known = words.iter().all(|w| w.certainty != Certainty::Computed);
        let value = if known { Variable::Words(words) } else { Variable::Unknown };
        self.scope.put(name, value);
    }

    /// Some variables are commands in waiting.
    pub(crate) fn setting(&mut self, name: &str, value: &Word) {
        if COMMAND_VARIABLES.contains(&name) {
            if value.is_computed() {
                return;
            }
            self.code_apart(value.text.trim_start_matches('|'), Reach::Setting(name.to_owned()), &Input::Unseen);
            return;
        }
        let names_a_file = LOADER_VARIABLES.contains(&name) && !value.text.is_empty();
        let tells_git = name.starts_with("GIT_CONFIG_KEY_") && (value.is_computed() || is_telling(&value.text));
        if names_a_file && !value.text.starts_with("/dev/null") || tells_git {
            self.opaque(Why::Setting, &format!("{name}={}", value.text));
        }
    }

    /// Run words as a command.
    pub(crate) fn run(&mut self, argv: &[Word], assignments: Vec<(String, Word)>, input: &Input) -> Output {
        let Some(first) = argv.first() else { return Output::nothing() };
        let kept: usize = argv.iter().map(|word| word.text.len() + size_of::<Word>()).sum();
        if !self.spend() || !self.afford(kept) {
            return Output::Unknown;
        }
        if self.is_too_deep() {
            self.opaque(Why::TooLarge, &first.text);
            return Output::Unknown;
        }
        let line = || argv.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
        let Some(program) = program_name(first) else {
            self.opaque(Why::ComputedCommand, &line());
            return Output::Unknown;
        };
        self.reading.commands.push(Command {
            program: program.clone(),
            argv: argv.to_vec(),
            assignments,
            reached: self.reached.clone(),
            cwd: self.scope.cwd.clone(),
        });
        let args = argv.get(1..).unwrap_or_default();
        if let Some(function) = self.scope.functions.get(&first.text).cloned() {
            let positional = self.scope.positional.replace(args.to_vec());
            let output = self.call(&first.text.clone(), &function, input);
            self.scope.positional = positional;
            return output;
        }
        self.program(&program, first, args, input)
    }

    /// A command given as words, reached through a program.
    pub(crate) fn run_wrapped(&mut self, by: &str, argv: &[Word], input: &Input) -> Output {
        self.within(Reach::Wrapper(by.to_owned()), |walker| walker.run(argv, Vec::new(), input))
    }

    /// `cd`.
    pub(crate) fn change_folder(&mut self, to: Option<&Word>) {
        self.scope.cwd = match to {
            Some(word) if word.is_literal() && word.text != "-" => Cwd::Known(self.at(word).text),
            _ => Cwd::Unknown,
        };
        if self.scope.cwd == Cwd::Known(".".to_owned()) {
            self.scope.cwd = Cwd::Start;
        }
    }
}

/// One word on each line.
pub(crate) fn lines<'w>(words: impl Iterator<Item = &'w Word>) -> String {
    let mut text = String::new();
    for word in words {
        text.push_str(&word.text);
        text.push('\n');
    }
    text
}

fn known(output: Output) -> Variable {
    match output {
        Output::Text(text) => Variable::Words(vec![Word::literal(text)]),
        Output::Unknown => Variable::Unknown,
    }
}

/// The name without its folder, unless it can only be known when it runs.
fn program_name(word: &Word) -> Option<String> {
    let name = word.text.rsplit('/').next().unwrap_or_default();
    let plain = !name.is_empty() && !name.contains(['$', '(', ')', '{', '}', '`', '…']);
    match word.certainty {
        Certainty::Literal if word.text.is_empty() => None,
        Certainty::Literal => Some(if name.is_empty() { word.text.clone() } else { name.to_owned() }),
        // `$VIRTUAL_ENV/bin/python` is python wherever it lies.
        Certainty::Computed if word.text.contains('/') && plain && !word.text.starts_with("/dev/fd") => {
            Some(name.to_owned())
        }
        Certainty::Glob if plain && !name.contains(['*', '?', '[']) => Some(name.to_owned()),
        _ => None,
    }
    .map(|name| name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name))
}
