//! An agent of the Agent Client Protocol. It calls no hooks: its client, which is dandori, is asked for permissions, files
//! and terminals, and puts each request as an event before a tool, with Claude Code's names for tools. Nobody reads the
//! answer but dandori, so that it has one form.

use camino::Utf8Path;

use crate::event::{Kind, Tool};

use super::fields::Fields;
use super::tools::{Input, claude_names};
use super::{Forms, Notes, Refuse};

pub(super) const FORMS: Forms = Forms::refusing(Refuse::Tool, Notes::Both);

pub(super) fn is_event(name: &str) -> bool {
    name == "PreToolUse"
}

pub(super) fn kind(name: &str) -> Kind {
    if is_event(name) { Kind::PreTool } else { Kind::Other }
}

pub(super) fn tool(name: &str, cwd: Option<&Utf8Path>, fields: &mut Fields<'_>) -> Tool {
    let input = Input::new(name, cwd, fields);
    match name {
        "Bash" => input.bash(Some("cwd"), fields),
        _ => claude_names(input, fields),
    }
}
