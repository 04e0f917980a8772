//! `dandori post-loop`

use std::process::ExitCode;

use dandori_playbook::{Next, Playbook};
use dandori_text::playbook as text;
use serde_json::json;

use super::Context;
use crate::documents::Documents;
use crate::guarded::Guarded;
use crate::out::Failed;

pub(crate) fn run(context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let documents = Documents::of(context)?;
    let guarded = Guarded::here(context)?;
    // What is next is looked for first: a mark that is cleared does not come back.
    let active = match documents.state()?.active {
        Some(_) => documents.playbook(None, context).ok(),
        None => None,
    };
    let active = active.map(|(path, text)| (documents.short(&path).to_owned(), Playbook::read(&text)));
    let next = Next::of(active.as_ref().map(|(path, playbook)| (path.as_str(), playbook)), &documents.playbooks()?);
    dandori_journal::clear_post_loop(&guarded.folder).map_err(|e| guarded.io(&e))?;
    let told = match &next {
        Next::Phase { playbook, id, title } => {
            json!({ "kind": "phase", "playbook": playbook, "phase": id, "title": title })
        }
        Next::Playbook { path, name, branch } => {
            json!({ "kind": "playbook", "path": path, "name": name, "branch": branch })
        }
        Next::Nothing => json!({ "kind": "none" }),
    };
    out.object(&json!({ "next": told }));
    out.line(text::next(out.lang, &next));
    Ok(ExitCode::SUCCESS)
}
