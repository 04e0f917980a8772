//! Two words about one thing: which of them counts.

use dandori_domain::guard::RulesNote;

use camino::Utf8Path;

use crate::compile::Origin;

/// Weighs the user's word against the repository's, and remembers what the repository was not given.
pub(crate) struct Merge {
    pub(crate) may_loosen: bool,
    refused: Vec<String>,
}

impl Merge {
    pub(crate) fn new(may_loosen: bool) -> Self {
        Self { may_loosen, refused: Vec::new() }
    }

    /// For what has an order, the greater being the stricter. What the user has set can only be tightened; a default can
    /// be loosened with trust.
    pub(crate) fn ordered<T: Ord + Copy>(
        &mut self,
        key: impl FnOnce() -> String,
        default: T,
        user: Option<T>,
        repository: Option<T>,
    ) -> (T, Origin) {
        match (user, repository) {
            (None, None) => (default, Origin::Default),
            (Some(user), Some(repository)) if repository > user => (repository, Origin::Repository),
            (Some(user), _) => (user, Origin::User),
            (None, Some(repository)) if repository >= default || self.may_loosen => (repository, Origin::Repository),
            (None, Some(_)) => {
                self.refuse(key());
                (default, Origin::Default)
            }
        }
    }

    /// For a set of which one is enough: fewer are stricter, and none at all means that nothing is asked for.
    pub(crate) fn one_of(
        &mut self,
        key: &str,
        default: Vec<String>,
        user: Option<Vec<String>>,
        repository: Option<Vec<String>>,
    ) -> Vec<String> {
        let is_set = user.is_some();
        let base = user.unwrap_or(default);
        let Some(repository) = repository else { return base };
        let is_tighter =
            base.is_empty() || !repository.is_empty() && repository.iter().all(|label| base.contains(label));
        if is_tighter || !is_set && self.may_loosen {
            return repository;
        }
        if !is_set {
            self.refuse(key.to_owned());
        }
        base
    }

    /// For sections that must all be there, each by any of its names: more sections and fewer names are stricter. What the
    /// repository does not ask for itself stays asked for.
    pub(crate) fn all_of(
        &mut self,
        key: &str,
        default: Vec<Vec<String>>,
        user: Option<Vec<Vec<String>>>,
        repository: Option<Vec<Vec<String>>>,
    ) -> Vec<Vec<String>> {
        let is_set = user.is_some();
        let base = user.unwrap_or(default);
        let Some(repository) = repository else { return base };
        if !is_set && self.may_loosen {
            return repository;
        }
        let is_covered = |section: &Vec<String>| {
            repository.iter().any(|names| !names.is_empty() && names.iter().all(|name| section.contains(name)))
        };
        let kept: Vec<Vec<String>> = base.iter().filter(|section| !is_covered(section)).cloned().collect();
        if !is_set && !kept.is_empty() {
            self.refuse(key.to_owned());
        }
        kept.into_iter().chain(repository).collect()
    }

    pub(crate) fn refuse(&mut self, key: String) {
        self.refused.push(key);
    }

    pub(crate) fn into_note(self, path: &Utf8Path) -> Option<RulesNote> {
        let needs_trust = |keys| RulesNote::NeedsTrust { path: path.to_owned(), keys };
        Some(self.refused).filter(|keys| !keys.is_empty()).map(needs_trust)
    }
}

/// What is not there yet is added, in order.
pub(crate) fn unite(list: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for text in more {
        if !list.contains(&text) {
            list.push(text);
        }
    }
}
