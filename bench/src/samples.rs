//! Repeated measurements of one thing.

use std::time::{Duration, Instant};

/// Seconds, in the order they were measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    /// Measures one more, and gives what it gave.
    pub(crate) fn time<T, E>(&mut self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let started = Instant::now();
        let done = work()?;
        self.add(started.elapsed());
        Ok(done)
    }

    pub(crate) fn add(&mut self, took: Duration) {
        self.0.push(took.as_secs_f64());
    }

    /// The newest.
    pub(crate) fn last(&self) -> f64 {
        self.0.last().copied().unwrap_or_default()
    }

    pub(crate) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    pub(crate) fn quantile(&self, at: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
        let place = at * index(last);
        let below = sorted.get(whole(place)).copied().unwrap_or(f64::NAN);
        let above = sorted.get(whole(place.ceil())).copied().unwrap_or(below);
        below + (above - below) * place.fract()
    }

    pub(crate) fn spread(&self) -> String {
        let (low, high) = (self.quantile(0.0), self.quantile(1.0));
        format!("median of {}, {}–{}", self.0.len(), shown(low), shown(high))
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are a few dozen samples")]
fn index(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a list of a few dozen")]
fn whole(place: f64) -> usize {
    place as usize
}

/// Seconds as people read them.
pub(crate) fn shown(seconds: f64) -> String {
    match seconds {
        s if s >= 10.0 => format!("{s:.1} s"),
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 0.01 => format!("{:.0} ms", s * 1e3),
        s if s >= 0.001 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.0} µs", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_stands_in_the_middle_whatever_the_order() {
        assert!((Samples(vec![3.0, 1.0, 2.0]).median() - 2.0).abs() < 1e-9);
        assert!((Samples(vec![4.0, 1.0, 2.0, 3.0]).median() - 2.5).abs() < 1e-9);
        assert!(Samples::default().median().is_nan());
    }

    #[test]
    fn times_are_shown_in_the_unit_that_fits() {
        let texts: Vec<String> = [12.34, 1.234, 0.0567, 0.0056, 0.000_056].map(shown).to_vec();
        assert_eq!(texts, ["12.3 s", "1.23 s", "57 ms", "5.6 ms", "56 µs"]);
    }
}
