//! What an issue or pull request would say, as far as the line tells: its labels and its text.

use dandori_shell::{Command, GhCall, Word, gh_call};
use serde_json::Value;

use crate::change::resolve;
use crate::context::Context;
use crate::voice::Trouble;

pub(super) struct Proposal {
    pub(super) title: String,
    pub(super) labels: Vec<String>,
    pub(super) body: String,
    /// Some of it is only known when it runs, or comes from a form or an editor.
    pub(super) is_partly_unseen: bool,
    /// The text is made of the commits.
    pub(super) is_filled: bool,
}

/// Every `gh <kind> create` of the line, and the call of the interface that does the same.
pub(super) fn proposals(context: &Context, kind: &str) -> Result<Vec<Proposal>, Trouble> {
    let collection = if kind == "pr" { "pulls" } else { "issues" };
    let mut found = Vec::new();
    for command in context.commands() {
        let Some(call) = gh_call(command) else { continue };
        if call.is(&[kind, "create"]) && !call.has("help") && !call.has("dry-run") {
            found.push(of_verb(context, command, &call)?);
        } else if call.api_method().as_deref() == Some("POST") && is_collection(&call, collection) {
            found.push(of_api(context, command, &call)?);
        }
    }
    Ok(found)
}

fn of_verb(context: &Context, command: &Command, call: &GhCall) -> Result<Proposal, Trouble> {
    let is_computed =
        |name: &str| call.flags.iter().any(|(n, value)| n == name && value.as_ref().is_some_and(Word::is_computed));
    let by_hand =
        ["web", "editor", "template", "recover"].iter().any(|flag| call.has(flag) || call.value(flag).is_some());
    let text = |name: &str| call.value(name).map(|word| word.text.clone());
    let mut proposal = Proposal {
        title: text("title").unwrap_or_default(),
        labels: call.values("label"),
        body: text("body").unwrap_or_default(),
        is_partly_unseen: by_hand || is_computed("body") || is_computed("label"),
        is_filled: ["fill", "fill-first", "fill-verbose"].iter().any(|flag| call.has(flag)),
    };
    if let Some(file) = call.value("body-file") {
        proposal.take_file(file_text(context, command, file)?);
    }
    Ok(proposal)
}

fn of_api(context: &Context, command: &Command, call: &GhCall) -> Result<Proposal, Trouble> {
    let mut proposal = Proposal {
        title: String::new(),
        labels: Vec::new(),
        body: String::new(),
        is_partly_unseen: false,
        is_filled: false,
    };
    let fields = call.flags.iter().filter(|(name, _)| matches!(name.as_str(), "field" | "raw-field"));
    for (flag, word) in fields.filter_map(|(flag, value)| Some((flag, value.as_ref()?))) {
        let Some((key, value)) = word.text.split_once('=') else { continue };
        proposal.is_partly_unseen |= word.is_computed() && matches!(key, "body" | "labels[]");
        match (key, value.strip_prefix('@').filter(|_| flag == "field")) {
            ("body", Some(file)) => {
                let file = Word { text: file.to_owned(), certainty: word.certainty };
                proposal.take_file(file_text(context, command, &file)?);
            }
            ("body", None) => value.clone_into(&mut proposal.body),
            ("title", _) => value.clone_into(&mut proposal.title),
            ("labels[]" | "labels", _) => proposal.labels.push(value.to_owned()),
            _ => {}
        }
    }
    if let Some(file) = call.value("input") {
        match file_text(context, command, file)?.and_then(|text| serde_json::from_str::<Value>(&text).ok()) {
            Some(input) => proposal.take_json(&input),
            None => proposal.is_partly_unseen = true,
        }
    }
    Ok(proposal)
}

impl Proposal {
    fn take_file(&mut self, text: Option<String>) {
        match text {
            Some(text) => self.body = text,
            None => self.is_partly_unseen = true,
        }
    }

    fn take_json(&mut self, input: &Value) {
        let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        self.title = text("title");
        self.body = text("body");
        let labels = input.get("labels").and_then(Value::as_array).into_iter().flatten();
        let name = |label: &Value| label.as_str().or_else(|| label.get("name")?.as_str()).map(str::to_owned);
        self.labels.extend(labels.filter_map(name));
    }
}

/// `repos/owner/name/issues`
fn is_collection(call: &GhCall, collection: &str) -> bool {
    let path = call.operands.first().map(|w| w.text.trim_matches('/')).unwrap_or_default();
    let path = path.strip_prefix("https://api.github.com/").unwrap_or(path);
    matches!(path.split('/').collect::<Vec<_>>().as_slice(), ["repos", _, _, last] if *last == collection)
}

/// `None` when it is not there yet, comes on standard input, or has a computed name.
fn file_text(context: &Context, command: &Command, file: &Word) -> Result<Option<String>, Trouble> {
    if file.is_computed() || file.text == "-" {
        return Ok(None);
    }
    let Some(folder) = context.folder_of(command) else { return Ok(None) };
    let path =
        if file.text.starts_with('~') { context.expanded(&file.text) } else { resolve(Some(&folder), &file.text) };
    // What the same line writes first is not there yet, or not as it will be.
    if context.targets().iter().any(|target| target.path == path) {
        return Ok(None);
    }
    context.text(&path)
}
