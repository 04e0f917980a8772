//! The text of Codex's `apply_patch`: which files it would add, change, delete and move.
//!
//! Read as the client reads it: headers may be padded, and inside an update a line that begins with a space is context
//! whatever it says. What cannot be read leaves `complete` false: a guard must not take the list for the whole.

use camino::{Utf8Path, Utf8PathBuf};

use crate::change::{Change, ChangeKind, resolve};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";
const ENVIRONMENT: &str = "*** Environment ID: ";

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Patch {
    pub changes: Vec<Change>,
    /// Whether every line was understood.
    pub complete: bool,
}

impl Patch {
    pub fn read(text: &str, base: Option<&Utf8Path>) -> Self {
        let mut reader = Reader { base, patch: Self { changes: Vec::new(), complete: true }, within: Within::Nothing };
        let mut begun = false;
        for line in text.lines() {
            let trimmed = line.trim();
            if !begun {
                begun = trimmed == BEGIN;
                // The here-document the patch is wrapped in may stand around it.
                reader.patch.complete &= begun || trimmed.is_empty() || trimmed.starts_with("<<");
                continue;
            }
            if trimmed == END && !line.starts_with('+') && !reader.is_context(line) {
                return reader.patch;
            }
            reader.line(line);
        }
        reader.patch.complete = false;
        reader.patch
    }
}

/// The patches a shell line hands to `apply_patch`, for instance in a here-document: Codex shows them as a plain
/// command. Text that merely holds a patch, without the program's name in front, is none.
pub fn patches_in_command(command: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = command;
    while let Some(call) = rest.find("apply_patch").or_else(|| rest.find("applypatch")) {
        let Some(after) = rest.get(call..) else { break };
        let Some(begin) = after.find(BEGIN) else { break };
        let Some(body) = after.get(begin..) else { break };
        let end = end_of_patch(body);
        let (patch, further) = body.split_at_checked(end).unwrap_or((body, ""));
        found.push(patch);
        rest = further;
    }
    found
}

/// Just behind the end marker: what follows on its line (a closing quote, the next command) is not the patch's.
fn end_of_patch(body: &str) -> usize {
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        if line.starts_with(END) {
            return at + END.len();
        }
        at += line.len();
    }
    body.len()
}

struct Reader<'a> {
    base: Option<&'a Utf8Path>,
    patch: Patch,
    within: Within,
}

#[derive(PartialEq)]
enum Within {
    Nothing,
    Add,
    /// Right below its header, where alone a move may stand.
    UpdateHeader,
    Update,
}

impl Reader<'_> {
    fn line(&mut self, line: &str) {
        if self.is_context(line) {
            return self.update_line(line);
        }
        if let (Within::Add, Some(text)) = (&self.within, line.strip_prefix('+')) {
            return self.append(Side::New, text);
        }
        let header = line.trim();
        if let Some(path) = header.strip_prefix(ADD) {
            let path = self.path(path);
            self.patch.changes.push(Change::write(path, String::new()));
            self.within = Within::Add;
        } else if let Some(path) = header.strip_prefix(DELETE) {
            let path = self.path(path);
            self.patch.changes.push(Change::delete(path));
            self.within = Within::Nothing;
        } else if let Some(path) = header.strip_prefix(UPDATE) {
            let path = self.path(path);
            self.patch.changes.push(Change::edit(path, Some(String::new()), Some(String::new())));
            self.within = Within::UpdateHeader;
        } else if let (Within::UpdateHeader, Some(to)) = (&self.within, header.strip_prefix(MOVE)) {
            let to = self.path(to);
            if let Some(change) = self.patch.changes.last_mut() {
                change.kind = ChangeKind::Rename { to };
            }
            self.within = Within::Update;
        } else if matches!(self.within, Within::UpdateHeader | Within::Update) && !line.starts_with("***") {
            self.update_line(line);
        } else if !(header.is_empty() || header == END_OF_FILE || header.starts_with(ENVIRONMENT)) {
            self.patch.complete = false;
        }
    }

    fn is_context(&self, line: &str) -> bool {
        matches!(self.within, Within::UpdateHeader | Within::Update)
            && line.starts_with(' ')
            && !(self.within == Within::UpdateHeader && line.trim().starts_with(MOVE))
    }

    fn update_line(&mut self, line: &str) {
        self.within = Within::Update;
        if let Some(text) = line.strip_prefix('+') {
            self.append(Side::New, text);
        } else if let Some(text) = line.strip_prefix('-') {
            self.append(Side::Old, text);
        } else if let Some(text) = line.strip_prefix(' ') {
            self.append(Side::Old, text);
            self.append(Side::New, text);
        } else if line.starts_with("@@") {
            self.begin_hunk();
        } else if !line.trim().is_empty() {
            self.patch.complete = false;
        }
    }

    /// Each place of a file is a change of its own: the texts of two do not stand next to each other in it.
    fn begin_hunk(&mut self) {
        let is_empty = |text: &Option<String>| text.as_deref().unwrap_or_default().is_empty();
        let Some(last) = self.patch.changes.last() else { return };
        if !is_empty(&last.old) || !is_empty(&last.new) {
            let next = Change::edit(last.path.clone(), Some(String::new()), Some(String::new()));
            self.patch.changes.push(next);
        }
    }

    fn append(&mut self, side: Side, text: &str) {
        let Some(change) = self.patch.changes.last_mut() else { return };
        let target = match side {
            Side::Old => &mut change.old,
            Side::New => &mut change.new,
        };
        let target = target.get_or_insert_with(String::new);
        target.push_str(text);
        target.push('\n');
    }

    fn path(&self, path: &str) -> Utf8PathBuf {
        resolve(self.base, path.trim())
    }
}

#[derive(Clone, Copy)]
enum Side {
    Old,
    New,
}

#[cfg(test)]
mod tests;
