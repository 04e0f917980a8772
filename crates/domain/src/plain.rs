//! Text that commands nothing: the one rule for words that are not ours, before they reach a terminal, a commit or a
//! pull request.
//!
//! They come from instructions, agents, file names, other people's servers. A control character among them can move the
//! cursor, retitle a window or answer in the user's name (the C1 forms do it without an escape), and a direction
//! override makes a line read otherwise than it runs. Colours and movements go whole, the rest character by character.

use std::borrow::Cow;

/// As it is, line by line, without what would command whoever shows it.
pub fn plain(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // A colour or a movement, up to its letter. What else begins with an escape loses only the escape.
            '\u{1b}' if chars.peek() == Some(&'[') => {
                chars.next();
                end_sequence(&mut chars);
            }
            '\u{9b}' => end_sequence(&mut chars),
            // The end of a line of another system; alone it would write over what stands there.
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    clean.push(' ');
                }
            }
            '\n' | '\t' => clean.push(c),
            c if commands(c) => {}
            c => clean.push(c),
        }
    }
    clean
}

/// The same in one line.
pub fn plain_line(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A file's name in one line: as it is, or in quotation marks with what it commands written out, as git does.
pub fn plain_path(path: &str) -> Cow<'_, str> {
    if !path.chars().any(commands) {
        return Cow::Borrowed(path);
    }
    let written = path.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if commands(c) => c.escape_default().to_string(),
        c => c.to_string(),
    });
    Cow::Owned(format!("\"{}\"", written.collect::<String>()))
}

/// Whether a character does something to whoever shows it instead of being shown.
pub fn commands(c: char) -> bool {
    // Beside the control characters: line and paragraph separators, marks and overrides of the direction, and those
    // invisible ones that only a text's author can have meant.
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{feff}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The first character that no argument of a program and no commit can hold, and the line it stands in.
pub fn unusable(text: &str) -> Option<(char, usize)> {
    let at = text.find('\0')?;
    let before = text.get(..at).unwrap_or_default();
    Some(('\0', before.matches('\n').count() + 1))
}

/// The same for what is one line by its nature, a name or a place: there no control character means anything.
pub fn unusable_in_line(text: &str) -> Option<(char, usize)> {
    text.chars().find(|c| c.is_control()).map(|c| (c, 1))
}

fn end_sequence(chars: &mut impl Iterator<Item = char>) {
    for c in chars {
        if ('@'..='~').contains(&c) {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_s_name_is_one_line_whatever_it_is() {
        for (path, shown) in [
            ("src/a b.rs", "src/a b.rs"),
            ("日本 \"語\".txt", "日本 \"語\".txt"),
            ("a\nb", r#""a\nb""#),
            ("say \"hi\"\t\\", r#""say \"hi\"\t\\""#),
            ("\u{1b}[31mred", r#""\u{1b}[31mred""#),
            ("txt.\u{202e}gpj", r#""txt.\u{202e}gpj""#),
        ] {
            assert_eq!(plain_path(path), shown);
        }
    }

    #[test]
    fn words_stay_and_commands_go() {
        for (text, clean) in [
            ("plain, 日本語 and émoji 🦀", "plain, 日本語 and émoji 🦀"),
            ("two\n\tlines", "two\n\tlines"),
            ("a\r\nb", "a\nb"),
            ("shown\rhidden", "shown hidden"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]0;title\u{7}x", "]0;titlex"),
            ("\u{9d}0;title\u{9c}x", "0;titlex"),
            ("a\u{8}b\u{7f}c\0d", "abcd"),
            ("if \u{202e}x\u{2066}y", "if xy"),
        ] {
            assert_eq!(plain(text), clean, "{text:?}");
        }
        assert_eq!(plain_line(" a\r\nb\t c \u{2028}"), "a b c");
    }

    #[test]
    fn what_cannot_be_passed_on_is_found_with_its_line() {
        assert_eq!(unusable("one\ntwo\0"), Some(('\0', 2)));
        assert_eq!(unusable("one\u{1b}[31m\r\n"), None);
        assert_eq!(unusable_in_line("ma\u{1b}in"), Some(('\u{1b}', 1)));
        assert_eq!(unusable_in_line("feature/日本"), None);
    }
}
