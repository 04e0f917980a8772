//! A simple command: its words, its redirections, and who understands its program.

use std::rc::Rc;

use brush_parser::ast::{Assignment, AssignmentName, AssignmentValue, CommandPrefixOrSuffixItem, SimpleCommand};

use crate::programs::finders::keeps_names;
use crate::reading::{Certainty, Command, Cwd, Reach, Why, Word};
use crate::walk::Walker;
use crate::walk::builtins::has_letter;
use crate::walk::plumbing::Plumbing;
use crate::walk::scope::{Input, Output, Variable};
use crate::walk::shells::is_setup;

/// Longer paths lead nowhere.
const MAX_PATH: usize = 4096;
/// Folders that `cd -` and `popd` can go back to.
const MAX_EARLIER: usize = 16;

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
            // `$(<file)` stands for the text of the file.
            let read = match plumbing.input.take() {
                Some(Input::Text(text)) => Output::Text(text),
                Some(_) => Output::Unknown,
                None => Output::nothing(),
            };
            return self.pour(read, plumbing);
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
                        // The value of a reference is a name, and none of the variable it stands for.
                        if !has_letter(&argv, 'n') {
                            self.assign(assignment);
                        }
                        argv.push(Word::literal(word.value.clone()));
                    } else {
                        argv.extend(self.expand(&word.value));
                    }
                }
                CommandPrefixOrSuffixItem::ProcessSubstitution(kind, shell) => {
                    let from = self.reading.commands.len();
                    let mut output = self.process(kind, &shell.list);
                    let ran = self.reading.commands.get(from..);
                    if let (Some([only]), Output::Unknown) = (ran, &output)
                        && is_setup(only.argv.iter().map(|w| w.text.as_str()))
                    {
                        output = Output::nothing();
                    }
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

    /// Run words as a command.
    pub(crate) fn run(&mut self, argv: &[Word], assignments: Vec<(String, Word)>, input: &Input) -> Output {
        let led_back: Vec<Word>;
        let argv = if self.scope.mounts.is_some() {
            led_back =
                argv.iter().enumerate().map(|(n, w)| if n == 0 { w.clone() } else { self.led_back(w) }).collect();
            &led_back
        } else {
            argv
        };
        let Some(first) = argv.first() else { return Output::nothing() };
        let kept: usize = argv.iter().map(|word| word.text.len() + size_of::<Word>()).sum();
        if !self.spend() || !self.afford(kept) {
            return Output::Unknown;
        }
        if self.is_too_deep() {
            self.opaque(Why::TooLarge, &first.text);
            return Output::Unknown;
        }
        let renamed = if first.text.contains('/') { self.renamed.get(&self.at(first).text).cloned() } else { None };
        let line = || argv.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
        let Some(program) = renamed.or_else(|| program_name(first)) else {
            self.opaque(Why::ComputedCommand, &line());
            return Output::Unknown;
        };
        let is_path_set =
            || self.scope.variables.contains_key("PATH") || assignments.iter().any(|(name, _)| name == "PATH");
        let shadow = if first.text.contains('/') || !is_path_set() { None } else { self.fresh_named(&program) };
        self.reading.commands.push(Command {
            program: program.clone(),
            argv: argv.to_vec(),
            assignments: self.with_git_dir(&program, assignments),
            reached: self.reached.clone(),
            cwd: self.scope.cwd.clone(),
            unmoved: self.scope.unmoved.clone(),
        });
        let args = argv.get(1..).unwrap_or_default();
        if let Some(function) = self.scope.functions.get(&first.text).cloned() {
            let positional = self.scope.positional.replace(Rc::new(args.to_vec()));
            let output = self.call(&first.text.clone(), &function, input);
            self.scope.positional = positional;
            return output;
        }
        if let Some(script) = shadow {
            // Where programs are looked for, and what lies there, is of this line.
            return self.script_file("", &Word::literal(script), args, input);
        }
        let output = self.program(&program, first, args, input);
        match (output, input) {
            (Output::Unknown, Input::Names(names)) if keeps_names(&program, args) => Output::Names(names.clone()),
            (output, _) => output,
        }
    }

    /// `export GIT_DIR=x; git commit` is `GIT_DIR=x git commit`.
    fn with_git_dir(&self, program: &str, mut assignments: Vec<(String, Word)>) -> Vec<(String, Word)> {
        const NAME: &str = "GIT_DIR";
        let is_git = program == "git" || program.starts_with("git-");
        if is_git
            && !assignments.iter().any(|(name, _)| name == NAME)
            && let Some(set) = self.scope.variable(NAME)
        {
            let unseen = || Word { text: format!("${NAME}"), certainty: Certainty::Computed };
            let value = match set {
                Variable::Words(words) => words.first().cloned().unwrap_or_else(unseen),
                Variable::Unknown => unseen(),
            };
            assignments.push((NAME.to_owned(), value));
        }
        assignments
    }

    /// A command given as words, reached through a program.
    pub(crate) fn run_wrapped(&mut self, by: &str, argv: &[Word], input: &Input) -> Output {
        self.within(Reach::Wrapper(by.to_owned()), |walker| walker.run(argv, Vec::new(), input))
    }

    /// `cd`.
    pub(crate) fn change_folder(&mut self, to: Option<&Word>) {
        let from = self.scope.cwd.clone();
        self.scope.cwd = match to {
            Some(word) if word.is_literal() && word.text != "-" => Cwd::Known(self.at(word).text),
            Some(word) if word.text == "-" => self.scope.earlier.last().cloned().unwrap_or(Cwd::Unknown),
            None => self.options.home.clone().map_or(Cwd::Unknown, Cwd::Known),
            Some(_) => Cwd::Unknown,
        };
        if matches!(&self.scope.cwd, Cwd::Known(path) if path.len() > MAX_PATH) {
            // There is no such folder, and every command after it would keep its name.
            self.scope.cwd = Cwd::Unknown;
        }
        if self.scope.cwd == Cwd::Known(".".to_owned()) {
            self.scope.cwd = Cwd::Start;
        }
        if self.scope.earlier.len() >= MAX_EARLIER {
            self.scope.earlier.remove(0);
        }
        self.scope.earlier.push(from);
    }

    /// `popd`: back to where `pushd` went from.
    pub(crate) fn change_back(&mut self) {
        self.scope.cwd = self.scope.earlier.pop().unwrap_or(Cwd::Unknown);
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

pub(crate) fn known(output: Output) -> Variable {
    match output {
        Output::Text(text) => Variable::Words(vec![Word::literal(text)]),
        Output::Names(names) => Variable::Words(names),
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
