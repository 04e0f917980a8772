//! Ways to make something else out of a text or of bytes.

pub(crate) mod json;
pub(crate) mod lines;

use crate::random::Random;

/// Texts that were trouble for somebody before.
pub(crate) const ODD: &[&str] = &[
    "",
    " ",
    "\0",
    "\n",
    "\r\n",
    "\t",
    "\u{feff}",
    "\u{202e}",
    "\u{200b}",
    "é",
    "日本語",
    "𝒳",
    "e\u{301}",
    "\u{85}",
    "'",
    "\"",
    "\\",
    "`",
    "$",
    "${",
    "$(",
    "$((",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    ";",
    "&",
    "|",
    "#",
    "~",
    "*",
    "?",
    "!",
    "=",
    ":",
    ",",
    "/",
    "..",
    "../",
    "-",
    "--",
    "%",
    "null",
    "true",
    "-1",
    "1e400",
    "99999999999999999999",
    "\\u0000",
    "\\ud800",
    "\\",
    "\u{1b}[2J",
    "---",
    "```",
    "*** ",
    "@@",
    "<<E\n",
    "- ",
    "## ",
];

/// Some mutations of bytes, at random.
pub(crate) fn bytes(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(input.len() + 1);
        match random.below(9) {
            0 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            1 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = random.byte();
                }
            }
            2 => drop(input.splice(at..at, [random.byte()])),
            3 => {
                let end = (at + 1 + random.below(16)).min(input.len());
                drop(input.drain(at.min(end)..end));
            }
            4 => {
                let end = (at + 1 + random.below(64)).min(input.len());
                let part = input.get(at..end).unwrap_or_default().to_vec();
                let again = 1 + random.below(8);
                drop(input.splice(at..at, part.repeat(again)));
            }
            5 => drop(input.splice(at..at, random.word(ODD).bytes())),
            6 => {
                let from = random.below(other.len() + 1);
                let to = (from + random.below(64)).min(other.len());
                drop(input.splice(at..at, other.get(from..to).unwrap_or_default().iter().copied()));
            }
            7 => input.truncate(at),
            // Bytes that are no text, and half characters.
            _ => drop(
                input.splice(at..at, [[0xff, 0xc3, 0xe3, 0xf0, 0x80].get(random.below(5)).copied().unwrap_or(0xff)]),
            ),
        }
    }
}

/// A text whose mutations are mostly still text.
pub(crate) fn text(text: &str, other: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(4) {
        let at = random.below(chars.len() + 1);
        let end = (at + random.below(12)).min(chars.len());
        match random.below(6) {
            0 => drop(chars.drain(at.min(end)..end)),
            1 => drop(chars.splice(at..at, random.word(ODD).chars())),
            2 => drop(chars.splice(at.min(end)..end, random.word(ODD).chars())),
            3 => {
                let from = random.below(other.chars().count() + 1);
                let part: Vec<char> = other.chars().skip(from).take(random.below(60)).collect();
                drop(chars.splice(at..at, part));
            }
            4 => {
                let part: Vec<char> = chars.get(at..end).unwrap_or_default().to_vec();
                drop(chars.splice(at..at, part.repeat(1 + random.below(6))));
            }
            _ => {
                if let Some(c) = chars.get_mut(at) {
                    *c = if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
                }
            }
        }
    }
    chars.into_iter().collect()
}

/// Whole lines moved about: what a document is made of.
pub(crate) fn shuffled_lines(text: &str, other: &str, random: &mut Random) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let theirs: Vec<&str> = other.split_inclusive('\n').collect();
    for _ in 0..=random.below(5) {
        let at = random.below(lines.len() + 1);
        match random.below(5) {
            0 if at < lines.len() => drop(lines.remove(at)),
            1 => {
                if let Some(line) = lines.get(at).copied() {
                    lines.insert(at, line);
                }
            }
            2 => lines.insert(at, random.pick(&theirs).copied().unwrap_or("\n")),
            3 => {
                let with = random.below(lines.len().max(1));
                if at < lines.len() && with < lines.len() {
                    lines.swap(at, with);
                }
            }
            _ => lines.insert(at, "\n"),
        }
    }
    lines.concat()
}

/// How long a text is made when it is made long.
pub(crate) fn long(random: &mut Random) -> usize {
    match random.below(20) {
        0 => 1 << 20,
        1..4 => 200_000,
        4..8 => 66_000,
        _ => 1 + random.below(20_000),
    }
}
