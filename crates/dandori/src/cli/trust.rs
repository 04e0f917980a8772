//! `dandori trust`

use std::process::ExitCode;

use clap::Args;
use dandori_api::Trusted;
use dandori_config::{Powers, TrustFile};
use dandori_domain::Problem;
use dandori_git::{Git, Repository};
use dandori_text::ui;

use super::Context;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct TrustArgs {
    /// Revoke the trust
    #[arg(long)]
    revoke: bool,
    /// Only show what would be trusted
    #[arg(long)]
    show: bool,
    /// Do not ask for confirmation
    #[arg(long, short = 'y', conflicts_with = "show")]
    yes: bool,
}

pub(crate) fn run(args: &TrustArgs, context: &Context) -> Result<ExitCode, Failed> {
    if !args.show {
        crate::person::refuse_agents(context)?;
    }
    let git = Git::new(&context.env, "cli");
    let repository = Repository::discover(&git, &context.here()?).map_err(|e| e.problem())?;
    let file = repository.root().join("dandori.toml");
    let powers = Powers::of_file(&file).map_err(|e| e.to_problem())?;
    let path = context.layout.trust();
    let mut trust = TrustFile::load(&path);
    let out = &context.out;
    let is_news = !trust.trusts(repository.common_dir(), &powers);
    if !args.revoke && !args.show && is_news && !args.yes {
        for power in &powers.0 {
            out.say(format!("  {power}"));
        }
        crate::person::agree(context, &ui::trust_question(out.lang, file.as_str()), "dandori trust --yes")?;
    }
    if args.revoke {
        trust.revoke(repository.common_dir());
    } else if !args.show {
        trust.trust(repository.common_dir(), &powers);
    }
    if !args.show {
        let io = |e: std::io::Error| Problem::Io { path: path.clone(), reason: e.to_string() };
        std::fs::create_dir_all(context.layout.private()).map_err(io)?;
        dandori_host::replace_file(&path, &trust.to_bytes(), 0o600).map_err(io)?;
    }
    out.object(&Trusted {
        path: file.to_string(),
        powers: powers.0.iter().map(ToString::to_string).collect(),
        trusted: trust.trusts(repository.common_dir(), &powers),
    });
    for power in &powers.0 {
        out.line(format!("  {power}"));
    }
    match (args.revoke, args.show, powers.is_empty()) {
        (true, _, _) => out.prose(0, ui::trust_revoked(out.lang, file.as_str())),
        (_, _, true) => out.prose(0, ui::nothing_to_trust(out.lang)),
        (_, true, _) => {}
        _ => out.prose(0, ui::trusted(out.lang, file.as_str())),
    }
    Ok(ExitCode::SUCCESS)
}
