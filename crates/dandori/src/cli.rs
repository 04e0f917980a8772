//! The verbs, a file each: its arguments and what it does with them.

pub(crate) mod begin;
pub(crate) mod completions;
pub(crate) mod config_edit;
pub(crate) mod config_file;
pub(crate) mod config_init;
pub(crate) mod config_set;
pub(crate) mod config_show;
pub(crate) mod consent;
pub(crate) mod daemon_logs;
pub(crate) mod daemon_start;
pub(crate) mod daemon_status;
pub(crate) mod daemon_stop;
pub(crate) mod dead_letter;
pub(crate) mod doctor;
pub(crate) mod down;
pub(crate) mod ending;
pub(crate) mod formation;
pub(crate) mod formation_status;
pub(crate) mod guard_allow;
pub(crate) mod guard_explain;
pub(crate) mod guard_list;
pub(crate) mod guard_revoke;
pub(crate) mod guard_stats;
pub(crate) mod guard_test;
pub(crate) mod inbox;
pub(crate) mod inbox_dismiss;
pub(crate) mod inbox_show;
pub(crate) mod inbox_snooze;
pub(crate) mod inbox_wake;
pub(crate) mod init;
pub(crate) mod instruction;
pub(crate) mod man;
pub(crate) mod notify;
pub(crate) mod notify_test;
pub(crate) mod order;
pub(crate) mod order_change;
pub(crate) mod order_follow;
pub(crate) mod order_list;
pub(crate) mod order_show;
pub(crate) mod plan_add_retry_task;
pub(crate) mod plan_complete;
pub(crate) mod plan_request_cancel;
pub(crate) mod plan_show;
pub(crate) mod plan_submit;
pub(crate) mod playbook_check;
pub(crate) mod playbook_new;
pub(crate) mod playbook_show;
pub(crate) mod playbook_status;
pub(crate) mod post_loop;
pub(crate) mod pr_checkout;
pub(crate) mod pr_close;
pub(crate) mod pr_create;
pub(crate) mod pr_diff;
pub(crate) mod pr_list;
pub(crate) mod pr_merge;
pub(crate) mod pr_open;
pub(crate) mod pr_reopen;
pub(crate) mod pr_show;
pub(crate) mod pr_update;
pub(crate) mod prompt_edit;
pub(crate) mod prompt_list;
pub(crate) mod prompt_show;
pub(crate) mod quarantine;
pub(crate) mod queue_write;
pub(crate) mod result_write;
pub(crate) mod run;
pub(crate) mod setup;
pub(crate) mod state_history;
pub(crate) mod state_set;
pub(crate) mod state_show;
pub(crate) mod status;
pub(crate) mod task_cancel;
pub(crate) mod task_compare;
pub(crate) mod task_diff;
pub(crate) mod task_follow_up;
pub(crate) mod task_heartbeat;
pub(crate) mod task_list;
pub(crate) mod task_log;
pub(crate) mod task_open;
pub(crate) mod task_pick;
pub(crate) mod task_retry;
pub(crate) mod task_show;
pub(crate) mod told;
pub(crate) mod trust;
pub(crate) mod uninstall;
pub(crate) mod up;
pub(crate) mod view;
pub(crate) mod wait;
pub(crate) mod worktree_add;
pub(crate) mod worktree_adopt;
pub(crate) mod worktree_gc;
pub(crate) mod worktree_list;
pub(crate) mod worktree_path;
pub(crate) mod worktree_remove;
pub(crate) mod worktree_restore;

use std::ffi::OsStr;

use camino::Utf8PathBuf;
use dandori_api::Variables;
use dandori_domain::Problem;
use dandori_engine::Layout;
use dandori_host::Env;

use crate::out::Out;

/// What every verb may use.
pub(crate) struct Context {
    pub(crate) out: Out,
    pub(crate) env: Env,
    pub(crate) layout: Layout,
    /// Where the user stands; `None` when that folder is gone or its name is not UTF-8.
    pub(crate) cwd: Option<Utf8PathBuf>,
}

impl Context {
    /// Where the user stands.
    pub(crate) fn here(&self) -> Result<Utf8PathBuf, Problem> {
        let unknown = || Problem::Io { path: ".".into(), reason: "it does not exist, or its name is not UTF-8".into() };
        self.cwd.clone().ok_or_else(unknown)
    }

    /// The environment for those who work for the user: the daemon may have been started from another one.
    pub(crate) fn variables(&self) -> Variables {
        let text = |(name, value): (&OsStr, &OsStr)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()));
        let terminal = terminal().map(|path| ("DANDORI_TERMINAL".to_owned(), path));
        Variables(self.env.iter().filter_map(text).chain(terminal).collect())
    }

    /// Whose hand this is, for worktrees that are held.
    pub(crate) fn session(&self, flag: Option<String>) -> Option<String> {
        flag.or_else(|| self.env.text("DANDORI_SESSION").map(str::to_owned))
    }
}

/// The terminal this command is typed at, for its bell.
pub(crate) fn terminal() -> Option<String> {
    let name = rustix::termios::ttyname(std::io::stderr(), Vec::new())
        .or_else(|_| rustix::termios::ttyname(std::io::stdout(), Vec::new()))
        .or_else(|_| rustix::termios::ttyname(std::io::stdin(), Vec::new()));
    name.ok()?.into_string().ok()
}
