//! `dandori post-loop`

use std::process::ExitCode;

use dandori_api::{NextWork, PostLoop};
use dandori_playbook::{Next, Playbook};
use dandori_text::playbook as text;

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
            let phase = Some(id.clone());
            Some(NextWork {
                kind: "phase".to_owned(),
                path: playbook.clone(),
                phase,
                title: Some(title.clone()),
                branch: None,
            })
        }
        Next::Playbook { path, name, branch } => {
            let (title, branch) = (name.clone(), branch.clone());
            Some(NextWork { kind: "playbook".to_owned(), path: path.clone(), phase: None, title, branch })
        }
        Next::Nothing => None,
    };
    out.object(&PostLoop { next: told });
    out.prose(0, text::next(out.lang, &next));
    Ok(ExitCode::SUCCESS)
}
