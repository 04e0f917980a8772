//! `dandori doctor`: each thing dandori stands on, how it is, and what to do when it is not well.

use std::os::unix::fs::DirBuilderExt;
use std::process::ExitCode;
use std::time::Duration;

use camino::Utf8Path;
use dandori_api::DoctorReport;
use dandori_domain::AgentName;
use dandori_domain::run::Sandbox;
use dandori_git::Git;
use dandori_host::{Cmd, machine, sandbox};
use dandori_text::Table;
use dandori_text::ui::{self, Check, Head, Remedy, head};
use serde_json::{Value, json};

use super::Context;
use crate::client::Client;
use crate::out::{Failed, bad, dim, good};

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
    name: String,
    grade: Grade,
    detail: String,
    remedy: Option<Remedy>,
}

/// Too little for one more worktree of a usual repository.
const LITTLE_DISK: u64 = 1 << 30;

pub(crate) async fn run(context: &Context) -> Result<ExitCode, Failed> {
    let lang = context.out.lang;
    let named = |check| ui::check(lang, check).to_owned();
    let mut findings = vec![git(context, named(Check::Git)), identity(context, named(Check::Identity))];
    findings.push(program(context, named(Check::Tmux), "tmux", "-V", Remedy::InstallTmux));
    // The agents write into their home even to tell their version.
    let home = context.layout.root().join(format!("doctor-{}", std::process::id()));
    let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&home);
    for (agent, remedy) in [
        (AgentName::Claude, Remedy::InstallClaude),
        (AgentName::Codex, Remedy::InstallCodex),
        (AgentName::Gemini, Remedy::InstallGemini),
    ] {
        findings.push(agent_finding(context, &agent, remedy, &home));
    }
    let _ = std::fs::remove_dir_all(&home);
    findings.push(sandbox_finding(named(Check::Sandbox)));
    findings.push(memory(context, named(Check::Memory)));
    findings.push(disk(context, named(Check::Disk)));
    findings.extend(daemon(context, named(Check::Daemon), named(Check::Store), named(Check::Repository)).await);

    let rows: Vec<Value> = findings
        .iter()
        .map(|f| {
            json!({ "check": f.name, "ok": f.grade != Grade::Bad, "detail": f.detail,
                    "remedy": f.remedy.map(|r| ui::remedy(lang, r)) })
        })
        .collect();
    let well = findings.iter().all(|f| f.grade != Grade::Bad);
    context.out.object(&json!({ "ok": well, "checks": rows }));
    let mut table = Table::new(["", head(lang, Head::Check), head(lang, Head::Result)]);
    for f in &findings {
        let remedy = f.remedy.map(|r| format!(" → {}", ui::remedy(lang, r))).unwrap_or_default();
        table.row([f.grade.word(), f.name.clone(), format!("{}{remedy}", f.detail)]);
    }
    context.out.table(&table);
    Ok(ExitCode::from(u8::from(!well)))
}

fn git(context: &Context, name: String) -> Finding {
    match Git::new(&context.env, "doctor").version() {
        Ok(version) => Finding { name, grade: Grade::Good, detail: version.to_string(), remedy: None },
        Err(e) => Finding { name, grade: Grade::Bad, detail: e.to_string(), remedy: Some(Remedy::InstallGit) },
    }
}

fn identity(context: &Context, name: String) -> Finding {
    let ask = |key: &str| {
        let answer = Cmd::new("git", &context.env).args(["config", "--get", key]).run();
        answer.map(|o| o.text()).unwrap_or_default()
    };
    let (user, mail) = (ask("user.name"), ask("user.email"));
    if user.is_empty() || mail.is_empty() {
        let remedy = Some(Remedy::SetIdentity);
        return Finding { name, grade: Grade::Bad, detail: "user.name, user.email?".to_owned(), remedy };
    }
    Finding { name, grade: Grade::Good, detail: format!("{user} <{mail}>"), remedy: None }
}

fn program(context: &Context, name: String, program: &str, flag: &str, remedy: Remedy) -> Finding {
    match Cmd::new(program, &context.env).arg(flag).deadline(Duration::from_secs(10)).run() {
        Ok(output) => Finding { name, grade: Grade::Good, detail: output.text(), remedy: None },
        Err(_) => missing(context, name, remedy),
    }
}

fn agent_finding(context: &Context, agent: &AgentName, remedy: Remedy, home: &Utf8Path) -> Finding {
    let name = agent.to_string();
    match dandori_agent::find_program(agent, &context.env) {
        Err(_) => missing(context, name, remedy),
        Ok(path) => match dandori_agent::version(agent, &context.env, home) {
            Ok(version) => Finding { name, grade: Grade::Good, detail: format!("{version} ({path})"), remedy: None },
            Err(e) => Finding { name, grade: Grade::Bad, detail: with_causes(&e), remedy: Some(remedy) },
        },
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

fn missing(context: &Context, name: String, remedy: Remedy) -> Finding {
    let detail = ui::not_installed(context.out.lang).to_owned();
    Finding { name, grade: Grade::Missing, detail, remedy: Some(remedy) }
}

fn sandbox_finding(name: String) -> Finding {
    match sandbox::probe() {
        Sandbox::Landlock { abi } => {
            Finding { name, grade: Grade::Good, detail: format!("Landlock, ABI {abi}"), remedy: None }
        }
        Sandbox::None { reason } => Finding { name, grade: Grade::Bad, detail: reason, remedy: Some(Remedy::Landlock) },
    }
}

fn memory(context: &Context, name: String) -> Finding {
    let detail = machine::available_memory().map_or_else(|| "?".to_owned(), |b| ui::free(context.out.lang, b));
    Finding { name, grade: Grade::Good, detail, remedy: None }
}

fn disk(context: &Context, name: String) -> Finding {
    // Before the first command there is no state root: its nearest parent tells as well.
    let root = context.layout.root();
    let lang = context.out.lang;
    let place = root.ancestors().find(|p| p.is_dir()).unwrap_or(root);
    match machine::free_disk(place) {
        Ok(free) if free < LITTLE_DISK => {
            Finding { name, grade: Grade::Bad, detail: ui::free(lang, free), remedy: Some(Remedy::FreeDisk) }
        }
        Ok(free) => Finding { name, grade: Grade::Good, detail: ui::free(lang, free), remedy: None },
        Err(e) => Finding { name, grade: Grade::Bad, detail: e.to_string(), remedy: Some(Remedy::FreeDisk) },
    }
}

/// What only the daemon knows: the store's health and what each repository uses.
async fn daemon(context: &Context, daemon: String, store: String, repository: String) -> Vec<Finding> {
    let client = match Client::connect(context).await {
        Ok(client) => client,
        Err(problem) => {
            let said = dandori_text::problem(context.out.lang, &problem);
            let detail = format!("{} {}", said.what, said.why.unwrap_or_default());
            return vec![Finding { name: daemon, grade: Grade::Bad, detail, remedy: Some(Remedy::StartDaemon) }];
        }
    };
    let report: DoctorReport = match client.get("/v1/doctor").await {
        Ok(report) => report,
        Err(problem) => {
            let detail = dandori_text::problem(context.out.lang, &problem).what;
            return vec![Finding { name: daemon, grade: Grade::Bad, detail, remedy: Some(Remedy::StartDaemon) }];
        }
    };
    let counts = ui::at_work(context.out.lang, u64::from(report.live), report.waiting);
    let health = report.store;
    let (damage, backup) = (health.damage.as_deref(), health.newest_backup.as_deref());
    let mut findings = vec![
        Finding { name: daemon, grade: Grade::Good, detail: counts, remedy: None },
        Finding {
            name: store,
            grade: if damage.is_none() { Grade::Good } else { Grade::Bad },
            detail: ui::store(context.out.lang, &health.backend, health.bytes, damage, backup),
            remedy: damage.is_some().then_some(Remedy::RestoreStore),
        },
    ];
    findings.extend(report.repositories.iter().map(|repo| Finding {
        name: repository.clone(),
        grade: Grade::Good,
        detail: format!("{}: {}", repo.root, ui::size(repo.bytes)),
        remedy: None,
    }));
    findings
}
