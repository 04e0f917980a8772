//! Time and randomness, which below the binary nobody makes up: a story in simulated time brings its own.

use jiff::Timestamp;

pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

pub trait Ids: Send + Sync {
    fn random(&self) -> u128;
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        dandori_host::now()
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemIds;

impl Ids for SystemIds {
    fn random(&self) -> u128 {
        dandori_host::random()
    }
}
