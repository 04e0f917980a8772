//! Ids for one step of the protocol. A transaction that is run again makes the same ones.

use dandori_domain::{CommandId, MessageId, PhaseId, ResultId, TaskId};
use jiff::Timestamp;

/// Makes ids from one moment and one random number.
#[derive(Clone, Debug)]
pub struct Mint {
    now: Timestamp,
    seed: u128,
    made: u128,
}

macro_rules! mints {
    ($($name:ident => $id:ident),+ $(,)?) => { $(
        pub fn $name(&mut self) -> $id {
            let random = self.next();
            $id::mint(self.now, random)
        }
    )+ };
}

impl Mint {
    pub fn new(now: Timestamp, seed: u128) -> Self {
        Self { now, seed, made: 0 }
    }

    mints!(command => CommandId, phase => PhaseId, task => TaskId, message => MessageId, result => ResultId);

    /// Ids of one step are in the order they were made: a counter, around the bits that an id sets itself, then randomness.
    fn next(&mut self) -> u128 {
        self.made += 1;
        let random = mix(self.seed ^ mix(self.made));
        let [high, middle, low] = [self.made >> 14 & 0x0f, self.made >> 6 & 0xff, self.made & 0x3f];
        high << 120 | middle << 112 | low << 104 | random >> 24
    }
}

/// Spreads what differs little over all bits (a round of SplitMix on each half).
fn mix(value: u128) -> u128 {
    let half = |mut z: u64| {
        z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let low_half = |value: u128| u64::try_from(value & u128::from(u64::MAX)).unwrap_or(0);
    let (high, low) = (half(low_half(value >> 64)), half(low_half(value)));
    (u128::from(half(high ^ low)) << 64) | u128::from(half(low.rotate_left(17) ^ high))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_of_a_step_differ_sort_as_they_were_made_and_come_again() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let make = |seed| {
            let mut mint = Mint::new(now, seed);
            (0..10_000).map(|_| mint.task()).collect::<Vec<_>>()
        };
        let made = make(7);
        assert!(made.is_sorted() && made.iter().collect::<BTreeSet<_>>().len() == made.len());
        assert_eq!(made, make(7));
        assert!(made.iter().zip(make(8)).all(|(a, b)| *a != b));
    }
}
