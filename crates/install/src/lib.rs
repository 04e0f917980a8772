//! dandori's hooks in the settings of the clients that have hooks: put in, brought up to date, taken out.
//!
//! Text in, text out; who reads and writes the files is the binary. What is not ours stays byte for byte as it was:
//! comments, odd indentation, line ends, a missing last newline. The text is not printed anew but spliced:
//!
//! * [`install`] appends to what is there, one group per event, and says what it found ([`Memory`]): was there a file,
//!   were `hooks` or the event's list there, and how was an empty one written.
//! * [`uninstall`] takes out what is ours by its command line, and with the memory also what held it, so that a file
//!   nobody else has touched is again what it was before. Without a memory it takes away what became empty.
//! * [`for_run`] makes the settings of one run's private client: its own hooks in the place of any of ours.
//! * An entry of ours is known by its command: a program named `dandori`, then `hook <agent>` and the guards' own places.
//! * Besides hooks, what their client requires for them is set where nobody has set it (`Hooks::requires`): messages of
//!   other sessions would count as the user's word.
//! * [`inspect`] and [`CodexConfig`] say what keeps ours from being heard; [`only_ours`] makes a copy in which nobody
//!   else's does anything.

mod call;
mod diff;
mod edit;
mod folders;
mod groups;
mod inspect;
mod install;
mod memory;
mod ours;
mod rehearsal;
mod run;
mod tree;
mod trust;
mod uninstall;
mod wanted;

pub use call::{Call, Places};
pub use dandori_domain::Client;
pub use diff::unified;
pub use folders::{asks_nobody, is_trusted};
pub use inspect::{Fault, Inspection, Own, Shape, Weakness, inspect};
pub use install::{Installed, install};
pub use memory::{Before, FileBefore, Memory};
pub use ours::{Reach, has_ours, reach};
pub use rehearsal::{Setting, only_ours, with_setting};
pub use run::{TrustedHook, for_run, switches_of_all, trusted_hooks};
pub use tree::{Looseness, Trouble};
pub use trust::{CodexConfig, CodexTrust, MovedFile};
pub use uninstall::{Uninstalled, uninstall};
