use super::*;
use crate::record::RecordedVerdict;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn record(at: Timestamp, subject: &str) -> Record {
    Record {
        version: VERSION,
        at: at.as_millisecond(),
        agent: "claude".to_owned(),
        session: Some("s".to_owned()),
        prompt_id: None,
        prompt_hash: None,
        tag: None,
        event: "pre-tool".to_owned(),
        tool: None,
        subject: Some(subject.to_owned()),
        verdict: RecordedVerdict::Go,
        by: None,
        steps: Vec::new(),
        micros: 1,
        oddities: Vec::new(),
        action: None,
    }
}

struct Bed(tempfile::TempDir);

impl Bed {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn folder(&self) -> &Utf8Path {
        Utf8Path::from_path(self.0.path()).unwrap()
    }

    fn add(&self, second: i64, subject: &str) {
        append(self.folder(), &record(at(second), subject)).unwrap();
    }

    fn spoil(&self, bytes: &[u8]) {
        let segment = segments(self.folder()).pop().unwrap();
        append::write_once(&append::open(&segment.path).unwrap(), bytes).unwrap();
    }

    fn subjects(&self, since: i64) -> (Vec<String>, Skipped) {
        let mut subjects = Vec::new();
        let skipped = each(self.folder(), at(since), |record| subjects.extend(record.subject));
        (subjects, skipped)
    }

    fn names(&self) -> Vec<String> {
        segments(self.folder()).into_iter().map(|s| s.name).collect()
    }
}

#[test]
fn records_come_back_in_order_from_the_hour_asked_for_on() {
    let bed = Bed::new();
    assert_eq!(bed.subjects(0), (vec![], Skipped::default()));
    for (second, subject) in [(0, "a"), (1, "b"), (3_600, "c"), (7_300, "d")] {
        bed.add(second, subject);
    }
    assert_eq!(bed.names(), ["20270115-08", "20270115-09", "20270115-10"]);
    assert_eq!(bed.subjects(0).0, ["a", "b", "c", "d"]);
    assert_eq!(bed.subjects(1).0, ["b", "c", "d"]);
    assert_eq!(bed.subjects(3_601).0, ["d"]);
}

#[test]
fn half_a_line_is_skipped_and_reported_and_the_next_record_is_whole() {
    let bed = Bed::new();
    bed.add(0, "before");
    bed.spoil(b"\n{\"version\":1,\"at\":18000");
    let (subjects, skipped) = bed.subjects(0);
    assert_eq!(subjects, ["before"]);
    assert_eq!(skipped, Skipped { unfinished: 1, ..Skipped::default() }, "it may still be being written");
    bed.add(0, "after");
    let (subjects, skipped) = bed.subjects(0);
    assert_eq!(subjects, ["before", "after"]);
    assert_eq!(skipped, Skipped { broken: 1, ..Skipped::default() });
}

#[test]
fn what_others_wrote_into_it_is_told_apart() {
    let bed = Bed::new();
    bed.add(0, "a");
    bed.spoil(b"\n{\"version\":2,\"at\":\"later\"}\n\xff\xfe\n[]\n");
    let endless = vec![b'x'; usize::try_from(LONGEST_LINE).unwrap() * 2 + 10];
    bed.spoil(&endless);
    bed.add(0, "b");
    let (subjects, skipped) = bed.subjects(0);
    assert_eq!(subjects, ["a", "b"]);
    assert_eq!((skipped.newer, skipped.unreadable), (1, 0));
    assert_eq!(skipped.broken, 2 + 3);
}

#[test]
fn reading_goes_on_where_it_stopped() {
    let bed = Bed::new();
    for i in 0..100 {
        bed.add(0, &format!("r{i}"));
    }
    bed.spoil(b"\n{\"half");
    let segment = segments(bed.folder()).pop().unwrap();
    let (mut from, mut seen, mut rounds) = (0, Vec::new(), 0);
    loop {
        let batch = read(&segment, from, 1_000).unwrap();
        assert_eq!(batch, read(&segment, from, 1_000).unwrap(), "the same again");
        if batch.lines.is_empty() {
            break;
        }
        rounds += 1;
        from = batch.next;
        seen.extend(batch.lines.into_iter().map(|placed| match placed.line {
            Line::Record(record) => record.subject.unwrap(),
            other => panic!("{other:?}"),
        }));
    }
    assert_eq!(seen, (0..100).map(|i| format!("r{i}")).collect::<Vec<_>>());
    assert!(rounds > 5, "{rounds}");
    assert!(from < segment.bytes, "the half line waits");
    bed.add(0, "end");
    let rest = read(&segment, from, 1_000).unwrap().lines;
    assert!(matches!(rest.as_slice(), [Placed { line: Line::Broken, .. }, Placed { line: Line::Record(_), .. }]));
}

#[test]
fn old_segments_go_but_never_those_of_now() {
    let bed = Bed::new();
    let hour = 3_600;
    bed.add(-31 * 24 * hour, "too old");
    bed.add(-29 * 24 * hour, "large");
    bed.add(-10 * hour, "kept");
    bed.add(-hour, "before");
    let big = |name: &str, bytes: u64| {
        let file = append::open(&bed.folder().join("spool").join(name)).unwrap();
        file.set_len(bytes).unwrap();
    };
    assert_eq!(bed.names().len(), 3, "the first is gone since the third began");
    big("20261217-08.jsonl", KEPT_BYTES);
    bed.add(0, "now");
    assert_eq!(bed.names(), ["20270114-22", "20270115-07", "20270115-08"]);
    big("20270115-08.jsonl", 2 * KEPT_BYTES);
    big("20270115-07.jsonl", 2 * KEPT_BYTES);
    std::fs::remove_file(bed.folder().join("spool/20270115-08.jsonl")).unwrap();
    bed.add(0, "now");
    assert_eq!(bed.names(), ["20270115-07", "20270115-08"]);
}
