//! What the user sees: data on stdout, talk on stderr, colour only where it is wanted, one exit code.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use dandori_api::{ErrorBody, ErrorView};
use dandori_domain::Problem;
use dandori_domain::problem::Class;
use dandori_domain::pull::PullState;
use dandori_domain::run::Status;
use dandori_host::Env;
use dandori_server::words;
use dandori_text::{Lang, Said, Table, json_screen, pulls, screen, table, ui, watch, wrap_after};
use serde::Serialize;

/// Why a verb did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failed {
    Problem(Problem),
    /// Nothing more to say: the answer has been printed.
    Quiet(u8),
    /// The command line is not understood, or cannot be followed.
    Usage(Said),
    /// Understood, and not done.
    Refused(Said),
    /// Only half a command: this help shows the other half.
    NoCommand(String),
    /// The demo did not show what it was to show.
    Demo(String),
}

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

#[derive(Clone)]
pub(crate) struct Out {
    pub(crate) lang: Lang,
    pub(crate) json: bool,
    /// A person watches stderr: progress may move.
    pub(crate) live: bool,
    /// The user's home, which people call `~`.
    home: Option<String>,
}

const READABLE: usize = 100;
/// Fewer cells than this are not worth breaking a line for.
const LEAST: usize = 20;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const GREEN: Style = AnsiColor::Green.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

impl Out {
    pub(crate) fn new(lang: Lang, json: bool, env: &Env) -> Self {
        let live =
            !json && std::io::stderr().is_terminal() && env.text("CI").is_none() && env.text("TERM") != Some("dumb");
        let home = env.home().map(camino::Utf8PathBuf::into_string).filter(|home| home.len() > 1);
        Self { lang, json, live, home }
    }

    /// A person watches stdout: what is shown there may move.
    pub(crate) fn is_watched(&self) -> bool {
        self.live && std::io::stdout().is_terminal()
    }

    /// A path as people write it: from `~`, where a person reads it.
    pub(crate) fn path(&self, path: &str) -> String {
        let is_read = !self.json && std::io::stdout().is_terminal();
        let below = self.home.as_ref().filter(|_| is_read).and_then(|home| path.strip_prefix(home.as_str()));
        match below {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
            _ => path.to_owned(),
        }
    }

    /// The commands that fit now, on stderr: in a column beside the word, or below it where they would not fit.
    pub(crate) fn next(&self, commands: &[String]) {
        if self.json || commands.is_empty() {
            return;
        }
        let word = watch::next(self.lang);
        let beside = table::width(word) + 1;
        let widest = commands.iter().map(|command| table::width(command) + 2).max().unwrap_or(0);
        let fits = columns(std::io::stderr()).is_none_or(|cells| beside + widest <= cells);
        if !fits {
            tell("", 0, word);
        }
        for (i, command) in commands.iter().enumerate() {
            let lead = match (fits, i) {
                (true, 0) => format!("{word} "),
                (true, _) => " ".repeat(beside),
                (false, _) => "  ".to_owned(),
            };
            let _ = writeln!(anstream::stderr(), "{}", screen(&format!("{lead}`{command}`")));
        }
    }

    /// Columns of the terminal; where there is none, as many as are read with ease. No line of prose is longer than that.
    pub(crate) fn width() -> usize {
        terminal_width().unwrap_or(READABLE).min(READABLE)
    }

    /// Styled text for a progress bar, which prints it as it is: plain where colours are not wanted.
    pub(crate) fn coloured(text: &str) -> String {
        let text = screen(text);
        match anstream::AutoStream::choice(&std::io::stderr()) {
            anstream::ColorChoice::Never => anstream::adapter::strip_str(&text).to_string(),
            _ => text,
        }
    }

    /// Data for a person, on stdout. Nothing when JSON is asked for.
    pub(crate) fn line(&self, text: impl std::fmt::Display) {
        if !self.json {
            // A reader that has gone away (`| head`) is no error.
            let _ = writeln!(anstream::stdout(), "{}", screen(&text.to_string()));
        }
    }

    /// Sentences for a person, on stdout, this far in; broken where the screen ends.
    pub(crate) fn prose(&self, indent: usize, text: impl std::fmt::Display) {
        for line in Self::prose_lines(indent, text) {
            self.line(line);
        }
    }

    /// The same as lines, for what goes through a pager.
    pub(crate) fn prose_lines(indent: usize, text: impl std::fmt::Display) -> Vec<String> {
        let width = std::io::stdout().is_terminal().then(Self::width);
        broken(&text.to_string(), &" ".repeat(indent), indent, width)
    }

    /// A line whose further rows stand below its words, not below its mark: an item, a quotation, a commit.
    pub(crate) fn hanging_lines(indent: usize, mark: &str, text: &str) -> Vec<String> {
        let width = std::io::stdout().is_terminal().then(Self::width);
        broken(text, &format!("{}{mark}", " ".repeat(indent)), indent + table::width(mark), width)
    }

    /// A line of ours for a pager: clean, and plain where colours are not wanted.
    pub(crate) fn readable(text: &str) -> String {
        let text = screen(text);
        if are_coloured() { text } else { anstream::adapter::strip_str(&text).to_string() }
    }

    /// A table: its head set off, and cut to the screen where there is one.
    pub(crate) fn table(&self, table: &Table) {
        let width = if std::io::stdout().is_terminal() { terminal_width() } else { None };
        for (i, line) in table.lines(width).iter().enumerate() {
            if i == 0 {
                self.line(dim(line));
            } else {
                self.line(line);
            }
        }
    }

    /// Rows that come one by one, in the columns of a table: its head is printed at once. Nothing when JSON is asked for.
    pub(crate) fn rows(&self, table: &Table) -> Rows<'_> {
        let frame = table.frame(if std::io::stdout().is_terminal() { terminal_width() } else { None });
        for line in table.head(&frame) {
            self.line(dim(&line));
        }
        Rows { out: self, frame }
    }

    /// The one object `--json` prints.
    pub(crate) fn object(&self, value: &impl Serialize) {
        if self.json {
            let text = serde_json::to_string(value).unwrap_or_default();
            let _ = writeln!(anstream::stdout(), "{}", json_screen(&text));
        }
    }

    /// An object that is printed whether it is asked for or not: its readers are programs.
    pub(crate) fn data(&self, value: &impl Serialize) {
        Self { json: true, ..self.clone() }.object(value);
    }

    /// What `--help` and `--version` print.
    pub(crate) fn help(text: &str) {
        let _ = write!(anstream::stdout(), "{text}");
    }

    /// Bytes as they are.
    pub(crate) fn raw(bytes: &[u8]) {
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(bytes);
        let _ = stdout.flush();
    }

    /// Talk, on stderr.
    pub(crate) fn say(&self, text: impl std::fmt::Display) {
        if !self.json {
            tell("", 0, &text.to_string());
        }
    }

    /// The same with its further rows this far in.
    pub(crate) fn say_on(&self, indent: usize, text: &str) {
        if !self.json {
            tell("", indent, text);
        }
    }

    pub(crate) fn note(&self, text: impl std::fmt::Display) {
        if !self.json {
            let word = ui::note_word(self.lang);
            tell(&format!("{YELLOW}{word}:{YELLOW:#} "), 2, &text.to_string());
        }
    }

    /// Shows a failure and gives its exit code.
    pub(crate) fn fail(&self, failed: &Failed) -> ExitCode {
        match failed {
            Failed::Quiet(code) => ExitCode::from(*code),
            Failed::Usage(said) => {
                self.error(error_of("usage", said));
                self.show(said);
                ExitCode::from(2)
            }
            Failed::Refused(said) => {
                self.error(error_of("refused", said));
                self.show(said);
                ExitCode::from(1)
            }
            Failed::NoCommand(help) => {
                let _ = write!(anstream::stderr(), "{help}");
                ExitCode::from(2)
            }
            Failed::Demo(text) => {
                let word = ui::error_word(self.lang);
                tell(&format!("{RED}{word}:{RED:#} "), 2, text);
                ExitCode::from(1)
            }
            Failed::Problem(problem) => {
                self.error(words::problem(self.lang, problem));
                match dandori_text::formation::fault::of_problem(self.lang, problem) {
                    // A line for each, as they are: a model repairs its plan by them.
                    Some(lines) => lines.iter().for_each(|line| {
                        let _ = writeln!(anstream::stderr(), "{}", screen(line));
                    }),
                    None => self.show(&dandori_text::problem(self.lang, problem)),
                }
                ExitCode::from(match problem.class() {
                    Class::Refused => 1,
                    Class::World => 3,
                    Class::Bug => 70,
                })
            }
        }
    }

    /// One of several was not done: the others are, and the report of all has the error too.
    pub(crate) fn refused(&self, what: &str, error: &ErrorView) {
        if !self.json {
            let word = ui::error_word(self.lang);
            tell(&format!("{RED}{word}:{RED:#} "), 2, &format!("{what}: {}", error.message));
            if let Some(hint) = &error.hint {
                let word = ui::hint_word(self.lang);
                tell(&format!("{CYAN}{word}:{CYAN:#} "), 2, hint);
            }
        }
    }

    fn error(&self, error: ErrorView) {
        self.object(&ErrorBody { error });
    }

    /// An error as a person reads it, also beside JSON: stderr is for people.
    fn show(&self, said: &Said) {
        let word = ui::error_word(self.lang);
        tell(&format!("{RED}{word}:{RED:#} "), 2, &said.what);
        for line in said.why.iter().flat_map(|why| why.lines()) {
            tell("  ", 2, line);
        }
        let word = ui::hint_word(self.lang);
        tell(&format!("{CYAN}{word}:{CYAN:#} "), 2, &said.hint);
    }
}

/// The rows of a table that is still being filled.
pub(crate) struct Rows<'o> {
    out: &'o Out,
    frame: table::Frame,
}

impl Rows<'_> {
    pub(crate) fn row(&mut self, cells: &[String]) {
        self.frame.lines(cells).iter().for_each(|line| self.out.line(line));
    }
}

/// Talk on stderr behind a word of ours, further lines this far in.
fn tell(word: &str, indent: usize, text: &str) {
    let width = columns(std::io::stderr()).map(|cells| cells.min(READABLE));
    for line in broken(text, word, indent, width) {
        let _ = writeln!(anstream::stderr(), "{}", screen(&line));
    }
}

/// The lines of a text, the first behind `first`, the others `indent` cells in. Without a screen they stay as they are.
fn broken(text: &str, first: &str, indent: usize, width: Option<usize>) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let lead = if lines.is_empty() { first.to_owned() } else { " ".repeat(indent) };
        let Some(width) = width else {
            lines.push(format!("{lead}{line}"));
            continue;
        };
        // A line that is set in stays set in.
        let inner = line.trim_start();
        let set_in = table::width(line) - table::width(inner);
        let indent = indent + set_in;
        let lead = format!("{lead}{}", " ".repeat(set_in));
        let taken = table::width(&lead).saturating_sub(indent);
        for (i, part) in wrap_after(inner, taken, width.saturating_sub(indent).max(LEAST)).iter().enumerate() {
            lines.push(if i == 0 { format!("{lead}{part}") } else { format!("{}{part}", " ".repeat(indent)) });
        }
    }
    lines
}

/// Columns of the terminal that stdout is.
pub(crate) fn terminal_width() -> Option<usize> {
    columns(std::io::stdout())
}

/// Columns of a terminal; `None` for anything else.
fn columns(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

/// Whether what goes to stdout may have colours.
pub(crate) fn are_coloured() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

/// One that is no problem of the domain's.
fn error_of(code: &str, said: &Said) -> ErrorView {
    let hint = Some(dandori_domain::plain::plain(&said.hint));
    ErrorView { code: code.to_owned(), message: words::one_line(said), hint, detail: None }
}

/// A state with the colour that goes with it; the word alone says it too.
pub(crate) fn state(state: Status) -> String {
    let style = match state {
        Status::Succeeded => GREEN,
        Status::Failed => RED,
        Status::Canceled => YELLOW,
        Status::Pending => DIM,
        Status::Running | Status::Staging | Status::Committing | Status::Pushing => CYAN,
    };
    format!("{style}{state}{style:#}")
}

/// The same for a pull request.
pub(crate) fn pull_state(out: &Out, state: PullState) -> String {
    let style = match state {
        PullState::Open => GREEN,
        PullState::Merged => CYAN,
        PullState::Closed => DIM,
    };
    format!("{style}{}{style:#}", pulls::state(out.lang, state))
}

/// The same, as wide as the longest of them: what follows lines up.
pub(crate) fn padded_state(status: Status) -> String {
    let longest = Status::Committing.as_str().len();
    format!("{}{}", state(status), " ".repeat(longest.saturating_sub(status.as_str().len())))
}

pub(crate) fn added(text: &str) -> String {
    good(text)
}

pub(crate) fn deleted(text: &str) -> String {
    let style = AnsiColor::Red.on_default();
    format!("{style}{text}{style:#}")
}

pub(crate) fn bad(text: &str) -> String {
    format!("{RED}{text}{RED:#}")
}

pub(crate) fn good(text: &str) -> String {
    format!("{GREEN}{text}{GREEN:#}")
}

pub(crate) fn bold(text: &str) -> String {
    format!("{BOLD}{text}{BOLD:#}")
}

pub(crate) fn dim(text: &str) -> String {
    format!("{DIM}{text}{DIM:#}")
}

#[cfg(test)]
mod tests {
    use super::broken;

    #[test]
    fn lines_end_where_the_screen_does_and_go_on_below_their_words() {
        let said = broken("run abc has failed: no such file", "error: ", 2, Some(24));
        assert_eq!(said, ["error: run abc has", "  failed: no such file"]);
        let set_in = broken("one two three four\n  five six seven eight nine", "", 0, Some(24));
        assert_eq!(set_in, ["one two three four", "  five six seven eight", "  nine"]);
        assert_eq!(broken("as it is, however long", "hint: ", 2, None), ["hint: as it is, however long"]);
    }
}
