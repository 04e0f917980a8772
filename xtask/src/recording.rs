//! `cargo xtask recording`: the picture in the README, made from a real run of `dandori demo` in a real terminal.
//!
//! The demo plays in tmux; the screen is looked at many times a second, and every look that shows something new becomes a
//! frame of one SVG that moves by itself. Whoever wants less motion sees the last frame.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const COLUMNS: usize = 80;
const ROWS: usize = 34;
const LOOK: Duration = Duration::from_millis(60);
/// How long the end stays before it begins again.
const REST: Duration = Duration::from_secs(8);
/// However quickly things change, nobody reads faster.
const SHORTEST: Duration = Duration::from_millis(120);

struct Frame {
    at: Duration,
    screen: String,
}

pub(crate) fn make() -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let built =
        Command::new("cargo").args(["build", "--quiet", "-p", "dandori"]).status().map_err(|e| e.to_string())?;
    if !built.success() {
        return Err("dandori does not build".to_owned());
    }
    for (lang, name) in [("en", "demo.svg"), ("ja", "demo.ja.svg")] {
        let frames = record(&root.join("target/debug/dandori"), lang)?;
        let path = root.join("docs/images").join(name);
        std::fs::create_dir_all(root.join("docs/images")).map_err(|e| e.to_string())?;
        let picture = svg(&frames, &format!("dandori demo --lang {lang}"));
        std::fs::write(&path, &picture).map_err(|e| e.to_string())?;
        println!("{} ({} frames, {} KiB)", path.display(), frames.len(), picture.len() / 1024);
    }
    Ok(())
}

fn record(dandori: &Path, lang: &str) -> Result<Vec<Frame>, String> {
    let folder = std::env::temp_dir().join(format!("dandori-recording-{}-{lang}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let socket = folder.join("tmux");
    let tmux = |args: &[&str]| {
        let output = Command::new("tmux").arg("-S").arg(&socket).args(args).output().map_err(|e| e.to_string())?;
        Ok::<_, String>(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (columns, rows) = (COLUMNS.to_string(), ROWS.to_string());
    // As it is installed: by its name alone.
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).map_err(|e| e.to_string())?;
    std::fs::copy(dandori, bin.join("dandori")).map_err(|e| e.to_string())?;
    // The last screen stays until it was looked at.
    let line = format!(
        "export PATH={}:$PATH; dandori demo --lang {lang}; touch {}; sleep 5",
        bin.display(),
        folder.join("over").display()
    );
    let started = Instant::now();
    tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, &line])?;
    let mut frames: Vec<Frame> = Vec::new();
    let end = started + Duration::from_mins(2);
    loop {
        let is_over = folder.join("over").exists();
        let screen = tmux(&["capture-pane", "-p", "-e"])?;
        let at = started.elapsed();
        match frames.last_mut() {
            Some(last) if last.screen == screen => {}
            Some(last) if at < last.at + SHORTEST => last.screen = screen,
            _ => frames.push(Frame { at, screen }),
        }
        if is_over || Instant::now() > end {
            break;
        }
        std::thread::sleep(LOOK);
    }
    let _ = tmux(&["kill-server"]);
    let _ = std::fs::remove_dir_all(&folder);
    if frames.len() < 10 { Err("nothing moved: is tmux there?".to_owned()) } else { Ok(frames) }
}

const CELL: f64 = 8.4;
const LINE: f64 = 18.0;
const EDGE: f64 = 14.0;

#[expect(clippy::cast_precision_loss, reason = "columns and rows of a screen")]
fn svg(frames: &[Frame], title: &str) -> String {
    let (width, height) = (COLUMNS as f64 * CELL + 2.0 * EDGE, ROWS as f64 * LINE + 2.0 * EDGE);
    let whole = frames.last().map_or(REST, |last| last.at + REST).as_secs_f64();
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{title}\">\n\
         <title>{title}</title>\n<style>\n\
         text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'Noto Sans Mono CJK JP',monospace;fill:#d6d6d6;white-space:pre}}\n\
         .b{{font-weight:700}}.d{{opacity:.6}}.c31{{fill:#ff6e67}}.c32{{fill:#5fd787}}.c33{{fill:#f0c674}}.c34{{fill:#81a2be}}.c35{{fill:#c397d8}}.c36{{fill:#70c0ba}}\n\
         .f{{visibility:hidden;animation-duration:{whole:.2}s;animation-iteration-count:infinite;animation-timing-function:step-end}}\n"
    );
    for (i, frame) in frames.iter().enumerate() {
        let begin = frame.at.as_secs_f64() / whole * 100.0;
        let end = frames.get(i + 1).map_or(100.0, |next| next.at.as_secs_f64() / whole * 100.0);
        let _ = writeln!(
            picture,
            "@keyframes f{i}{{0%{{visibility:hidden}}{begin:.2}%{{visibility:visible}}{end:.2}%{{visibility:hidden}}}}.f{i}{{animation-name:f{i}}}"
        );
    }
    let last = frames.len().saturating_sub(1);
    let _ = writeln!(
        picture,
        "@media(prefers-reduced-motion:reduce){{.f{{animation:none}}.f{last}{{visibility:visible}}}}\n</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1c1f24\"/>"
    );
    for (i, frame) in frames.iter().enumerate() {
        let _ = writeln!(picture, "<g class=\"f f{i}\">");
        for (row, line) in frame.screen.lines().enumerate() {
            let y = EDGE + LINE * (row as f64 + 0.75);
            picture.push_str(&texts(line, y));
        }
        picture.push_str("</g>\n");
    }
    picture.push_str("</svg>\n");
    picture
}

/// The pieces of one line, each at its own column: a font may have its own idea of how wide a character is.
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
        let cells = if is_wide(c) { 2 } else { 1 };
        match pieces.last_mut() {
            Some((_, of, text)) if *of == class && !text.ends_with("  ") => text.push(c),
            _ => pieces.push((column, class.clone(), c.to_string())),
        }
        column += cells;
    }
    let mut out = String::new();
    for (column, class, text) in pieces.iter().filter(|(_, _, text)| !text.trim().is_empty()) {
        let lead = text.len() - text.trim_start().len();
        let x = EDGE + (*column + lead) as f64 * CELL;
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{}\"", class.trim()) };
        let text = text.trim().replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\"{class}>{text}</text>");
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

/// Two cells on a terminal: what Japanese is written in.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_classes_and_wide_characters_take_two_columns() {
        let line = texts("\u{1b}[1m日本\u{1b}[0m  \u{1b}[32mok <b>\u{1b}[39m", 10.0);
        assert!(line.contains("x=\"14.0\" y=\"10.0\" class=\"b\">日本<"), "{line}");
        assert!(
            line.contains(&format!("x=\"{:.1}\"", EDGE + 6.0 * CELL)) && line.contains("class=\"c32\">ok &lt;b>"),
            "{line}"
        );
    }
}
