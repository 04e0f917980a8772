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

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|i| self.rows.iter().filter_map(|r| r.get(i)).map(|c| width(c)).max().unwrap_or(0))
            .collect();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, column) in row.iter().zip(&widths) {
                line.push_str(cell);
                line.push_str(&" ".repeat(column.saturating_sub(width(cell)) + 2));
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Cells on a terminal, colour codes not counted.
pub fn width(text: &str) -> usize {
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
    plain.width()
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
    fn long_text_is_cut_by_cells_not_characters() {
        assert_eq!(fit("日本語の題名", 7), "日本語…");
        assert_eq!(fit("short", 7), "short");
    }
}
