//! Lines at the bottom of a terminal that are drawn over, below those that stay.
//!
//! Everything of one change is one write: nothing flickers, and whoever ends us in between leaves a screen that can be read.
//! A terminal that becomes narrower breaks what is on it anew: how many rows the last drawing takes up is therefore counted when
//! it is cleared, by the width of that moment. A few old terminals cut lines instead of breaking them.

use std::io::Write;

use dandori_host::Env;
use dandori_text::table::width;

use crate::out::Out;

/// Between these a line too wide for the screen is cut. Some terminals tell of their new width late, and are drawn to by the old
/// one in the meantime: what was broken then would be left behind.
const NO_BREAKS: &str = "\u{1b}[?7l";
const BREAKS: &str = "\u{1b}[?7h";

pub(crate) struct Moving {
    /// How wide each drawn line is.
    drawn: Vec<usize>,
    breaks_anew: bool,
}

impl Moving {
    pub(crate) fn new(env: &Env) -> Self {
        let cuts = env.text("XTERM_VERSION").is_some() || env.text("TERM") == Some("linux");
        Self { drawn: Vec::new(), breaks_anew: !cuts }
    }

    /// Columns and rows there are.
    pub(crate) fn room() -> (usize, usize) {
        let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
        let of = |count: u16, usual: usize| if count == 0 { usual } else { usize::from(count) };
        size.map_or((80, 24), |size| (of(size.ws_col, 80), of(size.ws_row, 24)))
    }

    /// `above` stays; `lines` are there until the next time. Neither may be wider than the screen.
    pub(crate) fn draw(&mut self, above: &[String], lines: &[String]) {
        let mut text = self.cleared();
        for line in above {
            text.push_str(&Out::coloured(line));
            text.push('\n');
        }
        let coloured: Vec<String> = lines.iter().map(|line| Out::coloured(line)).collect();
        text.push_str(NO_BREAKS);
        text.push_str(&coloured.join("\n"));
        text.push_str(BREAKS);
        self.drawn = lines.iter().map(|line| width(line)).collect();
        put(&text);
    }

    /// Nothing moves any more, until the next time.
    pub(crate) fn clear(&mut self) {
        if !self.drawn.is_empty() {
            let text = self.cleared();
            self.drawn.clear();
            put(&text);
        }
    }

    /// What takes the last drawing away, and the cursor to where it began.
    fn cleared(&self) -> String {
        if self.drawn.is_empty() {
            return String::new();
        }
        let rows = if self.breaks_anew { rows(&self.drawn, Self::room().0) } else { self.drawn.len() };
        match rows.saturating_sub(1) {
            0 => "\r\u{1b}[J".to_owned(),
            up => format!("\r\u{1b}[{up}A\u{1b}[J"),
        }
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Rows that lines of these widths take up on a screen of so many columns.
fn rows(widths: &[usize], columns: usize) -> usize {
    widths.iter().map(|width| width.div_ceil(columns.max(1)).max(1)).sum()
}

fn put(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // A terminal that is gone is no reason to stop: the run goes on.
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn a_narrower_screen_breaks_what_is_on_it_into_more_rows() {
        assert_eq!(rows(&[79, 0, 10], 80), 3);
        assert_eq!(rows(&[79, 0, 10], 40), 4);
        assert_eq!(rows(&[79, 40, 41], 40), 5);
    }
}
