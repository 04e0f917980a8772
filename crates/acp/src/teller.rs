//! What happens, one event a line.

use std::io::Write;
use std::sync::{Arc, Mutex};

use dandori_domain::AgentEvent;

/// Shared by all who have something to tell.
#[derive(Clone)]
pub(crate) struct Teller(Arc<Mutex<Box<dyn Write + Send>>>);

impl Teller {
    pub(crate) fn to_stdout() -> Self {
        Self::to(Box::new(std::io::stdout()))
    }

    pub(crate) fn to(out: Box<dyn Write + Send>) -> Self {
        Self(Arc::new(Mutex::new(out)))
    }

    /// In one write. Who does not listen any more has ended us or is about to.
    pub(crate) fn tell(&self, event: &AgentEvent) {
        let Ok(mut line) = serde_json::to_vec(event) else { return };
        line.push(b'\n');
        if let Ok(mut out) = self.0.lock() {
            let _ = out.write_all(&line).and_then(|()| out.flush());
        }
    }

    pub(crate) fn warn(&self, text: impl Into<String>) {
        self.tell(&AgentEvent::Warning { text: text.into() });
    }
}
