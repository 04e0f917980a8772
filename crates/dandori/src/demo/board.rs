//! What the audience sees: on a terminal a line per run whose state moves, in a pipe a line per change.
//!
//! Either way the story stays on the screen in the order it happened; only the moving lines are drawn over.

use std::time::Duration;

use dandori_domain::run::Status;
use dandori_text::demo::Scene;
use dandori_text::{demo, table, wrap};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::out::{Out, bold, dim, state};

const INDENT: &str = "   ";
/// Room for the longest state's name.
const STATE_CELLS: usize = 10;
/// Below this a line shows what happens or what was asked for, not both.
const ROOMY: usize = 90;
/// Below this a run's lines begin below its number.
const NARROW: usize = 60;

pub(crate) struct Board<'o> {
    out: &'o Out,
    width: usize,
    bars: Option<MultiProgress>,
    rows: Vec<Row>,
}

struct Row {
    run: String,
    number: String,
    title: String,
    status: Status,
    detail: String,
    /// What came of it, as it stays on the screen.
    outcome: Vec<String>,
    bar: Option<ProgressBar>,
}

impl<'o> Board<'o> {
    pub(crate) fn new(out: &'o Out) -> Self {
        let bars = out.is_watched().then(|| MultiProgress::with_draw_target(ProgressDrawTarget::stdout()));
        Self { out, width: Out::width(), bars, rows: Vec::new() }
    }

    /// Somebody watches it move: changes may take the time they need to be seen.
    pub(crate) fn is_live(&self) -> bool {
        self.bars.is_some()
    }

    pub(crate) fn open(&self, folder: &str) {
        self.line(&bold("dandori demo"));
        self.paragraph(demo::opening(self.out.lang));
        self.line(&format!("{INDENT}{}", dim(folder)));
    }

    pub(crate) fn begin(&self, scene: Scene) {
        let (title, about) = demo::scene(self.out.lang, scene);
        self.line("");
        for (i, part) in wrap(title, self.width.saturating_sub(INDENT.len())).iter().enumerate() {
            let lead = if i == 0 { format!("{}  ", scene.number()) } else { INDENT.to_owned() };
            self.line(&bold(&format!("{lead}{part}")));
        }
        self.paragraph(about);
    }

    /// What a user would have typed for it.
    pub(crate) fn command(&self, line: &str) {
        let cells = if self.is_live() { self.width.saturating_sub(INDENT.len() + 2) } else { usize::MAX };
        for (i, part) in wrap(line, cells).iter().enumerate() {
            self.line(&format!("{INDENT}{}", dim(&format!("{} {part}", if i == 0 { "$" } else { " " }))));
        }
    }

    /// Something that happened besides the runs.
    pub(crate) fn tell(&self, text: &str) {
        for (i, line) in wrap(text, self.width.saturating_sub(INDENT.len() + 2)).iter().enumerate() {
            self.line(&format!("{INDENT}{} {line}", if i == 0 { "·" } else { " " }));
        }
    }

    pub(crate) fn enter(&mut self, run: &str, number: &str, title: &str) {
        let bar = self.bars.as_ref().map(|bars| {
            let bar = bars.add(ProgressBar::new_spinner());
            bar.set_style(style("{spinner}  {wide_msg}"));
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        let row = Row {
            run: run.to_owned(),
            number: number.to_owned(),
            title: title.to_owned(),
            status: Status::Pending,
            detail: String::new(),
            outcome: Vec::new(),
            bar,
        };
        self.rows.push(row);
        self.draw();
        if !self.is_live() {
            self.news(run, Some(Status::Pending), title);
        }
    }

    /// A run is in another state now.
    pub(crate) fn moved(&mut self, run: &str, status: Status, detail: &str) {
        if let Some(row) = self.row(run) {
            row.status = status;
            detail.clone_into(&mut row.detail);
        }
        self.draw();
        if !self.is_live() {
            self.news(run, Some(status), detail);
        }
    }

    /// Something happened to a run that does not change its state.
    pub(crate) fn happened(&mut self, run: &str, detail: &str) {
        if let Some(row) = self.row(run) {
            detail.clone_into(&mut row.detail);
        }
        self.draw();
        if !self.is_live() {
            self.news(run, None, detail);
        }
    }

    /// The agent's words pass by on a terminal; in a pipe they are in the log.
    pub(crate) fn said(&mut self, run: &str, words: &str) {
        if let Some(row) = self.row(run).filter(|row| row.status == Status::Running) {
            row.detail = format!("“{words}”");
            self.draw();
        }
    }

    /// What is to stay on the screen of a run.
    pub(crate) fn keep(&mut self, run: &str, outcome: &str) {
        if let Some(row) = self.row(run) {
            row.outcome.push(outcome.to_owned());
        }
    }

    /// The scene is over: its moving lines come to rest.
    pub(crate) fn end(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let Some(bars) = self.bars.take() else { return };
        for row in &rows {
            if let Some(bar) = &row.bar {
                bar.finish_and_clear();
            }
        }
        for row in rows {
            let head = Self::head(&row.number, Some(row.status));
            // On a narrow screen what was asked for has a line of its own.
            let is_narrow = self.width < NARROW;
            let indent = if is_narrow { INDENT.len() + 5 } else { table::width(&head) };
            let set_in = |text: &str| format!("{}{text}", " ".repeat(indent));
            let mut title = wrap(&row.title, self.width.saturating_sub(indent)).into_iter();
            let beside = if is_narrow { None } else { title.next() };
            self.line(format!("{head}{}", beside.unwrap_or_default()).trim_end());
            title.for_each(|part| self.line(&set_in(&part)));
            for part in row.outcome.iter().flat_map(|one| wrap(one, self.width.saturating_sub(indent))) {
                self.line(&set_in(&dim(&part)));
            }
        }
        self.bars = Some(bars);
    }

    pub(crate) fn heading(&self, text: &str) {
        self.line("");
        self.line(&bold(text));
    }

    pub(crate) fn item(&self, mark: &str, text: &str) {
        let indent = INDENT.len() + table::width(mark) + 1;
        for (i, line) in wrap(text, self.width.saturating_sub(indent)).iter().enumerate() {
            if i == 0 {
                self.line(&format!("{INDENT}{mark} {line}"));
            } else {
                self.line(&format!("{}{line}", " ".repeat(indent)));
            }
        }
    }

    /// A line of something else's output, cut to the screen.
    pub(crate) fn quoted(&self, line: &str) {
        let cells = if self.is_live() { self.width.saturating_sub(INDENT.len()) } else { usize::MAX };
        self.line(&format!("{INDENT}{}", table::fit(line, cells)));
    }

    pub(crate) fn line(&self, text: &str) {
        match &self.bars {
            Some(bars) => bars.suspend(|| self.out.line(text)),
            None => self.out.line(text),
        }
    }

    fn paragraph(&self, text: &str) {
        for line in wrap(text, self.width.saturating_sub(INDENT.len())) {
            self.line(&format!("{INDENT}{line}"));
        }
    }

    fn row(&mut self, run: &str) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| row.run == run)
    }

    /// One line of a pipe.
    fn news(&self, run: &str, status: Option<Status>, detail: &str) {
        if let Some(row) = self.rows.iter().find(|row| row.run == run) {
            self.line(format!("{}{detail}", Self::head(&row.number, status)).trim_end());
        }
    }

    /// All of them: a longer title moves the others' columns.
    fn draw(&self) {
        let column = self.rows.iter().map(|row| table::width(&row.title)).max().unwrap_or(0);
        for row in &self.rows {
            let Some(bar) = &row.bar else { continue };
            let head = Self::head(&row.number, Some(row.status));
            let text = match row.detail.as_str() {
                "" => row.title.clone(),
                detail if self.width < ROOMY => detail.to_owned(),
                detail => {
                    let gap = " ".repeat(column.saturating_sub(table::width(&row.title)) + 2);
                    format!("{}{gap}{}", row.title, dim(detail))
                }
            };
            if row.status.is_terminal() {
                bar.set_style(style(&format!("{INDENT}{{wide_msg}}")));
            }
            bar.set_message(Out::coloured(&format!("{}{text}", head.trim_start())));
        }
    }

    /// `   T-1  RUNNING     `
    fn head(number: &str, status: Option<Status>) -> String {
        let cells = status.map(|status| status.as_str().len()).unwrap_or_default();
        let padding = " ".repeat(STATE_CELLS.saturating_sub(cells) + 2);
        let word = status.map(state).unwrap_or_default();
        format!("{INDENT}{number:<3}  {word}{padding}")
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

impl Drop for Board<'_> {
    fn drop(&mut self) {
        for row in &self.rows {
            if let Some(bar) = &row.bar {
                bar.finish_and_clear();
            }
        }
    }
}
