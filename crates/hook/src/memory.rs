//! What earlier events of a session left behind, as of now.

use std::cell::Cell;
use std::time::Duration;

use camino::Utf8Path;
use dandori_guard::world::{Denied, Exception, Gap};
use dandori_guard::{Event, Mark};
use dandori_journal as journal;
use jiff::Timestamp;

pub struct Memory {
    pub(crate) session: journal::Session,
    pub(crate) exceptions: journal::Exceptions,
    pub(crate) now: Timestamp,
    pub(crate) window: Duration,
    has_exceptions: Cell<bool>,
    /// Calls that were never answered, as this event found them.
    pub(crate) gaps: Vec<Gap>,
}

impl Memory {
    /// `folder` is the checkout's guard folder; `window` how long a denial is remembered.
    pub fn new(folder: &Utf8Path, event: &Event, now: Timestamp, window: Duration) -> Self {
        let id = event.session.as_ref().map(ToString::to_string);
        Self {
            session: journal::Session::new(folder, event.agent, id.as_deref()),
            exceptions: journal::Exceptions::new(folder),
            now,
            window,
            has_exceptions: Cell::new(true),
            gaps: Vec::new(),
        }
    }

    pub(crate) fn mark(&self, mark: &Mark) -> Option<String> {
        self.session.mark(mark)
    }

    pub(crate) fn denied(&self) -> Vec<Denied> {
        self.session.denied(self.now, self.window)
    }

    /// From here on nobody has given any.
    pub(crate) fn forget_exceptions(&self) {
        self.has_exceptions.set(false);
    }

    pub(crate) fn exceptions(&self) -> Vec<Exception> {
        if !self.has_exceptions.get() {
            return Vec::new();
        }
        // A file that cannot be read gives no exception: the stricter side.
        let given = self.exceptions.list(self.now).unwrap_or_default();
        given.iter().filter(|given| given.holds(self.now)).map(journal::Given::seen).collect()
    }
}
