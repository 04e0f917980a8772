//! Calls of hooks, from beginning to end: so that one that was killed is missed.
//!
//! ```text
//! sessions/<session>/begun/<pid>~<event>~<tool>   while a hook is at work
//! sessions/<session>/judged/<call>                a tool that was let go on
//! ```
//!
//! A hook puts its own file there before it judges and takes it away when the answer is given. What a later event finds of
//! a process that is gone was begun and never answered. And a tool that has run without its call being among the judged
//! ones was never asked about. Each costs a name in a folder: nothing is written into the files.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::world::{Gap, GapKind};
use dandori_guard::{Event, Kind};

use crate::record::{event_name, fingerprint};
use crate::session::{Session, short_hash};

/// Gaps that are told at once; more are only more of the same.
const MOST: usize = 20;
const NAME_CHARS: usize = 40;

/// A call that is being answered.
#[derive(Debug)]
pub struct Begun {
    path: Utf8PathBuf,
    /// Where it is put when what it was about goes on.
    judged: Option<Utf8PathBuf>,
    goes_on: bool,
}

impl Begun {
    /// The tool was let go on.
    pub fn goes_on(&mut self) {
        self.goes_on = true;
    }

    /// The answer is given.
    pub fn end(self) {
        match self.judged.filter(|_| self.goes_on) {
            Some(judged) => {
                let moved = std::fs::rename(&self.path, &judged).or_else(|_| {
                    make_folder(judged.parent())?;
                    std::fs::rename(&self.path, &judged)
                });
                if moved.is_err() {
                    let _ = std::fs::remove_file(&self.path);
                }
            }
            None => drop(std::fs::remove_file(&self.path)),
        }
    }
}

impl Session {
    /// Says that an event is being judged, and what of earlier ones never was. `None` when nothing can be written: then
    /// nothing is known either.
    pub fn begin(&self, event: &Event) -> Option<(Begun, Vec<Gap>)> {
        // With the end of a session all of this goes.
        if matches!(event.kind, Kind::SessionEnd { .. }) {
            return None;
        }
        let folder = self.own.join("begun");
        let pid = std::process::id();
        let tool = plain(event.tool_name.as_deref().unwrap_or_default());
        let path = folder.join(format!("{pid}~{}~{tool}", event_name(event)));
        let make = || OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let made = make().or_else(|_| {
            make_folder(Some(&folder))?;
            make()
        });
        drop(made.ok()?);
        if matches!(event.kind, Kind::SessionStart { .. }) {
            // From here on every tool is asked about.
            let _ = make_folder(Some(&self.judged()));
        }
        let mut gaps = killed(&folder, pid);
        gaps.extend(self.never_asked(event));
        let judged = (event.kind == Kind::PreTool).then(|| call(event).map(|call| self.judged().join(call))).flatten();
        Some((Begun { path, judged, goes_on: false }, gaps))
    }

    fn judged(&self) -> Utf8PathBuf {
        self.own.join("judged")
    }

    /// A tool has run whose call is not among the judged ones.
    fn never_asked(&self, event: &Event) -> Option<Gap> {
        if !matches!(event.kind, Kind::PostTool { .. }) {
            return None;
        }
        let judged = self.judged();
        let path = judged.join(call(event)?);
        // Without an id of the call the same one may come again.
        let is_known = if event.tool_use.is_some() { std::fs::remove_file(&path).is_ok() } else { path.exists() };
        // A session that began before there were such marks has no folder for them.
        (!is_known && judged.is_dir()).then(|| Gap {
            event: event_name(event).into_owned(),
            tool: event.tool_name.clone(),
            kind: GapKind::NeverAsked,
        })
    }
}

/// Calls below a guard folder that were begun and will never be answered: for whoever knows that nobody is at work there.
/// Nothing is followed elsewhere or taken away.
pub fn left_open(folder: &Utf8Path) -> Vec<Gap> {
    let is_plain = |folder: &Utf8Path| folder.canonicalize_utf8().is_ok_and(|real| real == folder);
    let folders = crate::session::sessions(folder).into_iter().map(|session| session.own.join("begun"));
    let entries = folders.filter(|folder| is_plain(folder)).flat_map(|folder| entries(&folder));
    entries.map(|(_, _, gap)| gap).take(MOST).collect()
}

/// Whoever takes a file away is the one who tells.
fn killed(folder: &Utf8Path, own: u32) -> Vec<Gap> {
    let is_at_work = |pid: u32| pid == own || Utf8Path::new("/proc").join(pid.to_string()).exists();
    let is_told = |path: &Utf8Path| std::fs::remove_file(path).is_ok();
    let gone = entries(folder).filter(|(path, pid, _)| !is_at_work(*pid) && is_told(path));
    gone.map(|(_, _, gap)| gap).take(MOST).collect()
}

/// What is begun in a folder, each with its process.
fn entries(folder: &Utf8Path) -> impl Iterator<Item = (Utf8PathBuf, u32, Gap)> + use<> {
    let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let mut parts = entry.file_name().splitn(3, '~');
        let pid = parts.next()?.parse().ok()?;
        let event = parts.next()?.to_owned();
        let tool = parts.next().filter(|tool| !tool.is_empty()).map(str::to_owned);
        Some((entry.path().to_owned(), pid, Gap { event, tool, kind: GapKind::Killed }))
    })
}

/// The call's own name: the client's id of it, else what it does.
fn call(event: &Event) -> Option<String> {
    match &event.tool_use {
        Some(id) => Some(short_hash(id.as_bytes())),
        None => fingerprint(event),
    }
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).take(NAME_CHARS).collect()
}

fn make_folder(folder: Option<&Utf8Path>) -> io::Result<()> {
    match folder {
        Some(folder) => std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dandori_guard::{Client, decode};
    use serde_json::{Value, json};

    fn event(name: &str, more: &Value) -> Event {
        let mut event = json!({"session_id": "s", "cwd": "/repo", "hook_event_name": name});
        for (key, value) in more.as_object().into_iter().flatten() {
            event[key] = value.clone();
        }
        decode(event.to_string().as_bytes(), None).unwrap()
    }

    fn tool(name: &str, id: Option<&str>) -> Event {
        let input = json!({"command": "ls"});
        event(name, &json!({"tool_name": "Bash", "tool_input": input, "tool_use_id": id}))
    }

    fn folder() -> (tempfile::TempDir, Session) {
        let dir = tempfile::tempdir().unwrap();
        let session = Session::new(Utf8Path::from_path(dir.path()).unwrap(), Client::Claude, Some("s"));
        (dir, session)
    }

    fn pass(session: &Session, event: &Event) -> Vec<Gap> {
        let (mut begun, gaps) = session.begin(event).unwrap();
        begun.goes_on();
        begun.end();
        gaps
    }

    #[test]
    fn calls_that_were_answered_leave_no_gap() {
        let (_dir, session) = folder();
        assert_eq!(pass(&session, &event("SessionStart", &json!({"source": "startup"}))), []);
        for id in ["a", "b"] {
            assert_eq!(pass(&session, &tool("PreToolUse", Some(id))), []);
            assert_eq!(pass(&session, &tool("PostToolUse", Some(id))), []);
        }
        assert_eq!(pass(&session, &tool("BeforeTool", None)), []);
        assert_eq!(pass(&session, &tool("BeforeTool", None)), [], "the same again, at once");
        assert_eq!(pass(&session, &tool("AfterTool", None)), []);
        assert_eq!(pass(&session, &tool("AfterTool", None)), []);
        assert_eq!(pass(&session, &event("Stop", &json!({}))), []);
        assert_eq!(session.own.join("begun").read_dir_utf8().unwrap().count(), 0);
        assert!(session.begin(&event("SessionEnd", &json!({"reason": "x"}))).is_none());
    }

    #[test]
    fn a_tool_that_ran_without_being_judged_is_missed_once_it_is_known_that_all_are_asked_about() {
        let (_dir, session) = folder();
        assert_eq!(pass(&session, &tool("PostToolUse", Some("before"))), [], "a session of an earlier version");
        pass(&session, &event("SessionStart", &json!({"source": "startup"})));
        let gaps = pass(&session, &tool("PostToolUse", Some("x")));
        assert_eq!(gaps, [Gap { event: "post-tool".into(), tool: Some("Bash".into()), kind: GapKind::NeverAsked }]);
        let (begun, _) = session.begin(&tool("PreToolUse", Some("refused"))).unwrap();
        begun.end();
        assert_eq!(pass(&session, &tool("PostToolUse", Some("refused"))).len(), 1, "it was not let go on");
    }

    #[test]
    fn a_call_whose_process_is_gone_is_told_once_and_one_at_work_is_not() {
        let (dir, session) = folder();
        pass(&session, &event("SessionStart", &json!({"source": "startup"})));
        let begun = session.own.join("begun");
        // No process has this number.
        std::fs::File::create(begun.join("4194999~pre-tool~Bash")).unwrap();
        std::fs::File::create(begun.join("1~pre-tool~Write")).unwrap();
        std::fs::File::create(begun.join("what is this")).unwrap();
        let gaps = pass(&session, &event("Stop", &json!({})));
        assert_eq!(gaps, [Gap { event: "pre-tool".into(), tool: Some("Bash".into()), kind: GapKind::Killed }]);
        assert_eq!(pass(&session, &event("Stop", &json!({}))), [], "once");
        std::fs::File::create(begun.join("4194999~stop~")).unwrap();
        std::fs::remove_file(begun.join("1~pre-tool~Write")).unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        let want = [Gap { event: "stop".into(), tool: None, kind: GapKind::Killed }];
        assert_eq!(left_open(&root), want);
        assert_eq!(left_open(&root), want, "it is only looked at");
        std::fs::rename(&begun, root.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere"), &begun).unwrap();
        assert_eq!(left_open(&root), [], "and not followed");
    }
}
