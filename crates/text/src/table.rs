//! Columns that line up, also when half the characters are two cells wide.

use std::fmt;

use unicode_width::UnicodeWidthStr;

#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        let mut table = Self::default();
        table.row(head);
        table
    }

    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) -> &mut Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    pub fn is_empty(&self) -> bool {
        self.rows.len() <= 1
    }
}

impl Table {
    /// Its lines, the head first. Columns with nothing in them are left out. With a screen the last column is cut to
    /// what is left of it, as long as that is worth reading; colours end with the cut.
    pub fn lines(&self, screen: Option<usize>) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let is_used = |i: &usize| self.rows.iter().skip(1).filter_map(|r| r.get(*i)).any(|c| !c.is_empty());
        let used: Vec<usize> = (0..columns).filter(is_used).collect();
        let of = |i: usize| self.rows.iter().filter_map(move |r| r.get(i));
        let widths: Vec<usize> = used.iter().map(|i| of(*i).map(|c| width(c)).max().unwrap_or(0)).collect();
        let before: usize = widths.iter().rev().skip(1).map(|w| w + GAP).sum();
        let room = screen.map_or(usize::MAX, |cells| cells.saturating_sub(before).max(LEAST));
        self.rows
            .iter()
            .map(|row| {
                let mut line = String::new();
                for (n, (i, column)) in used.iter().zip(&widths).enumerate() {
                    let cell = row.get(*i).map_or("", String::as_str);
                    if n + 1 == used.len() && width(cell) > room {
                        line.push_str(&fit(&plain(cell), room));
                    } else {
                        line.push_str(cell);
                    }
                    line.push_str(&" ".repeat(column.saturating_sub(width(cell)) + GAP));
                }
                line.trim_end().to_owned()
            })
            .collect()
    }
}

const GAP: usize = 2;
/// A narrower column tells nothing: the terminal may then wrap it.
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

/// At most `cells` wide, with an ellipsis where something is missing.
pub fn fit(text: &str, cells: usize) -> String {
    if text.width() <= cells {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        let width = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if used + width > cells {
            break;
        }
        used += width;
        out.push(c);
    }
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
        assert_eq!(table.lines(Some(20)), ["name  words", "a     twelve cells …", "b     short"]);
        assert_eq!(table.to_string(), "name  words\na     twelve cells and more\nb     short\n");
    }

    #[test]
    fn long_text_is_cut_by_cells_not_characters() {
        assert_eq!(fit("日本語の題名", 7), "日本語…");
        assert_eq!(fit("short", 7), "short");
    }
}
