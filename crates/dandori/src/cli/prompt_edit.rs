//! `dandori prompt edit`

use std::process::ExitCode;

use clap::Args;
use dandori_domain::Problem;
use dandori_text::editor as text;

use super::Context;
use super::prompt_list::view;
use crate::out::Failed;
use crate::templates::{self, Template};

#[derive(Args)]
pub(crate) struct PromptEditArgs {
    /// Name of the template; a new one is created
    name: String,
    /// Keep it for all your repositories instead of this one
    #[arg(long, short = 'u')]
    user: bool,
}

pub(crate) fn run(args: &PromptEditArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let path = templates::place(context, &args.name, args.user)?;
    let io = |e: std::io::Error| Problem::Io { path: path.clone(), reason: e.to_string() };
    let is_new = !path.exists();
    if is_new {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(io)?;
        }
        dandori_host::put_file(&path, text::template(out.lang).as_bytes(), 0o644).map_err(io)?;
    }
    if let Err(failed) = crate::editor::open(context, &path) {
        if is_new {
            let _ = std::fs::remove_file(&path);
        }
        return Err(failed);
    }
    let text = std::fs::read_to_string(&path).map_err(io)?;
    let template = Template { name: args.name.clone(), path: path.clone(), text, is_users: args.user };
    out.object(&view(&template));
    out.prose(0, text::template_saved(out.lang, path.as_str(), &args.name));
    Ok(ExitCode::SUCCESS)
}
