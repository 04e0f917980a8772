//! Variants that are deliberately wrong. Each has to be found: a check that cannot fail proves nothing.

use dandori_testkit::formation::{Broken, choices, failed_after, play, shrink};

fn is_found(broken: Broken, by: &[&str]) {
    let found = (1..=20).find_map(|seed| {
        let made = choices(seed, 4_000);
        play(&made, broken).err().map(|reason| (made, reason))
    });
    let (made, reason) = found.unwrap_or_else(|| panic!("{broken:?} was not found"));
    assert!(by.iter().any(|invariant| reason.contains(invariant)), "{broken:?} was found by {reason}");
    let failing = made.into_iter().take(failed_after(&reason)).collect();
    let (shortest, why) = shrink(failing, broken);
    assert!(shortest.len() < 60, "{} choices: {why}", shortest.len());
}

#[test]
fn a_report_that_counts_without_its_epoch_is_found() {
    is_found(Broken::NoFence, &["I3", "I5"]);
}

#[test]
fn a_result_written_in_two_steps_is_found() {
    is_found(Broken::SplitResult, &["I3", "I4", "I6"]);
}

#[test]
fn what_is_marked_as_told_before_it_is_told_is_found() {
    is_found(Broken::MarkBeforeSend, &["I8"]);
}

#[test]
fn a_plan_written_in_two_steps_is_found() {
    is_found(Broken::TwoStepSubmit, &["I6", "I11", "I14"]);
}
