//! `up` and `down`: whether a formation's agents get work, and how. Written down, so that it outlives the daemon.

use std::sync::Arc;

use dandori_config::FormationSettings;
use dandori_domain::Problem;
use dandori_formation::continuous::{Continuous, StopReason};
use dandori_formation::protocol;
use dandori_formation::{Command, Crew, Ledger, Standing};
use dandori_host::Env;
use dandori_store::{Book, Scope, StoreError};

use super::{Asker, Formation};

/// How somebody wants it up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Raise {
    pub boost: bool,
    pub continuous: bool,
    /// Nobody is notified when a command is over.
    pub is_quiet: bool,
}

impl Formation {
    pub async fn standing(&self) -> Result<Standing, Problem> {
        fn standing(book: &mut Book<'_>) -> Result<Standing, StoreError> {
            book.standing()
        }
        Ok(self.look(standing).await?)
    }

    /// Who works in it, as it is up now.
    pub(super) async fn crew_now(&self) -> Result<Crew, Problem> {
        Ok(self.crew(self.standing().await?.boost))
    }

    /// What was begun goes on. In continuous mode the count goes on too, unless it had come to its end.
    pub async fn up(&self, raise: Raise, caller: Option<Arc<Env>>) -> Result<Standing, Problem> {
        if caller.is_some() {
            self.engine.remember_formation_caller(self.repo.id, caller);
        }
        let settings = self.settings().clone();
        let up = move |book: &mut Book<'_>, step: &mut protocol::Step<'_>| {
            let before = book.standing()?;
            let standing = Standing {
                is_up: true,
                since: before.since.filter(|_| before.is_up).or(Some(step.now)),
                boost: raise.boost,
                is_quiet: raise.is_quiet,
            };
            book.put_standing(&standing)?;
            let continuous = continued(&book.continuous()?, &settings, raise.continuous);
            book.put_continuous(&continuous)?;
            Ok(standing)
        };
        let standing = self.step(Scope::Orders, up).await?.value;
        self.engine.0.formations.notify_one();
        Ok(standing)
    }

    /// Nothing more is given out. What agents have they finish.
    pub async fn down(&self) -> Result<Standing, Problem> {
        let down = |book: &mut Book<'_>, step: &mut protocol::Step<'_>| {
            let before = book.standing()?;
            let since = if before.is_up { Some(step.now) } else { before.since };
            let standing = Standing { is_up: false, since, ..before };
            book.put_standing(&standing)?;
            Ok(standing)
        };
        let standing = self.step(Scope::Orders, down).await?.value;
        self.engine.0.formations.notify_one();
        Ok(standing)
    }

    /// Everything that is open is called off, and continuous mode begins anew. Answers what was called off. What is over, what was
    /// refused and what agents have done stays.
    pub async fn reset(&self, asker: Asker) -> Result<Vec<Command>, Problem> {
        self.down().await?;
        let mut called_off = Vec::new();
        for command in self.look(|book| book.open_commands()).await? {
            // One that came to its end in between needs no calling off.
            match self.cancel_order(command, asker, None, "reset".to_owned()).await {
                Ok(command) => called_off.push(command),
                Err(Problem::FormationRefused { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        let anew = |book: &mut Book<'_>, _: &mut protocol::Step<'_>| {
            let off = Continuous::default();
            book.put_continuous(&off)?;
            Ok::<(), StoreError>(())
        };
        self.step(Scope::Orders, anew).await?;
        Ok(called_off)
    }
}

fn continued(before: &Continuous, settings: &FormationSettings, is_wanted: bool) -> Continuous {
    if !is_wanted {
        let stopped = if before.enabled { before.stopped.or(Some(StopReason::Requested)) } else { before.stopped };
        return Continuous { enabled: false, stopped, ..before.clone() };
    }
    let limits = settings.continuous;
    let goes_on = before.goes_on();
    let kept = if goes_on { before.clone() } else { Continuous::default() };
    Continuous {
        enabled: true,
        max_iterations: limits.max_iterations,
        pause_on_failure: limits.pause_on_failure,
        max_consecutive_failures: limits.max_consecutive_failures,
        stopped: None,
        ..kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuous_mode_goes_on_where_it_was_and_begins_anew_where_it_had_ended() {
        let settings = FormationSettings::default();
        let begun = continued(&Continuous::default(), &settings, true);
        assert!(begun.goes_on() && begun.max_iterations == 10);
        let half = Continuous { current_iteration: 4, ..begun };
        assert_eq!(continued(&half, &settings, true).current_iteration, 4);
        let ended = Continuous { stopped: Some(StopReason::MaxIterationsReached), ..half.clone() };
        assert_eq!(continued(&ended, &settings, true).current_iteration, 0);
        let off = continued(&half, &settings, false);
        assert!(!off.goes_on() && off.stopped == Some(StopReason::Requested));
    }
}
