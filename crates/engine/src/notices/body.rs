//! A notice as JSON: what `notify.command` reads and `notify.webhook` is sent.

use dandori_domain::need::Need;
use serde_json::{Value, json};

use super::{News, NewsWords, Told};

/// Of the form: a reader that knows it is not surprised.
const VERSION: u32 = 1;

pub(super) fn of(news: &News, words: &NewsWords) -> Value {
    let (event, id, kind) = match &news.what {
        Told::Need(need) => ("need", Some(need.id.to_string()), Some(need.kind.name())),
        Told::Ended(_) => ("run_ended", None, None),
        Told::Test => ("test", None, None),
        Told::Words(_) => ("words", None, None),
    };
    let (task, run, pr) = match &news.what {
        Told::Need(need) => about(need),
        Told::Ended(ended) => {
            let pr = ended.pull.as_ref().map(|pull| json!({ "number": pull.number, "url": pull.url }));
            (Some(ended.task.to_string()), Some(ended.run.to_string()), pr)
        }
        Told::Test | Told::Words(_) => (None, None, None),
    };
    json!({
        "version": VERSION,
        "event": event,
        "id": id,
        "kind": kind,
        "at": news.at.to_string(),
        "title": words.title,
        "message": words.message,
        "command": words.command,
        "repository": news.repository,
        "task": task,
        "run": run,
        "pr": pr,
    })
}

fn about(need: &Need) -> (Option<String>, Option<String>, Option<Value>) {
    let subject = &need.subject;
    let url = match &need.kind {
        dandori_domain::need::NeedKind::PullReady { url, .. }
        | dandori_domain::need::NeedKind::PullConflict { url, .. } => Some(url.clone()),
        _ => None,
    };
    let pr = subject.pull.map(|number| json!({ "number": number, "url": url }));
    (subject.number.map(|number| number.to_string()), subject.run.map(|run| run.key().to_string()), pr)
}
