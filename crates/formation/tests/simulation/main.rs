//! The protocol in simulated time, under everything that can go wrong (`dandori_testkit::formation`).
//!
//! `DANDORI_SIM_SEEDS` and `DANDORI_SIM_STEPS` make it longer; a failure names its seed and is made shorter before it is shown.

mod mutant;

use dandori_testkit::formation::{Broken, choices, failed_after, play, shrink};

#[expect(clippy::disallowed_methods, reason = "how long it plays is said from outside")]
fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn nothing_is_lost_or_done_twice_whatever_goes_wrong() {
    let (seeds, steps) = (number("DANDORI_SIM_SEEDS", 2), number("DANDORI_SIM_STEPS", 100_000));
    let first = number("DANDORI_SIM_SEED", 1);
    let steps = usize::try_from(steps).unwrap();
    for seed in first..first + seeds {
        let made = choices(seed, steps);
        let Err(reason) = play(&made, Broken::Nothing).map(|world| world.tell(seed)) else { continue };
        // The first steps that fail are enough to shrink.
        let failing = made.into_iter().take(failed_after(&reason)).collect();
        let (shortest, why) = shrink(failing, Broken::Nothing);
        panic!("seed {seed}: {reason}\n{} choices are enough: {why}\n{shortest:?}", shortest.len());
    }
}
