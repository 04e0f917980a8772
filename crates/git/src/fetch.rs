//! One fetch at a time per repository, shared by everybody who asked before it started.
//!
//! A fetch that was under way when I asked may have read the remote before the commit I want was there; so only one
//! that *starts* after my call serves me. Eight runs that start together cost at most two fetches.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

/// What a fetch said: nothing, or why it failed.
type Outcome = Result<(), String>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Fetches(Arc<Mutex<HashMap<Utf8PathBuf, Arc<Flight>>>>);

#[derive(Debug, Default)]
struct Flight {
    state: Mutex<State>,
    landed: Condvar,
}

#[derive(Debug)]
struct State {
    under_way: bool,
    started: u64,
    landed: u64,
    outcome: Outcome,
}

impl Default for State {
    fn default() -> Self {
        Self { under_way: false, started: 0, landed: 0, outcome: Ok(()) }
    }
}

impl Fetches {
    pub(crate) fn share(&self, repository: &Utf8Path, fetch: impl Fn() -> Outcome) -> Outcome {
        let flight = {
            let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(flights.entry(repository.to_owned()).or_default())
        };
        let mut state = flight.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = state.started + 1;
        loop {
            if state.landed >= mine {
                return state.outcome.clone();
            }
            if state.under_way {
                state = flight.landed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.under_way = true;
            state.started += 1;
            let number = state.started;
            drop(state);
            let outcome = fetch();
            state = flight.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.under_way = false;
            state.landed = number;
            state.outcome = outcome;
            flight.landed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn whoever_asks_while_a_fetch_is_under_way_shares_the_next_one() {
        let fetches = Fetches::default();
        let count = AtomicU32::new(0);
        let waiting = AtomicU32::new(0);
        let (first_started, started) = mpsc::channel();
        let gate = Barrier::new(2);
        let repo = Utf8Path::new("/r");
        std::thread::scope(|scope| {
            let (f, c, g) = (&fetches, &count, &gate);
            scope.spawn(move || {
                f.share(repo, || {
                    c.fetch_add(1, Ordering::SeqCst);
                    first_started.send(()).unwrap();
                    g.wait();
                    Ok(())
                })
            });
            started.recv().unwrap();
            for _ in 0..6 {
                let w = &waiting;
                scope.spawn(move || {
                    w.fetch_add(1, Ordering::SeqCst);
                    f.share(repo, || {
                        c.fetch_add(1, Ordering::SeqCst);
                        Err("offline".to_owned())
                    })
                });
            }
            while waiting.load(Ordering::SeqCst) < 6 {
                std::thread::yield_now();
            }
            gate.wait();
        });
        let fetched = count.load(Ordering::SeqCst);
        // A thread that counted itself waiting may still ask after the second began: then there is a third.
        assert!((2..=3).contains(&fetched), "{fetched} fetches for seven callers");
    }

    #[test]
    fn everybody_hears_how_their_fetch_ended() {
        let fetches = Fetches::default();
        assert_eq!(fetches.share(Utf8Path::new("/r"), || Err("no".to_owned())), Err("no".to_owned()));
        assert_eq!(fetches.share(Utf8Path::new("/r"), || Ok(())), Ok(()));
    }
}
