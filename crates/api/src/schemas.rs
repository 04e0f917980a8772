//! A JSON schema for what each command prints with `--json`, made of the types it is printed from: `docs/schema/<command>.json`.
//! `UPDATE=1 cargo test -p dandori-api` writes them.
//!
//! Our types leave nothing out, so every property is required there; what is not known is `null`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};

use crate::*;

/// A line of `task log`: what an agent said or did. What else it has depends on its type.
#[derive(ToSchema)]
#[expect(dead_code, reason = "its schema is all there is to it: the events are the domain's")]
struct LogEvent {
    /// `started`, `message`, `thought`, `tool_call`, `tool_result`, `usage`, `retrying`, `warning`, `error`, `finished`, `line`, …
    r#type: String,
}

/// What a command prints.
enum Form {
    /// One object.
    Object,
    /// Lines of JSON, each by itself.
    Lines,
}

type Parts = Vec<(String, RefOr<Schema>)>;

struct Printed {
    command: &'static str,
    form: Form,
    schema: RefOr<Schema>,
    parts: Parts,
}

fn printed<T: ToSchema + PartialSchema>(command: &'static str, form: Form) -> Printed {
    let mut parts = Parts::new();
    T::schemas(&mut parts);
    Printed { command, form, schema: T::schema(), parts }
}

fn all() -> Vec<Printed> {
    use Form::{Lines, Object};
    vec![
        printed::<TaskRuns>("run", Object),
        printed::<TaskList>("task-list", Object),
        printed::<TaskView>("task-show", Object),
        printed::<TaskRuns>("task-follow-up", Object),
        printed::<TaskRuns>("task-retry", Object),
        printed::<CanceledTasks>("task-cancel", Object),
        printed::<Comparison>("task-compare", Object),
        printed::<Picked>("task-pick", Object),
        printed::<LogEvent>("task-log", Lines),
        // Its patch comes with it, in a key of its own.
        printed::<DiffView>("task-diff", Object),
        printed::<TaskOpened>("task-open", Object),
        printed::<WorktreeDone>("worktree-add", Object),
        printed::<WorktreeList>("worktree-list", Object),
        printed::<WorktreeView>("worktree-path", Object),
        printed::<WorktreeDone>("worktree-remove", Object),
        printed::<Collected>("worktree-gc", Object),
        printed::<WorktreeDone>("worktree-adopt", Object),
        printed::<WorktreeDone>("worktree-restore", Object),
        printed::<PullPut>("pr-create", Object),
        printed::<PullList>("pr-list", Object),
        printed::<PullPage>("pr-show", Object),
        printed::<PullPage>("pr-open", Object),
        printed::<PullPatch>("pr-diff", Object),
        printed::<PullCheckedOut>("pr-checkout", Object),
        printed::<TaskRuns>("pr-update", Object),
        printed::<PullDone>("pr-merge", Object),
        printed::<PullDone>("pr-close", Object),
        printed::<PullDone>("pr-reopen", Object),
        printed::<FrontStatus>("status", Object),
        printed::<Inbox>("inbox", Object),
        printed::<Inbox>("inbox-show", Object),
        printed::<Inbox>("inbox-snooze", Object),
        printed::<Inbox>("inbox-wake", Object),
        printed::<Inbox>("inbox-dismiss", Object),
        printed::<NoticesTried>("notify", Object),
        printed::<NoticesTried>("notify-test", Object),
        printed::<formation::OrderView>("order", Object),
        printed::<formation::OrderList>("order-list", Object),
        printed::<formation::OrderView>("order-show", Object),
        printed::<formation::OrderChanged>("order-pause", Object),
        printed::<formation::OrderChanged>("order-resume", Object),
        printed::<formation::OrderChanged>("order-amend", Object),
        printed::<formation::OrderChanged>("order-approve", Object),
        printed::<formation::OrderChanged>("order-cancel", Object),
        printed::<formation::StandingView>("up", Object),
        printed::<formation::StandingView>("down", Object),
        printed::<formation::SetupDone>("setup", Object),
        printed::<formation::QueueWritten>("queue-write", Object),
        printed::<formation::PlanTaken>("plan-submit", Object),
        printed::<formation::PlanCompleted>("plan-complete", Object),
        printed::<formation::RetryAdded>("plan-add-retry-task", Object),
        printed::<formation::OrderChanged>("plan-request-cancel", Object),
        printed::<formation::OrderView>("plan-show", Object),
        printed::<formation::ResultWritten>("result-write", Object),
        printed::<formation::HeartbeatTaken>("task-heartbeat", Object),
        printed::<formation::DeadLetterList>("dead-letter-list", Object),
        printed::<formation::DeadLetterView>("dead-letter-show", Object),
        printed::<formation::DeadLetterRequeued>("dead-letter-requeue", Object),
        printed::<formation::QuarantineList>("quarantine-list", Object),
        printed::<formation::QuarantinedView>("quarantine-show", Object),
        printed::<formation::QuarantineRestored>("quarantine-restore", Object),
        printed::<config::SettingsView>("config-show", Object),
        printed::<config::ConfigChangeView>("config-set", Object),
        printed::<config::ConfigChangeView>("config-edit", Object),
        printed::<config::ConfigChangeView>("config-init", Object),
        printed::<prompts::PromptList>("prompt-list", Object),
        printed::<prompts::PromptView>("prompt-show", Object),
        printed::<prompts::PromptView>("prompt-edit", Object),
        printed::<leave::UninstallView>("uninstall", Object),
        printed::<PlaybookMade>("playbook-new", Object),
        printed::<PlaybookView>("playbook-show", Object),
        printed::<PlaybookChecked>("playbook-check", Object),
        printed::<PlaybookStatus>("playbook-status", Object),
        printed::<PostLoop>("post-loop", Object),
        printed::<StateView>("state-show", Object),
        printed::<StateSet>("state-set", Object),
        printed::<StateHistory>("state-history", Object),
        printed::<DaemonStatus>("daemon-start", Object),
        printed::<DaemonStopped>("daemon-stop", Object),
        printed::<DaemonStatus>("daemon-status", Object),
        printed::<DaemonLog>("daemon-logs", Object),
        printed::<GuardExplained>("guard-explain", Object),
        printed::<GuardTested>("guard-test", Object),
        printed::<ExceptionView>("guard-allow", Object),
        printed::<ExceptionRevoked>("guard-revoke", Object),
        printed::<GuardStatsReport>("guard-stats", Object),
        printed::<GuardList>("guard-list", Object),
        printed::<Consented>("consent", Object),
        printed::<InitReport>("init", Object),
        printed::<DoctorChecks>("doctor", Object),
        printed::<Trusted>("trust", Object),
        printed::<DemoReport>("demo", Object),
        printed::<CompletionScript>("completions", Object),
        // What any of them prints when it fails.
        printed::<ErrorBody>("error", Object),
    ]
}

fn document(printed: &Printed) -> Value {
    let parts: BTreeMap<String, Value> =
        printed.parts.iter().map(|(name, part)| (name.clone(), plain(serde_json::to_value(part).unwrap()))).collect();
    let mut document = plain(serde_json::to_value(&printed.schema).unwrap());
    let object: &mut Map<String, Value> = document.as_object_mut().unwrap();
    object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    if printed.command == "task-diff" {
        let patch = json!({ "type": "string", "description": "The whole of it, as git prints it." });
        object.get_mut("properties").unwrap()["patch"] = patch;
        object.get_mut("required").unwrap().as_array_mut().unwrap().push(json!("patch"));
    }
    let what = match printed.form {
        Form::Object => "one object",
        Form::Lines => "one object a line (NDJSON); this is the schema of a line",
    };
    let command = printed.command.replace('-', " ");
    let title = match printed.command {
        "error" => "what a command that fails prints with --json".to_owned(),
        "task-follow-up" | "post-loop" => {
            format!("dandori {} --json: {what}", printed.command.replacen("task-", "task ", 1))
        }
        "plan-add-retry-task" | "plan-request-cancel" => {
            format!("dandori {} --json: {what}", printed.command.replacen("plan-", "plan ", 1))
        }
        name if name.starts_with("dead-letter-") => {
            format!("dandori dead-letter {} --json: {what}", name.trim_start_matches("dead-letter-"))
        }
        _ => format!("dandori {command} --json: {what}"),
    };
    object.insert("title".to_owned(), json!(title));
    if !parts.is_empty() {
        object.insert("$defs".to_owned(), json!(parts));
    }
    document
}

/// OpenAPI's schema as plain JSON Schema: parts lie in `$defs`, and nothing of an object is left out.
fn plain(mut value: Value) -> Value {
    match &mut value {
        Value::Object(object) => {
            if let Some(Value::String(place)) = object.get_mut("$ref") {
                *place = place.replace("#/components/schemas/", "#/$defs/");
            }
            if let Some(Value::Object(properties)) = object.get("properties") {
                let names: Vec<Value> = properties.keys().map(|name| json!(name)).collect();
                object.insert("required".to_owned(), Value::Array(names));
            }
            // The width of a Rust number is nobody's business.
            if object.get("format").and_then(Value::as_str).is_some_and(|f| f.starts_with("int") || f == "double") {
                object.remove("format");
            }
            object.values_mut().for_each(|inner| *inner = plain(inner.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| *inner = plain(inner.take())),
        _ => {}
    }
    value
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test that writes files of the repository")]
fn the_schemas_in_docs_are_fresh() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema");
    let is_update = std::env::var("UPDATE").is_ok();
    if is_update {
        std::fs::create_dir_all(folder).unwrap();
    }
    let mut known: Vec<String> = Vec::new();
    for printed in all() {
        let path = format!("{folder}/{}.json", printed.command);
        let fresh = serde_json::to_string_pretty(&document(&printed)).unwrap() + "\n";
        if is_update {
            std::fs::write(&path, &fresh).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == fresh, "{path} is not what is printed: UPDATE=1 cargo test -p dandori-api");
        known.push(format!("{}.json", printed.command));
    }
    let found = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = found.filter(|name| !known.contains(name)).collect();
    assert!(left.is_empty(), "of no command: {left:?}");
}
