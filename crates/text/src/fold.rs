//! What an agent says and does while it works, folded to what a person takes in at a glance.
//!
//! Events in, pieces out: each stays on the screen in one or two rows, cut to the width it is shown at. A tool is one piece,
//! told when its outcome is known; files read one after the other are one together; what an agent says is its first rows; of
//! a program that prints faster than anybody reads, the beginning and the end. What is being done this moment is
//! [`Fold::now`]. Nothing is lost by it: `task log` has everything.

use dandori_domain::deed::Deed;
use dandori_domain::plain::plain;
use dandori_domain::{AgentEvent, Usage, Verdict};

use crate::table::{fit, width};
use crate::{Lang, Tone, watch, wrap};

/// Of what a program prints at once, so much is shown of its beginning and of its end.
const FIRST_LINES: usize = 2;
const LAST_LINES: usize = 5;
/// Rows of what an agent says.
const SAID_ROWS: usize = 2;
/// Of a set-up command, when what it prints stands behind it.
const SET_UP_CELLS: usize = 28;
/// More is not looked at: it would not be shown.
const MOST_SAID: usize = 4000;

/// Something that stays on the screen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    pub tone: Tone,
    lead: &'static str,
    text: String,
    /// What is never cut: numbers, an outcome.
    after: String,
    rows: usize,
}

impl Piece {
    fn new(tone: Tone, lead: &'static str, text: impl Into<String>) -> Self {
        Self { tone, lead, text: text.into(), after: String::new(), rows: 1 }
    }

    fn ending(self, after: impl Into<String>) -> Self {
        Self { after: after.into(), ..self }
    }

    /// Its rows, none wider than `cells`, broken between words and cut where there is more.
    pub fn rows(&self, cells: usize) -> Vec<String> {
        let room = cells.saturating_sub(width(self.lead)).max(1);
        if self.rows == 1 {
            let after = if self.after.is_empty() { 0 } else { width(&self.after) + 1 };
            let text = fit(&self.text, room.saturating_sub(after).max(1));
            return vec![format!("{}{text} {}", self.lead, self.after).trim_end().to_owned()];
        }
        let lead = |i| if i == 0 { self.lead.to_owned() } else { " ".repeat(width(self.lead)) };
        let rows = first_rows(&self.text, self.rows, room).into_iter().enumerate();
        rows.map(|(i, row)| format!("{}{row}", lead(i))).collect()
    }
}

/// The beginning of what somebody said as at most so many rows, broken between words and ended where there is more.
pub fn first_rows(text: &str, rows: usize, cells: usize) -> Vec<String> {
    let text = one_line(text);
    if text.is_empty() {
        return Vec::new();
    }
    let mut lines = wrap(&text, cells);
    let is_cut = lines.len() > rows;
    lines.truncate(rows);
    if let Some(last) = lines.last_mut().filter(|_| is_cut) {
        let whole_words = wrap(last, cells.saturating_sub(2)).into_iter().next().unwrap_or_default();
        *last = format!("{whole_words} …");
    }
    lines.iter().map(|line| fit(line, cells)).collect()
}

/// Folds one run's events, in their order.
#[derive(Debug)]
pub struct Fold {
    lang: Lang,
    /// `<worktree>/`: paths are told from there.
    root: Option<String>,
    /// A message that may not be whole yet.
    said: String,
    /// Lines of a program without a protocol, as they came since the last look.
    lines: Vec<String>,
    /// What was read and searched since anything else happened.
    looked: Looked,
    open: Vec<(String, Deed)>,
    /// Held back: the verdict may say the same.
    error: Option<String>,
    now: String,
    usage: Option<Usage>,
    /// The set-up command at work.
    set_up: String,
    /// The last line of a program without a protocol.
    last: String,
}

#[derive(Debug, Default)]
struct Looked {
    paths: Vec<String>,
    searches: Vec<String>,
}

impl Fold {
    pub fn new(lang: Lang, worktree: Option<&str>) -> Self {
        let mut fold = Self {
            lang,
            root: None,
            said: String::new(),
            lines: Vec::new(),
            looked: Looked::default(),
            open: Vec::new(),
            error: None,
            now: String::new(),
            usage: None,
            set_up: String::new(),
            last: String::new(),
        };
        fold.works_in(worktree);
        fold
    }

    /// Where it works, once that is known.
    pub fn works_in(&mut self, worktree: Option<&str>) {
        self.root = worktree.map(|path| format!("{}/", path.trim_end_matches('/'))).or(self.root.take());
    }

    /// Whether what was shown last is this.
    pub fn ended_with(&self, summary: &str) -> bool {
        !self.last.is_empty() && self.last == one_line(summary)
    }

    /// What is done this moment, in one line of any length; empty when nothing has been heard.
    pub fn now(&self) -> &str {
        &self.now
    }

    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    pub fn of(&mut self, event: &AgentEvent) -> Vec<Piece> {
        let mut out = Vec::new();
        if let Some(error) = self.error.take_if(|_| !matches!(event, AgentEvent::Finished { .. })) {
            out.push(Piece::new(Tone::Bad, "  ", format!("✗ {error}")));
        }
        match event {
            AgentEvent::Message { text } => {
                self.flush_looks(&mut out);
                self.hear(text);
            }
            AgentEvent::Line { text } => {
                self.now = one_line(text);
                if !self.now.is_empty() {
                    self.last.clone_from(&self.now);
                }
                self.lines.push(plain(text).trim_end().to_owned());
            }
            AgentEvent::Thought { text } => self.now = one_line(text),
            AgentEvent::ToolCall { id, name, input } => {
                self.flush_said(&mut out);
                let deed = Deed::of(name, input);
                self.now = self.words(&deed);
                self.open.push((id.clone(), deed));
            }
            AgentEvent::ToolResult { id, ok, output } => {
                let at = self.open.iter().position(|(open, _)| open == id);
                if let Some((_, deed)) = at.map(|at| self.open.remove(at)) {
                    self.outcome(deed, *ok, output, &mut out);
                }
                self.now = match self.open.last() {
                    Some((_, deed)) => self.words(deed),
                    None => watch::thinking(self.lang).to_owned(),
                };
            }
            AgentEvent::Usage { usage } => self.usage = Some(*usage),
            AgentEvent::Started { model, .. } => {
                self.now = model.clone().unwrap_or_else(|| watch::thinking(self.lang).to_owned());
            }
            AgentEvent::Retrying { attempt, reason } => {
                self.flush_said(&mut out);
                self.now = watch::retrying(self.lang, *attempt, &one_line(reason));
                out.push(Piece::new(Tone::Faint, "  ", format!("↻ {}", self.now)));
            }
            AgentEvent::Warning { text } => {
                self.flush_said(&mut out);
                out.push(Piece::new(Tone::Faint, "  ", format!("! {}", one_line(text))));
            }
            AgentEvent::Error { text } => self.error = Some(one_line(text)),
            AgentEvent::SetUpBegan { command } => {
                self.now = self.set_up_words(command);
                self.set_up.clone_from(command);
            }
            AgentEvent::SetUpLine { text } => {
                let line = one_line(text);
                if !line.is_empty() {
                    self.now = format!("{} · {line}", fit(&self.set_up_words(&self.set_up), SET_UP_CELLS));
                }
            }
            AgentEvent::SetUpEnded { command, ok, seconds } => {
                let time = seconds.map(|seconds| format!(" {}", watch::span(self.lang, seconds))).unwrap_or_default();
                let (tone, mark) = if *ok { (Tone::Faint, "✓") } else { (Tone::Bad, "✗") };
                let piece = Piece::new(tone, "  ", self.set_up_words(command));
                out.push(piece.ending(format!("{mark}{time}")));
                self.now.clear();
            }
            AgentEvent::Finished { verdict } => {
                self.flush_looks(&mut out);
                if let Verdict::Done { summary } = verdict
                    && one_line(summary) == one_line(&self.said)
                {
                    // Whoever tells how it ended tells it.
                    self.said.clear();
                }
                self.flush_said(&mut out);
                self.now.clear();
            }
            AgentEvent::Unknown { .. } => {}
        }
        out
    }

    /// The lines that came since the last look: of a program that prints without an end, too.
    pub fn burst(&mut self) -> Vec<Piece> {
        let mut out = Vec::new();
        self.flush_lines(&mut out);
        out
    }

    /// Nothing has come for a moment: what may have been half a message is told.
    pub fn settle(&mut self) -> Vec<Piece> {
        let mut out = self.burst();
        if !self.said.is_empty() {
            self.flush_said(&mut out);
            // Its words stand above now.
            watch::thinking(self.lang).clone_into(&mut self.now);
        }
        out
    }

    /// Nothing more will come.
    pub fn end(&mut self) -> Vec<Piece> {
        let mut out = Vec::new();
        self.flush_lines(&mut out);
        self.flush_said(&mut out);
        self.flush_looks(&mut out);
        for (_, deed) in std::mem::take(&mut self.open) {
            out.push(Piece::new(Tone::Faint, "  ", self.words(&deed)).ending("…"));
        }
        out.extend(self.error.take().map(|error| Piece::new(Tone::Bad, "  ", format!("✗ {error}"))));
        self.now.clear();
        out
    }

    /// Some clients send a message whole, some in pieces that are to be put together as they are.
    fn hear(&mut self, text: &str) {
        let text = plain(text);
        let is_new = self.said.trim_end().ends_with(['.', '!', '?', ':', '。', '！', '？'])
            && text.starts_with(|c: char| !c.is_whitespace());
        if is_new {
            self.said.push('\n');
        }
        if self.said.len() < MOST_SAID {
            self.said.push_str(&text);
        }
        if let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) {
            self.now = one_line(line);
        }
    }

    fn outcome(&mut self, deed: Deed, ok: bool, output: &str, out: &mut Vec<Piece>) {
        match deed {
            Deed::Read { path } if ok => return self.looked.paths.push(self.seen_from_root(&path)),
            Deed::Search { what } if ok => {
                return self.looked.searches.push(one_line(&self.seen_from_root(&what)));
            }
            _ => self.flush_looks(out),
        }
        let piece = Piece::new(Tone::Faint, "  ", self.words(&deed)).ending(self.numbers(&deed));
        let output = plain(&self.seen_from_root(output));
        if let Deed::Command { is_judged, .. } = deed {
            return self.of_command(piece, Ended::of(&output, ok, is_judged), &output, out);
        }
        out.push(piece);
        if !ok {
            // What was refused explains itself at once.
            let why = one_line(output.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
            out.push(Piece::new(Tone::Bad, "    ", format!("✗ {why}").trim_end().to_owned()));
        }
    }

    /// A command is told by what it said last.
    fn of_command(&self, piece: Piece, ended: Ended, output: &str, out: &mut Vec<Piece>) {
        let is_telling = |line: &&str| !line.trim().is_empty() && exit_in(line).is_none();
        let words = one_line(output.lines().rfind(is_telling).unwrap_or_default());
        let (tone, told) = match ended {
            Ended::Well if words.is_empty() => return out.push(piece.ending("✓")),
            Ended::Unknown if words.is_empty() => return out.push(piece),
            Ended::Well => (Tone::Faint, format!("✓ {words}")),
            Ended::Unknown => (Tone::Faint, format!("· {words}")),
            Ended::Badly { code } => {
                let exit = code.map(|code| watch::exit(self.lang, code)).unwrap_or_default();
                let why = [exit, words].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
                (Tone::Plain, format!("✗ {why}").trim_end().to_owned())
            }
        };
        out.extend([piece, Piece::new(tone, "    ", told)]);
    }

    fn flush_said(&mut self, out: &mut Vec<Piece>) {
        let said = std::mem::take(&mut self.said);
        let text = said.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            self.flush_looks(out);
            out.push(Piece { rows: SAID_ROWS, ..Piece::new(Tone::Plain, "● ", text) });
        }
    }

    fn flush_looks(&mut self, out: &mut Vec<Piece>) {
        let Looked { mut paths, searches } = std::mem::take(&mut self.looked);
        paths.sort_unstable();
        paths.dedup();
        let text = match (paths.as_slice(), searches.as_slice()) {
            ([], []) => return,
            ([path], []) => watch::read(self.lang, path),
            ([], [what]) => watch::search(self.lang, what),
            (paths, searches) => watch::looked(self.lang, paths.len(), searches.len()),
        };
        out.push(Piece::new(Tone::Faint, "  ", text));
    }

    fn flush_lines(&mut self, out: &mut Vec<Piece>) {
        let lines = std::mem::take(&mut self.lines);
        let shown = |line: &String| Piece::new(Tone::Plain, "  ", line.replace('\t', " "));
        let hidden = lines.len().saturating_sub(FIRST_LINES + LAST_LINES);
        if hidden <= 1 {
            return out.extend(lines.iter().map(shown));
        }
        out.extend(lines.iter().take(FIRST_LINES).map(shown));
        out.push(Piece::new(Tone::Faint, "  ", watch::more_lines(self.lang, hidden)));
        out.extend(lines.iter().skip(FIRST_LINES + hidden).map(shown));
    }

    fn words(&self, deed: &Deed) -> String {
        let from_root = |text: &str| one_line(&self.seen_from_root(text));
        let lang = self.lang;
        match deed {
            Deed::Read { path } => watch::read(lang, &from_root(path)),
            Deed::Search { what } => watch::search(lang, &from_root(what)),
            Deed::Edit { path, .. } => watch::edit(lang, &from_root(path)),
            Deed::Write { path, .. } => watch::write(lang, &from_root(path)),
            Deed::Change { files } => match files.as_slice() {
                files if files.len() > 3 => watch::change_files(lang, files.len()),
                files => {
                    let one = |(kind, path): &(String, String)| watch::change(lang, kind, &from_root(path));
                    files.iter().map(one).collect::<Vec<_>>().join(", ")
                }
            },
            Deed::Command { line, .. } => format!("$ {}", from_root(line)),
            Deed::Fetch { what } => watch::fetch(lang, &from_root(what)),
            Deed::Delegate { what } => watch::delegate(lang, &from_root(what)),
            Deed::Plan { done, all, now } => watch::plan(lang, *done, *all, now.as_deref().map(one_line).as_deref()),
            Deed::Other { name, about } => format!("{} {}", one_line(name), from_root(about)).trim_end().to_owned(),
        }
    }

    fn numbers(&self, deed: &Deed) -> String {
        match deed {
            Deed::Edit { added, deleted, .. } => format!("+{added} −{deleted}"),
            Deed::Write { lines: Some(lines), .. } => watch::lines(self.lang, *lines),
            _ => String::new(),
        }
    }

    fn set_up_words(&self, command: &str) -> String {
        format!("{} {}", watch::set_up(self.lang), one_line(command))
    }

    fn seen_from_root(&self, text: &str) -> String {
        match &self.root {
            Some(root) => text.replace(root.as_str(), ""),
            None => text.to_owned(),
        }
    }
}

/// How a command ended, as far as its client tells.
#[derive(Clone, Copy)]
enum Ended {
    Well,
    Badly { code: Option<i32> },
    Unknown,
}

impl Ended {
    fn of(output: &str, ok: bool, is_judged: bool) -> Self {
        // At the beginning or at the end: in between are the command's own words.
        let mut lines = output.lines().filter(|line| !line.trim().is_empty());
        let first = lines.next();
        let code = lines.next_back().into_iter().chain(first).find_map(exit_in);
        match (ok, code) {
            (false, code) => Self::Badly { code },
            (true, Some(code)) if !is_judged && code != 0 => Self::Badly { code: Some(code) },
            (true, _) if is_judged => Self::Well,
            (true, Some(_)) => Self::Well,
            (true, None) => Self::Unknown,
        }
    }
}

/// Where a client puts a command's exit code among its words.
fn exit_in(line: &str) -> Option<i32> {
    let said = ["Exit code ", "Command exited with code: "];
    said.iter().find_map(|words| line.trim().strip_prefix(words)?.trim().parse().ok())
}

fn one_line(text: &str) -> String {
    let short: String = plain(text).chars().take(MOST_SAID).collect();
    short.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
