//! Lines no wider than a terminal, broken at spaces, and between Japanese characters where there are none.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What must not stand at the beginning of a line.
const NOT_FIRST: &str = "、。，．）」』】〉》！？・：；ーぁぃぅぇぉっゃゅょァィゥェォッャュョ,.)]!?:;…";
/// What must not stand at the end of one.
const NOT_LAST: &str = "（「『【〈《([";

/// Breaks a text into lines of at most `cells`. A word that is wider than that alone (a path) stays whole.
pub fn wrap(text: &str, cells: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for piece in pieces(text) {
        let fits = line.trim_end().width() + gap(&line) + piece.trim_end().width() <= cells;
        if !fits && !line.trim().is_empty() {
            lines.push(line.trim_end().to_owned());
            line.clear();
        }
        line.push_str(if line.is_empty() { piece.trim_start() } else { &piece });
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// The space between what is there and what comes.
fn gap(line: &str) -> usize {
    line.width() - line.trim_end().width()
}

/// The smallest parts a text may be broken into, with the spaces behind them.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut last: Option<char> = None;
    for c in text.chars() {
        let wide = |c: char| c.width().unwrap_or(0) > 1;
        let may_break = match last {
            None => true,
            Some(before) if before.is_whitespace() => !c.is_whitespace(),
            Some(before) => {
                (wide(before) || wide(c)) && !c.is_whitespace() && !NOT_FIRST.contains(c) && !NOT_LAST.contains(before)
            }
        };
        match pieces.last_mut() {
            Some(piece) if !may_break => piece.push(c),
            _ => pieces.push(c.to_string()),
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
    fn japanese_breaks_anywhere_but_before_a_full_stop_and_inside_words() {
        assert_eq!(wrap("日本語の文です。次の文。", 8), ["日本語の", "文です。", "次の文。"]);
        assert_eq!(wrap("差分は dandori が作る", 10), ["差分は", "dandori が", "作る"]);
        assert!(wrap("あいうえお。", 10).iter().all(|l| !l.starts_with('。')));
    }
}
