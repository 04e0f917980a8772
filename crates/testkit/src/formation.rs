//! The formation's protocol under everything that can go wrong, in simulated time: messages lost, repeated and reordered, agents that
//! die, sleep longer than their lease and report afterwards, clocks that jump, cancellations at any point, steps that are rolled
//! back or whose answer is lost.
//!
//! A play is a list of numbers, each one choice: a failure is repeated by them, and made shorter.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a tool of the tests: a panic is how it reports")]

mod plans;
mod world;

pub use world::{Broken, Played, World, failed_after};

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

pub fn choices(seed: u64, steps: usize) -> Vec<u64> {
    let mut dice = Dice(seed);
    (0..steps).map(|_| dice.next()).collect()
}

/// Plays the choices, then lets everybody behave until everything is over.
pub fn play(choices: &[u64], broken: Broken) -> Result<World, String> {
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
pub fn shrink(mut failing: Vec<u64>, broken: Broken) -> (Vec<u64>, String) {
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
