//! `dandori playbook new`

use std::process::ExitCode;

use clap::Args;
use dandori_domain::Problem;
use dandori_playbook::playbook_template;
use dandori_text::{Lang, playbook};
use serde_json::json;

use super::Context;
use super::state_set::Began;
use crate::documents::{Documents, write};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct PlaybookNewArgs {
    /// Its name: the file is plan/playbook-<NAME>.md
    name: String,
    /// The branch it is worked on (default: feat/<NAME>)
    #[arg(long, short)]
    branch: Option<String>,
    /// Make it the active playbook in state.md
    #[arg(long)]
    activate: bool,
}

pub(crate) fn run(args: &PlaybookNewArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let documents = Documents::of(context)?;
    let path = documents.playbook_path(&args.name)?;
    if path.exists() {
        return Err(Problem::FileExists { path }.into());
    }
    let branch = args.branch.clone().unwrap_or_else(|| format!("feat/{}", args.name));
    write(&path, &playbook_template(&args.name, &branch, out.lang == Lang::Ja))?;
    let short = documents.short(&path);
    let before = documents.state()?.active.filter(|active| args.activate && active != short);
    let began = Began::look(context, &documents)?;
    if args.activate {
        documents.set_state("playbook.active", Some(short), out.lang)?;
        documents.set_state("playbook.branch", Some(&branch), out.lang)?;
    }
    let began = if args.activate { began.has_state_now(context)? } else { None };
    out.object(&json!({
        "path": short, "branch": branch, "active": args.activate, "replaced": before, "made_state": began.is_some(),
    }));
    out.line(playbook::made(out.lang, short));
    out.line(if args.activate {
        playbook::activated(out.lang, short, before.as_deref())
    } else {
        playbook::not_active(out.lang, short)
    });
    if let Some(new) = began {
        out.note(playbook::made_state(out.lang, new.profile));
    }
    Ok(ExitCode::SUCCESS)
}
