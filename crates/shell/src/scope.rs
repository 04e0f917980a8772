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
    pub(crate) cwd: Cwd,
    /// `$1`…; unknown outside of functions and `sh -c`.
    pub(crate) positional: Option<Vec<Word>>,
}

impl Scope {
    pub(crate) fn set(&mut self, name: &str, value: Word) {
        let value = if value.is_computed() { Variable::Unknown } else { Variable::Words(vec![value]) };
        self.put(name, value);
    }

    pub(crate) fn put(&mut self, name: &str, value: Variable) {
        Rc::make_mut(&mut self.variables).insert(name.to_owned(), value);
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
    /// The end of a pipe or a file.
    Unseen,
}

/// What a command prints, as far as that can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Output {
    Text(String),
    Unknown,
}

impl Output {
    pub(crate) fn nothing() -> Self {
        Output::Text(String::new())
    }

    pub(crate) fn then(self, next: Output) -> Self {
        match (self, next) {
            (Output::Text(a), Output::Text(b)) if a.len() + b.len() <= crate::MAX_BYTES => Output::Text(a + &b),
            _ => Output::Unknown,
        }
    }

    pub(crate) fn into_input(self) -> Input {
        match self {
            Output::Text(text) => Input::Text(text),
            Output::Unknown => Input::Unseen,
        }
    }
}
