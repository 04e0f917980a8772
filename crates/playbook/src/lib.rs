//! `state.md` and `plan/playbook-*.md`: read tolerantly, checked, and edited without disturbing the rest of the file.
//!
//! **What it promises.** Whatever is in a file, reading it ends with a document and a list of what was odd, never with
//! a panic. An edit changes the one line it is about; comments, order, spacing and line ends of the rest stay as they
//! are. Both are people's files, written by hand, by agents and by other tools: a key is found in front matter, in a
//! fenced block and in a list alike.
//!
//! **What it refuses to know.** Files, git, the clock, guards. It is handed text and gives text back.

mod check;
mod edit;
mod lines;
mod next;
mod odd;
mod playbook;
mod project;
mod roles;
mod state;
mod template;

pub use check::{Fault, check};
pub use edit::EditError;
pub use next::Next;
pub use odd::{Odd, Wanted};
pub use playbook::{Phase, PhaseStatus, Playbook, Subtask, Validation, ValidationKind};
pub use project::Project;
pub use roles::Executor;
pub use state::{Roles, Security, State};
pub use template::{playbook_template, state_template};
