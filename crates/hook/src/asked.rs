//! One event for a caller that lives on: the client of an agent without hooks asks for itself.
//!
//! The same judgement as a hook's, with the same records, within the same time; what could not be judged is refused.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use dandori_guard::{Event, GuardName, Note, Permission};
use dandori_host::Env;
use dandori_journal::Begun;
use dandori_text::Lang;
use dandori_text::guard::Unjudged;

use crate::{DEADLINE, Given, LONGEST, Request, Session};

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    Go { notes: Vec<Note> },
    Refused { guard: GuardName, reason: String },
}

/// Judges an event of the run whose folder is `run`. Nobody can be asked in a run: a question is a refusal.
pub fn decide(mut event: Event, run: &Utf8Path, env: &Arc<Env>) -> Said {
    event.headless = true;
    let begun = Instant::now();
    let lang = Lang::choose(None, None, |name| env.text(name));
    let allowance = Arc::new(AtomicU64::new(0));
    let (tell, told) = sync_channel(1);
    let work = {
        let (run, env, allowance) = (run.to_owned(), Arc::clone(env), Arc::clone(&allowance));
        move || {
            let said = catch_unwind(AssertUnwindSafe(|| judge(&event, &run, &env, begun, allowance, lang)));
            // Whoever waited may have given up.
            let _ = tell.send(said.unwrap_or_else(|_| unjudged(&Unjudged::Panicked, lang)));
        }
    };
    if let Err(error) = std::thread::Builder::new().spawn(work) {
        return unjudged(&Unjudged::Unread(error.to_string()), lang);
    }
    loop {
        let allowed = DEADLINE + Duration::from_millis(allowance.load(Ordering::SeqCst));
        let Some(left) = allowed.min(LONGEST).checked_sub(begun.elapsed()) else {
            return unjudged(&Unjudged::TookTooLong, lang);
        };
        match told.recv_timeout(left) {
            Ok(said) => return said,
            // More may be allowed by then.
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return unjudged(&Unjudged::Panicked, lang),
        }
    }
}

fn judge(event: &Event, run: &Utf8Path, env: &Env, begun: Instant, allowance: Arc<AtomicU64>, lang: Lang) -> Said {
    let call: Arc<Mutex<Option<Begun>>> = Arc::default();
    let given = Given::default();
    let request = Request { event, env, given: &given, run: Some(run), begun, allowance, call: Arc::clone(&call) };
    let said = match Session::open(&request) {
        Err(why) => unjudged(&why, lang),
        Ok(session) => {
            let ruling = session.decide(&request).judgement.ruling;
            match ruling.verdict {
                Permission::Go => Said::Go { notes: ruling.notes },
                Permission::Ask { guard, reason } | Permission::Block { guard, reason } => {
                    Said::Refused { guard, reason: reason.as_str().to_owned() }
                }
            }
        }
    };
    if let Some(call) = call.lock().ok().and_then(|mut slot| slot.take()) {
        call.end();
    }
    said
}

fn unjudged(why: &Unjudged, lang: Lang) -> Said {
    Said::Refused { guard: GuardName::known("hook"), reason: dandori_text::guard::unjudged(lang, why) }
}
