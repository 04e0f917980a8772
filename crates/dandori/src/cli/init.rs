//! `dandori init`: the guards into the agents' settings, and out of them again.
//!
//! Every file is worked out before any is written: a settings file that is not understood leaves all of them alone.

pub(super) mod files;
pub(super) mod places;
mod program;

use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use dandori_domain::Problem;
use dandori_domain::client::Trust;
use dandori_install::{Call, Client, Looseness, Places as HookPlaces, Reach, inspect, reach};
use dandori_text::init::{self, Action, Advice, Beyond};
use serde_json::{Value, json};

use super::Context;
use super::doctor::hooks::{codex, of_fields};
use crate::out::Failed;
use files::{Deed, Records};
use places::Places;

#[derive(Args)]
pub(crate) struct InitArgs {
    /// Your own settings instead of this repository's
    #[arg(long)]
    user: bool,
    #[arg(
        long,
        value_name = "AGENT",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(guarded()),
        hide_possible_values = true,
        help = format!("Agents to guard: {} (default: those on the PATH or with settings here)", guarded().join(", ")),
    )]
    agent: Vec<String>,
    /// Print what would change as a diff, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Take dandori's guards out and leave the settings as they were before
    #[arg(long)]
    uninstall: bool,
}

/// Those that have hooks.
fn guarded() -> Vec<&'static str> {
    Client::with_hooks().map(|(client, _)| client.name()).collect()
}

impl InitArgs {
    /// Those that were named, or all.
    fn clients(&self) -> impl Iterator<Item = Client> {
        let is_meant = |client: &Client| self.agent.is_empty() || self.agent.iter().any(|name| name == client.name());
        Client::with_hooks().map(|(client, _)| client).filter(is_meant)
    }
}

pub(crate) fn run(args: &InitArgs, context: &Context) -> Result<ExitCode, Failed> {
    // Whoever asks may arm the guards.
    if args.uninstall && !args.dry_run {
        crate::person::refuse_agents(context)?;
    }
    let places = if args.user { Places::of_user(context)? } else { Places::of_project(context)? };
    let program = program::own_path(context)?;
    let mut records = Records::load(&places.records);
    let deeds = if args.uninstall {
        uninstall(args, &places, program.as_str(), &records)?
    } else {
        install(args, context, &places, &call(context, &program), &records)?
    };
    if !args.dry_run {
        if args.uninstall {
            deeds.iter().try_for_each(Deed::carry_out)?;
            args.clients().for_each(|client| records.forget(&places.file(client)));
            records.save(&places.records)?;
        } else {
            // What was there before is written down first: after a kill in between it is found again.
            records.keep(&deeds);
            records.save(&places.records)?;
            deeds.iter().try_for_each(Deed::carry_out)?;
        }
    }
    let advice = if args.uninstall {
        after_uninstall(&deeds, context, args)
    } else {
        after_install(&deeds, context, args, &places, &program)
    };
    show(args, context, &places, &program, &deeds, &advice);
    Ok(ExitCode::SUCCESS)
}

/// The hooks are told where the guards' own files are: what a client's environment says later counts for nothing.
pub(super) fn call(context: &Context, program: &camino::Utf8Path) -> Call {
    let config = dandori_host::layout::user_config(&context.env);
    let config = std::path::absolute(&config).ok().and_then(|path| path.into_os_string().into_string().ok());
    let places = HookPlaces {
        state: Some(context.layout.root().to_string()),
        config,
        home: context.env.home().map(camino::Utf8PathBuf::into_string),
    };
    Call { program: program.to_string(), places }
}

fn install(
    args: &InitArgs,
    context: &Context,
    places: &Places,
    call: &Call,
    records: &Records,
) -> Result<Vec<Deed>, Problem> {
    let is_used = |client: &Client| {
        let is_found =
            || context.env.find_program(client.describe().program.name).is_some() || places.folder(*client).is_dir();
        !args.agent.is_empty() || is_found()
    };
    let clients: Vec<Client> = args.clients().filter(is_used).collect();
    if clients.is_empty() {
        return Err(Problem::NoAgents);
    }
    clients.into_iter().map(|client| Deed::install(client, places.file(client), call, records)).collect()
}

/// From every agent's settings, whether or not the agent is still on the machine.
fn uninstall(args: &InitArgs, places: &Places, program: &str, records: &Records) -> Result<Vec<Deed>, Problem> {
    let deeds = args.clients().map(|client| Deed::uninstall(client, places.file(client), program, records));
    Ok(deeds.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn after_install(
    deeds: &[Deed],
    context: &Context,
    args: &InitArgs,
    places: &Places,
    program: &camino::Utf8Path,
) -> Vec<Advice> {
    let mut advice = Vec::new();
    for deed in deeds {
        let (client, path) = (deed.client, deed.path.to_string());
        if let Some(Reach::Unread { what, line, column }) = deed.after.as_deref().map(|t| reach(client, t)) {
            let what = match what {
                Looseness::ByteOrderMark => Beyond::ByteOrderMark,
                Looseness::Comment => Beyond::Comment,
                Looseness::TrailingComma => Beyond::TrailingComma,
            };
            advice.push(Advice::Unread { agent: client.title(), path: path.clone(), what, line, column });
        }
        let inspected = deed.after.as_deref().and_then(|text| inspect(client, text).ok());
        let troubles = inspected.map(|found| of_fields(&path, &found)).unwrap_or_default();
        advice.extend(troubles.into_iter().map(|trouble| Advice::Trouble { client, trouble }));
        if deed.was_read_only && deed.action() == Action::Changed {
            advice.push(Advice::ReadOnly { path });
        }
        let Some(hooks) = client.hooks() else { continue };
        let is_off = |path: &camino::Utf8PathBuf| {
            files::read(path).ok().flatten().is_some_and(|t| reach(client, &t) == Reach::Disabled)
        };
        let files = places::settings_files(context, client);
        advice.extend(files.into_iter().filter(is_off).map(|p| Advice::Disabled { path: p.into_string() }));
        if hooks.only_from_root && !args.user {
            advice.push(Advice::ClaudeSubfolder);
        }
        match &hooks.trust {
            Trust::None => {}
            Trust::Hashes { .. } => advice.extend(for_codex(args, places)),
            Trust::Folder(_) => advice.extend((!args.user).then_some(Advice::FolderTrust { client })),
        }
        if !hooks.same_call_once
            && let Some(path) = elsewhere(client, context, args)
        {
            advice.push(Advice::Twice { agent: client.title(), path });
        }
    }
    if !args.user {
        advice.push(Advice::NotForOthers { program: program.to_string() });
    }
    if program::is_in_reach(program, places.guarded.as_deref()) {
        advice.push(Advice::ProgramInRepository { path: program.to_string() });
    }
    advice.push(Advice::Doctor);
    advice
}

fn for_codex(args: &InitArgs, places: &Places) -> Vec<Advice> {
    let root = places.guarded.as_ref().filter(|_| !args.user);
    let main = root.map(|root| codex::project(root)).filter(|main| Some(main) != root);
    let Some(root) = root else { return vec![Advice::CodexTrust { root: None }] };
    match main {
        // What is put in here is not read at all: trust would not help it.
        Some(main) => vec![Advice::CodexWorktree { main: main.into_string() }],
        None => vec![Advice::CodexTrust { root: Some(root.to_string()) }],
    }
}

fn after_uninstall(deeds: &[Deed], context: &Context, args: &InitArgs) -> Vec<Advice> {
    let still = |deed: &Deed| elsewhere(deed.client, context, args);
    let still = deeds.iter().filter_map(still);
    still.map(|path| Advice::StillThere { path, is_users: !args.user }).collect()
}

/// The file of the other scope, user or project, when our hooks stand in it too.
fn elsewhere(client: Client, context: &Context, args: &InitArgs) -> Option<String> {
    let other = if args.user { Places::of_project(context) } else { Places::of_user(context) };
    let path = other.ok()?.file(client);
    let text = files::read(&path).ok()??;
    dandori_install::has_ours(client, &text).then(|| path.into_string())
}

fn show(
    args: &InitArgs,
    context: &Context,
    places: &Places,
    program: &camino::Utf8Path,
    deeds: &[Deed],
    advice: &[Advice],
) {
    let out = &context.out;
    let file = |deed: &Deed| {
        let mut file = json!({ "agent": deed.client.name(), "path": deed.path, "action": deed.action().code() });
        if let (true, Some(object)) = (args.dry_run, file.as_object_mut()) {
            object.insert("diff".to_owned(), deed.diff(places).into());
        }
        file
    };
    out.object(&json!({
        "scope": if args.user { "user" } else { "project" },
        "program": program,
        "dry_run": args.dry_run,
        "files": deeds.iter().map(file).collect::<Vec<Value>>(),
        "advice": advice.iter().map(|a| json!({ "code": a.code(), "message": init::advice(out.lang, a) })).collect::<Vec<Value>>(),
    }));
    if deeds.is_empty() {
        out.line(init::nothing_installed(out.lang));
    }
    for deed in deeds {
        if args.dry_run && deed.action() != Action::Unchanged {
            out.line(deed.diff(places).trim_end_matches('\n'));
        } else {
            out.line(init::action(out.lang, deed.action(), places.short(&deed.path)));
        }
    }
    if args.dry_run && deeds.iter().any(|deed| deed.action() != Action::Unchanged) {
        out.note(init::nothing_written(out.lang));
    }
    for one in advice {
        out.note(init::advice(out.lang, one));
    }
}
