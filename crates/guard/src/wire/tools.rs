//! Tool inputs, read into what they would do. A known tool with an input of another form becomes `Tool::Other`, and any
//! tool that carries a command line is a shell, whatever its name: clients grow new ones faster than they are learnt of.

use camino::Utf8Path;
use serde_json::{Map, Value};

use crate::change::{Change, resolve};
use crate::event::{EditTool, Oddity, Tool};
use crate::patch::Patch;

use super::commands::{self, shell_line};
use super::fields::Fields;

/// A tool's input on its way into a `Tool`.
pub(super) struct Input<'a> {
    pub(super) name: &'a str,
    pub(super) cwd: Option<&'a Utf8Path>,
    value: Value,
}

impl<'a> Input<'a> {
    pub(super) fn new(name: &'a str, cwd: Option<&'a Utf8Path>, fields: &mut Fields<'_>) -> Self {
        Self { name, cwd, value: fields.tool_input() }
    }

    fn object(&mut self) -> Option<&mut Map<String, Value>> {
        self.value.as_object_mut()
    }

    /// Moves a text out: contents may be large, and the raw event still has them.
    pub(super) fn take(&mut self, field: &str) -> Option<String> {
        match self.object()?.get_mut(field)?.take() {
            Value::String(text) => Some(text),
            other => {
                if let Some(slot) = self.object()?.get_mut(field) {
                    *slot = other;
                }
                None
            }
        }
    }

    fn peek(&self, field: &str) -> Option<&str> {
        self.value.get(field)?.as_str()
    }

    pub(super) fn path(&self, field: &str) -> Option<camino::Utf8PathBuf> {
        self.peek(field).map(|path| resolve(self.cwd, path))
    }

    /// A tool of the client's own that is not known.
    pub(super) fn other(mut self) -> Tool {
        match self.shell(|_| true) {
            Some(shell) => shell,
            None => Tool::Other { name: self.name.to_owned(), input: self.value },
        }
    }

    /// A known tool in an unknown form.
    pub(super) fn odd(self, field: &str, fields: &mut Fields<'_>) -> Tool {
        let field = format!("tool_input.{field}");
        let oddity = if self.value.is_null() {
            Oddity::Missing { field }
        } else {
            Oddity::WrongType { field, expected: "what this tool takes" }
        };
        fields.odd(oddity);
        self.other()
    }

    pub(super) fn bash(mut self, folder: Option<&str>, fields: &mut Fields<'_>) -> Tool {
        let cwd = match folder.and_then(|folder| self.path(folder)) {
            Some(folder) => Some(folder),
            None => self.cwd.map(Utf8Path::to_owned),
        };
        if let Some(command) = self.take("command") {
            return Tool::shell(command, cwd);
        }
        match self.value.get("command").and_then(Value::as_array).and_then(|words| shell_line(words)) {
            Some(command) => Tool::shell(command, cwd),
            None => self.odd("command", fields),
        }
    }

    /// A shell, when there is a command line in the input that counts. What else is there stays beside it.
    fn shell(&mut self, counts: impl Fn(&str) -> bool) -> Option<Tool> {
        const FOLDERS: [&str; 6] = ["cwd", "workdir", "working_directory", "workingDirectory", "directory", "dir_path"];
        let mut rest = self.value.clone();
        let mut lines = Vec::new();
        commands::take_from(&mut rest, &mut lines);
        if !lines.iter().any(|line| counts(line)) {
            return None;
        }
        let cwd = FOLDERS.iter().find_map(|folder| self.path(folder)).or_else(|| self.cwd.map(Utf8Path::to_owned));
        if let Some(fields) = rest.as_object_mut() {
            fields.retain(|name, value| !FOLDERS.contains(&name.as_str()) && (value.is_object() || has_text(value)));
        }
        let beside = if has_text(&rest) { rest } else { Value::Null };
        Some(Tool::Bash { command: lines.join("\n"), cwd, beside })
    }

    pub(super) fn write(mut self, fields: &mut Fields<'_>) -> Tool {
        match (self.path("file_path"), self.take("content")) {
            (Some(path), Some(content)) => edited(EditTool::Write, vec![Change::write(path, content)]),
            // The path alone is enough to guard it.
            (Some(path), None) => {
                fields.odd(Oddity::Missing { field: "tool_input.content".to_owned() });
                let change = Change { new: None, ..Change::write(path, String::new()) };
                Tool::Edit { with: EditTool::Write, changes: vec![change], complete: false }
            }
            (None, _) => self.odd("file_path", fields),
        }
    }

    pub(super) fn edit(mut self, fields: &mut Fields<'_>) -> Tool {
        let Some(path) = self.path("file_path") else { return self.odd("file_path", fields) };
        let (old, new) = (self.take("old_string"), self.take("new_string"));
        let complete = new.is_some();
        if !complete {
            fields.odd(Oddity::Missing { field: "tool_input.new_string".to_owned() });
        }
        Tool::Edit { with: EditTool::Edit, changes: vec![Change::edit(path, old, new)], complete }
    }

    pub(super) fn multi_edit(self, fields: &mut Fields<'_>) -> Tool {
        let Some(path) = self.path("file_path") else { return self.odd("file_path", fields) };
        let text = |edit: &Value, field: &str| edit.get(field).and_then(Value::as_str).map(str::to_owned);
        let edits = self.value.get("edits").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut changes: Vec<_> = edits
            .iter()
            .map(|edit| Change::edit(path.clone(), text(edit, "old_string"), text(edit, "new_string")))
            .collect();
        let complete = !changes.is_empty() && changes.iter().all(|change| change.new.is_some());
        if changes.is_empty() {
            changes.push(Change::edit(path, None, None));
        }
        if !complete {
            fields.odd(Oddity::WrongType { field: "tool_input.edits".to_owned(), expected: "a list of edits" });
        }
        Tool::Edit { with: EditTool::MultiEdit, changes, complete }
    }

    pub(super) fn notebook(mut self, fields: &mut Fields<'_>) -> Tool {
        let Some(path) = self.path("notebook_path") else { return self.odd("notebook_path", fields) };
        let new = self.take("new_source");
        edited(EditTool::NotebookEdit, vec![Change::edit(path, None, new)])
    }

    pub(super) fn patch(mut self, fields: &mut Fields<'_>) -> Tool {
        let Some(text) = self.take("command").or_else(|| self.take("input")).or_else(|| self.take("patch")) else {
            return self.odd("command", fields);
        };
        let patch = Patch::read(&text, self.cwd);
        if !patch.complete {
            fields.odd(Oddity::OddPatch);
        }
        Tool::Edit { with: EditTool::Patch, changes: patch.changes, complete: patch.complete }
    }

    pub(super) fn read(self, fields: &mut Fields<'_>) -> Tool {
        match self.path("file_path").or_else(|| self.path("absolute_path")) {
            Some(path) => Tool::Read { path },
            None => self.odd("file_path", fields),
        }
    }

    pub(super) fn search(mut self) -> Tool {
        let path = self.path("path").or_else(|| self.path("dir_path"));
        let files = self.take("glob").or_else(|| self.take("include")).or_else(|| self.take("include_pattern"));
        Tool::Search { path, pattern: self.take("pattern"), files }
    }

    pub(super) fn skill(mut self, field: &str, fields: &mut Fields<'_>) -> Tool {
        match self.take(field) {
            Some(name) => Tool::Skill { name },
            None => self.odd(field, fields),
        }
    }

    pub(super) fn agent(mut self, role: &str, prompt: &str) -> Tool {
        let role = self.take(role);
        Tool::Agent { role, prompt: self.take(prompt).unwrap_or_default() }
    }

    /// A server's tool. One that runs a command line is a shell by another name. A single word may as well say what an
    /// editor or a browser is to do, unless the tool's name tells that it runs things.
    pub(super) fn mcp(mut self, server: &str, tool: &str) -> Tool {
        const RUNS: [&str; 6] = ["exec", "run", "shell", "bash", "terminal", "command"];
        let name = format!("{server} {tool}").to_ascii_lowercase();
        let runs = RUNS.iter().any(|word| name.contains(word));
        let is_word = |line: &str| line.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        match self.shell(|line| runs || !is_word(line)) {
            Some(shell) => shell,
            None => Tool::Mcp { server: server.to_owned(), tool: tool.to_owned(), input: self.value },
        }
    }
}

/// Whether there is a text anywhere in it.
fn has_text(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Array(items) => items.iter().any(has_text),
        Value::Object(fields) => fields.values().any(has_text),
        _ => false,
    }
}

fn edited(with: EditTool, changes: Vec<Change>) -> Tool {
    Tool::Edit { with, changes, complete: true }
}

/// The tools of Claude Code, whose names Codex uses too.
pub(super) fn claude_names(input: Input<'_>, fields: &mut Fields<'_>) -> Tool {
    match input.name {
        "Bash" => input.bash(None, fields),
        "Write" => input.write(fields),
        "Edit" => input.edit(fields),
        "MultiEdit" => input.multi_edit(fields),
        "NotebookEdit" => input.notebook(fields),
        "Read" => input.read(fields),
        "Grep" | "Glob" | "LS" => input.search(),
        "Skill" => input.skill("skill", fields),
        "Agent" | "Task" => input.agent("subagent_type", "prompt"),
        name => match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
            Some((server, tool)) => input.mcp(server, tool),
            None => input.other(),
        },
    }
}
