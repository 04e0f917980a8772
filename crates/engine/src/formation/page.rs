//! `dashboard.md`: the formation as a page in its folder below the state root, for editors and other programs. Written anew while
//! something can change; nothing reads it back.

use std::time::{Duration, SystemTime};

use dandori_domain::Problem;

use super::{Formation, ToTell};

/// Not more often than this.
const EVERY: Duration = Duration::from_secs(10);

impl Formation {
    fn page(&self) -> camino::Utf8PathBuf {
        self.engine.layout().repo(self.repo.id).root().join("dashboard.md")
    }

    pub(super) async fn write_page(&self) -> Result<(), Problem> {
        let path = self.page();
        if self.engine.is_simulated() || !is_due(written_at(&path), SystemTime::from(self.now())) {
            return Ok(());
        }
        let seen = self.seen().await?;
        let is_last = !seen.standing.is_up && path.exists() && seen.commands.iter().all(|(c, _)| c.is_over());
        if is_last && seen.standing.since.is_none_or(|since| written_at(&path) > Some(SystemTime::from(since) + EVERY))
        {
            return Ok(());
        }
        let page = self.engine.put_in_words(&ToTell::Dashboard(Box::new(seen)));
        let io = |e: std::io::Error| Problem::Io { path: path.clone(), reason: e.to_string() };
        dandori_host::put_file(&path, page.as_bytes(), 0o600).map_err(io)
    }
}

fn written_at(path: &camino::Utf8Path) -> Option<SystemTime> {
    path.metadata().and_then(|found| found.modified()).ok()
}

/// A clock that was set back is no reason to wait.
fn is_due(written: Option<SystemTime>, now: SystemTime) -> bool {
    written.is_none_or(|at| now.duration_since(at).map_or(true, |age| age >= EVERY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_written_when_there_is_none_or_it_is_old_enough() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        assert!(is_due(None, now));
        assert!(is_due(Some(now - EVERY), now));
        assert!(!is_due(Some(now - Duration::from_secs(1)), now));
        assert!(is_due(Some(now + EVERY), now));
    }
}
