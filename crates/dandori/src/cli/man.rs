//! `dandori man`: manual pages from the command line's own description.

use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::{Args, Command};
use clap_mangen::Man;
use dandori_domain::Problem;
use dandori_text::misuse;

use super::Context;
use crate::localise;
use crate::out::{Failed, Out};

#[derive(Args)]
pub(crate) struct ManArgs {
    /// Command to show the page of, such as task diff
    command: Vec<String>,
    /// Write every page into this folder instead of printing one
    #[arg(long, conflicts_with = "command")]
    dir: Option<Utf8PathBuf>,
}

pub(crate) fn run(args: &ManArgs, context: &Context, root: Command) -> Result<ExitCode, Failed> {
    let lang = context.out.lang;
    let mut root = localise::command(root, lang);
    root.build();
    if let Some(folder) = &args.dir {
        let io = |e: std::io::Error| Problem::Io { path: folder.clone(), reason: e.to_string() };
        std::fs::create_dir_all(folder).map_err(io)?;
        for (name, command) in pages(&root, "dandori") {
            let file = folder.join(format!("{name}.1"));
            dandori_host::put_file(&file, &page(&name, command).map_err(io)?, 0o644).map_err(io)?;
        }
        context.out.line(folder);
        return Ok(ExitCode::SUCCESS);
    }
    let mut name = "dandori".to_owned();
    let mut meant = &root;
    for word in &args.command {
        meant = meant.find_subcommand(word).filter(|c| !c.is_hide_set()).ok_or_else(|| {
            let unknown = dandori_text::Misuse::UnknownCommand { word: word.clone(), near: Vec::new() };
            Failed::Usage(misuse(lang, &name.replace('-', " "), &unknown))
        })?;
        name = format!("{name}-{}", meant.get_name());
    }
    let io = |e: std::io::Error| Problem::Io { path: "-".into(), reason: e.to_string() };
    Out::raw(&page(&name, meant.clone()).map_err(io)?);
    Ok(ExitCode::SUCCESS)
}

/// A command and all below it that a user can see, by the names of their pages.
fn pages(command: &Command, name: &str) -> Vec<(String, Command)> {
    let mut found = vec![(name.to_owned(), command.clone())];
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        found.extend(pages(sub, &format!("{name}-{}", sub.get_name())));
    }
    found
}

fn page(name: &str, command: Command) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Man::new(command.display_name(name))
        .title(name)
        .source(concat!("dandori ", env!("CARGO_PKG_VERSION")))
        .manual("dandori")
        .render(&mut bytes)?;
    Ok(bytes)
}
