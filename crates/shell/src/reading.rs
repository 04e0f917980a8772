//! The answer: our own words for what a line does.

/// What a line would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// Every simple command, wrappers and what they wrap each on their own.
    pub commands: Vec<Command>,
    pub writes: Vec<Write>,
    pub reads: Vec<Read>,
    /// What cannot be seen through.
    pub opaque: Vec<Opaque>,
    /// Script files that are run, whoever wrote them: who knows what the session wrote can judge them.
    pub scripts: Vec<ScriptRun>,
    /// Commands that run on another machine or in a container: not ours to read.
    pub remote: Vec<Remote>,
    /// Subcommands git and gh do not have themselves, and no alias is known for: who can look may know one.
    pub foreign: Vec<Foreign>,
}

impl Reading {
    /// Nothing in the line is hidden from us.
    pub fn is_clear(&self) -> bool {
        self.opaque.is_empty()
    }
}

/// A word after expansion, as far as it could be expanded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Word {
    /// What is not known stays as it was written (`$HOME/x`).
    pub text: String,
    pub certainty: Certainty,
}

impl Word {
    pub fn literal(text: impl Into<String>) -> Self {
        Word { text: text.into(), certainty: Certainty::Literal }
    }

    pub(crate) fn names(pattern: impl Into<String>) -> Self {
        Word { text: pattern.into(), certainty: Certainty::Names }
    }

    pub(crate) fn computed(text: impl Into<String>) -> Self {
        Word { text: text.into(), certainty: Certainty::Computed }
    }

    pub fn is_literal(&self) -> bool {
        self.certainty == Certainty::Literal
    }

    /// Which file or text it is shows only when it runs.
    pub fn is_computed(&self) -> bool {
        matches!(self.certainty, Certainty::Computed | Certainty::Names)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// Exactly this text.
    Literal,
    /// A pattern that the shell fills in with file names.
    Glob,
    /// The names a listing prints: `ls`, `find`. The text is the pattern they fit; `**` takes in what lies deeper.
    Names,
    /// Some of it is only known when it runs.
    Computed,
}

/// A command that would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The name without its folder: `git` for `/usr/bin/git`.
    pub program: String,
    /// All words, the name as written first.
    pub argv: Vec<Word>,
    /// `NAME=value` before the command or given to `env`.
    pub assignments: Vec<(String, Word)>,
    /// How it is reached, outermost first; empty for a command that simply stands there.
    pub reached: Vec<Reach>,
    /// Where it runs.
    pub cwd: Cwd,
    /// Where it runs instead when the `cd` before it fails: `cd x; y`, but not `cd x && y`.
    pub unmoved: Option<Cwd>,
}

impl Command {
    /// The words after the name.
    pub fn args(&self) -> &[Word] {
        self.argv.get(1..).unwrap_or_default()
    }

    /// All words as text, separated by a space: for messages.
    pub fn line(&self) -> String {
        self.argv.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// `env`, `sudo`, `timeout`, `xargs`, `find -exec`, …
    Wrapper(String),
    /// `sh -c`, a here-document or a known pipe into a shell.
    ShellCode(String),
    Eval,
    Trap,
    Function(String),
    Alias(String),
    Substitution,
    Coprocess,
    /// A script that the same line wrote or sourced, with its text known.
    Script(String),
    /// A variable or setting whose value is a command: `GIT_EDITOR`, `core.pager`.
    Setting(String),
    /// Code of another language: `python -c`, `awk`, …
    Interpreter(String),
}

/// Where a command runs, relative to where the line starts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cwd {
    /// Where the line starts.
    Start,
    /// After a `cd` to a path that stands there.
    Known(String),
    /// After a `cd` to somewhere computed.
    Unknown,
}

/// A file that would be written, changed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Write {
    /// Joined with the folder the command runs in and cleaned of `.` and `..`, as far as that is known.
    pub path: Word,
    pub how: How,
    pub cwd: Cwd,
    /// Where it comes from, when it is copied or linked: joined like `path`.
    pub from: Option<Word>,
}

/// Whether a write concerns a given file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    Yes,
    /// The path is computed or a pattern, and the file may be among what it stands for.
    Perhaps,
    No,
}

impl Write {
    /// Does this write concern `path`? Both are taken as text: resolve symlinks first where that matters.
    pub fn touches(&self, path: &str) -> Touch {
        crate::files::touches(self, path)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum How {
    Redirect,
    Tee,
    /// `sed -i`, `perl -pi`, `sort -o` onto itself, editors.
    InPlace,
    /// Destination of `cp`, `mv`, `install`, `ln`, `rsync`, `scp`.
    Copied,
    /// Source of `mv`.
    MovedAway,
    Removed,
    Truncated,
    /// `-o FILE`, `of=FILE`, `w FILE` in sed, `> "file"` in awk.
    Output,
    Patched,
    /// A second name for it is made (a hard link): whoever writes there writes here.
    Linked,
    /// `git checkout -- path`, `git restore`, `git reset --hard`, …: what git has comes back.
    Restored,
    /// `git clean`, `git stash -u`: what git does not have goes.
    Cleaned,
    /// `touch`, `mkdir`.
    Made,
    /// `chmod`, `chown`, `chattr`.
    Mode,
    /// `git config`: what is set is told apart from the file.
    Configured,
    /// What an archive holds goes below this folder.
    Extracted,
    /// Code of another language.
    Interpreter,
}

impl How {
    /// Given a folder, it means everything below, too.
    pub fn takes_folders(self) -> bool {
        match self {
            Self::Removed
            | Self::MovedAway
            | Self::Copied
            | Self::Restored
            | Self::Cleaned
            | Self::Extracted
            | Self::Mode
            | Self::Patched => true,
            Self::Redirect
            | Self::Tee
            | Self::InPlace
            | Self::Truncated
            | Self::Output
            | Self::Linked
            | Self::Configured
            | Self::Made
            | Self::Interpreter => false,
        }
    }
}

/// A file that would be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Read {
    pub path: Word,
    pub program: String,
}

/// A script file that would be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptRun {
    pub path: Word,
    /// `bash` for `bash x.sh`, empty for `./x.sh`.
    pub by: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    pub by: String,
    pub text: String,
}

/// `git x`, which may be an alias or somebody's extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// `git` or `gh`.
    pub program: &'static str,
    pub name: String,
    pub cwd: Cwd,
}

/// A part of the line that cannot be seen through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    pub why: Why,
    /// The part, as written, cut to a length for messages.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Longer or deeper than we read.
    TooLarge,
    /// The parser refused it, or a word got lost in reading.
    NotUnderstood,
    /// The command name, or git's subcommand, is only known when it runs.
    ComputedCommand,
    /// Code for a shell that is not in the line: piped, downloaded, decoded, from a file on stdin.
    UnseenCode,
    /// Code of another language that does more than can be seen.
    Interpreter,
    /// A shell or a language prompt that waits for input.
    Interactive,
    /// A script written by this line with a text we do not know.
    FreshScript,
    /// A setting that makes other commands run something unseen.
    Setting,
}
