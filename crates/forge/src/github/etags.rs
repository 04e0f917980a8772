//! Answers remembered with their ETag: an unchanged one costs no budget (304). In memory, bounded by number and size.

use std::collections::VecDeque;
use std::sync::Arc;

use reqwest::Url;
use reqwest::header::HeaderValue;

const MAX_ENTRIES: usize = 256;
const MAX_BYTES: usize = 16 * 1024 * 1024;

#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    pub(crate) etag: HeaderValue,
    pub(crate) body: Arc<[u8]>,
    pub(crate) next: Option<Url>,
}

/// The oldest use goes first.
#[derive(Debug, Default)]
pub(crate) struct Etags {
    entries: VecDeque<(Url, Remembered)>,
    bytes: usize,
}

impl Etags {
    pub(crate) fn recall(&mut self, url: &Url) -> Option<Remembered> {
        let entry = self.take(url)?;
        let found = entry.clone();
        self.put(url.clone(), entry);
        Some(found)
    }

    pub(crate) fn remember(&mut self, url: &Url, entry: Remembered) {
        self.take(url);
        if entry.body.len() > MAX_BYTES / 4 {
            return;
        }
        self.put(url.clone(), entry);
        while self.entries.len() > MAX_ENTRIES || self.bytes > MAX_BYTES {
            let Some((_, oldest)) = self.entries.pop_front() else { return };
            self.bytes = self.bytes.saturating_sub(oldest.body.len());
        }
    }

    fn put(&mut self, url: Url, entry: Remembered) {
        self.bytes += entry.body.len();
        self.entries.push_back((url, entry));
    }

    fn take(&mut self, url: &Url) -> Option<Remembered> {
        let at = self.entries.iter().position(|(of, _)| of == url)?;
        let (_, entry) = self.entries.remove(at)?;
        self.bytes = self.bytes.saturating_sub(entry.body.len());
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(n: usize) -> Url {
        Url::parse(&format!("http://h/{n}")).unwrap()
    }

    fn entry(bytes: usize) -> Remembered {
        Remembered { etag: HeaderValue::from_static("\"x\""), body: vec![0; bytes].into(), next: None }
    }

    #[test]
    fn the_longest_unused_goes_when_there_are_too_many() {
        let mut etags = Etags::default();
        for n in 0..MAX_ENTRIES {
            etags.remember(&url(n), entry(1));
        }
        assert!(etags.recall(&url(0)).is_some());
        etags.remember(&url(MAX_ENTRIES), entry(1));
        assert!(etags.recall(&url(0)).is_some() && etags.recall(&url(1)).is_none());
        assert_eq!((etags.entries.len(), etags.bytes), (MAX_ENTRIES, MAX_ENTRIES));
    }

    #[test]
    fn the_bodies_together_stay_bounded_and_a_huge_one_is_not_kept() {
        let mut etags = Etags::default();
        for n in 0..20 {
            etags.remember(&url(n), entry(MAX_BYTES / 5));
        }
        assert!(etags.bytes <= MAX_BYTES && etags.entries.len() == 5);
        etags.remember(&url(19), entry(MAX_BYTES));
        assert!(etags.recall(&url(19)).is_none(), "an old answer must not stay under a newer one");
    }
}
