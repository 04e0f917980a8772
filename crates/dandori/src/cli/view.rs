//! Runs on the screen: on a terminal lines that move, below what the agent has said and done; in a pipe a line per state.

use std::time::{Duration, Instant};

use dandori_api::{EventView, RunView, TaskView};
use dandori_domain::AgentEvent;
use dandori_domain::run::{Fact, Status};
use dandori_text::{Fold, Piece, Tone, table, watch};

use super::{Context, begin, told};
use crate::moving::Moving;
use crate::out::{bad, dim, good, padded_state, state};

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Nothing heard for so long: what may have been half a message is one.
const QUIET: Duration = Duration::from_millis(500);
/// Of the screen's columns, for the name of an agent among others.
const AGENT_CELLS: usize = 16;
/// Below this many columns, a line among others has no room for it.
const ROOMY: usize = 72;
/// What is left for what is being done is worth having.
const LEAST: usize = 8;

/// What is shown of the agents' words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Words {
    Shown,
    LeftOut,
}

pub(crate) struct View<'c> {
    context: &'c Context,
    moving: Option<Moving>,
    words: Words,
    rows: Vec<Row>,
    noted: Vec<String>,
    turn: usize,
}

struct Row {
    id: String,
    key: String,
    agent: String,
    state: Option<Status>,
    /// Its place in the queue, or what came of it.
    detail: String,
    /// The same with its numbers alone, where there is little room.
    short: String,
    /// What a pipe was told last.
    last: String,
    is_settled: bool,
    fold: Fold,
    /// How many of its agent's events were taken in.
    heard: usize,
    heard_at: Instant,
    since: Instant,
}

impl<'c> View<'c> {
    pub(crate) fn new(context: &'c Context, words: Words) -> Self {
        let moving = context.out.live.then(|| Moving::new(&context.env));
        Self { context, moving, words, rows: Vec::new(), noted: Vec::new(), turn: 0 }
    }

    pub(crate) fn is_live(&self) -> bool {
        self.moving.is_some()
    }

    /// Whether anybody sees what agents say.
    pub(crate) fn wants_words(&self) -> bool {
        self.is_live() && self.words == Words::Shown
    }

    /// How many of a run's events are known here.
    pub(crate) fn heard(&self, run: &str) -> usize {
        self.rows.iter().find(|row| row.id == run).map_or(0, |row| row.heard)
    }

    /// How the runs are by now.
    pub(crate) fn update(&mut self, task: &TaskView, runs: &[String]) {
        for run in task.runs.iter().filter(|r| runs.contains(&r.id)) {
            for note in told::notes(&self.context.out, run) {
                self.note(note);
            }
            let lang = self.context.out.lang;
            if !self.rows.iter().any(|row| row.id == run.id) {
                self.rows.push(Row {
                    id: run.id.clone(),
                    key: run.key.clone(),
                    agent: table::fit(&run.agent, 40),
                    state: None,
                    detail: String::new(),
                    short: String::new(),
                    last: String::new(),
                    is_settled: false,
                    fold: Fold::new(lang, None),
                    heard: 0,
                    heard_at: Instant::now(),
                    since: Instant::now(),
                });
            }
            if let Some(row) = self.rows.iter_mut().find(|row| row.id == run.id) {
                row.fold.works_in(run.worktree.as_deref());
                row.is_settled = run.settled;
            }
            let place = told::waiting(&self.context.out, run).unwrap_or_default();
            self.show(&run.id, run.state, &place);
            if run.settled {
                self.settled(run);
            }
        }
    }

    /// How those are that have ended; of the others every state is told by its event.
    pub(crate) fn update_settled(&mut self, task: &TaskView, runs: &[String]) {
        for row in &mut self.rows {
            let run = task.runs.iter().find(|run| run.id == row.id);
            row.fold.works_in(run.and_then(|run| run.worktree.as_deref()));
        }
        let settled: Vec<String> = task.runs.iter().filter(|r| r.settled).map(|r| r.id.clone()).collect();
        let ours: Vec<String> = runs.iter().filter(|run| settled.contains(run)).cloned().collect();
        self.update(task, &ours);
    }

    /// What an event says of a run: a state it came to, which it may have left since, or something to know.
    pub(crate) fn passed(&mut self, event: &EventView) {
        if event.machine.as_deref() != Some("run") {
            return;
        }
        match serde_json::from_value(event.body.clone()) {
            Ok(Fact::Noted { note }) => self.note(dandori_text::note(self.context.out.lang, &note)),
            Ok(Fact::StartsFrom { start }) => self.begins(begin::said(&self.context.out, &start)),
            _ => {}
        }
        let state = event.status.as_ref().and_then(|name| Status::ALL.into_iter().find(|s| s.as_str() == name));
        if let (Some(run), Some(state)) = (&event.run, state) {
            self.show(run, state, "");
        }
    }

    /// What a run's agent said or did.
    pub(crate) fn said(&mut self, run: &str, event: &AgentEvent) {
        let Some(row) = self.rows.iter_mut().find(|row| row.id == run) else { return };
        row.heard += 1;
        row.heard_at = Instant::now();
        let pieces = row.fold.of(event);
        self.keep(&pieces);
    }

    /// Nobody will say anything more.
    pub(crate) fn end(&mut self) {
        let pieces: Vec<Piece> = self.rows.iter_mut().flat_map(|row| row.fold.end()).collect();
        self.keep(&pieces);
    }

    /// The runs whose last words stand at the end of what was shown.
    pub(crate) fn ended_with_summary(&self, task: &TaskView) -> Vec<String> {
        let is_alone = self.wants_words() && self.rows.len() == 1;
        let summary = |row: &Row| task.runs.iter().find(|run| run.id == row.id)?.summary.clone();
        let ended = |row: &&Row| is_alone && summary(row).is_some_and(|summary| row.fold.ended_with(&summary));
        self.rows.iter().filter(ended).map(|row| row.id.clone()).collect()
    }

    /// Whether a run may be in the queue.
    pub(crate) fn any_pending(&self) -> bool {
        self.rows.iter().any(|row| row.state == Some(Status::Pending))
    }

    /// A moment has passed.
    pub(crate) fn tick(&mut self) {
        self.turn = self.turn.wrapping_add(1);
        let mut pieces = Vec::new();
        for row in &mut self.rows {
            pieces.extend(row.fold.burst());
            if row.heard_at.elapsed() > QUIET {
                pieces.extend(row.fold.settle());
            }
        }
        self.keep(&pieces);
        self.draw(&[]);
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.clear();
        self.context.out.say(text);
    }

    /// Each note once.
    fn note(&mut self, note: String) {
        if !self.noted.contains(&note) {
            self.clear();
            self.context.out.note(&note);
            self.noted.push(note);
        }
    }

    /// Where it starts, once for all that start there.
    fn begins(&mut self, line: String) {
        if !self.noted.contains(&line) {
            self.clear();
            self.context.out.say_on(2, &line);
            self.noted.push(line);
        }
    }

    fn clear(&mut self) {
        if let Some(moving) = &mut self.moving {
            moving.clear();
        }
    }

    fn show(&mut self, run: &str, state: Status, place: &str) {
        let Some(row) = self.rows.iter_mut().find(|row| row.id == run) else { return };
        let line = format!("{}  {}  {}", row.key, padded_state(state), row.agent);
        let whole = if place.is_empty() { line.clone() } else { format!("{line}  {}", dim(place)) };
        let is_news = row.last != whole && !(place.is_empty() && row.last.starts_with(&line));
        row.state = Some(state);
        if !row.is_settled {
            place.clone_into(&mut row.detail);
        }
        // The place in the queue is no state of its own: the same state without it says nothing new.
        if is_news {
            row.last.clone_from(&whole);
            // Once all have ended, how each did is told below, with what came of it.
            let are_over = self.rows.iter().all(|row| row.state.is_some_and(Status::is_terminal));
            if self.moving.is_none() && !are_over {
                self.context.out.say(&whole);
            }
        }
        self.draw(&[]);
    }

    /// Its row stops moving, and stays as it ended.
    fn settled(&mut self, run: &RunView) {
        let out = &self.context.out;
        let detail = told::error(out, run).unwrap_or_else(|| told::result(out, run));
        if let Some(row) = self.rows.iter_mut().find(|row| row.id == run.id) {
            detail.lines().next().unwrap_or_default().clone_into(&mut row.detail);
            let changes = run.changes.filter(|_| run.state == Status::Succeeded);
            row.short = changes.map(|c| format!("+{} −{}", c.insertions, c.deletions)).unwrap_or_default();
        }
    }

    /// Puts pieces where they stay: only of a run that is alone, several would talk at once.
    fn keep(&mut self, pieces: &[Piece]) {
        if pieces.is_empty() || self.rows.len() != 1 {
            return;
        }
        let cells = Moving::room().0;
        let shown = |piece: &Piece| {
            let coloured = |row: String| match piece.tone {
                Tone::Plain | Tone::Strong => row,
                Tone::Faint => dim(&row),
                Tone::Bad => bad(&row),
            };
            piece.rows(cells).into_iter().map(coloured).collect::<Vec<_>>()
        };
        let lines: Vec<String> = pieces.iter().flat_map(shown).collect();
        self.draw(&lines);
    }

    fn draw(&mut self, above: &[String]) {
        let (columns, height) = Moving::room();
        let lang = self.context.out.lang;
        // One less: some terminals begin a new row once the last column is full.
        let cells = columns.saturating_sub(1);
        let mut lines: Vec<String> = match self.rows.as_slice() {
            [row] => vec![self.alone(row, cells)],
            rows => rows.iter().map(|row| self.among_others(row, cells)).collect(),
        };
        let most = height.saturating_sub(1).max(1);
        if lines.len() > most {
            let hidden = lines.len() - (most - 1);
            lines.truncate(most - 1);
            lines.push(table::fit(&format!("  {}", watch::more_runs(lang, hidden)), cells));
        }
        if let Some(moving) = &mut self.moving {
            moving.draw(above, &lines);
        }
    }

    fn alone(&self, row: &Row, cells: usize) -> String {
        let status = row.state.unwrap_or(Status::Pending);
        let left = format!("{} {}", self.mark(row), state(status));
        line(&left, &self.doing(row), &self.counted(row), cells)
    }

    fn among_others(&self, row: &Row, cells: usize) -> String {
        let status = row.state.unwrap_or(Status::Pending);
        let is_roomy = cells >= ROOMY;
        let agent = if is_roomy { format!("  {}", self.in_column(&row.agent)) } else { String::new() };
        // Where there is room for one name only, people know the agent's.
        let name = if is_roomy || !self.are_known_by_agents() { row.key.clone() } else { self.in_column(&row.agent) };
        let left = format!("{} {name}  {}{agent}", self.mark(row), padded_state(status));
        if row.is_settled {
            let room = cells.saturating_sub(table::width(&left) + 2);
            let is_short = !row.short.is_empty() && table::width(&row.detail) > room;
            let detail = if is_short { &row.short } else { &row.detail };
            return format!("{left}  {}", table::fit(detail, room)).trim_end().to_owned();
        }
        line(&left, &self.doing(row), &self.counted(row), cells)
    }

    /// An agent's name, as wide as the widest of them.
    fn in_column(&self, agent: &str) -> String {
        let name = |agent: &str| table::fit(agent, AGENT_CELLS);
        let widest = self.rows.iter().map(|row| table::width(&name(&row.agent))).max().unwrap_or(0);
        let name = name(agent);
        format!("{name}{}", " ".repeat(widest.saturating_sub(table::width(&name))))
    }

    /// Each has an agent of its own, with a name no longer than a run's.
    fn are_known_by_agents(&self) -> bool {
        self.rows.iter().all(|row| {
            let same = self.rows.iter().filter(|other| other.agent == row.agent).count();
            same == 1 && table::width(&row.agent) <= table::width(&row.key)
        })
    }

    fn mark(&self, row: &Row) -> String {
        match row.state {
            Some(Status::Succeeded) if row.is_settled => good("✓"),
            Some(Status::Failed) if row.is_settled => bad("✗"),
            Some(Status::Canceled) if row.is_settled => "–".to_owned(),
            _ => SPINNER.get(self.turn % SPINNER.len()).copied().unwrap_or_default().to_owned(),
        }
    }

    fn doing(&self, row: &Row) -> String {
        let status = row.state.unwrap_or(Status::Pending);
        let is_the_agents = matches!(status, Status::Pending | Status::Running);
        let own = watch::doing(self.context.out.lang, status).unwrap_or_default();
        if !row.detail.is_empty() {
            row.detail.clone()
        } else if is_the_agents && !row.fold.now().is_empty() {
            row.fold.now().to_owned()
        } else if status == Status::Running && self.words == Words::LeftOut {
            row.agent.clone()
        } else {
            own.to_owned()
        }
    }

    /// How long it takes already, and what it costs, where that is known.
    fn counted(&self, row: &Row) -> String {
        let lang = self.context.out.lang;
        let time = watch::span(lang, row.since.elapsed().as_secs());
        match row.fold.usage().and_then(|usage| watch::spent(lang, &usage)) {
            Some(spent) => format!("{time} · {spent}"),
            None => time,
        }
    }
}

/// One line of at most so many cells: numbers at its end are never cut, what is done in the middle is.
fn line(left: &str, middle: &str, right: &str, cells: usize) -> String {
    let room = cells.saturating_sub(table::width(left) + table::width(right) + 4);
    if room >= LEAST && !middle.is_empty() {
        return format!("{left}  {}  {}", table::fit(middle, room), dim(right)).trim_end().to_owned();
    }
    let short = format!("{left}  {}", dim(right));
    if table::width(&short) <= cells { short } else { left.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_cut_and_numbers_are_not() {
        let plain = |text: String| anstream::adapter::strip_str(&text).to_string();
        let shown = |cells| plain(line("⠋ RUNNING", "$ cargo test --workspace", "1m 2s · $0.0421", cells));
        assert_eq!(shown(60), "⠋ RUNNING  $ cargo test --workspace  1m 2s · $0.0421");
        assert_eq!(shown(40), "⠋ RUNNING  $ cargo…  1m 2s · $0.0421");
        assert_eq!(shown(30), "⠋ RUNNING  1m 2s · $0.0421");
        assert_eq!(shown(20), "⠋ RUNNING");
        let japanese = plain(line("⠋ RUNNING", "読み取り 日本語の名前.md", "3秒", 30));
        assert_eq!((japanese.as_str(), table::width(&japanese)), ("⠋ RUNNING  読み取り 日本…  3秒", 30));
    }
}
