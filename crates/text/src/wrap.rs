//! Lines no wider than a terminal, broken at spaces, and between Japanese characters where there are none. What stands in
//! backquotes is a command to copy: it stays in one piece.

use unicode_width::UnicodeWidthChar;

use crate::table::width;

/// What must not stand at the beginning of a line.
const NOT_FIRST: &str = "、。，．）」』】〉》！？・：；ーぁぃぅぇぉっゃゅょァィゥェォッャュョ,.)]!?:;…";
/// What must not stand at the end of one.
const NOT_LAST: &str = "（「『【〈《([";

/// Breaks a text into lines of at most `cells`, colours not counted. A word or a command that is wider than that alone
/// stays whole: whoever copies it gets all of it.
pub fn wrap(text: &str, cells: usize) -> Vec<String> {
    wrap_after(text, 0, cells)
}

/// The same, where `taken` cells of the first line are not free.
pub fn wrap_after(text: &str, taken: usize, cells: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for piece in pieces(text) {
        let room = if lines.is_empty() { cells.saturating_sub(taken) } else { cells };
        let fits = width(line.trim_end()) + gap(&line) + width(piece.trim_end()) <= room;
        if !fits && !line.trim().is_empty() {
            lines.push(line.trim_end().to_owned());
            line.clear();
        }
        line.push_str(if line.is_empty() { piece.trim_start() } else { &piece });
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// A backquote that is never closed is an ordinary character.
fn closed_later(rest: &str) -> bool {
    rest.contains('`')
}

/// The space between what is there and what comes.
fn gap(line: &str) -> usize {
    width(line) - width(line.trim_end())
}

/// The smallest parts a text may be broken into, with the spaces behind them.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut last: Option<char> = None;
    let mut quoted = false;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let wide = |c: char| c.width().unwrap_or(0) > 1;
        let may_break = match last {
            None => true,
            _ if quoted => false,
            Some(before) if before.is_whitespace() => !c.is_whitespace(),
            Some(before) => {
                (wide(before) || wide(c)) && !c.is_whitespace() && !NOT_FIRST.contains(c) && !NOT_LAST.contains(before)
            }
        };
        match pieces.last_mut() {
            Some(piece) if !may_break => piece.push(c),
            _ => pieces.push(c.to_string()),
        }
        if c == '`' {
            quoted = !quoted && closed_later(rest.as_str());
        }
        last = Some(c);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_breaks_at_words() {
        assert_eq!(wrap("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrap("short", 80), ["short"]);
        assert_eq!(wrap("see /a/very/long/path now", 8), ["see", "/a/very/long/path", "now"]);
    }

    #[test]
    fn a_command_stays_in_one_piece() {
        assert_eq!(wrap("try `dandori task retry T-3` now", 16), ["try", "`dandori task retry T-3`", "now"]);
        assert_eq!(wrap("再試行は `dandori task retry T-3` です", 30), ["再試行は", "`dandori task retry T-3` です"]);
        // One that was never closed is an ordinary character.
        assert_eq!(wrap("a ` b c", 3), ["a `", "b c"]);
    }

    #[test]
    fn colours_take_no_room() {
        assert_eq!(wrap("\u{1b}[31mred\u{1b}[0m one", 7), ["\u{1b}[31mred\u{1b}[0m one"]);
    }

    #[test]
    fn japanese_breaks_anywhere_but_before_a_full_stop_and_inside_words() {
        assert_eq!(wrap("日本語の文です。次の文。", 8), ["日本語の", "文です。", "次の文。"]);
        assert_eq!(wrap("差分は dandori が作る", 10), ["差分は", "dandori が", "作る"]);
        assert!(wrap("あいうえお。", 10).iter().all(|l| !l.starts_with('。')));
    }
}
