//! Tool inputs, read into what they would do. A known tool with an input of another form becomes `Tool::Other`.

use camino::Utf8Path;
use serde_json::{Map, Value};

use crate::change::{Change, resolve};
use crate::event::{EditTool, Oddity, Tool};
use crate::patch::Patch;

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

    pub(super) fn other(self) -> Tool {
        Tool::Other { name: self.name.to_owned(), input: self.value }
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
            return Tool::Bash { command, cwd };
        }
        match self.value.get("command").and_then(Value::as_array).and_then(|words| shell_line(words)) {
            Some(command) => Tool::Bash { command, cwd },
            None => self.odd("command", fields),
        }
    }

    /// A command line under one of the names that servers have for it, with its arguments.
    fn command_line(&mut self) -> Option<String> {
        let args = self.value.get("args").and_then(Value::as_array).and_then(|words| shell_line(words));
        let words = self.value.get("command").and_then(Value::as_array).and_then(|words| shell_line(words));
        let line =
            words.or_else(|| ["command", "cmd", "commandLine", "command_line"].iter().find_map(|f| self.take(f)))?;
        Some(args.map_or(line.clone(), |args| format!("{line} {args}")))
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

    /// A server's tool. One that runs a command line is a shell by another name.
    pub(super) fn mcp(mut self, server: &str, tool: &str) -> Tool {
        const RUNS: [&str; 6] = ["exec", "run", "shell", "bash", "terminal", "command"];
        let name = format!("{server} {tool}").to_ascii_lowercase();
        if RUNS.iter().any(|word| name.contains(word))
            && let Some(command) = self.command_line()
        {
            let folders = ["cwd", "workdir", "working_directory", "workingDirectory", "directory"];
            let cwd = folders.iter().find_map(|folder| self.path(folder)).or_else(|| self.cwd.map(Utf8Path::to_owned));
            return Tool::Bash { command, cwd };
        }
        Tool::Mcp { server: server.to_owned(), tool: tool.to_owned(), input: self.value }
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

/// A command given as a list of words, as a line that means the same.
fn shell_line(words: &[Value]) -> Option<String> {
    let quoted: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(quote)).collect();
    quoted.filter(|words| !words.is_empty()).map(|words| words.join(" "))
}

fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
