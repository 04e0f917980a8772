//! `dandori state set`

use std::process::ExitCode;

use clap::Args;
use dandori_api::StateSet;
use dandori_domain::Problem;
use dandori_domain::guard::Profile;
use dandori_playbook::State;
use dandori_text::playbook;

use super::Context;
use crate::documents::Documents;
use crate::guarded::Guarded;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct StateSetArgs {
    /// Key to set, such as playbook.active
    key: String,
    /// New value; null for none, [a, b] for a list
    #[arg(allow_hyphen_values = true)]
    value: String,
}

pub(crate) fn run(args: &StateSetArgs, context: &Context) -> Result<ExitCode, Failed> {
    // A verdict is never the agent's own: the guards refuse the line, this is for the ways they cannot see.
    if args.key.split('.').next() == Some("verification") {
        crate::person::refuse_agents(context)?;
    }
    let out = &context.out;
    let value = (args.value != "null").then_some(args.value.as_str());
    let documents = Documents::of(context)?;
    refuse_what_is_not_understood(&args.key, value)?;
    let began = Began::look(context, &documents)?;
    documents.set_state(&args.key, value, out.lang)?;
    let began = began.has_state_now(context)?;
    out.object(&StateSet { key: args.key.clone(), value: value.map(str::to_owned), made_state: began.is_some() });
    out.line(format!("{}: {}", args.key, args.value));
    if let Some(new) = began {
        out.note(playbook::made_state(out.lang, new.profile));
    }
    if let Some(path) = value.filter(|path| args.key == "playbook.active" && !documents.has(path)) {
        out.note(playbook::not_there_yet(out.lang, path));
    }
    Ok(ExitCode::SUCCESS)
}

fn refuse_what_is_not_understood(key: &str, value: Option<&str>) -> Result<(), Problem> {
    let Some((known, value)) = State::allowed(key).zip(value) else { return Ok(()) };
    // As it would be read: `yes` is as good as `true`.
    let tried = State::set_or_add("", key, Some(value)).map(|text| State::read(&text));
    match tried {
        Ok(state) if !state.odd.is_empty() => Err(Problem::BadStateValue {
            key: key.to_owned(),
            value: value.to_owned(),
            known: known.iter().map(ToString::to_string).collect(),
        }),
        _ => Ok(()),
    }
}

/// What a repository was before state.md was written: with its first one it may come under other rules.
pub(super) struct Began {
    had_state: bool,
    profile: Profile,
}

impl Began {
    pub(super) fn look(context: &Context, documents: &Documents) -> Result<Self, Problem> {
        Ok(Self { had_state: documents.state_text()?.is_some(), profile: Guarded::here(context)?.profile() })
    }

    /// The profile that a first state.md would bring, when it is another.
    pub(super) fn profile_to_come(&self, context: &Context) -> Result<Option<Profile>, Problem> {
        let to_come = Guarded::here(context)?.profile_with_state();
        Ok((!self.had_state && to_come != self.profile).then_some(to_come))
    }

    /// `None` when there was one before.
    pub(super) fn has_state_now(&self, context: &Context) -> Result<Option<NewState>, Problem> {
        if self.had_state {
            return Ok(None);
        }
        let now = Guarded::here(context)?.profile();
        Ok(Some(NewState { profile: (now != self.profile).then_some(now) }))
    }
}

/// A first state.md.
pub(super) struct NewState {
    /// The profile that holds since, when it is another.
    pub(super) profile: Option<Profile>,
}
