//! `dandori doctor`: each thing dandori stands on, how it is, and what to do when it is not well.
//!
//! Without a flag it only looks; the daemon is asked how it is, and started for that when it does not run. `--guards` tries what cannot be seen: whether an agent asks its hooks, and obeys.

mod acp;
mod configuration;
mod doors;
mod formation;
pub(super) mod hooks;
mod self_test;

use std::borrow::Cow;
use std::os::unix::fs::DirBuilderExt;
use std::process::ExitCode;
use std::time::Duration;

use camino::Utf8Path;
use clap::Args;
use dandori_api::{DoctorCheck, DoctorChecks, DoctorReport, RepositoryUse};
use dandori_config::in_one_line;
use dandori_domain::cause::with_causes;
use dandori_domain::run::Sandbox;
use dandori_domain::{AgentName, Problem, client};
use dandori_git::Git;
use dandori_host::state_root::{self, Standing};
use dandori_host::{Cmd, StateRoot, fenced, machine};
use dandori_text::doctor::{self, Check, Remedy};
use dandori_text::ui::{self, Head, head};
use dandori_text::{Lang, Table, lists};

use super::Context;
use crate::client::Client;
use crate::out::{Failed, bad, dim, good};

#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// Only check the guards: start each agent with a built-in model and check that its hooks run and block
    #[arg(long)]
    guards: bool,
    /// Only check the sandbox: try to escape from it and show which attempts are blocked
    #[arg(long, conflicts_with = "guards")]
    sandbox: bool,
    /// Only check this repository's formation: whether its records agree; what is overdue is repaired
    #[arg(long, conflicts_with_all = ["guards", "sandbox"])]
    formation: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Grade {
    Good,
    /// Works without it.
    Missing,
    Bad,
}

impl Grade {
    fn word(self) -> String {
        match self {
            Self::Good => good("ok"),
            Self::Missing => dim("-"),
            Self::Bad => bad("✗"),
        }
    }
}

struct Finding {
    check: Check,
    grade: Grade,
    detail: String,
    remedy: Option<String>,
    /// What is wrong, for those who parse it.
    problem: Option<Problem>,
    /// The same for hooks, which have no problem of their own.
    code: Option<Cow<'static, str>>,
}

impl Finding {
    fn good(check: Check, detail: String) -> Self {
        Self { check, grade: Grade::Good, detail, remedy: None, problem: None, code: None }
    }

    fn bad(lang: Lang, check: Check, detail: String, remedy: Remedy) -> Self {
        Self { grade: Grade::Bad, remedy: Some(doctor::remedy(lang, remedy).into_owned()), ..Self::good(check, detail) }
    }

    fn of_problem(lang: Lang, check: Check, problem: Problem) -> Self {
        let said = dandori_text::problem(lang, &problem);
        let detail = match &said.why {
            Some(why) => format!("{}: {}", said.what, in_one_line(why)),
            None => said.what,
        };
        let hint = match problem {
            // Its own words lead here.
            Problem::StoreUnavailable { .. } => doctor::look_at_store(lang),
            _ => said.hint,
        };
        Self { grade: Grade::Bad, remedy: Some(hint), problem: Some(problem), ..Self::good(check, detail) }
    }
}

/// Too little for one more worktree of a usual repository.
const LITTLE_DISK: u64 = 1 << 30;

pub(crate) async fn run(args: &DoctorArgs, context: &Context) -> Result<ExitCode, Failed> {
    if args.sandbox {
        let mut findings = vec![sandbox_finding(context)];
        findings.extend(doors::all(context));
        return Ok(show(context, findings, true));
    }
    if args.formation {
        let findings = formation::look(context).await?;
        return Ok(show(context, findings, true));
    }
    // Before anything else opens it, and with that closes it.
    let root = state_root_finding(context);
    let looks = hooks::look(context);
    if args.guards {
        let mut findings: Vec<Finding> = looks.iter().flat_map(|look| look.findings(context.out.lang)).collect();
        let tried = self_test::all(context, &looks);
        let is_proven = tried.iter().any(|f| f.grade == Grade::Good);
        findings.extend(tried);
        if looks.is_empty() {
            findings.push(nobody_to_guard(context.out.lang));
        }
        return Ok(show(context, findings, is_proven));
    }
    let mut findings = of_machine(context);
    findings.push(root);
    findings.extend(looks.iter().flat_map(|look| look.findings(context.out.lang)));
    findings.extend(configuration::look(context));
    findings.extend(acp::look(context));
    findings.extend(daemon(context).await);
    let code = show(context, findings, true);
    if looks.iter().any(hooks::Look::can_be_tried) {
        context.out.note(doctor::hooks::only_looked(context.out.lang));
    }
    Ok(code)
}

/// There is neither an agent nor a hook.
fn nobody_to_guard(lang: Lang) -> Finding {
    Finding {
        code: Some("no_agent".into()),
        ..Finding::bad(lang, Check::Guards, doctor::hooks::no_agent(lang), Remedy::InstallHooks)
    }
}

fn of_machine(context: &Context) -> Vec<Finding> {
    let mut findings = vec![git(context), identity(context)];
    findings.push(program(context, Check::Tmux, "tmux", "-V", Remedy::InstallTmux));
    // The agents write into their home even to tell their version.
    let home = context.layout.root().join(format!("doctor-{}", std::process::id()));
    let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&home);
    findings.extend(client::Client::ALL.map(|client| agent_finding(context, client, &home)));
    let _ = std::fs::remove_dir_all(&home);
    findings.push(sandbox_in_use(context));
    findings.push(memory(context));
    findings.push(disk(context));
    findings
}

/// All of them, and the exit code. `is_proven`: what was asked for could be shown.
fn show(context: &Context, findings: Vec<Finding>, is_proven: bool) -> ExitCode {
    let lang = context.out.lang;
    let check = |f: &Finding| DoctorCheck {
        check: f.check.code().to_string(),
        ok: f.grade != Grade::Bad,
        detail: f.detail.clone(),
        hint: f.remedy.clone(),
        code: f.code.as_deref().map(str::to_owned),
        problem: f.problem.as_ref().and_then(|problem| serde_json::to_value(problem).ok()),
    };
    let checks: Vec<DoctorCheck> = findings.iter().map(check).collect();
    let bad = findings.iter().filter(|f| f.grade == Grade::Bad).count();
    let well = is_proven && bad == 0;
    let verdict = doctor::verdict(lang, well, bad, checks.len());
    context.out.object(&DoctorChecks { ok: well, total: checks.len(), checks });
    let mut table = Table::new(["", head(lang, Head::Check), head(lang, Head::Result)]).wrapping().rank([0, 0, 0]);
    for f in findings {
        table.row([f.grade.word(), doctor::check(lang, f.check).into_owned(), f.detail]);
        if let Some(remedy) = f.remedy {
            // On a line of its own: a narrow screen cuts the detail, not what to do.
            table.row([String::new(), String::new(), format!("→ {remedy}")]);
        }
    }
    context.out.table(&table);
    context.out.line("");
    let verdict = if well { good(&verdict) } else { crate::out::bad(&verdict) };
    context.out.prose(0, verdict);
    ExitCode::from(u8::from(!well))
}

fn git(context: &Context) -> Finding {
    let check = Check::Git;
    match Git::new(&context.env, "doctor").version() {
        Ok(version) => Finding::good(check, version.to_string()),
        Err(e) => {
            let lang = context.out.lang;
            Finding::bad(lang, check, dandori_text::problem(lang, &e.problem()).what, Remedy::InstallGit)
        }
    }
}

/// Asked of git as a commit asks.
fn identity(context: &Context) -> Finding {
    let check = Check::Identity;
    let answer = Cmd::new("git", &context.env).args(["var", "GIT_COMMITTER_IDENT"]).run();
    // `Name <address> seconds zone`
    match answer.map(|o| o.text()).ok().as_deref().and_then(|text| text.rsplit_once("> ")) {
        Some((who, _)) => Finding::good(check, format!("{who}>")),
        None => Finding::bad(context.out.lang, check, "user.name, user.email?".to_owned(), Remedy::SetIdentity),
    }
}

fn program(context: &Context, check: Check, program: &str, flag: &str, remedy: Remedy) -> Finding {
    match Cmd::new(program, &context.env).arg(flag).deadline(Duration::from_secs(10)).run() {
        Ok(output) => Finding::good(check, output.text()),
        Err(_) => missing(context, check, remedy),
    }
}

fn agent_finding(context: &Context, client: client::Client, home: &Utf8Path) -> Finding {
    let (lang, agent) = (context.out.lang, AgentName::Client(client));
    let (check, remedy) = (Check::Agent(client), Remedy::InstallAgent(client));
    match dandori_agent::find_program(&agent, &context.env) {
        Err(_) => missing(context, check, remedy),
        Ok(path) => match dandori_agent::version(&agent, &context.env, home) {
            Ok(version) => {
                let is_known = client.describe().program.known_to_work.contains(&version.as_str());
                let code = (!is_known).then_some("untried_version".into());
                Finding { code, ..Finding::good(check, doctor::version(lang, client, &version, path.as_str())) }
            }
            Err(e) => Finding::bad(lang, check, with_causes(&e), remedy),
        },
    }
}

fn missing(context: &Context, check: Check, remedy: Remedy) -> Finding {
    let detail = ui::not_installed(context.out.lang).to_owned();
    Finding { grade: Grade::Missing, ..Finding::bad(context.out.lang, check, detail, remedy) }
}

fn sandbox_finding(context: &Context) -> Finding {
    let check = Check::Sandbox;
    let lang = context.out.lang;
    let fence = match own_program() {
        Some(program) => fenced::probe(&program),
        None => Sandbox::None { reason: "cannot find this program".to_owned() },
    };
    let told = dandori_text::sandbox::layers(lang, &fence);
    match &fence {
        Sandbox::None { reason } => Finding::bad(lang, check, reason.clone(), Remedy::Landlock),
        fence if fence.is_whole() => Finding::good(check, told),
        partial => {
            let why = partial.layers().missing.join("; ");
            let gaps = partial.gaps();
            let open: Vec<&str> = gaps.iter().map(|gap| dandori_text::sandbox::gap(lang, *gap)).collect();
            Finding {
                grade: Grade::Missing,
                remedy: Some(doctor::not_covered(lang, &why, &open)),
                ..Finding::good(check, told)
            }
        }
    }
}

/// The same, unless runs do without it.
fn sandbox_in_use(context: &Context) -> Finding {
    let lang = context.out.lang;
    if !configuration::is_sandbox_off(context) {
        return sandbox_finding(context);
    }
    Finding {
        grade: Grade::Missing,
        remedy: Some(doctor::sandbox_on(lang)),
        code: Some("sandbox_off".into()),
        ..Finding::good(Check::Sandbox, doctor::sandbox_off(lang))
    }
}

fn own_program() -> Option<camino::Utf8PathBuf> {
    std::env::current_exe().ok().and_then(|path| camino::Utf8PathBuf::try_from(path).ok())
}

fn state_root_finding(context: &Context) -> Finding {
    let (lang, check) = (context.out.lang, Check::StateRoot);
    let path = context.layout.root();
    match state_root::standing(&context.layout) {
        Standing::Missing | Standing::Closed => Finding::good(check, path.to_string()),
        Standing::Open(mode) => {
            let _ = StateRoot::open(&context.layout);
            Finding::bad(lang, check, doctor::open_state_root(lang, path.as_str(), mode), Remedy::LookIntoStateRoot)
        }
        Standing::Foreign => Finding::of_problem(lang, check, Problem::ForeignStateRoot { path: path.to_owned() }),
    }
}

fn memory(context: &Context) -> Finding {
    let check = Check::Memory;
    let detail = machine::available_memory().map_or_else(|| "?".to_owned(), |b| ui::free(context.out.lang, b));
    Finding::good(check, detail)
}

fn disk(context: &Context) -> Finding {
    let check = Check::Disk;
    // Before the first command there is no state root: its nearest parent tells as well.
    let root = context.layout.root();
    let lang = context.out.lang;
    let place = root.ancestors().find(|p| p.is_dir()).unwrap_or(root);
    match machine::free_disk(place) {
        Ok(free) if free < LITTLE_DISK => Finding::bad(lang, check, ui::free(lang, free), Remedy::FreeDisk),
        Ok(free) => Finding::good(check, ui::free(lang, free)),
        Err(e) => Finding::bad(lang, check, e.to_string(), Remedy::FreeDisk),
    }
}

/// What only the daemon knows: the store's health and what each repository uses.
async fn daemon(context: &Context) -> Vec<Finding> {
    let lang = context.out.lang;
    let report = match Client::connect(context).await {
        Ok(client) => client.get::<DoctorReport>("/v1/doctor").await,
        Err(problem) => Err(problem),
    };
    let report = match report {
        Ok(report) => report,
        Err(problem) => return vec![Finding::of_problem(lang, Check::Daemon, problem)],
    };
    let health = report.store;
    let (damage, backup) = (health.damage.as_deref(), health.newest_backup.as_deref());
    let told = ui::store(lang, &health.backend, health.bytes, damage, backup);
    let mut findings = vec![
        Finding::good(Check::Daemon, ui::at_work(lang, u64::from(report.live), report.waiting)),
        match damage {
            None => Finding::good(Check::Store, told),
            Some(_) => Finding::bad(lang, Check::Store, told, Remedy::RestoreStore),
        },
    ];
    let undelivered = report.notices.iter().filter_map(|way| Some((&way.way, way.reason.as_deref()?)));
    findings.extend(undelivered.map(|(way, reason)| {
        let told = format!("{way}: {}", in_one_line(&dandori_text::inbox::way_failed(lang, reason)));
        Finding { code: Some("notice_failed".into()), ..Finding::bad(lang, Check::Notices, told, Remedy::TryNotices) }
    }));
    findings.extend(report.repositories.iter().map(|repo| of_repository(lang, repo)));
    let lost = report.repositories.iter().filter(|repo| repo.unrecorded_runs > 0);
    findings.extend(lost.map(|repo| Finding {
        grade: Grade::Missing,
        code: Some("unrecorded_runs".into()),
        ..Finding::bad(
            lang,
            Check::Repository,
            doctor::unrecorded_runs(lang, &repo.root, repo.unrecorded_runs),
            Remedy::LookAtWorktrees,
        )
    }));
    findings
}

fn of_repository(lang: Lang, repo: &RepositoryUse) -> Finding {
    let check = Check::Repository;
    if !Utf8Path::new(&repo.root).is_dir() {
        let gone = Finding::of_problem(lang, check, Problem::RepositoryGone { path: repo.root.as_str().into() });
        // Nothing that is still there suffers from it.
        return Finding { grade: Grade::Missing, ..gone };
    }
    Finding::good(check, lists::repository_use(lang, &repo.root, repo.bytes, repo.worktrees))
}
