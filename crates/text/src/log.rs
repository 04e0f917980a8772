//! An agent's log as a person reads it, whichever agent it is.
//!
//! Events in, lines out. A tool call is told by what it is about (its command, its file) rather than by its JSON, an
//! answer by its first lines, a failure once, though agents tell it twice. Nothing is lost by it: the events
//! themselves and the raw stream are there for whoever wants them.

use dandori_domain::deed::about;
use dandori_domain::plain::plain;
use dandori_domain::{AgentEvent, AgentFailure, Usage, Usd, Verdict};

use crate::Lang;
use crate::failure::agent_failure;
use crate::lang::say;
use crate::table::fit;
use crate::watch;

/// Of what a tool answered; the rest is counted.
const ANSWER_LINES: usize = 6;
const CELLS: usize = 160;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    Plain,
    Strong,
    Faint,
    Bad,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogLine {
    pub tone: Tone,
    pub text: String,
}

/// Makes lines of one run's events, in their order.
#[derive(Debug)]
pub struct LogLines {
    lang: Lang,
    /// `<worktree>/`: paths are told from there.
    root: Option<String>,
    usage: Option<Usage>,
    /// Held back until it is clear that the verdict does not say the same.
    error: Option<String>,
    last: String,
}

impl LogLines {
    pub fn new(lang: Lang, worktree: Option<&str>) -> Self {
        let root = worktree.map(|path| format!("{}/", path.trim_end_matches('/')));
        Self { lang, root, usage: None, error: None, last: String::new() }
    }

    pub fn of(&mut self, event: &AgentEvent) -> Vec<LogLine> {
        let mut lines = Vec::new();
        match event {
            AgentEvent::Usage { usage } => {
                self.usage = Some(*usage);
                return lines;
            }
            AgentEvent::Unknown { .. } => return lines,
            AgentEvent::Finished { verdict: Verdict::Failed { failure } } => {
                self.drop_error_told_by(failure);
            }
            _ => {}
        }
        self.flush(&mut lines);
        self.add(event, &mut lines);
        if let Some(line) = lines.last() {
            self.last.clone_from(&line.text);
        }
        lines
    }

    /// The end of the stream. `failure` is what became of the run, in words, when the agent itself did not say it.
    pub fn end(&mut self, failure: Option<&str>) -> Vec<LogLine> {
        let mut lines = Vec::new();
        self.flush(&mut lines);
        if let Some(failure) = failure.map(bad).filter(|line| line.text != self.last) {
            lines.push(failure);
        }
        lines
    }

    fn add(&mut self, event: &AgentEvent, lines: &mut Vec<LogLine>) {
        let plain = |text: &str| LogLine { tone: Tone::Plain, text: printable(text.trim_end()) };
        match event {
            AgentEvent::Started { model, .. } => {
                let words = model.clone().unwrap_or_else(|| say!(self.lang, "started", "開始"));
                lines.push(faint(format!("· {words}")));
            }
            AgentEvent::Message { text } if text.trim().is_empty() => {}
            AgentEvent::Message { text } | AgentEvent::Line { text } => lines.push(plain(text)),
            AgentEvent::Thought { text } => lines.push(faint(format!("  {}", one_line(text)))),
            AgentEvent::ToolCall { name, input, .. } => {
                let text = format!("▸ {name} {}", one_line(&self.seen_from_root(&about(input))));
                lines.push(LogLine { tone: Tone::Strong, text: text.trim_end().to_owned() });
            }
            AgentEvent::ToolResult { ok, output, .. } => self.answer(*ok, output, lines),
            AgentEvent::Retrying { attempt, reason } => {
                lines.push(faint(format!("  ↻ {attempt}: {}", one_line(reason))));
            }
            AgentEvent::Warning { text } => lines.push(faint(format!("! {}", one_line(text)))),
            AgentEvent::Error { text } => self.error = Some(one_line(text)),
            AgentEvent::Finished { verdict: Verdict::Failed { failure } } => {
                lines.push(bad(&agent_failure(self.lang, failure)));
            }
            AgentEvent::Finished { verdict: Verdict::Done { .. } } => {
                let used = self.usage.map(|u| used(self.lang, &u)).unwrap_or_default();
                lines.push(LogLine { tone: Tone::Strong, text: format!("✓ {used}").trim_end().to_owned() });
            }
            AgentEvent::SetUpBegan { command } => {
                let text = format!("▸ {} {}", watch::set_up(self.lang), one_line(command));
                lines.push(LogLine { tone: Tone::Strong, text });
            }
            AgentEvent::SetUpLine { text } if text.trim().is_empty() => {}
            AgentEvent::SetUpLine { text } => lines.push(faint(format!("    {}", one_line(text)))),
            AgentEvent::SetUpEnded { ok, seconds, .. } => {
                let time = seconds.map(|seconds| watch::span(self.lang, seconds)).unwrap_or_default();
                let text = format!("  {} {time}", if *ok { "✓" } else { "✗" }).trim_end().to_owned();
                lines.push(LogLine { tone: if *ok { Tone::Faint } else { Tone::Bad }, text });
            }
            AgentEvent::Usage { .. } | AgentEvent::Unknown { .. } => {}
        }
    }

    fn answer(&self, ok: bool, output: &str, lines: &mut Vec<LogLine>) {
        let output = printable(&self.seen_from_root(output));
        let all: Vec<&str> = output.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let sign = if ok { " " } else { "✗" };
        for (at, line) in all.iter().take(ANSWER_LINES).enumerate() {
            let lead = if at == 0 { sign } else { " " };
            lines.push(LogLine {
                tone: if ok { Tone::Faint } else { Tone::Plain },
                text: format!("  {lead} {}", fit(line, CELLS)),
            });
        }
        if all.is_empty() && !ok {
            lines.push(bad_answer());
        }
        if let more @ 1.. = all.len().saturating_sub(ANSWER_LINES) {
            lines.push(faint(say!(self.lang, "    … {more} more lines", "    … 残り {more} 行")));
        }
    }

    fn seen_from_root(&self, text: &str) -> String {
        match &self.root {
            Some(root) => text.replace(root.as_str(), ""),
            None => text.to_owned(),
        }
    }

    fn flush(&mut self, lines: &mut Vec<LogLine>) {
        lines.extend(self.error.take().map(|error| bad(&error)));
    }

    fn drop_error_told_by(&mut self, failure: &AgentFailure) {
        let verdict = agent_failure(self.lang, failure);
        let detail = verdict.split_once(": ").map_or(verdict.as_str(), |(_, detail)| detail).trim_end_matches('…');
        if self.error.as_ref().is_some_and(|error| error.contains(detail) || verdict.contains(error.as_str())) {
            self.error = None;
        }
    }
}

/// Tokens and money: `1200 tokens in, 80 out, $0.0050`.
pub fn used(lang: Lang, usage: &Usage) -> String {
    let (input, output) = (usage.input_tokens, usage.output_tokens);
    let cost = usage.cost.filter(|c| *c != Usd::default()).map(|c| c.to_string());
    let (cost, cost_ja) = cost.map(|c| (format!(", {c}"), format!("、{c}"))).unwrap_or_default();
    say!(lang, "{input} tokens in, {output} out{cost}", "入力 {input}、出力 {output} トークン{cost_ja}")
}

fn one_line(text: &str) -> String {
    fit(&printable(text).split_whitespace().collect::<Vec<_>>().join(" "), CELLS)
}

/// Without what would command the reader's terminal: the words are an agent's, and may be anybody's whom it read.
fn printable(text: &str) -> String {
    plain(text)
}

fn faint(text: String) -> LogLine {
    LogLine { tone: Tone::Faint, text }
}

fn bad(text: &str) -> LogLine {
    LogLine { tone: Tone::Bad, text: format!("✗ {text}") }
}

fn bad_answer() -> LogLine {
    LogLine { tone: Tone::Plain, text: "  ✗".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[LogLine]) -> Vec<&str> {
        lines.iter().map(|l| l.text.as_str()).collect()
    }

    fn call(input: &str) -> AgentEvent {
        AgentEvent::ToolCall { id: "1".into(), name: "tool".into(), input: input.into() }
    }

    fn answer(ok: bool, output: &str) -> AgentEvent {
        AgentEvent::ToolResult { id: "1".into(), ok, output: output.into() }
    }

    #[test]
    fn a_tool_call_says_what_it_is_about() {
        let mut log = LogLines::new(Lang::En, Some("/w/run_1"));
        for (input, line) in [
            ("{\"command\":\"make\\n  test\",\"description\":\"d\"}", "▸ tool make test"),
            ("{\"content\":\"x\",\"file_path\":\"/w/run_1/src/a.rs\"}", "▸ tool src/a.rs"),
            (
                "[{\"kind\":\"add\",\"path\":\"/w/run_1/a\"},{\"kind\":\"delete\",\"path\":\"b\"}]",
                "▸ tool add a, delete b",
            ),
            ("/bin/bash -lc 'cargo test'", "▸ tool cargo test"),
            ("/bin/bash -lc \"echo \\\"x\\\"\"", "▸ tool \"echo \\\"x\\\"\""),
            ("{\"todos\":[]}", "▸ tool {\"todos\":[]}"),
            ("", "▸ tool"),
        ] {
            assert_eq!(texts(&log.of(&call(input))), [line]);
        }
    }

    #[test]
    fn an_answer_is_told_by_its_first_lines() {
        let mut log = LogLines::new(Lang::En, None);
        assert!(log.of(&answer(true, "  \n")).is_empty());
        assert_eq!(texts(&log.of(&answer(false, "Exit code 3\nbroken"))), ["  ✗ Exit code 3", "    broken"]);
        let long = ["line"; 9].join("\n");
        let lines = log.of(&answer(true, &long));
        assert_eq!(lines.len(), ANSWER_LINES + 1);
        assert_eq!(lines.last().unwrap().text, "    … 3 more lines");
    }

    #[test]
    fn an_agent_cannot_command_the_readers_terminal() {
        let mut log = LogLines::new(Lang::En, None);
        let text = "\u{1b}[32mgreen\u{1b}[0m \u{1b}]52;c;ZXZpbA==\u{7}title\r\nnext".to_owned();
        assert_eq!(texts(&log.of(&AgentEvent::Line { text })), ["green ]52;c;ZXZpbA==title\nnext"]);
    }

    #[test]
    fn a_failure_is_told_once() {
        let mut log = LogLines::new(Lang::En, None);
        let failure = AgentFailure::NotAuthorised { detail: "401 bad key".into() };
        assert!(log.of(&AgentEvent::Error { text: "API Error: 401 bad key".into() }).is_empty());
        let sentence = agent_failure(Lang::En, &failure);
        let finished = AgentEvent::Finished { verdict: Verdict::Failed { failure } };
        assert_eq!(texts(&log.of(&finished)), [format!("✗ {sentence}")]);
        assert!(log.end(Some(&sentence)).is_empty());
    }

    #[test]
    fn an_error_the_verdict_does_not_tell_is_kept() {
        let mut log = LogLines::new(Lang::En, None);
        log.of(&AgentEvent::Error { text: "odd".into() });
        assert_eq!(texts(&log.of(&AgentEvent::Message { text: "on".into() })), ["✗ odd", "on"]);
        log.of(&AgentEvent::Error { text: "late".into() });
        assert_eq!(texts(&log.end(Some("ended by a limit"))), ["✗ late", "✗ ended by a limit"]);
    }

    #[test]
    fn the_end_tells_what_was_used() {
        let mut log = LogLines::new(Lang::En, None);
        let usage =
            Usage { input_tokens: 500, output_tokens: 100, cost: Some(Usd::from_dollars(0.005)), ..Usage::default() };
        assert!(log.of(&AgentEvent::Usage { usage }).is_empty());
        let done = AgentEvent::Finished { verdict: Verdict::Done { summary: String::new() } };
        assert_eq!(texts(&log.of(&done)), ["✓ 500 tokens in, 100 out, $0.0050"]);
    }
}
