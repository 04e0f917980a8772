//! Lines no wider than a terminal, broken at spaces, and between Japanese words where there are none. What stands in
//! backquotes is a command to copy: it stays in one piece.

use unicode_width::UnicodeWidthChar;

use crate::table::width;

/// What must not stand at the beginning of a line.
const NOT_FIRST: &str = "、。，．）」』】〉》！？・：；ーぁぃぅぇぉっゃゅょァィゥェォッャュョ,.)]!?:;…";
/// What must not stand at the end of one.
const NOT_LAST: &str = "（「『【〈《([未";

/// Breaks a text into lines of at most `cells`, colours not counted. A word or a command that is wider than that alone
/// stays whole: whoever copies it gets all of it.
pub fn wrap(text: &str, cells: usize) -> Vec<String> {
    wrap_after(text, 0, cells)
}

/// The same, where `taken` cells of the first line are not free.
pub fn wrap_after(text: &str, taken: usize, cells: usize) -> Vec<String> {
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut line: Vec<String> = Vec::new();
    let mut used = 0;
    for piece in pieces(text) {
        let room = if lines.is_empty() { cells.saturating_sub(taken) } else { cells };
        if used > 0 && used + width(piece.trim_end()) > room {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        let piece = if used == 0 { piece.trim_start().to_owned() } else { piece };
        used += width(&piece);
        line.push(piece);
    }
    lines.push(line);
    keep_company(&mut lines);
    lines.iter().map(|line| line.concat().trim_end().replace('\u{a0}', " ")).collect()
}

/// A last row of a character or two is read as a mistake: Japanese can be broken a little earlier.
fn keep_company(lines: &mut [Vec<String>]) {
    let [.., before, last] = lines else { return };
    let cells = |line: &[String]| width(line.concat().trim_end());
    // Colours are pieces of no width.
    let is_wide = |piece: &String| width(piece) == 0 || piece.chars().next().is_some_and(|c| c.width() == Some(2));
    if cells(last) > LONELY || !last.iter().all(is_wide) {
        return;
    }
    while cells(last) < COMPANY && before.len() > 2 && before.last().is_some_and(is_wide) {
        last.splice(0..0, before.pop());
    }
}

/// A row of so few cells is lonely; so many are company.
const LONELY: usize = 4;
const COMPANY: usize = 8;

/// A backquote that is never closed is an ordinary character.
fn closed_later(rest: &str) -> bool {
    rest.contains('`')
}

/// Two characters of one Japanese word, as far as the characters tell: katakana, kanji, and the kana that a kanji ends in.
fn is_one_word(before: char, c: char) -> bool {
    let is_katakana = |c: char| ('\u{30a0}'..='\u{30ff}').contains(&c) && c != '・';
    let is_kanji = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c) || c == '々';
    let is_hiragana = |c: char| ('\u{3041}'..='\u{309f}').contains(&c);
    is_katakana(before) && is_katakana(c) || is_kanji(before) && (is_kanji(c) || is_hiragana(c))
}

/// Where a line may be broken; a number and its unit are kept together by a space that does not break (U+00A0).
fn is_space(c: char) -> bool {
    c.is_whitespace() && c != '\u{a0}'
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
            Some('\u{a0}') => false,
            Some(before) if is_space(before) => !is_space(c),
            Some(before) => {
                let is_between = (wide(before) || wide(c)) && !is_one_word(before, c);
                is_between && !is_space(c) && !NOT_FIRST.contains(c) && !NOT_LAST.contains(before)
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
        assert_eq!(wrap("it takes 8.7\u{a0}MiB", 14), ["it takes", "8.7 MiB"]);
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
        assert_eq!(wrap("それをプッシュしました", 12), ["それを", "プッシュし", "ました"]);
        assert_eq!(wrap("すぐに確認できます", 8), ["すぐに", "確認でき", "ます"]);
        assert_eq!(wrap("日本語の文です。次の文。", 8), ["日本語の", "文です。", "次の文。"]);
        assert_eq!(wrap("差分は dandori が作る", 10), ["差分は", "dandori が", "作る"]);
        assert_eq!(wrap("費用 12.3k\u{a0}トークン", 14), ["費用", "12.3k トークン"]);
        // No single character at the end.
        assert_eq!(wrap("ファイルの編集だけを行います", 26), ["ファイルの編集だけを", "行います"]);
        assert!(wrap("あいうえお。", 10).iter().all(|l| !l.starts_with('。')));
    }
}
