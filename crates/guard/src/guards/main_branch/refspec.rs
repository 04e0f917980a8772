//! `+from:to`, as fetch and push read it.

/// One word of a fetch or push, branches without `refs/heads/`.
pub(super) struct Refspec {
    pub(super) from: String,
    /// As `from` when only one side is written.
    pub(super) to: String,
    pub(super) has_both: bool,
}

impl Refspec {
    pub(super) fn read(text: &str) -> Self {
        let text = text.trim_start_matches('+');
        let (from, to) = text.split_once(':').map_or((text, None), |(from, to)| (from, Some(to)));
        Self { from: short(from).to_owned(), to: short(to.unwrap_or(from)).to_owned(), has_both: to.is_some() }
    }

    /// `:` alone: every branch both sides have.
    pub(super) fn is_matching(&self) -> bool {
        self.has_both && self.from.is_empty() && self.to.is_empty()
    }

    /// The branch keeps its name: `work:refs/remotes/origin/work`.
    pub(super) fn is_tracking(&self) -> bool {
        self.to != self.from && self.to.rsplit('/').next() == Some(self.from.as_str())
    }

    /// Where a map from one name to another, or of one pattern to another, takes what is fetched here.
    pub(super) fn through(&self, map: &Self) -> Option<Self> {
        let to = match (map.from.split_once('*'), map.to.split_once('*')) {
            (Some((before, after)), Some((to, end))) => {
                let name = self.from.strip_prefix(before)?.strip_suffix(after)?;
                format!("{to}{name}{end}")
            }
            _ => map.to.clone(),
        };
        let is_meant = map.from.contains('*') || map.from == self.from;
        (is_meant && map.has_both).then(|| Self { from: self.from.clone(), to, has_both: true })
    }

    /// The side that is written to is this branch, or a pattern with it in it.
    pub(super) fn writes(&self, branch: &str) -> bool {
        match self.to.split_once('*') {
            Some((before, after)) => {
                branch.len() >= before.len() + after.len() && branch.starts_with(before) && branch.ends_with(after)
            }
            None => self.to == branch,
        }
    }
}

/// git fills in `refs/` and `refs/heads/` by itself.
pub(super) fn short(name: &str) -> &str {
    let rest = name.strip_prefix("refs/").unwrap_or(name);
    rest.strip_prefix("heads/").unwrap_or(name)
}
