//! What `dandori guard …` says to a person.

use dandori_domain::Client;

use crate::lang::say;
use crate::{Lang, Said};

/// The columns of `guard stats`.
pub fn stats_head(lang: Lang) -> [&'static str; 10] {
    match lang {
        Lang::En => {
            ["GUARD", "CALLS", "BLOCKS", "ASKS", "WARNINGS", "ERRORS", "EXCEPTIONS", "FALSE POSITIVES?", "P50", "P99"]
        }
        Lang::Ja => ["ガード", "呼び出し", "ブロック", "確認", "警告", "エラー", "例外", "誤検知?", "P50", "P99"],
    }
}

pub fn stats_total(lang: Lang, events: u64, blocked: u64, asked: u64, p50: &str, p99: &str) -> String {
    say!(
        lang,
        "{events} events, {blocked} blocked, {asked} asked; p50 {p50}, p99 {p99}",
        "イベント {events} 件、ブロック {blocked} 件、確認 {asked} 件、p50 {p50}、p99 {p99}"
    )
}

pub fn false_alarms(lang: Lang) -> String {
    say!(
        lang,
        "FALSE POSITIVES?: blocked first, then allowed for the same action in the same session",
        "「誤検知?」は、ブロックされた操作が、同じセッションで後に許可された件数です"
    )
}

pub fn no_records(lang: Lang) -> &'static str {
    match lang {
        Lang::En => {
            "no events yet: hooks record them when an agent works here with guards; for events from runs, use `dandori guard stats --runs`"
        }
        Lang::Ja => {
            "まだ記録がありません。ガードを組み込んだエージェントがここで作業すると記録されます。実行内の記録は `dandori guard stats --runs` で確認できます"
        }
    }
}

pub fn no_records_of_runs(lang: Lang) -> String {
    let guarded: Vec<&str> = Client::with_hooks().map(|(client, _)| client.title()).collect();
    let (or, list) = (guarded.join(" or "), guarded.join("、"));
    say!(
        lang,
        "no events from runs yet: every run of {or} records them",
        "実行の記録はまだありません。{list} の実行では必ず記録されます"
    )
}

/// Lines that could not be counted.
pub fn skipped(lang: Lang, broken: u64, newer: u64, unreadable: u64) -> String {
    say!(
        lang,
        "not counted: {broken} incomplete records, {newer} from a newer version, {unreadable} unreadable files",
        "集計対象外: 不完全な記録 {broken} 件、新しいバージョンの記録 {newer} 件、読み取れないファイル {unreadable} 件"
    )
}

pub fn bad_span(lang: Lang, text: &str) -> Said {
    Said {
        what: say!(lang, "invalid duration `{text}`", "`{text}` は期間として解釈できません"),
        why: None,
        hint: say!(
            lang,
            "use a number with m, h, d or w: 30m, 12h, 7d, 4w",
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
