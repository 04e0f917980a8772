//! What a terminal showed, as one SVG that moves by itself.
//!
//! Every state of a line is in it once, with the time it is shown; a window follows the last line. What a program prints at
//! once appears line by line, so that it can be read. Without motion (whoever asked for less of it, or a viewer that cannot)
//! the beginning of the finished screen is shown. The card is dark on light and dark pages alike.

use std::fmt::Write;
use std::time::Duration;

/// The screen from a moment on.
pub(super) struct Look {
    pub(super) at: Duration,
    pub(super) lines: Vec<String>,
}

const COLUMNS: f64 = 80.0;
/// Lines that are seen at once.
const VISIBLE: usize = 27;
const CELL: f64 = 8.4;
const LINE: f64 = 18.0;
const EDGE: f64 = 16.0;
const BAR: f64 = 34.0;
/// Between two lines that were printed at once.
const READ: Duration = Duration::from_millis(110);
/// More time at a heading: something new begins.
const BREATH: Duration = Duration::from_millis(1300);
/// How long the end stays before it begins again.
const REST: Duration = Duration::from_secs(6);
/// However quickly a line changes, nobody reads faster.
const SHORTEST: Duration = Duration::from_millis(150);
const SCROLL: f64 = 0.25;

/// One state of a line.
struct State {
    row: usize,
    line: String,
    from: Duration,
    until: Option<Duration>,
}

pub(super) fn svg(looks: &[Look], title: &str) -> String {
    let (states, end) = states(looks);
    let whole = (end + REST).as_secs_f64();
    let (width, shown) = (COLUMNS * CELL + 2.0 * EDGE, height(VISIBLE));
    let height = BAR + shown + EDGE;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" role=\"img\" aria-label=\"{title}\">\n\
         <title>{title}</title>\n<style>\n\
         text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Noto Sans Mono CJK JP',monospace;fill:#d5d9e0;white-space:pre}}\n\
         .b{{font-weight:700;fill:#fff}}.d{{fill:#8b949e}}.c31{{fill:#ff7b72}}.c32{{fill:#5fd787}}.c33{{fill:#e3b341}}.c34{{fill:#79c0ff}}.c35{{fill:#d2a8ff}}.c36{{fill:#6cc7d9}}\n\
         .j{{font-size:15px}}.o{{visibility:hidden}}\n\
         @media(prefers-reduced-motion:no-preference){{.s,.w{{animation:{whole:.2}s step-end infinite}}.w{{animation-timing-function:ease-in-out}}\n"
    );
    let percent = |at: Duration| at.as_secs_f64() / whole * 100.0;
    for (i, state) in states.iter().enumerate() {
        let until = state.until.map(|until| format!("{:.2}%{{visibility:hidden}}", percent(until))).unwrap_or_default();
        let _ = writeln!(
            picture,
            "@keyframes s{i}{{0%{{visibility:hidden}}{:.2}%{{visibility:visible}}{until}}}.s{i}{{animation-name:s{i}}}",
            percent(state.from)
        );
    }
    let _ = write!(picture, "@keyframes w{{0%{{transform:none}}");
    let mut first = 0;
    for (at, next) in scrolls(&states) {
        let (from, to) = (percent(at), percent(at + Duration::from_secs_f64(SCROLL)));
        let (before, after) = (self::height(first), self::height(next));
        let _ = write!(
            picture,
            "{from:.2}%{{transform:translateY(-{before}px)}}{to:.2}%{{transform:translateY(-{after}px)}}"
        );
        first = next;
    }
    let _ = writeln!(
        picture,
        "to{{transform:translateY(-{}px)}}}}.w{{animation-name:w}}}}\n</style>\n\
         <rect x=\".5\" y=\".5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"9\" fill=\"#161a20\" stroke=\"#3d444d\"/>\n\
         <circle cx=\"18\" cy=\"17\" r=\"5.5\" fill=\"#ff6159\"/><circle cx=\"36\" cy=\"17\" r=\"5.5\" fill=\"#ffbd2e\"/><circle cx=\"54\" cy=\"17\" r=\"5.5\" fill=\"#28c93f\"/>\n\
         <text x=\"50%\" y=\"22\" text-anchor=\"middle\" class=\"d\">{title}</text>\n\
         <svg y=\"{BAR}\" width=\"100%\" height=\"{shown}\">\n<g class=\"w\">",
        self::height(first),
        width - 1.0,
        height - 1.0,
    );
    for (i, state) in states.iter().enumerate() {
        let old = if state.until.is_some() { " o" } else { "" };
        let texts = texts(&state.line, self::height(state.row) + LINE * 0.75);
        let _ = writeln!(picture, "<g class=\"s{old} s{i}\">{texts}</g>");
    }
    picture.push_str("</g></svg>\n</svg>\n");
    picture
}

#[expect(clippy::cast_precision_loss, reason = "rows of a screen")]
fn height(rows: usize) -> f64 {
    rows as f64 * LINE
}

/// Every state of every line with its time, and when the last one appears.
fn states(looks: &[Look]) -> (Vec<State>, Duration) {
    let mut states: Vec<State> = Vec::new();
    let mut now: Vec<Option<usize>> = Vec::new();
    // How much later than it was: lines that came at once are shown one after the other.
    let mut late = Duration::ZERO;
    let mut last = Duration::ZERO;
    for look in looks {
        let mut new = 0;
        for (row, line) in look.lines.iter().enumerate() {
            if now.len() <= row {
                now.push(None);
            }
            let shown = now.get(row).copied().flatten();
            let before = shown.and_then(|i| states.get(i)).map_or("", |state| state.line.as_str());
            if before == line {
                continue;
            }
            if before.is_empty() {
                new += 1;
                late += if new > 1 { READ } else { Duration::ZERO };
                late += if is_heading(line) && row > 1 { BREATH } else { Duration::ZERO };
            }
            let at = look.at + late;
            if let Some(old) = shown.and_then(|i| states.get_mut(i)) {
                if at < old.from + SHORTEST && !line.is_empty() {
                    line.clone_into(&mut old.line);
                    continue;
                }
                old.until = Some(at);
            }
            if let Some(slot) = now.get_mut(row) {
                *slot = (!line.is_empty()).then_some(states.len());
            }
            if !line.is_empty() {
                states.push(State { row, line: line.clone(), from: at, until: None });
                last = last.max(at);
            }
        }
    }
    (states, last)
}

/// Bold from its first character.
fn is_heading(line: &str) -> bool {
    line.starts_with("\u{1b}[1m")
}

/// When the window moves, and to which first line.
fn scrolls(states: &[State]) -> Vec<(Duration, usize)> {
    let mut moves: Vec<(Duration, usize)> = Vec::new();
    let mut first = 0;
    for state in states {
        let needed = (state.row + 1).saturating_sub(VISIBLE);
        if needed > first {
            first = needed;
            match moves.last_mut() {
                // Before it has arrived it is sent further.
                Some((at, to)) if state.from.saturating_sub(*at).as_secs_f64() < SCROLL => *to = first,
                _ => moves.push((state.from, first)),
            }
        }
    }
    moves
}

/// The pieces of one line, each at its own column and as wide as on a terminal: a font may have its own idea of how wide a
/// character is.
#[expect(clippy::cast_precision_loss, reason = "a column of a screen")]
fn texts(line: &str, y: f64) -> String {
    let mut pieces: Vec<(usize, String, String)> = Vec::new();
    let (mut column, mut class) = (0, String::new());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            let code: String = chars.by_ref().skip(1).take_while(|c| !c.is_ascii_alphabetic()).collect();
            class = restyled(&class, &code);
            continue;
        }
        // Wide characters are a little larger and stand alone: the others keep their distance from each other.
        let class = if cells(c) == 2 { format!("{class} j") } else { class.clone() };
        match pieces.last_mut() {
            Some((_, of, text)) if *of == class && !text.ends_with("  ") => text.push(c),
            _ => pieces.push((column, class, c.to_string())),
        }
        column += cells(c);
    }
    let mut out = String::new();
    for (column, class, text) in pieces.iter().filter(|(_, _, text)| !text.trim().is_empty()) {
        let lead = text.len() - text.trim_start().len();
        let x = EDGE + (*column + lead) as f64 * CELL;
        let text = text.trim();
        let width = text.chars().map(cells).sum::<usize>() as f64 * CELL;
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{}\"", class.trim()) };
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ = write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{width:.1}\"{class}>{text}</text>");
    }
    out
}

fn restyled(class: &str, codes: &str) -> String {
    let mut names: Vec<String> = class.split(' ').filter(|n| !n.is_empty()).map(str::to_owned).collect();
    for code in codes.split(';') {
        match code {
            "" | "0" => names.clear(),
            "1" => names.push("b".to_owned()),
            "2" => names.push("d".to_owned()),
            "22" => names.retain(|n| n != "b" && n != "d"),
            "39" => names.retain(|n| !n.starts_with('c')),
            colour if colour.len() == 2 && colour.starts_with('3') => {
                names.retain(|n| !n.starts_with('c'));
                names.push(format!("c{colour}"));
            }
            _ => {}
        }
    }
    names.dedup();
    names.join(" ")
}

/// Two on a terminal for what Japanese is written in.
fn cells(c: char) -> usize {
    let is_wide = matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}');
    if is_wide { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(millis: u64, lines: &[&str]) -> Look {
        Look { at: Duration::from_millis(millis), lines: lines.iter().map(|&line| line.to_owned()).collect() }
    }

    #[test]
    fn colours_become_classes_and_wide_characters_take_two_columns() {
        let line = texts("\u{1b}[1m日本\u{1b}[0m  \u{1b}[32mok <b>\u{1b}[39m", 10.0);
        assert!(line.contains("x=\"16.0\" y=\"10.0\" textLength=\"33.6\" class=\"b j\">日本<"), "{line}");
        assert!(
            line.contains(&format!("x=\"{:.1}\"", EDGE + 6.0 * CELL)) && line.contains("class=\"c32\">ok &lt;b>"),
            "{line}"
        );
    }

    #[test]
    fn a_line_that_changes_has_a_state_for_each_and_lines_at_once_come_one_after_the_other() {
        let (states, end) = states(&[look(0, &["a"]), look(1000, &["b", "c", "d"])]);
        let told: Vec<_> = states.iter().map(|s| (s.line.as_str(), s.from.as_millis(), s.until.is_some())).collect();
        assert_eq!(told, [("a", 0, true), ("b", 1000, false), ("c", 1000, false), ("d", 1110, false)]);
        assert_eq!(end.as_millis(), 1110);
    }

    #[test]
    fn the_window_follows_the_last_line() {
        let many: Vec<String> = (0..VISIBLE + 3).map(|n| n.to_string()).collect();
        let (states, _) = states(&[Look { at: Duration::ZERO, lines: many }]);
        assert_eq!(scrolls(&states).last().map(|(_, first)| *first), Some(3));
    }

    #[test]
    fn without_motion_the_finished_lines_are_shown() {
        let drawn = svg(&[look(0, &["a"]), look(1000, &["b"])], "t");
        assert!(drawn.contains("<g class=\"s o s0\">") && drawn.contains("<g class=\"s s1\">"), "{drawn}");
    }
}
