//! Who watches which task, and from which terminal a run was asked for. In memory: a terminal comes back after a restart by
//! itself, or it was left.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use camino::Utf8PathBuf;
use dandori_domain::TaskId;
use dandori_domain::id::RunKey;
use jiff::Timestamp;

use super::{News, Told};
use crate::kernel::Clock;

/// Older ones are forgotten.
const MOST: usize = 1_000;

#[derive(Default)]
pub(crate) struct Attendance(Mutex<Known>);

#[derive(Default)]
struct Known {
    tasks: HashMap<TaskId, Watched>,
    terminals: HashMap<RunKey, Utf8PathBuf>,
    /// In the order they came.
    order: VecDeque<RunKey>,
}

#[derive(Clone, Copy, Default)]
struct Watched {
    watchers: u32,
    left_at: Option<Timestamp>,
}

/// Somebody watches a task for as long as this is there.
pub struct Attending {
    attendance: Arc<Attendance>,
    task: TaskId,
    clock: Arc<dyn Clock>,
}

impl Drop for Attending {
    fn drop(&mut self) {
        let mut known = self.attendance.lock();
        let nobody_for_long = known.tasks.len() > MOST;
        if let Some(watched) = known.tasks.get_mut(&self.task) {
            watched.watchers = watched.watchers.saturating_sub(1);
            watched.left_at = Some(self.clock.now());
        }
        if nobody_for_long {
            let mut left: Vec<(Timestamp, TaskId)> = known
                .tasks
                .iter()
                .filter(|(_, watched)| watched.watchers == 0)
                .filter_map(|(task, watched)| Some((watched.left_at?, *task)))
                .collect();
            left.sort_unstable();
            for (_, task) in left.into_iter().take(MOST / 2) {
                known.tasks.remove(&task);
            }
        }
    }
}

impl Attendance {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn attend(this: &Arc<Self>, task: TaskId, clock: Arc<dyn Clock>) -> Attending {
        this.lock().tasks.entry(task).or_default().watchers += 1;
        Attending { attendance: Arc::clone(this), task, clock }
    }

    /// Somebody watched the task when this happened. Whoever leaves because of it was there.
    pub(crate) fn was_there(&self, task: TaskId, at: Timestamp) -> bool {
        let known = self.lock();
        let Some(watched) = known.tasks.get(&task) else { return false };
        watched.watchers > 0 || watched.left_at.is_some_and(|left| left >= at)
    }

    /// The terminal a run was asked from.
    pub(crate) fn asked_from(&self, run: RunKey, terminal: Utf8PathBuf) {
        let mut known = self.lock();
        if known.terminals.insert(run.clone(), terminal).is_none() {
            known.order.push_back(run);
        }
        if known.order.len() > MOST
            && let Some(oldest) = known.order.pop_front()
        {
            known.terminals.remove(&oldest);
        }
    }

    /// Where the bell rings for this.
    pub(crate) fn terminal_of(&self, news: &News) -> Option<Utf8PathBuf> {
        let run = match &news.what {
            Told::Need(need) => need.subject.run?.key(),
            Told::Ended(ended) => ended.run.clone(),
            Told::Test | Told::Words(_) => return None,
        };
        self.lock().terminals.get(&run).cloned()
    }
}
