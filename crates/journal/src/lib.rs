//! What hooks write down, and who reads it again.
//!
//! ```text
//! <folder>/                            one checkout's, 0700
//!   post-loop-pending                  a mark of the checkout
//!   allow.json  allow.lock             exceptions a person has given
//!   sessions/<agent>-<session>/        marks of a session, a file each; what it was denied; calls that began and were judged
//!   logs/*.log                         lines for people
//!   spool/<yyyymmdd-hh>.jsonl          one record per event
//!   taken/<message>-<epoch>            messages of the formation that a client has submitted, or that nobody may any more
//! ```
//!
//! Promises: hooks that run at once lose nothing of one another's, and a hook that is killed leaves each file as it was
//! before or as it should be after. Two ways of writing give that: a small file is written beside and renamed, a line is
//! appended by one `write`. Neither waits for the disk: what is written survives a kill, not a power cut. Only
//! exceptions, which a person gives, are synced.
//!
//! One `write` to a file opened for appending is put behind the others' as a whole, whatever its length: the kernel
//! holds the file's lock for all of it (ext4, xfs, btrfs, tmpfs; not NFS). What a kill or a full disk can still do is to
//! cut it short at a page's edge. Records therefore begin with a line end of their own, so that the half line before
//! does not swallow them.
//!
//! The clock is an argument.

mod append;
mod calls;
mod denied;
mod exceptions;
mod local;
mod lock;
mod logs;
mod marks;
mod record;
mod session;
pub mod spool;
pub mod stats;
mod taken;

pub use calls::{Begun, left_open};
pub use exceptions::{ExceptionError, Exceptions, Given};
pub use local::local_time;
pub use logs::Logs;
pub use record::{Outcome, Record, RecordedVerdict, StepRecord, action, event_name};
pub use session::{Session, clear_post_loop, sessions, sweep, waiting_for_consent};
pub use taken::{Taking, take_message};
