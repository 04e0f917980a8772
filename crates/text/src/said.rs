//! An error as a person reads it. There is none without a next thing to do.

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    pub what: String,
    pub why: Option<String>,
    pub hint: String,
}

impl Said {
    pub(crate) fn what(what: impl Into<String>) -> What {
        What { what: what.into(), why: None }
    }
}

/// Half of it: what happened, perhaps why. Only a hint makes it whole.
#[must_use]
pub(crate) struct What {
    what: String,
    why: Option<String>,
}

impl What {
    pub(crate) fn why(mut self, why: impl Into<String>) -> Self {
        let why = why.into();
        self.why = (!why.trim().is_empty()).then_some(why);
        self
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Said {
        Said { what: self.what, why: self.why, hint: hint.into() }
    }
}
