//! What is delivered: 10 bytes to 64 KB, with everything at its beginning and its end that a terminal or a client would take for
//! something else.

use dandori_domain::{Epoch, MessageId, PromptTag};
use sha2::{Digest, Sha256};

/// A small generator: the same prompts for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % end
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

pub(crate) struct Prompt {
    pub(crate) message: MessageId,
    pub(crate) text: String,
}

impl Prompt {
    pub(crate) fn tag(&self, epoch: i64) -> PromptTag {
        PromptTag { message: self.message, epoch: Epoch(epoch) }
    }

    pub(crate) fn digest(&self) -> String {
        format!("{:x}", Sha256::digest(&self.text))
    }
}

const BEGINNINGS: &[&str] =
    &["!ls ", "/clear ", "@src/main.rs ", "#", "\n\n", "\u{1b}[201~", "\u{3}", "指示: ", "", " "];
const PIECES: &[&str] =
    &["fix the bug\n", "日本語の説明。", "\u{1b}]2;title\u{1b}\\", "\r\n", "\t", "`code`", "\u{15}\u{4}", "🦀"];
const ENDS: &[&str] = &["\\", " @word", "!", "\r", "\n", "", "\u{1b}"];

pub(crate) fn prompts(seed: u64, count: usize) -> Vec<Prompt> {
    let mut dice = Dice::new(seed);
    let prompt = |number: usize| {
        let length = match dice.below(10) {
            0 => 64 * 1024,
            1 => 10,
            _ => 10 + dice.below(4_000),
        };
        let mut text = dice.one_of(BEGINNINGS).to_owned();
        while text.len() < length {
            text.push_str(dice.one_of(PIECES));
        }
        text.push_str(dice.one_of(ENDS));
        let random = u128::try_from(number + 1).unwrap() << 64;
        Prompt { message: MessageId::mint(dandori_host::now(), random), text }
    };
    (0..count).map(prompt).collect()
}
