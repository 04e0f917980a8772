//! `dandori setup <dir>`: prepares a repository for a formation. What is there stays as it is.

use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::Args;
use dandori_api::formation::{SetupDone, SetupFile};
use dandori_config::Config;
use dandori_domain::Problem;
use dandori_text::formation::{asked as text, template};

use super::Context;
use crate::out::Failed;
use crate::person;

#[derive(Args)]
pub(crate) struct SetupArgs {
    /// A folder in the repository
    #[arg(value_name = "FOLDER", default_value = ".", hide_default_value = true)]
    folder: Utf8PathBuf,
}

pub(crate) fn run(args: &SetupArgs, context: &Context) -> Result<ExitCode, Failed> {
    person::refuse_agents(context)?;
    let out = &context.out;
    let folder = context.here()?.join(&args.folder);
    let checkout = dandori_hook::find_checkout(&folder);
    let checkout = checkout.ok_or_else(|| Problem::NotARepository { path: folder.clone() })?;
    let root = dandori_hook::main_root(&checkout);
    let path = root.join("dandori.toml");
    let io = |e: std::io::Error| Problem::Io { path: path.clone(), reason: e.to_string() };
    let before = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(io(e).into()),
    };
    // What cannot be read is not added to.
    Config::load(&dandori_host::layout::user_config(&context.env), Some(&path)).map_err(|e| e.to_problem())?;
    let is_new = !before.lines().any(|line| line.trim_start_matches(['#', ' ']).starts_with("[formation"));
    if is_new {
        let gap = if before.is_empty() || before.ends_with("\n\n") { "" } else { "\n" };
        let after = format!("{before}{gap}{}", template::section(out.lang));
        dandori_host::replace_file(&path, after.as_bytes(), 0o644).map_err(io)?;
    }
    let files = vec![SetupFile { path: path.to_string(), is_new }];
    out.object(&SetupDone { repository: root.to_string(), files: files.clone() });
    for file in &files {
        out.prose(0, text::set_up_file(out.lang, &out.path(&file.path), file.is_new));
    }
    out.prose(0, text::set_up(out.lang, &out.path(root.as_str())));
    out.next(&["dandori up".to_owned(), "dandori order \"…\"".to_owned()]);
    Ok(ExitCode::SUCCESS)
}
