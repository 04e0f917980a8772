//! `dandori doctor`: each thing dandori stands on, how it is, and what to do when it is not well.

mod configuration;

use std::os::unix::fs::DirBuilderExt;
use std::process::ExitCode;
use std::time::Duration;

use camino::Utf8Path;
use dandori_api::{DoctorReport, RepositoryUse};
use dandori_domain::cause::with_causes;
use dandori_domain::run::Sandbox;
use dandori_domain::{AgentName, Problem};
use dandori_git::Git;
use dandori_host::{Cmd, machine, sandbox};
use dandori_text::ui::{self, Check, Head, Remedy, head};
use dandori_text::{Lang, Table};
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
    remedy: Option<String>,
    /// What is wrong, for those who parse it.
    problem: Option<Problem>,
}

impl Finding {
    fn good(name: String, detail: String) -> Self {
        Self { name, grade: Grade::Good, detail, remedy: None, problem: None }
    }

    fn bad(lang: Lang, name: String, detail: String, remedy: Remedy) -> Self {
        Self { grade: Grade::Bad, remedy: Some(ui::remedy(lang, remedy).to_owned()), ..Self::good(name, detail) }
    }

    fn of_problem(lang: Lang, name: String, problem: Problem) -> Self {
        let said = dandori_text::problem(lang, &problem);
        let detail = match &said.why {
            Some(why) => format!("{}: {}", said.what, in_one_line(why)),
            None => said.what,
        };
        Self { name, grade: Grade::Bad, detail, remedy: Some(said.hint), problem: Some(problem) }
    }
}

/// For a cell of a table: what lists goes on after its colon, and the picture of a line that a parser draws is left out.
fn in_one_line(text: &str) -> String {
    let is_drawn = |line: &&str| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').starts_with('|');
    text.lines().map(str::trim).filter(|line| !is_drawn(line)).fold(String::new(), |all, line| {
        let between = match all.chars().last() {
            None => "",
            Some(':') => " ",
            Some(_) => "; ",
        };
        format!("{all}{between}{line}")
    })
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
    findings.push(sandbox_finding(context, named(Check::Sandbox)));
    findings.push(memory(context, named(Check::Memory)));
    findings.push(disk(context, named(Check::Disk)));
    findings.extend(configuration::look(context));
    findings.extend(daemon(context, named(Check::Daemon), named(Check::Store), named(Check::Repository)).await);

    let rows: Vec<Value> = findings
        .iter()
        .map(|f| {
            json!({ "check": f.name, "ok": f.grade != Grade::Bad, "detail": f.detail, "remedy": f.remedy,
                    "problem": f.problem })
        })
        .collect();
    let well = findings.iter().all(|f| f.grade != Grade::Bad);
    context.out.object(&json!({ "ok": well, "checks": rows }));
    let mut table = Table::new(["", head(lang, Head::Check), head(lang, Head::Result)]);
    for f in findings {
        table.row([f.grade.word(), f.name, f.detail]);
        if let Some(remedy) = f.remedy {
            // On a line of its own: a narrow screen cuts the detail, not what to do.
            table.row([String::new(), String::new(), format!("→ {remedy}")]);
        }
    }
    context.out.table(&table);
    Ok(ExitCode::from(u8::from(!well)))
}

fn git(context: &Context, name: String) -> Finding {
    match Git::new(&context.env, "doctor").version() {
        Ok(version) => Finding::good(name, version.to_string()),
        Err(e) => Finding::bad(context.out.lang, name, e.to_string(), Remedy::InstallGit),
    }
}

fn identity(context: &Context, name: String) -> Finding {
    let ask = |key: &str| {
        let answer = Cmd::new("git", &context.env).args(["config", "--get", key]).run();
        answer.map(|o| o.text()).unwrap_or_default()
    };
    let (user, mail) = (ask("user.name"), ask("user.email"));
    if user.is_empty() || mail.is_empty() {
        return Finding::bad(context.out.lang, name, "user.name, user.email?".to_owned(), Remedy::SetIdentity);
    }
    Finding::good(name, format!("{user} <{mail}>"))
}

fn program(context: &Context, name: String, program: &str, flag: &str, remedy: Remedy) -> Finding {
    match Cmd::new(program, &context.env).arg(flag).deadline(Duration::from_secs(10)).run() {
        Ok(output) => Finding::good(name, output.text()),
        Err(_) => missing(context, name, remedy),
    }
}

fn agent_finding(context: &Context, agent: &AgentName, remedy: Remedy, home: &Utf8Path) -> Finding {
    let name = agent.to_string();
    match dandori_agent::find_program(agent, &context.env) {
        Err(_) => missing(context, name, remedy),
        Ok(path) => match dandori_agent::version(agent, &context.env, home) {
            Ok(version) => Finding::good(name, format!("{version} ({path})")),
            Err(e) => Finding::bad(context.out.lang, name, with_causes(&e), remedy),
        },
    }
}

fn missing(context: &Context, name: String, remedy: Remedy) -> Finding {
    let detail = ui::not_installed(context.out.lang).to_owned();
    Finding { grade: Grade::Missing, ..Finding::bad(context.out.lang, name, detail, remedy) }
}

fn sandbox_finding(context: &Context, name: String) -> Finding {
    match sandbox::probe() {
        Sandbox::Landlock { abi } => Finding::good(name, format!("Landlock, ABI {abi}")),
        Sandbox::None { reason } => Finding::bad(context.out.lang, name, reason, Remedy::Landlock),
    }
}

fn memory(context: &Context, name: String) -> Finding {
    let detail = machine::available_memory().map_or_else(|| "?".to_owned(), |b| ui::free(context.out.lang, b));
    Finding::good(name, detail)
}

fn disk(context: &Context, name: String) -> Finding {
    // Before the first command there is no state root: its nearest parent tells as well.
    let root = context.layout.root();
    let lang = context.out.lang;
    let place = root.ancestors().find(|p| p.is_dir()).unwrap_or(root);
    match machine::free_disk(place) {
        Ok(free) if free < LITTLE_DISK => Finding::bad(lang, name, ui::free(lang, free), Remedy::FreeDisk),
        Ok(free) => Finding::good(name, ui::free(lang, free)),
        Err(e) => Finding::bad(lang, name, e.to_string(), Remedy::FreeDisk),
    }
}

/// What only the daemon knows: the store's health and what each repository uses.
async fn daemon(context: &Context, daemon: String, store: String, repository: String) -> Vec<Finding> {
    let lang = context.out.lang;
    let report = match Client::connect(context).await {
        Ok(client) => client.get::<DoctorReport>("/v1/doctor").await,
        Err(problem) => Err(problem),
    };
    let report = match report {
        Ok(report) => report,
        Err(problem) => return vec![Finding::of_problem(lang, daemon, problem)],
    };
    let health = report.store;
    let (damage, backup) = (health.damage.as_deref(), health.newest_backup.as_deref());
    let told = ui::store(lang, &health.backend, health.bytes, damage, backup);
    let mut findings = vec![
        Finding::good(daemon, ui::at_work(lang, u64::from(report.live), report.waiting)),
        match damage {
            None => Finding::good(store, told),
            Some(_) => Finding::bad(lang, store, told, Remedy::RestoreStore),
        },
    ];
    findings.extend(report.repositories.iter().map(|repo| of_repository(lang, repository.clone(), repo)));
    findings
}

fn of_repository(lang: Lang, name: String, repo: &RepositoryUse) -> Finding {
    if !Utf8Path::new(&repo.root).is_dir() {
        let gone = Finding::of_problem(lang, name, Problem::RepositoryGone { path: repo.root.as_str().into() });
        // Nothing that is still there suffers from it.
        return Finding { grade: Grade::Missing, ..gone };
    }
    Finding::good(name, format!("{}: {}", repo.root, ui::size(repo.bytes)))
}

#[cfg(test)]
mod tests {
    use super::in_one_line;

    #[test]
    fn a_reason_of_several_lines_fits_into_a_cell() {
        let drawn = "TOML parse error at line 1, column 5\n  |\n1 | not toml\n  |     ^\nkey with no value";
        assert_eq!(in_one_line(drawn), "TOML parse error at line 1, column 5; key with no value");
        assert_eq!(in_one_line("it could run:\n  make\n  rm"), "it could run: make; rm");
    }
}
