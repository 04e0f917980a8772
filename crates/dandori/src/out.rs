//! What the user sees: data on stdout, talk on stderr, colour only where it is wanted, one exit code.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use dandori_domain::Problem;
use dandori_domain::problem::Class;
use dandori_domain::run::Status;
use dandori_host::Env;
use dandori_text::{Lang, Said, Table, json_screen, screen, ui};
use serde::Serialize;
use serde_json::json;

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
}

const READABLE: usize = 100;

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
        Self { lang, json, live }
    }

    /// A person watches stdout: what is shown there may move.
    pub(crate) fn is_watched(&self) -> bool {
        self.live && std::io::stdout().is_terminal()
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

    /// The one object `--json` prints.
    pub(crate) fn object(&self, value: &impl Serialize) {
        if self.json {
            let text = serde_json::to_string(value).unwrap_or_default();
            let _ = writeln!(anstream::stdout(), "{}", json_screen(&text));
        }
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
            let _ = writeln!(anstream::stderr(), "{}", screen(&text.to_string()));
        }
    }

    pub(crate) fn note(&self, text: impl std::fmt::Display) {
        let word = ui::note_word(self.lang);
        self.say(format!("{YELLOW}{word}:{YELLOW:#} {text}"));
    }

    /// Shows a failure and gives its exit code.
    pub(crate) fn fail(&self, failed: &Failed) -> ExitCode {
        match failed {
            Failed::Quiet(code) => ExitCode::from(*code),
            Failed::Usage(said) => {
                self.object(&json!({ "error": { "code": "usage", "message": one_line(said) } }));
                self.show(said);
                ExitCode::from(2)
            }
            Failed::Refused(said) => {
                self.object(&json!({ "error": { "code": "refused", "message": one_line(said) } }));
                self.show(said);
                ExitCode::from(1)
            }
            Failed::NoCommand(help) => {
                let _ = write!(anstream::stderr(), "{help}");
                ExitCode::from(2)
            }
            Failed::Demo(text) => {
                let word = ui::error_word(self.lang);
                let _ = writeln!(anstream::stderr(), "{RED}{word}:{RED:#} {}", screen(text));
                ExitCode::from(1)
            }
            Failed::Problem(problem) => {
                let said = dandori_text::problem(self.lang, problem);
                self.object(
                    &json!({ "error": { "code": problem.code(), "message": one_line(&said), "problem": problem } }),
                );
                self.show(&said);
                ExitCode::from(match problem.class() {
                    Class::Refused => 1,
                    Class::World => 3,
                    Class::Bug => 70,
                })
            }
        }
    }

    /// An error as a person reads it, also beside JSON: stderr is for people.
    fn show(&self, said: &Said) {
        let mut stderr = anstream::stderr();
        let word = ui::error_word(self.lang);
        let _ = writeln!(stderr, "{RED}{word}:{RED:#} {}", screen(&said.what));
        for line in said.why.iter().flat_map(|why| why.lines()) {
            let _ = writeln!(stderr, "  {}", screen(line));
        }
        let word = ui::hint_word(self.lang);
        let _ = writeln!(stderr, "{CYAN}{word}:{CYAN:#} {}", screen(&said.hint));
    }
}

/// Columns of the terminal that stdout is.
pub(crate) fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

fn one_line(said: &Said) -> String {
    dandori_domain::plain::plain(&match &said.why {
        Some(why) => format!("{}: {}", said.what, why.replace('\n', " ")),
        None => said.what.clone(),
    })
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
