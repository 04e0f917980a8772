//! What the hook of a client has recorded: about a message, and what the client did last.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::PromptTag;
use dandori_formation::typing::{Answer, LastEvent};
use dandori_journal::spool::{self, Line};
use dandori_journal::{Record, RecordedVerdict};
use jiff::{SignedDuration, Timestamp};

/// The name under which the hook refuses messages, see `dandori_hook`.
const DELIVERY: &str = "delivery";
/// A client may have been waiting for long; what it did last is looked for in this time.
const BEFORE: SignedDuration = SignedDuration::from_hours(1);
const PIECE: u64 = 256 * 1024;

pub(super) struct Events {
    folder: Utf8PathBuf,
    tag: PromptTag,
    since: Timestamp,
    /// How far each segment was read.
    read: BTreeMap<String, u64>,
    pub(super) last: Option<LastEvent>,
    pub(super) answer: Option<Answer>,
    pub(super) damaged: u32,
    /// A new conversation has begun, and nobody has said anything in it yet.
    pub(super) is_fresh: bool,
}

impl Events {
    pub(super) fn of(folder: &Utf8Path, tag: PromptTag, since: Timestamp) -> Self {
        let folder = folder.to_owned();
        Self { folder, tag, since, read: BTreeMap::new(), last: None, answer: None, damaged: 0, is_fresh: false }
    }

    pub(super) fn is_accepted(&self) -> bool {
        self.answer == Some(Answer::Accepted)
    }

    /// Takes in what is new. What cannot be read now is read the next time.
    pub(super) fn read(&mut self) {
        let first = spool::segment_of(self.since.checked_sub(BEFORE).unwrap_or(self.since));
        for segment in spool::segments(&self.folder).into_iter().filter(|segment| segment.name >= first) {
            let mut from = self.read.get(&segment.name).copied().unwrap_or(0);
            while from < segment.bytes {
                let Ok(batch) = spool::read(&segment, from, PIECE) else { break };
                if batch.next == from {
                    break;
                }
                from = batch.next;
                for placed in batch.lines {
                    if let Line::Record(record) = placed.line {
                        self.take_in(&record);
                    }
                }
            }
            self.read.insert(segment.name, from);
        }
    }

    fn take_in(&mut self, record: &Record) {
        let is_refused = record.verdict == RecordedVerdict::Block;
        self.last = Some(match record.event.as_str() {
            "session-start" => LastEvent::Start,
            "pre-tool" => LastEvent::BeforeTool,
            "prompt" if is_refused => LastEvent::Other,
            "prompt" | "post-tool" | "subagent-start" | "subagent-stop" | "pre-compact" => {
                LastEvent::Turn { at: Timestamp::from_millisecond(record.at).unwrap_or(self.since) }
            }
            _ => LastEvent::Other,
        });
        if record.event == "session-start" {
            self.is_fresh |= matches!(record.subject.as_deref(), Some("startup" | "clear"));
        }
        if record.event != "prompt" {
            return;
        }
        self.is_fresh &= is_refused;
        let by_delivery = record.by.as_deref() == Some(DELIVERY);
        match record.tag {
            // What came before does not matter: another may have been taken back.
            None if is_refused && by_delivery && record.at >= self.since.as_millisecond() => self.damaged += 1,
            Some(tag) if tag == self.tag && !is_refused => self.answer = Some(Answer::Accepted),
            Some(tag) if tag == self.tag && !self.is_accepted() => {
                let guard = record.by.clone().unwrap_or_default();
                self.answer = Some(Answer::Refused { guard });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dandori_domain::{Epoch, MessageId};

    fn tag(epoch: i64) -> PromptTag {
        PromptTag { message: MessageId::mint(Timestamp::UNIX_EPOCH, 1), epoch: Epoch(epoch) }
    }

    fn record(event: &str, tag: Option<PromptTag>, by: Option<&str>) -> Record {
        let now = dandori_host::now();
        Record {
            version: 1,
            at: now.as_millisecond(),
            agent: "claude".to_owned(),
            session: None,
            prompt_id: None,
            prompt_hash: None,
            tag,
            event: event.to_owned(),
            tool: None,
            subject: None,
            verdict: if by.is_some() { RecordedVerdict::Block } else { RecordedVerdict::Go },
            by: by.map(str::to_owned),
            steps: Vec::new(),
            micros: 0,
            oddities: Vec::new(),
            action: None,
        }
    }

    #[test]
    fn only_the_event_that_names_message_and_epoch_counts() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(dir.path()).unwrap();
        let add = |record: &Record| spool::append(folder, record).unwrap();
        let mut events = Events::of(folder, tag(2), dandori_host::now() - SignedDuration::from_secs(1));
        events.read();
        assert_eq!((events.last, &events.answer), (None, &None));
        add(&record("prompt", None, None));
        add(&record("prompt", Some(tag(1)), None));
        add(&record("prompt", None, Some(DELIVERY)));
        add(&record("pre-tool", None, None));
        events.read();
        assert_eq!((events.last, &events.answer, events.damaged), (Some(LastEvent::BeforeTool), &None, 1));
        add(&record("prompt", Some(tag(2)), Some("rule")));
        events.read();
        assert_eq!(events.answer, Some(Answer::Refused { guard: "rule".to_owned() }));
        add(&record("prompt", Some(tag(2)), None));
        add(&record("prompt", Some(tag(2)), Some(DELIVERY)));
        events.read();
        assert_eq!((events.last, &events.answer), (Some(LastEvent::Other), &Some(Answer::Accepted)));
        add(&record("prompt", Some(tag(3)), None));
        events.read();
        assert!(matches!(events.last, Some(LastEvent::Turn { .. })));
    }

    #[test]
    fn a_conversation_is_fresh_until_somebody_says_something_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(dir.path()).unwrap();
        let start = |subject: &str| Record { subject: Some(subject.to_owned()), ..record("session-start", None, None) };
        let mut events = Events::of(folder, tag(1), dandori_host::now());
        for (record, want) in [
            (start("resume"), false),
            (start("startup"), true),
            (record("prompt", None, Some("rule")), true),
            (record("prompt", None, None), false),
            (start("clear"), true),
        ] {
            spool::append(folder, &record).unwrap();
            events.read();
            assert_eq!(events.is_fresh, want, "{record:?}");
        }
    }
}
