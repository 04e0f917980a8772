//! Versions as they are compared: `0.10.0` is newer than `0.9.1`, and `1.0.0` than `1.0.0-rc.2`.

use std::cmp::Ordering;
use std::str::FromStr;

/// What semantic versioning orders by; what stands behind a `+` says nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Version {
    numbers: [u64; 3],
    /// Of a version before the version; none is newer than any.
    before: Vec<Part>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Part {
    Number(u64),
    Word(String),
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not a version")]
pub struct BadVersion(String);

impl FromStr for Version {
    type Err = BadVersion;
    fn from_str(text: &str) -> Result<Self, BadVersion> {
        let bad = || BadVersion(text.to_owned());
        let release = text.split('+').next().unwrap_or(text);
        let (numbers, before) = release.split_once('-').unwrap_or((release, ""));
        let numbers: Vec<u64> = numbers.split('.').map(str::parse).collect::<Result<_, _>>().map_err(|_| bad())?;
        let numbers: [u64; 3] = numbers.try_into().map_err(|_| bad())?;
        let part = |word: &str| word.parse().map_or_else(|_| Part::Word(word.to_owned()), Part::Number);
        let before = if before.is_empty() { Vec::new() } else { before.split('.').map(part).collect() };
        Ok(Self { numbers, before })
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let released = |version: &Self| version.before.is_empty();
        (self.numbers.cmp(&other.numbers))
            .then_with(|| released(self).cmp(&released(other)))
            .then_with(|| self.before.cmp(&other.before))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_people_mean_them() {
        let in_order = [
            "0.0.0",
            "0.1.0-alpha",
            "0.1.0-alpha.1",
            "0.1.0-alpha.beta",
            "0.1.0-rc.2",
            "0.1.0-rc.10",
            "0.1.0",
            "0.1.1",
            "0.2.0",
            "0.10.0",
            "1.0.0",
        ];
        let versions: Vec<Version> = in_order.iter().map(|text| text.parse().unwrap()).collect();
        assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
        assert_eq!("1.0.0+a".parse::<Version>(), "1.0.0+b".parse());
        for bad in ["", "1", "1.2", "1.2.x", "1.2.3.4", "v1.2.3", "? (x)"] {
            assert!(bad.parse::<Version>().is_err(), "{bad}");
        }
    }
}
