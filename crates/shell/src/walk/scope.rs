//! What the shell knows while it goes through the line: variables, functions, aliases, the folder it stands in.

use std::collections::HashMap;
use std::rc::Rc;

use brush_parser::ast::FunctionDefinition;

use crate::reading::{Cwd, Word};

#[derive(Debug, Clone)]
pub(crate) enum Variable {
    /// One value, or the elements of a list.
    Words(Vec<Word>),
    /// Set in this line, to something only known when it runs.
    Unknown,
}

#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub(crate) definition: Rc<FunctionDefinition>,
    /// The source it stands in: places in the tree refer to it.
    pub(crate) source: Rc<str>,
}

#[derive(Debug, Clone)]
pub(crate) struct Scope {
    /// Shared until one side changes: every subshell starts with all of them.
    pub(crate) variables: Rc<HashMap<String, Variable>>,
    pub(crate) functions: Rc<HashMap<String, Function>>,
    pub(crate) aliases: HashMap<String, String>,
    /// Of the configuration, and `alias.x` set earlier in the line.
    pub(crate) git_aliases: HashMap<String, String>,
    pub(crate) gh_aliases: HashMap<String, String>,
    /// `declare -n name=other`: what a name stands for; empty when only the run tells.
    pub(crate) references: HashMap<String, String>,
    pub(crate) cwd: Cwd,
    /// Where the shell still stands should the last `cd` have failed.
    pub(crate) unmoved: Option<Cwd>,
    /// Where it stood before, and what `pushd` put aside.
    pub(crate) earlier: Vec<Cwd>,
    /// `set -e`: what fails ends the shell.
    pub(crate) stops_on_failure: bool,
    /// Mounts of the container the command runs in: its folder, and the one of this machine. None on this machine.
    pub(crate) mounts: Option<Rc<Vec<(String, String)>>>,
    /// `$1`…; unknown outside of functions and `sh -c`.
    pub(crate) positional: Option<Rc<Vec<Word>>>,
}

impl Scope {
    pub(crate) fn set(&mut self, name: &str, value: Word) {
        let value = if value.is_computed() { Variable::Unknown } else { Variable::Words(vec![value]) };
        self.put(name, value);
    }

    pub(crate) fn put(&mut self, name: &str, value: Variable) {
        if let Some(target) = self.references.get_mut(name).filter(|target| target.is_empty())
            && let Variable::Words(words) = &value
            && let [only] = words.as_slice()
        {
            // The first value of a reference is the name it stands for.
            target.clone_from(&only.text);
            return;
        }
        let name = self.meant(name).to_owned();
        Rc::make_mut(&mut self.variables).insert(name, value);
    }

    /// The name itself, or the one it is a reference to.
    pub(crate) fn meant<'n>(&'n self, name: &'n str) -> &'n str {
        let mut name = name;
        for _ in 0..8 {
            match self.references.get(name) {
                Some(target) => name = target,
                None => break,
            }
        }
        name
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.get(self.meant(name))
    }

    pub(crate) fn forget(&mut self, name: &str) {
        self.put(name, Variable::Unknown);
    }
}

/// What a command gets on its standard input.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    /// Whatever the shell itself has: a terminal, or nothing.
    Inherited,
    Text(String),
    /// Names of files that fit these patterns.
    Names(Vec<Word>),
    /// The end of a pipe or a file.
    Unseen,
}

/// What a command prints, as far as that can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Output {
    Text(String),
    /// Names of files that fit these patterns.
    Names(Vec<Word>),
    Unknown,
}

impl Output {
    pub(crate) fn nothing() -> Self {
        Output::Text(String::new())
    }

    pub(crate) fn then(self, next: Output) -> Self {
        match (self, next) {
            (Output::Text(a), Output::Text(b)) if a.len() + b.len() <= crate::MAX_BYTES => Output::Text(a + &b),
            (Output::Names(mut a), Output::Names(b)) => {
                a.extend(b);
                Output::Names(a)
            }
            (Output::Names(names), Output::Text(text)) | (Output::Text(text), Output::Names(names))
                if text.is_empty() =>
            {
                Output::Names(names)
            }
            _ => Output::Unknown,
        }
    }

    pub(crate) fn into_input(self) -> Input {
        match self {
            Output::Text(text) => Input::Text(text),
            Output::Names(names) => Input::Names(names),
            Output::Unknown => Input::Unseen,
        }
    }
}
