//! Columns that line up, also when half the characters are two cells wide, and that fit the screen.
//!
//! What is too wide for a screen gives way in this order: the columns that may shrink (the last one first), down to what is still
//! worth reading; then whole columns, those with the highest [`Table::rank`] first. Ids, numbers and states are never cut: a column
//! that is not said to shrink is shown whole or not at all. If even that does not fit, the last column goes on lines of its own.

use std::fmt;

use unicode_width::UnicodeWidthStr;

use crate::wrap::wrap;

#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// How soon a column is left out; 0 is never.
    ranks: Vec<u8>,
    /// Columns besides the last that may be cut, and to how many cells at least.
    shrinking: Vec<(usize, usize)>,
    wraps: bool,
    is_whole: bool,
    is_title: bool,
}

impl Table {
    pub fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        let mut table = Self::default();
        table.row(head);
        table
    }

    /// How soon each column is left out when the screen is narrow: 0 never, then the highest first. Without: never the first and
    /// the last, of the others the later the sooner.
    #[must_use]
    pub fn rank(mut self, ranks: impl IntoIterator<Item = u8>) -> Self {
        self.ranks = ranks.into_iter().collect();
        self
    }

    /// This column may be cut to so many cells, once the last one is as narrow as it may be.
    #[must_use]
    pub fn shrink(mut self, column: usize, least: usize) -> Self {
        self.shrinking.push((column, least));
        self
    }

    /// The last column is not cut either: a path that cannot be copied is of no use.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// The last column is what people look for: others are left out before it is cut below three tenths of the screen.
    #[must_use]
    pub fn title_last(mut self) -> Self {
        self.is_title = true;
        self
    }

    /// The last column is broken into lines instead of being cut: all of it is to be read.
    #[must_use]
    pub fn wrapping(mut self) -> Self {
        self.wraps = true;
        self
    }

    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) -> &mut Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    /// All of them, the head first.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[String]> {
        self.rows.iter().map(Vec::as_slice)
    }

    pub fn is_empty(&self) -> bool {
        self.rows.len() <= 1
    }

    /// Its lines, the head first. Columns with nothing in them are left out; colours end where a cell is cut.
    pub fn lines(&self, screen: Option<usize>) -> Vec<String> {
        let frame = self.frame(screen);
        self.rows.iter().flat_map(|row| frame.lines(row)).collect()
    }

    /// The lines of its head in this frame.
    pub fn head(&self, frame: &Frame) -> Vec<String> {
        self.rows.first().map(|head| frame.lines(head)).unwrap_or_default()
    }

    /// Which columns there are and how wide each is: for rows that come later, too.
    pub fn frame(&self, screen: Option<usize>) -> Frame {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let is_used = |i: &usize| self.rows.iter().skip(1).filter_map(|r| r.get(*i)).any(|c| !c.is_empty());
        let of = |i: usize| self.rows.iter().filter_map(move |r| r.get(i));
        let wide = |i: usize| of(i).map(|c| width(c)).max().unwrap_or(0);
        let mut shown: Vec<Column> = (0..columns).filter(is_used).map(|at| Column { at, cells: wide(at) }).collect();
        let mut below = false;
        if let Some(screen) = screen {
            let title = if self.is_title { LEAST.max(screen * 3 / 10) } else { LEAST };
            while excess(&shown, screen) > 0 && !self.narrow(&mut shown, screen, title) {
                if !self.leave_one_out(&mut shown) {
                    below = shown.len() > 1 && !self.narrow(&mut shown, screen, LEAST);
                    break;
                }
                for column in &mut shown {
                    column.cells = wide(column.at);
                }
            }
        }
        Frame { screen, shown, below, wraps: self.wraps }
    }

    /// Cuts what may be cut; whether it fits now.
    fn narrow(&self, shown: &mut [Column], screen: usize, least: usize) -> bool {
        let end = self.rows.iter().map(Vec::len).max().unwrap_or(0).saturating_sub(1);
        let last = (!self.is_whole).then_some((end, least));
        for (at, least) in last.into_iter().chain(self.shrinking.iter().copied()) {
            let over = excess(shown, screen);
            if let Some(column) = shown.iter_mut().find(|column| column.at == at) {
                column.cells = column.cells.saturating_sub(over).max(least.min(column.cells));
            }
        }
        excess(shown, screen) == 0
    }

    fn leave_one_out(&self, shown: &mut Vec<Column>) -> bool {
        let (first, last) = (shown.first().map(|c| c.at), shown.last().map(|c| c.at));
        let rank = |at: usize| match self.ranks.get(at) {
            Some(rank) => *rank,
            None if !self.ranks.is_empty() || Some(at) == first || Some(at) == last => 0,
            None => u8::try_from(at).unwrap_or(u8::MAX),
        };
        let next = shown.iter().map(|column| column.at).filter(|at| rank(*at) > 0).max_by_key(|at| rank(*at));
        let Some(next) = next else { return false };
        shown.retain(|column| column.at != next);
        true
    }
}

/// How many cells too wide.
fn excess(shown: &[Column], screen: usize) -> usize {
    let all: usize = shown.iter().map(|column| column.cells).sum();
    (all + GAP * shown.len().saturating_sub(1)).saturating_sub(screen)
}

#[derive(Clone, Copy, Debug)]
struct Column {
    at: usize,
    cells: usize,
}

/// The columns of a table as they are shown.
#[derive(Clone, Debug)]
pub struct Frame {
    screen: Option<usize>,
    shown: Vec<Column>,
    /// The last column has no room beside the others.
    below: bool,
    wraps: bool,
}

impl Frame {
    /// A row: one line, or more where its last cell is broken or stands below.
    pub fn lines(&self, row: &[String]) -> Vec<String> {
        let cell = |column: &Column| row.get(column.at).map_or("", String::as_str);
        let Some((last, others)) = self.shown.split_last() else { return vec![String::new()] };
        let mut line = String::new();
        for column in others {
            let shown = fit(cell(column), column.cells);
            line.push_str(&shown);
            line.push_str(&" ".repeat(column.cells.saturating_sub(width(&shown)) + GAP));
        }
        let (text, set_in) = (cell(last), width(&line));
        let (room, indent) = match self.screen {
            Some(screen) if self.below => (screen.saturating_sub(GAP).max(LEAST), GAP),
            Some(_) => (last.cells, set_in),
            None => (usize::MAX, set_in),
        };
        let mut parts = if (self.wraps || self.below) && width(text) > room {
            wrap(text, room)
        } else {
            vec![if self.below { text.to_owned() } else { fit(text, room) }]
        };
        let mut lines = Vec::with_capacity(parts.len() + 1);
        if self.below {
            lines.push(line.trim_end().to_owned());
            parts.retain(|part| !part.is_empty());
        } else if !parts.is_empty() {
            lines.push(format!("{line}{}", parts.remove(0)).trim_end().to_owned());
        }
        lines.extend(parts.into_iter().map(|part| format!("{}{part}", " ".repeat(indent))));
        lines
    }
}

const GAP: usize = 2;
/// A narrower column tells nothing.
const LEAST: usize = 12;

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines(None).iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// Cells on a terminal, colour codes not counted.
pub fn width(text: &str) -> usize {
    plain(text).width()
}

fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            for c in chars.by_ref() {
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            plain.push(c);
        }
    }
    plain
}

/// At most `cells` wide, with an ellipsis where something is missing: behind a whole word, where there is one.
pub fn fit(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_owned();
    }
    let text = plain(text);
    let mut out = String::new();
    let mut used = 1;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.peek() {
        let width = unicode_width::UnicodeWidthChar::width(*c).unwrap_or(0);
        if used + width > cells {
            break;
        }
        used += width;
        out.extend(rest.next());
    }
    let is_inside = |c: &char| c.is_ascii_alphanumeric();
    if out.chars().next_back().as_ref().is_some_and(is_inside)
        && rest.peek().is_some_and(is_inside)
        && let Some(space) = out.rfind(|c: char| !c.is_ascii_alphanumeric())
        && out.get(..space).is_some_and(|whole| !whole.trim().is_empty())
    {
        out.truncate(space + out.get(space..).and_then(|s| s.chars().next()).map_or(0, char::len_utf8));
    }
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn japanese_and_coloured_cells_line_up() {
        let mut table = Table::new(["a", "b"]);
        table.row(["日本", "x"]).row(["\u{1b}[32mok\u{1b}[0m", "y"]);
        assert_eq!(table.to_string(), "a     b\n日本  x\n\u{1b}[32mok\u{1b}[0m    y\n");
    }

    #[test]
    fn empty_columns_go_and_the_last_one_is_cut_to_the_screen() {
        let mut table = Table::new(["name", "none", "words"]);
        table.row(["a", "", "twelve cells and more"]).row(["b", "", "short"]);
        assert_eq!(table.lines(Some(20)), ["name  words", "a     twelve cells…", "b     short"]);
        assert_eq!(table.to_string(), "name  words\na     twelve cells and more\nb     short\n");
    }

    #[test]
    fn long_text_is_cut_by_cells_not_characters_and_behind_whole_words() {
        assert_eq!(fit("日本語の題名", 7), "日本語…");
        assert_eq!(fit("short", 7), "short");
        assert_eq!(fit("add a greeting", 10), "add a…");
        assert_eq!(fit("feature/very-long", 12), "feature/…");
        assert_eq!(fit("unbroken", 5), "unbr…");
    }

    fn tasks() -> Table {
        let mut table =
            Table::new(["TASK", "RUN", "AGENT", "STATE", "AGE", "TITLE"]).rank([0, 2, 3, 0, 1, 0]).shrink(2, 10);
        table.row(["T-1234", "abcdefgh", "exec:make all test", "COMMITTING", "12d", "Add a greeting in English"]);
        table.row(["T-5", "12345678", "claude", "FAILED", "3m", "日本語の挨拶を追加してください"]);
        table
    }

    #[test]
    fn the_last_column_shrinks_first_then_the_others_that_may_then_the_least_important_go() {
        let table = tasks();
        for (screen, head) in [
            (140, "TASK    RUN       AGENT               STATE       AGE  TITLE"),
            (80, "TASK    RUN       AGENT               STATE       AGE  TITLE"),
            (60, "TASK    RUN       AGENT        STATE       AGE  TITLE"),
            (48, "TASK    RUN       STATE       AGE  TITLE"),
            (40, "TASK    STATE       AGE  TITLE"),
        ] {
            let lines = table.lines(Some(screen));
            assert_eq!(lines[0], head, "{screen}");
            assert!(lines.iter().all(|line| width(line) <= screen), "{screen}: {lines:#?}");
            // What is shown of numbers, ids and states is whole.
            assert!(lines[1].starts_with("T-1234  ") && lines[1].contains("COMMITTING"), "{screen}: {lines:#?}");
        }
        assert_eq!(table.lines(Some(40))[1], "T-1234  COMMITTING  12d  Add a greeting…");
        assert_eq!(table.lines(Some(40))[2], "T-5     FAILED      3m   日本語の挨拶を…");
    }

    #[test]
    fn a_title_keeps_three_tenths_of_the_screen() {
        let heads = |screen| tasks().title_last().lines(Some(screen))[0].clone();
        assert_eq!(heads(80), "TASK    RUN       AGENT               STATE       AGE  TITLE");
        assert_eq!(heads(64), "TASK    RUN       STATE       AGE  TITLE");
        assert_eq!(heads(40), "TASK    STATE       AGE  TITLE");
        assert!(tasks().title_last().lines(Some(30)).iter().all(|line| width(line) <= 30));
    }

    #[test]
    fn what_has_no_room_beside_the_others_stands_below_them() {
        let mut table = Table::new(["NAME", "WORDS"]);
        table.row(["a-name-that-is-never-cut", "one two three four five"]);
        assert_eq!(table.lines(Some(30)), ["NAME", "  WORDS", "a-name-that-is-never-cut", "  one two three four five"]);
    }

    #[test]
    fn a_last_column_that_is_to_be_read_whole_is_broken_at_words() {
        let mut table = Table::new(["CHECK", "RESULT"]).wrapping();
        table.row(["git", "2.54.0, run `git gc` now and then"]);
        let lines = table.lines(Some(24));
        assert_eq!(lines, ["CHECK  RESULT", "git    2.54.0, run", "       `git gc` now and", "       then"]);
    }

    #[test]
    fn rows_that_come_later_line_up_with_those_that_were_known() {
        let table = tasks();
        let frame = table.frame(Some(60));
        let later = ["T-6", "zzzzzzzz", "codex", "PENDING", "1s", "Later"].map(str::to_owned);
        assert_eq!(frame.lines(&later), ["T-6     zzzzzzzz  codex        PENDING     1s   Later"]);
    }
}
