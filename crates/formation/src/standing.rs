//! Whether a formation is up, and how: what a person said with `up` and `down`. It outlives daemons and machines.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Standing {
    /// Its agents get work.
    pub is_up: bool,
    /// Since when it is up or down; `None`: it was never up.
    pub since: Option<Timestamp>,
    /// All work goes to the larger model.
    pub boost: bool,
    /// Nobody is notified when a command is over.
    pub is_quiet: bool,
}
