//! Stories of the engine in one process and in simulated time: the world is a stand-in, the store is in memory, an hour
//! passes at once. Every story is played once undisturbed, and once more for every crash point it comes by.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::disallowed_methods, reason = "tests")]

mod notices;
mod orders;
mod plays;
mod points;
mod scene;
mod world;
