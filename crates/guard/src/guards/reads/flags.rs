//! Options of a command, told from the values of other options: in `grep -e -c` and `grep -ec` nothing is counted.

use dandori_shell::Word;

/// Which options of a program take a value.
#[derive(Clone, Copy)]
pub(super) struct Valued {
    pub(super) letters: &'static str,
    pub(super) long: &'static [&'static str],
}

/// The options before `--`, in their order, each with its value.
pub(super) struct Flags<'w>(Vec<(&'w str, Option<&'w str>)>);

impl<'w> Flags<'w> {
    pub(super) fn read(args: &'w [Word], valued: Valued) -> Self {
        let mut found = Vec::new();
        let mut words = args.iter().map(|word| word.text.as_str());
        while let Some(text) = words.next() {
            if text == "--" {
                break;
            }
            if let Some(long) = text.strip_prefix("--") {
                let (given, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                // A name may be cut short; taking one value too many finds one option too few, which is the safe side.
                match valued.long.iter().find(|name| name.starts_with(given)) {
                    Some(name) => found.push((*name, value.or_else(|| words.next()))),
                    None => found.push((given, value)),
                }
            } else if let Some(bundle) = text.strip_prefix('-')
                && let Some(letter) = bundled(bundle, valued.letters, &mut found)
            {
                found.push((letter, words.next()));
            }
        }
        Self(found)
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.0.iter().any(|(name, _)| names.contains(name))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'w str, Option<&'w str>)> {
        self.0.iter().copied()
    }

    pub(super) fn values(&self, names: &[&str]) -> Vec<&'w str> {
        self.0.iter().filter(|(name, _)| names.contains(name)).filter_map(|(_, value)| *value).collect()
    }
}

/// The letters of one word; the last of them when its value is the next word. A number is one option: `-20`.
fn bundled<'w>(bundle: &'w str, valued: &str, found: &mut Vec<(&'w str, Option<&'w str>)>) -> Option<&'w str> {
    let mut rest = bundle;
    while let Some(first) = rest.chars().next() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (name, after) = rest.split_at(if digits > 0 { digits } else { first.len_utf8() });
        if valued.contains(name) {
            if after.is_empty() {
                return Some(name);
            }
            found.push((name, Some(after)));
            return None;
        }
        found.push((name, None));
        rest = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Vec<(String, Option<String>)> {
        let words: Vec<Word> = line.split(' ').map(Word::literal).collect();
        let flags = Flags::read(&words, Valued { letters: "en", long: &["regexp"] });
        flags.iter().map(|(name, value)| (name.to_owned(), value.map(str::to_owned))).collect()
    }

    #[test]
    fn a_value_is_no_option_however_it_is_written() {
        for (line, want) in [
            ("-ec x", &[("e", Some("c"))][..]),
            ("-e -c x", &[("e", Some("-c"))]),
            ("-ce -q", &[("c", None), ("e", Some("-q"))]),
            ("--regexp -c", &[("regexp", Some("-c"))]),
            ("--reg -c", &[("regexp", Some("-c"))]),
            ("--regexp=-c -q", &[("regexp", Some("-c")), ("q", None)]),
            ("-qn0 -20 -c5", &[("q", None), ("n", Some("0")), ("20", None), ("c", None), ("5", None)]),
            ("-q -- -c", &[("q", None)]),
            ("- x -e", &[("e", None)]),
            ("--color=always", &[("color", Some("always"))]),
        ] {
            let want: Vec<_> =
                want.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned))).collect();
            assert_eq!(read(line), want, "{line}");
        }
    }
}
