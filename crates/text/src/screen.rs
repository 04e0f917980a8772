//! The last look at what goes to a terminal: our own colours pass, whatever else commands it does not.
//!
//! Words of others are cleaned where they become sentences; this is for all the rest that is shown beside them (titles,
//! branches, paths, names), so that no verb has to remember.

use dandori_domain::plain::commands;

/// What goes to a terminal or a file, line breaks and our colours included.
pub fn screen(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(colour) = own_colour(rest) {
            shown.push_str(colour);
            rest = rest.get(colour.len()..).unwrap_or_default();
            continue;
        }
        if !commands(c) || c == '\n' || c == '\t' {
            shown.push(c);
        } else if c == '\r' && !rest.starts_with("\r\n") {
            shown.push(' ');
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    shown
}

/// What git printed without colours, with the colours it printed the same text in. Whatever else is in there is content, and
/// does not command the terminal: also not by what looks like a colour, which could hide a line.
pub fn coloured_like(plain: &str, coloured: &str) -> String {
    let mut shown = String::with_capacity(coloured.len());
    let (mut rest, mut content) = (coloured, plain);
    while let Some(c) = rest.chars().next() {
        // One that stands in the content, too, is content; git's own comes right behind or before it.
        if let Some(colour) = colour(rest).filter(|colour| !content.starts_with(colour)) {
            shown.push_str(colour);
            rest = rest.get(colour.len()..).unwrap_or_default();
            continue;
        }
        let Some(after) = content.strip_prefix(c) else {
            // Not the same text: better without colours than with others' commands.
            return screen(&dandori_domain::plain::plain(plain));
        };
        if !commands(c) || c == '\n' || c == '\t' {
            shown.push(c);
        }
        (rest, content) = (rest.get(c.len_utf8()..).unwrap_or_default(), after);
    }
    shown
}

/// Any colour, at the beginning of the text.
fn colour(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("\u{1b}[")?;
    let end = inner.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    inner.get(end..)?.starts_with('m').then(|| text.get(..end + 3)).flatten()
}

/// One line of JSON that means the same: JSON itself escapes the lower control characters and leaves the others as they
/// are.
pub fn json_screen(json: &str) -> String {
    use std::fmt::Write;
    json.chars().fold(String::with_capacity(json.len()), |mut shown, c| {
        if commands(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                // Writing to a string does not fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
        shown
    })
}

/// A colour of the few we use, at the beginning of the text. Others could hide what follows.
fn own_colour(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("\u{1b}[")?;
    let end = inner.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let (codes, after) = inner.split_at(end);
    let is_ours = |code: &str| matches!(code, "" | "0" | "1" | "2" | "31" | "32" | "33" | "34" | "35" | "36");
    (after.starts_with('m') && codes.split(';').all(is_ours)).then(|| text.get(..end + 3)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_colours_pass_and_nothing_else_does() {
        let ours = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m a\tb\nc";
        assert_eq!(screen(ours), ours);
        assert_eq!(screen("\u{1b}[8mhidden\u{1b}[2J\u{1b}]0;t\u{7}\u{9d}x\rz"), "[8mhidden[2J]0;tx z");
        assert_eq!(screen("a\r\nb\u{202e}c"), "a\nbc");
    }

    #[test]
    fn gits_colours_pass_and_the_contents_own_do_not() {
        let plain = "@@ -1 +1 @@\n-old\n+\u{1b}[8mhidden\u{1b}[m\u{1b}[2Jx\r\n+\u{1b}[32mgreen\n";
        let coloured = "\u{1b}[36m@@ -1 +1 @@\u{1b}[m\n\u{1b}[31m-old\u{1b}[m\n\
            \u{1b}[32m+\u{1b}[m\u{1b}[32m\u{1b}[8mhidden\u{1b}[m\u{1b}[2Jx\u{1b}[m\u{1b}[41m\r\u{1b}[m\n\
            \u{1b}[32m+\u{1b}[m\u{1b}[32m\u{1b}[32mgreen\u{1b}[m\n";
        let shown = coloured_like(plain, coloured);
        assert_eq!(
            shown,
            "\u{1b}[36m@@ -1 +1 @@\u{1b}[m\n\u{1b}[31m-old\u{1b}[m\n\
            \u{1b}[32m+\u{1b}[m\u{1b}[32m[8mhidden[m[2Jx\u{1b}[m\u{1b}[41m\u{1b}[m\n\
            \u{1b}[32m+\u{1b}[m[32m\u{1b}[32mgreen\u{1b}[m\n"
        );
        assert_eq!(coloured_like("a\u{1b}[8mb\n", "\u{1b}[1mother\n"), "ab\n");
    }

    #[test]
    fn json_says_the_same_without_the_characters_themselves() {
        let text = "a\u{9d}\u{202e}\u{e0001}\"b\u{7f}";
        let json = serde_json::to_string(text).unwrap();
        let shown = json_screen(&json);
        assert!(!shown.chars().any(commands), "{shown:?}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }
}
