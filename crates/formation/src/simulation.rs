//! The protocol under everything that can go wrong, in simulated time: messages lost, repeated and reordered, agents that die,
//! sleep longer than their lease and report afterwards, clocks that jump, cancellations at any point, steps that are rolled back or
//! whose answer is lost.
//!
//! A run is a list of numbers, each one choice. `DANDORI_SIM_SEEDS` and `DANDORI_SIM_STEPS` make it longer; a failure names its seed
//! and is made shorter before it is shown.

mod mutant;
mod plans;
mod world;

use world::{Broken, World};

/// A small generator: the same numbers for the same seed, everywhere.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn choices(seed: u64, steps: usize) -> Vec<u64> {
    let mut dice = Dice(seed);
    (0..steps).map(|_| dice.next()).collect()
}

/// Plays the choices, then lets everybody behave until everything is over.
fn play(choices: &[u64], broken: Broken) -> Result<World, String> {
    let mut world = World::new(broken);
    for choice in choices {
        world.step(*choice)?;
    }
    world.drain()?;
    Ok(world)
}

/// How many steps are played again to make a failure shorter.
const STEPS: usize = 2_000_000;

/// Fewer choices that fail as well.
fn shrink(mut failing: Vec<u64>, broken: Broken) -> (Vec<u64>, String) {
    let mut steps = 0;
    let mut reason = play(&failing, broken).err().unwrap_or_default();
    let mut size = failing.len() / 2;
    while size > 0 && steps < STEPS {
        let mut at = 0;
        while at < failing.len() && steps < STEPS {
            steps += failing.len();
            let mut fewer = failing.clone();
            fewer.drain(at..(at + size).min(failing.len()));
            match play(&fewer, broken) {
                Err(why) => {
                    failing = fewer;
                    reason = why;
                }
                Ok(_) => at += size,
            }
        }
        size /= 2;
    }
    (failing, reason)
}

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
        println!("seed {seed}: {reason}");
        // The first steps that fail are enough to shrink.
        let failing = made.into_iter().take(world::failed_after(&reason)).collect();
        let (shortest, why) = shrink(failing, Broken::Nothing);
        panic!("seed {seed}: {reason}\n{} choices are enough: {why}\n{shortest:?}", shortest.len());
    }
}
