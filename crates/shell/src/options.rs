//! Options of programs, as getopt reads them.

use crate::reading::Word;

/// Which options take a value, and whether operands end the options.
#[derive(Clone, Copy, Default)]
pub(crate) struct Spec<'s> {
    /// Letters that take a value.
    pub(crate) short: &'s str,
    /// Long names that take a value as the next word.
    pub(crate) long: &'s [&'s str],
    /// The first operand ends the options: wrappers.
    pub(crate) stops: bool,
}

/// Options and operands, each in the order they stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    /// `("i", None)`, `("o", Some(file))`, `("output", Some(file))`.
    pub flags: Vec<(String, Option<Word>)>,
    pub operands: Vec<Word>,
    /// How many operands stand before `--`.
    pub dashes: Option<usize>,
}

impl Parsed {
    pub fn has(&self, names: &[&str]) -> bool {
        self.flags.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    pub fn value(&self, names: &[&str]) -> Option<&Word> {
        self.flags.iter().rev().find(|(name, value)| names.contains(&name.as_str()) && value.is_some())?.1.as_ref()
    }

    pub fn values<'p>(&'p self, names: &'p [&str]) -> impl Iterator<Item = &'p Word> {
        self.flags.iter().filter(|(name, _)| names.contains(&name.as_str())).filter_map(|(_, value)| value.as_ref())
    }
}

pub(crate) fn parse(args: &[Word], spec: Spec<'_>) -> Parsed {
    let mut parsed = Parsed::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let text = arg.text.as_str();
        let part = |value: &str| Word { text: value.to_owned(), certainty: arg.certainty };
        if text == "--" {
            parsed.dashes = Some(parsed.operands.len());
            break;
        } else if let Some(long) = text.strip_prefix("--") {
            match long.split_once('=') {
                Some((name, value)) => parsed.flags.push((name.to_owned(), Some(part(value)))),
                None if spec.long.contains(&long) => parsed.flags.push((long.to_owned(), args.next().cloned())),
                None => parsed.flags.push((long.to_owned(), None)),
            }
        } else if text.len() > 1 && text.starts_with('-') {
            let letters = text.get(1..).unwrap_or_default();
            for (at, letter) in letters.char_indices() {
                let rest = letters.get(at + letter.len_utf8()..).unwrap_or_default();
                if spec.short.contains(letter) {
                    let value = if rest.is_empty() { args.next().cloned() } else { Some(part(rest)) };
                    parsed.flags.push((letter.to_string(), value));
                    break;
                }
                // `-d=false`, as some read it.
                if let Some(value) = rest.strip_prefix('=') {
                    parsed.flags.push((letter.to_string(), Some(part(value))));
                    break;
                }
                parsed.flags.push((letter.to_string(), None));
            }
        } else {
            parsed.operands.push(arg.clone());
            if spec.stops {
                break;
            }
        }
    }
    parsed.operands.extend(args.cloned());
    parsed
}
