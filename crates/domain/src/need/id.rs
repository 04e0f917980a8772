//! A need's name: eight characters that follow from what it is about and what caused it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Crockford's alphabet in lower case, as in every other id.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 8;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NeedId(String);

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not the id of a need")]
pub struct BadNeedId(String);

impl NeedId {
    /// The same parts give the same id, in every process and version: forty bits of FNV-1a, folded.
    pub(super) fn of(parts: &[&str]) -> Self {
        let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        // A zero between the parts: `ab`, `c` is not `a`, `bc`.
        let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325, fnv);
        let folded = hash ^ (hash >> 40);
        let digit = |i: usize| ALPHABET.get(((folded >> (5 * i)) & 31) as usize).copied().unwrap_or(b'0');
        Self((0..LENGTH).rev().map(|i| char::from(digit(i))).collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NeedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for NeedId {
    type Err = BadNeedId;
    fn from_str(text: &str) -> Result<Self, BadNeedId> {
        let is_one = text.len() == LENGTH && text.bytes().all(|b| ALPHABET.contains(&b));
        if is_one { Ok(Self(text.to_owned())) } else { Err(BadNeedId(text.to_owned())) }
    }
}
