//! What `dandori guard …` says to a person.

use dandori_domain::Client;

use crate::lang::say;
use crate::{Lang, Said};

/// The columns of `guard stats`.
pub fn stats_head(lang: Lang) -> [&'static str; 10] {
    match lang {
        Lang::En => {
            ["GUARD", "CALLS", "BLOCKS", "ASKS", "WARNINGS", "ERRORS", "EXCEPTED", "FALSE ALARMS?", "P50", "P99"]
        }
        Lang::Ja => ["ガード", "呼び出し", "拒否", "確認", "警告", "エラー", "例外適用", "誤検知?", "P50", "P99"],
    }
}

pub fn stats_total(lang: Lang, events: u64, blocked: u64, asked: u64, p50: &str, p99: &str) -> String {
    say!(
        lang,
        "{events} events, {blocked} blocked, {asked} asked about; p50 {p50}, p99 {p99}",
        "イベント {events} 件、拒否 {blocked} 件、確認 {asked} 件、p50 {p50}、p99 {p99}"
    )
}

pub fn false_alarms(lang: Lang) -> String {
    say!(
        lang,
        "FALSE ALARMS?: blocked, and then the same action of the same session was let through",
        "「誤検知?」は、拒否された操作と同じ操作が、同じセッションで後に許可された件数です"
    )
}

pub fn no_records(lang: Lang) -> &'static str {
    match lang {
        Lang::En => {
            "no events yet: hooks write them down once an agent works here with its guards; those of runs: `dandori guard stats --runs`"
        }
        Lang::Ja => {
            "まだ記録がありません。ガード付きのエージェントがここで作業すると、フックが記録します。ラン内の記録は `dandori guard stats --runs` で見られます"
        }
    }
}

pub fn no_records_of_runs(lang: Lang) -> String {
    let guarded: Vec<&str> = Client::with_hooks().map(|(client, _)| client.title()).collect();
    let (or, list) = (guarded.join(" or "), guarded.join("、"));
    say!(
        lang,
        "no events of runs yet: guards write them down in every run of {or}",
        "ランの記録はまだありません。{list} のランでは、ガードが必ず記録します"
    )
}

/// Lines that could not be counted.
pub fn skipped(lang: Lang, broken: u64, newer: u64, unreadable: u64) -> String {
    say!(
        lang,
        "not counted: {broken} half records, {newer} of a later version, {unreadable} unreadable files",
        "集計対象外: 途中で切れた記録 {broken} 件、新しい版の記録 {newer} 件、読めないファイル {unreadable} 件"
    )
}

pub fn bad_span(lang: Lang, text: &str) -> Said {
    Said {
        what: say!(lang, "{text:?} is not a length of time", "{text:?} は期間として読めません"),
        why: None,
        hint: say!(
            lang,
            "write a number and m, h, d or w: 30m, 12h, 7d, 4w",
            "数字に m、h、d、w のいずれかを付けてください (例: 30m、12h、7d、4w)"
        ),
    }
}

/// Microseconds as a person reads them.
pub fn micros(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros}µs"),
        1_000..100_000 => format!("{}.{}ms", micros / 1_000, micros % 1_000 / 100),
        100_000..1_000_000 => format!("{}ms", micros / 1_000),
        _ => format!("{}.{}s", micros / 1_000_000, micros % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short_at_every_size() {
        let want = [(0, "0µs"), (999, "999µs"), (1_250, "1.2ms"), (123_456, "123ms"), (2_500_000, "2.5s")];
        for (time, text) in want {
            assert_eq!(micros(time), text);
        }
    }
}
