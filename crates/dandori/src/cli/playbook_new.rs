//! `dandori playbook new`

use std::process::ExitCode;

use clap::Args;
use dandori_api::PlaybookMade;
use dandori_domain::Problem;
use dandori_domain::guard::Profile;
use dandori_domain::shell_word;
use dandori_playbook::playbook_template;
use dandori_text::{Lang, playbook};

use super::Context;
use super::state_set::Began;
use crate::documents::{Documents, write};
use crate::out::Failed;
use crate::person;

#[derive(Args)]
pub(crate) struct PlaybookNewArgs {
    /// Playbook name; the file is plan/playbook-<NAME>.md
    name: String,
    /// Branch to work on (default: feat/<NAME>)
    #[arg(long, short)]
    branch: Option<String>,
    /// Make it the active playbook in state.md
    #[arg(long)]
    activate: bool,
    /// Activate it without asking, even if it replaces another playbook or changes the guards' profile
    #[arg(long, short = 'y', requires = "activate")]
    yes: bool,
}

pub(crate) fn run(args: &PlaybookNewArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let documents = Documents::of(context)?;
    let path = documents.playbook_path(&args.name)?;
    if path.exists() {
        return Err(Problem::FileExists { path }.into());
    }
    let branch = args.branch.clone().unwrap_or_else(|| format!("feat/{}", args.name));
    let short = documents.short(&path);
    let before = documents.state()?.active.filter(|active| args.activate && active != short);
    let began = Began::look(context, &documents)?;
    if args.activate && !args.yes {
        require_consent(args, context, before.as_deref(), began.profile_to_come(context)?)?;
    }
    write(&path, &playbook_template(&args.name, &branch, out.lang == Lang::Ja))?;
    if args.activate {
        documents.set_state("playbook.active", Some(short), out.lang)?;
        documents.set_state("playbook.branch", Some(&branch), out.lang)?;
    }
    let began = if args.activate { began.has_state_now(context)? } else { None };
    out.object(&PlaybookMade {
        path: short.to_owned(),
        branch: branch.clone(),
        active: args.activate,
        replaced: before.clone(),
        made_state: began.is_some(),
    });
    out.prose(0, playbook::made(out.lang, short));
    out.prose(
        0,
        if args.activate {
            playbook::activated(out.lang, short, before.as_deref())
        } else {
            playbook::not_active(out.lang, short)
        },
    );
    if let Some(new) = began {
        out.note(playbook::made_state(out.lang, new.profile));
    }
    Ok(ExitCode::SUCCESS)
}

/// Somebody else's work may go by the active playbook, and another profile holds back what was allowed so far: neither changes
/// by the way.
fn require_consent(
    args: &PlaybookNewArgs,
    context: &Context,
    active: Option<&str>,
    profile: Option<Profile>,
) -> Result<(), Failed> {
    let lang = context.out.lang;
    let Some(what) = playbook::activation_changes(lang, active, profile) else { return Ok(()) };
    let branch = args.branch.as_ref().map_or_else(String::new, |branch| format!(" --branch {}", shell_word(branch)));
    let command = format!("dandori playbook new {}{branch} --activate --yes", args.name);
    person::agree(context, &playbook::activate_question(lang, &what), &command)
}
