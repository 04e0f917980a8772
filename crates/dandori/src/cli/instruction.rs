//! Where an instruction comes from: the command line, a file, a pipe, a template, or the user's editor.

use std::io::{IsTerminal, Read};
use std::os::unix::fs::DirBuilderExt;

use camino::Utf8PathBuf;
use clap::Args;
use dandori_domain::Problem;
use dandori_domain::task::MAX_INSTRUCTION_BYTES;
use dandori_text::editor as text;

use super::Context;
use crate::out::Failed;
use crate::templates::{self, Template};

#[derive(Args)]
pub(crate) struct InstructionArgs {
    /// What the agent should do; `-` reads stdin; without it, your editor opens
    #[arg(value_name = "INSTRUCTION")]
    instruction: Option<String>,
    /// Read the instruction from a file
    #[arg(long, short = 'f', value_name = "FILE", conflicts_with = "instruction")]
    file: Option<Utf8PathBuf>,
    /// Start from a template in .dandori/prompts; the instruction takes the place of {{text}}
    #[arg(long, short = 't', value_name = "NAME")]
    template: Option<String>,
}

/// An instruction, and the file it was written in with the editor.
pub(crate) struct Instruction {
    pub(crate) text: String,
    draft: Option<Utf8PathBuf>,
}

impl Instruction {
    /// It is in the daemon's hands: the draft has done its work.
    pub(crate) fn taken(&self) {
        if let Some(draft) = &self.draft {
            let _ = std::fs::remove_file(draft);
        }
    }

    /// It was refused: what a person has written is not lost. `command` is what was asked for, without the instruction.
    pub(crate) fn kept(&self, context: &Context, command: &str) {
        if let Some(draft) = &self.draft {
            context.out.note(text::kept(context.out.lang, command, draft.as_str()));
        }
    }
}

impl InstructionArgs {
    /// `about` says below the line what the text is for; `command` is what was asked for, without the instruction.
    pub(crate) fn read(&self, context: &Context, about: &str, command: &str) -> Result<Instruction, Failed> {
        let template = self.template.as_deref().map(|name| templates::find(context, name)).transpose()?;
        let given = match (&self.file, self.instruction.as_deref()) {
            (Some(path), _) => {
                let io = |e: std::io::Error| Problem::of_named_file(path, &e);
                if path.is_dir() {
                    return Err(Failed::Refused(text::is_folder(context.out.lang, path.as_str())));
                }
                let bytes = std::fs::metadata(path).map_or(0, |file| usize::try_from(file.len()).unwrap_or(usize::MAX));
                if bytes > MAX_INSTRUCTION_BYTES {
                    return Err(Problem::InstructionTooLong { bytes, limit: MAX_INSTRUCTION_BYTES }.into());
                }
                Some(bounded(std::fs::File::open(path).map_err(io)?).map_err(io)?)
            }
            (None, Some("-")) => {
                let io = |e: std::io::Error| Problem::Io { path: "-".into(), reason: e.to_string() };
                Some(bounded(std::io::stdin()).map_err(io)?)
            }
            (None, given) => given.map(str::to_owned),
        };
        match (template, given) {
            (None, Some(text)) => Ok(Instruction { text, draft: None }),
            (Some(template), Some(text)) => Ok(Instruction { text: template.filled(&text), draft: None }),
            (Some(template), None) if !template.wants_text() => Ok(Instruction { text: template.text, draft: None }),
            (template, None) => write(context, template.as_ref(), about, command),
        }
    }
}

/// In the user's editor; the file stays until the instruction is taken.
fn write(context: &Context, template: Option<&Template>, about: &str, command: &str) -> Result<Instruction, Failed> {
    let lang = context.out.lang;
    if context.out.json || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(Failed::Usage(text::no_instruction(lang, command)));
    }
    let folder = context.layout.root().join("drafts");
    let draft = folder.join(format!("instruction-{}.md", std::process::id()));
    let io = |e: std::io::Error| Problem::Io { path: draft.clone(), reason: e.to_string() };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(io)?;
    let begun = template.map(|t| t.filled("")).unwrap_or_default();
    let below = text::below_the_line(lang, about);
    let prepared = format!("{begun}\n\n{}\n{below}", text::SCISSORS);
    dandori_host::put_file(&draft, prepared.as_bytes(), 0o600).map_err(io)?;
    crate::editor::open(context, &draft)?;
    let written = bounded(std::fs::File::open(&draft).map_err(io)?).map_err(io)?;
    let instruction = above_the_line(&written);
    if instruction.is_empty() || instruction == begun.trim() && template.is_some_and(Template::wants_text) {
        let _ = std::fs::remove_file(&draft);
        return Err(Failed::Refused(text::empty(lang, command)));
    }
    // What can be given again by `-f` is the instruction, not what explains it.
    dandori_host::put_file(&draft, format!("{instruction}\n").as_bytes(), 0o600).map_err(io)?;
    Ok(Instruction { text: instruction, draft: Some(draft) })
}

fn above_the_line(written: &str) -> String {
    let lines = written.lines().take_while(|line| !line.contains(">8 ---"));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// An amount of US dollars that can be a budget.
pub(crate) fn budget(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && dollars > 0.0 && dollars <= 1_000_000.0 => Ok(dollars),
        // What to give instead is told by whoever shows the error.
        _ => Err("not an amount in US dollars above 0".to_owned()),
    }
}

/// No more than tells that it is too long.
pub(crate) fn bounded(from: impl Read) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    from.take(MAX_INSTRUCTION_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // Cut in the middle of a character: too long anyway, and it will be said so.
        Err(e) if e.as_bytes().len() > MAX_INSTRUCTION_BYTES => Ok(String::from_utf8_lossy(e.as_bytes()).into_owned()),
        Err(_) => Err(std::io::Error::other("not UTF-8 text")),
    }
}

#[cfg(test)]
mod tests {
    use super::above_the_line;

    #[test]
    fn only_what_stands_above_the_line_counts_headings_included() {
        let written = format!("# A heading\n\nFix it.\n\n{}\n# ignored\n", dandori_text::editor::SCISSORS);
        assert_eq!(above_the_line(&written), "# A heading\n\nFix it.");
        assert_eq!(above_the_line("no line at all\n"), "no line at all");
    }
}
