//! What a shell line would do: the simple commands it runs, the files it writes and reads, and what of it cannot be
//! seen through.
//!
//! The promise: whatever is not understood is said ([`Opaque`]), never left out. A line that cannot be parsed, a command
//! name that is computed, code that comes out of a pipe, a word of the source that turns up nowhere in the reading: all
//! of these are opaque. The other half of the promise is that text which only *mentions* a command is not one.
//!
//! `source` makes words of the line, `walk` goes through them as the shell would; `programs`, `git`, `gh` and `code` know what
//! is started there; `reading` is the answer.
//!
//! Pure: nothing is run, no file is looked at. The grammar is brush-parser's; its types stay in [`source::grammar`] and [`walk`].

mod code;
mod files;
mod gh;
mod git;
mod options;
mod programs;
mod reading;
mod source;
mod walk;

pub use gh::{GhCall, gh_call};
pub use git::{GitCall, git_call, git_subcommand};
pub use options::Parsed as GitOptions;
pub use programs::patches::files_of_patch;
pub use programs::patterns::Pattern;
pub use programs::search::{Act, Deed, Search};
pub use reading::{
    Certainty, Command, Cwd, Foreign, How, Opaque, Reach, Read, Reading, Remote, ScriptRun, Touch, Why, Word, Write,
};
pub use walk::shells::is_shell;

/// What is known about the shell the line goes to.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The user's home, for `~` and `$HOME`. Unknown: they stay as they are written.
    pub home: Option<String>,
    /// Where the shell stands. Unknown: paths stay relative.
    pub cwd: Option<String>,
    /// The project the session works in: what `$CLAUDE_PROJECT_DIR` says.
    pub project: Option<String>,
    /// The top of the checkout the shell stands in: what `git rev-parse --show-toplevel` prints.
    pub checkout: Option<String>,
    /// Aliases the shell is known to have.
    pub aliases: Vec<(String, String)>,
    /// git's aliases of the configuration, as far as they are known.
    pub git_aliases: Vec<(String, String)>,
    pub gh_aliases: Vec<(String, String)>,
}

/// Longer lines are not read: they are opaque.
pub const MAX_BYTES: usize = 64 * 1024;
/// Deeper nesting is not read: the parser's stack is not ours to spend.
pub const MAX_NESTING: usize = 64;

/// Read a line as bash would.
#[must_use]
pub fn read(line: &str) -> Reading {
    read_with(line, &Options::default())
}

/// Read a line as bash would, knowing something about where it runs.
#[must_use]
pub fn read_with(line: &str, options: &Options) -> Reading {
    walk::Walker::new(options).read_all(line)
}
