//! Records added up: what each guard did, how long it took, and where it was probably wrong.

use std::collections::{BTreeMap, HashMap};

use crate::record::{Outcome, Record, RecordedVerdict};

/// Fed record by record, oldest first.
#[derive(Default, Debug)]
pub struct Tally {
    events: u64,
    blocked: u64,
    asked: u64,
    times: Times,
    guards: BTreeMap<String, OfGuard>,
    /// Who refused an action that has not come through yet, by session and action.
    refused: HashMap<(String, String, String), Vec<String>>,
}

#[derive(Default, Debug)]
struct OfGuard {
    counts: Counts,
    times: Times,
}

/// How often a guard came to what.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    pub calls: u64,
    pub blocks: u64,
    pub asks: u64,
    pub warnings: u64,
    pub infos: u64,
    pub errors: u64,
    /// It would have refused, and a person had given an exception.
    pub exceptions: u64,
    /// Refusals after which the same session did the same and was let through.
    pub likely_false_alarms: u64,
}

/// What it all came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stats {
    pub events: u64,
    pub blocked: u64,
    pub asked: u64,
    pub p50_micros: u64,
    pub p99_micros: u64,
    pub guards: Vec<GuardStats>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuardStats {
    pub guard: String,
    pub counts: Counts,
    pub p50_micros: u64,
    pub p99_micros: u64,
}

impl Tally {
    pub fn add(&mut self, record: &Record) {
        self.events += 1;
        self.blocked += u64::from(record.verdict == RecordedVerdict::Block);
        self.asked += u64::from(record.verdict == RecordedVerdict::Ask);
        self.times.add(record.micros);
        for step in &record.steps {
            let guard = self.guards.entry(step.0.clone()).or_default();
            guard.times.add(step.2);
            let counts = &mut guard.counts;
            counts.calls += 1;
            match step.1 {
                Outcome::Pass | Outcome::Unknown => {}
                Outcome::Info => counts.infos += 1,
                Outcome::Warn => counts.warnings += 1,
                Outcome::Ask => counts.asks += 1,
                Outcome::Block => counts.blocks += 1,
                Outcome::Excepted => counts.exceptions += 1,
                Outcome::Error => counts.errors += 1,
            }
        }
        self.compare(record);
    }

    fn compare(&mut self, record: &Record) {
        let (Some(action), Some(session)) = (&record.action, &record.session) else { return };
        let key = (record.agent.clone(), session.clone(), action.clone());
        match (record.verdict, &record.by) {
            (RecordedVerdict::Block, Some(guard)) => self.refused.entry(key).or_default().push(guard.clone()),
            (RecordedVerdict::Go, _) => {
                for guard in self.refused.remove(&key).into_iter().flatten() {
                    self.guards.entry(guard).or_default().counts.likely_false_alarms += 1;
                }
            }
            _ => {}
        }
    }

    /// Those that refused most come first.
    pub fn finish(self) -> Stats {
        let mut guards: Vec<GuardStats> = self
            .guards
            .into_iter()
            .map(|(guard, of)| GuardStats {
                guard,
                counts: of.counts,
                p50_micros: of.times.percentile(50),
                p99_micros: of.times.percentile(99),
            })
            .collect();
        guards.sort_by_key(|guard| std::cmp::Reverse((guard.counts.blocks, guard.counts.asks, guard.counts.warnings)));
        Stats {
            events: self.events,
            blocked: self.blocked,
            asked: self.asked,
            p50_micros: self.times.percentile(50),
            p99_micros: self.times.percentile(99),
            guards,
        }
    }
}

/// Times in buckets: exact up to 32 µs, then each within a thirty-second of its size, however many there are.
#[derive(Default, Debug)]
struct Times(BTreeMap<u64, u64>);

impl Times {
    fn add(&mut self, micros: u64) {
        *self.0.entry(bucket(micros)).or_default() += 1;
    }

    /// The time within which so many of a hundred were done; nothing was measured: 0.
    fn percentile(&self, percent: u64) -> u64 {
        let all: u64 = self.0.values().sum();
        let wanted = (all * percent).div_ceil(100);
        let mut seen = 0;
        let reached = self.0.iter().find(|(_, count)| {
            seen += **count;
            seen >= wanted
        });
        reached.map_or(0, |(micros, _)| *micros)
    }
}

/// The smallest time of the bucket it falls into: its upper six bits.
fn bucket(micros: u64) -> u64 {
    let surplus = (u64::BITS - micros.leading_zeros()).saturating_sub(6);
    (micros >> surplus) << surplus
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::StepRecord;

    fn record(session: &str, action: &str, verdict: RecordedVerdict, steps: &[(&str, Outcome, u64)]) -> Record {
        Record {
            version: 1,
            at: 0,
            agent: "claude".to_owned(),
            session: Some(session.to_owned()),
            prompt_id: None,
            prompt_hash: None,
            tag: None,
            event: "pre-tool".to_owned(),
            tool: None,
            subject: None,
            verdict,
            by: steps.last().filter(|_| verdict != RecordedVerdict::Go).map(|s| s.0.to_owned()),
            steps: steps
                .iter()
                .map(|(guard, outcome, micros)| StepRecord((*guard).to_owned(), *outcome, *micros))
                .collect(),
            micros: steps.iter().map(|s| s.2).sum(),
            oddities: Vec::new(),
            action: Some(action.to_owned()),
        }
    }

    fn tally(records: &[Record]) -> Stats {
        let mut tally = Tally::default();
        for record in records {
            tally.add(record);
        }
        tally.finish()
    }

    #[test]
    fn each_outcome_is_counted_for_its_guard() {
        use Outcome::{Ask, Block, Error, Excepted, Info, Pass, Unknown, Warn};
        let outcomes = [Pass, Info, Warn, Ask, Excepted, Error, Unknown, Block];
        let steps: Vec<(&str, Outcome, u64)> = outcomes.iter().map(|o| ("g", *o, 2)).collect();
        let stats = tally(&[
            record("s", "a", RecordedVerdict::Block, &steps),
            record("s", "b", RecordedVerdict::Ask, &[("h", Ask, 1)]),
        ]);
        let counts = Counts {
            calls: 8,
            blocks: 1,
            asks: 1,
            warnings: 1,
            infos: 1,
            errors: 1,
            exceptions: 1,
            ..Counts::default()
        };
        assert_eq!((stats.events, stats.blocked, stats.asked), (2, 1, 1));
        assert_eq!(stats.guards.iter().map(|g| g.guard.as_str()).collect::<Vec<_>>(), ["g", "h"]);
        assert_eq!(stats.guards[0].counts, counts);
    }

    #[test]
    fn a_refusal_is_a_likely_false_alarm_when_the_same_is_let_through_later() {
        let block = |session: &str, action: &str, guard| {
            record(session, action, RecordedVerdict::Block, &[(guard, Outcome::Block, 1)])
        };
        let go = |session: &str, action: &str| record(session, action, RecordedVerdict::Go, &[("x", Outcome::Pass, 1)]);
        let stats = tally(&[
            go("s", "before"),
            block("s", "before", "early"),
            block("s", "twice", "one"),
            block("s", "twice", "two"),
            go("s", "twice"),
            go("s", "twice"),
            block("s", "elsewhere", "other"),
            go("t", "elsewhere"),
            record("s", "elsewhere", RecordedVerdict::Ask, &[("x", Outcome::Ask, 1)]),
        ]);
        let alarms: BTreeMap<&str, u64> =
            stats.guards.iter().map(|g| (g.guard.as_str(), g.counts.likely_false_alarms)).collect();
        assert_eq!(alarms, BTreeMap::from([("early", 0), ("one", 1), ("two", 1), ("other", 0), ("x", 0)]));
    }

    #[test]
    fn percentiles_are_within_a_thirty_second() {
        let mut times = Times::default();
        assert_eq!(times.percentile(50), 0);
        (1..=100_000).for_each(|micros| times.add(micros));
        for (percent, exact) in [(50, 50_000_u64), (99, 99_000), (100, 100_000)] {
            let found = times.percentile(percent);
            assert!(found <= exact && exact - found <= exact / 32, "{percent}: {found}");
        }
        let mut few = Times::default();
        for micros in [3, 5, 31, u64::MAX] {
            few.add(micros);
        }
        assert_eq!((few.percentile(1), few.percentile(50), few.percentile(75)), (3, 5, 31));
        assert!(times.0.len() < 1_000);
    }
}
