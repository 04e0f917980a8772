//! The one short line by which a prompt is handed to a client in a terminal: ` [dandori msg_… epoch:3] Read /path/prompt.md
//! and do what it says. [dandori end 1a2b3c4d] `.
//!
//! The prompt itself lies in a file, so nothing in it can be taken for a key, a command or the end of a line. The line begins
//! and ends with a blank: clients treat a leading `!`, `/` or `#` as a command, a trailing `@word` as a file name to be
//! completed and a trailing `\` as a line break. The check sum shows whether a prompt that a client submits is this line and
//! nothing else, or one that was damaged or glued to other words on the way.

use std::fmt;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use crate::{Epoch, MessageId};

const BEGIN: &str = "[dandori ";
const EPOCH: &str = " epoch:";
const END: &str = "[dandori end ";
const SUM_CHARS: usize = 8;

/// Which message a prompt is, and under which epoch it was delivered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct PromptTag {
    pub message: MessageId,
    pub epoch: Epoch,
}

impl fmt::Display for PromptTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{EPOCH}{}", self.message, self.epoch.0)
    }
}

impl PromptTag {
    /// A plain name for a file.
    pub fn file_name(&self) -> String {
        format!("{}-{}", self.message, self.epoch.0)
    }

    /// `msg_… epoch:3`
    fn read(text: &str) -> Option<Self> {
        let (message, epoch) = text.split_once(EPOCH)?;
        // No sign, no leading zeros: one tag is written in one way.
        let number: i64 = epoch.parse().ok()?;
        let tag = Self { message: message.parse().ok()?, epoch: Epoch(number) };
        (number >= 0 && number.to_string() == epoch).then_some(tag)
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the path {path:?} cannot be typed: it has control characters")]
pub struct UntypablePath {
    path: String,
}

/// What is typed for the prompt in this file.
pub fn prompt_line(tag: PromptTag, file: &Utf8Path) -> Result<String, UntypablePath> {
    if file.as_str().chars().any(char::is_control) {
        return Err(UntypablePath { path: file.to_string() });
    }
    let words = format!("{BEGIN}{tag}] Read {file} and do what it says.");
    Ok(format!(" {words} {END}{}] ", check_sum(&words)))
}

/// What a submitted prompt is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Submitted {
    /// Nothing of ours: a person's words.
    Other,
    /// Exactly a line of ours.
    Ours(PromptTag),
    /// A line of ours, or a part of one, with something missing, changed or added.
    Damaged,
}

impl Submitted {
    pub fn read(prompt: &str) -> Self {
        let prompt = prompt.trim();
        match whole(prompt) {
            Some(tag) => Self::Ours(tag),
            None if has_a_part(prompt) => Self::Damaged,
            None => Self::Other,
        }
    }
}

fn whole(prompt: &str) -> Option<PromptTag> {
    let (words, end) = prompt.rsplit_once(END)?;
    let words = words.strip_suffix(' ')?;
    if end.strip_suffix(']')? != check_sum(words) || words.contains(END) {
        return None;
    }
    PromptTag::read(words.strip_prefix(BEGIN)?.split_once(']')?.0)
}

/// Either end of a line tells: what damages one seldom damages both.
fn has_a_part(prompt: &str) -> bool {
    let begins = prompt.match_indices(BEGIN).any(|(at, sign)| {
        let rest = prompt.get(at + sign.len()..).unwrap_or_default();
        rest.strip_prefix(MessageId::PREFIX).is_some_and(|rest| rest.starts_with('_'))
    });
    let ends = prompt.match_indices(END).any(|(at, sign)| {
        let rest = prompt.get(at + sign.len()..).unwrap_or_default();
        rest.bytes().take_while(u8::is_ascii_hexdigit).count() == SUM_CHARS
    });
    begins || ends
}

/// FNV-1a, folded to 32 bits: against accidents, not against anybody's intent.
fn check_sum(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    format!("{:08x}", (hash ^ (hash >> 32)) & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    fn tag() -> PromptTag {
        PromptTag { message: MessageId::mint(Timestamp::UNIX_EPOCH, 7), epoch: Epoch(3) }
    }

    fn line() -> String {
        prompt_line(tag(), Utf8Path::new("/state/指示/prompt 1.md")).unwrap()
    }

    #[test]
    fn a_line_is_read_back_with_or_without_the_blanks_around_it() {
        let line = line();
        assert!(line.starts_with(" [dandori msg_") && line.ends_with("] ") && !line.contains('\n'), "{line}");
        assert_eq!(Submitted::read(&line), Submitted::Ours(tag()));
        assert_eq!(Submitted::read(line.trim()), Submitted::Ours(tag()));
        assert_eq!(Submitted::read(&format!("{line}\n")), Submitted::Ours(tag()));
        assert!(prompt_line(tag(), Utf8Path::new("/a\nb")).is_err());
    }

    #[test]
    fn no_character_can_be_lost_changed_or_added_in_it() {
        let line = line();
        let line = line.trim();
        for (at, c) in line.char_indices() {
            let (before, after) = (&line[..at], &line[at + c.len_utf8()..]);
            for damaged in [format!("{before}{after}"), format!("{before}~{after}"), format!("{before}{c}~{after}")] {
                assert_eq!(Submitted::read(&damaged), Submitted::Damaged, "{damaged}");
            }
        }
    }

    #[test]
    fn one_that_is_glued_to_other_words_or_to_another_line_is_damaged() {
        let line = line();
        for glued in
            [format!("fix this{line}"), format!("{line}and this"), format!("{line}{line}"), "[dandori msg_".into()]
        {
            assert_eq!(Submitted::read(&glued), Submitted::Damaged, "{glued}");
        }
    }

    #[test]
    fn a_person_may_write_about_messages_and_guards() {
        let about = format!("why did {} fail? It said [dandori bash] no, and [dandori end of file]", tag().message);
        assert_eq!(Submitted::read(&about), Submitted::Other);
        assert_eq!(Submitted::read(""), Submitted::Other);
    }
}
