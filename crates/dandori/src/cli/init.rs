//! `dandori init`: the guards into the agents' settings, and out of them again.
//!
//! Every file is worked out before any is written: a settings file that is not understood leaves all of them alone.

pub(super) mod everywhere;
pub(super) mod files;
pub(super) mod places;
mod program;

use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use dandori_api::{InitAdvice, InitReport, SettingsFile};
use dandori_domain::Problem;
use dandori_domain::client::Trust;
use dandori_host::Cmd;
use dandori_install::{Call, Client, Looseness, Places as HookPlaces, Reach, inspect, reach};
use dandori_text::init::{self, Action, Advice, Beyond};

use super::Context;
use super::doctor::hooks::{codex, of_fields};
use crate::out::Failed;
use files::{Deed, Records};
use places::Places;

pub(crate) use places::project_root;

#[derive(Args)]
pub(crate) struct InitArgs {
    /// Use your user settings instead of this repository's
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
    /// Print the changes as a diff and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Write to the settings file shared through the repository, even if the agent has a personal one
    #[arg(long, conflicts_with_all = ["user", "uninstall"])]
    shared: bool,
    /// Remove dandori's guards and restore the settings
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
        // What was there before is written down first: after a kill in between it is found again.
        if !args.uninstall {
            records.keep(&deeds);
            records.save(&places.records)?;
        }
        deeds.iter().try_for_each(Deed::carry_out)?;
        if args.uninstall {
            args.clients().for_each(|client| places.files(client).for_each(|path| records.forget(&path)));
        }
        deeds.iter().filter(|deed| deed.takes_out()).for_each(|deed| records.forget(&deed.path));
        records.save(&places.records)?;
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
    let mut deeds = Vec::new();
    for client in clients {
        let (shared, local) = (places.file(client), places.local_file(client));
        // Where somebody has put them into the shared file on purpose, or an earlier version did, they stay in it: two
        // places would be one too many, and taking them from everybody else is not for this command.
        let is_shared = args.shared || has_ours(client, &shared);
        match local {
            Some(local) if !is_shared => deeds.push(Deed::install(client, local, call, records)?),
            local => {
                deeds.push(Deed::install(client, shared, call, records)?);
                let left = local.map(|local| Deed::uninstall(client, local, &call.program, records)).transpose()?;
                deeds.extend(left.flatten());
            }
        }
    }
    Ok(deeds)
}

fn has_ours(client: Client, path: &camino::Utf8Path) -> bool {
    files::read(path).ok().flatten().is_some_and(|text| dandori_install::has_ours(client, &text))
}

/// From every agent's settings, whether or not the agent is still on the machine.
fn uninstall(args: &InitArgs, places: &Places, program: &str, records: &Records) -> Result<Vec<Deed>, Problem> {
    let files = args.clients().flat_map(|client| places.files(client).map(move |path| (client, path)));
    let deeds = files.map(|(client, path)| Deed::uninstall(client, path, program, records));
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
    for deed in deeds.iter().filter(|deed| !deed.takes_out()) {
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
        let files = Places::both(context).flat_map(|places| places.files(client).collect::<Vec<_>>());
        advice.extend(files.filter(is_off).map(|p| Advice::Disabled { path: p.into_string() }));
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
        advice.extend(for_others(deeds, context, args, places, program));
    }
    if program::is_in_reach(program, places.guarded.as_deref()) {
        advice.push(Advice::ProgramInRepository { path: program.to_string() });
    }
    advice.push(Advice::Doctor);
    advice
}

/// What others get of it who have the same repository, and no dandori.
fn for_others(
    deeds: &[Deed],
    context: &Context,
    args: &InitArgs,
    places: &Places,
    program: &camino::Utf8Path,
) -> Vec<Advice> {
    let mut advice = Vec::new();
    let (mut shared, mut exposed) = (Vec::new(), Vec::new());
    for deed in deeds.iter().filter(|deed| !deed.takes_out()) {
        let short = || places.short(&deed.path).to_owned();
        match places.local_file(deed.client) {
            Some(local) if local == deed.path => exposed.extend(is_exposed(context, places, &deed.path).then(short)),
            Some(local) => {
                shared.push(short());
                if !args.shared {
                    let local = places.short(&local).to_owned();
                    advice.push(Advice::Shared { client: deed.client, path: short(), local });
                }
            }
            None => shared.push(short()),
        }
    }
    if !shared.is_empty() {
        advice.push(Advice::NotForOthers { paths: shared, program: program.to_string() });
    }
    advice.extend(exposed.into_iter().map(|path| Advice::NotIgnored { path }));
    advice
}

/// git would take it along: it is not ignored. Where git cannot say, nothing is claimed.
fn is_exposed(context: &Context, places: &Places, path: &camino::Utf8Path) -> bool {
    let Some(root) = places.root() else { return false };
    let asked = Cmd::new("git", &context.env).args(["check-ignore", "--quiet", "--", path.as_str()]).cwd(root);
    asked.run_any().is_ok_and(|answer| answer.status.code() == Some(1))
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
    other.ok()?.files(client).find(|path| has_ours(client, path)).map(camino::Utf8PathBuf::into_string)
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
    let file = |deed: &Deed| SettingsFile {
        agent: deed.client.name().to_owned(),
        path: deed.path.to_string(),
        action: deed.action().code().to_owned(),
        diff: args.dry_run.then(|| deed.diff(places)),
    };
    let told = |a: &Advice| InitAdvice { code: a.code().into_owned(), message: init::advice(out.lang, a) };
    out.object(&InitReport {
        scope: if args.user { "user" } else { "project" }.to_owned(),
        program: program.to_string(),
        dry_run: args.dry_run,
        files: deeds.iter().map(file).collect(),
        advice: advice.iter().map(told).collect(),
    });
    if deeds.is_empty() {
        out.prose(0, init::nothing_installed(out.lang));
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
