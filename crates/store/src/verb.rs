//! The verbs, one file per noun. Each is a function over a transaction and an `async fn` of [`crate::Store`].

pub(crate) mod complete;
pub(crate) mod consequence;
pub(crate) mod find;
pub(crate) mod formation;
pub(crate) mod guard;
pub(crate) mod life;
pub(crate) mod local_pull;
pub(crate) mod need;
pub(crate) mod notice;
pub(crate) mod pull;
pub(crate) mod repo;
pub(crate) mod run;
pub(crate) mod subject;
pub(crate) mod task;
pub(crate) mod worktree;
