//! An error as a person reads it.

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    pub what: String,
    pub why: Option<String>,
    pub hint: Option<String>,
}

impl Said {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), why: None, hint: None }
    }

    pub(crate) fn why(mut self, why: impl Into<String>) -> Self {
        let why = why.into();
        self.why = (!why.trim().is_empty()).then_some(why);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
