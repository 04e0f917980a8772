//! The machine dandori runs on: child processes, files, the clock, memory and disk.
//!
//! Everything that touches the operating system on behalf of the engine goes through here, so that deadlines,
//! clean environments and durable writes are one decision instead of many.

pub mod ancestry;
pub mod clock;
pub mod cmd;
pub mod env;
pub mod fenced;
pub mod file;
pub mod layout;
pub mod machine;
pub mod process;
pub mod reserve;
pub mod sandbox;
pub mod shim;
pub mod socket_folder;
pub mod state_root;
pub mod tmux;

pub use clock::{now, random};
pub use cmd::{Cmd, CmdError, CmdOutput, WatchEnd, Watched};
pub use env::Env;
pub use file::{put_file, replace_file};
pub use layout::Layout;
pub use state_root::{StateRoot, StateRootError};
pub use tmux::Tmux;
