//! Instruction templates: `.dandori/prompts/<name>.md` in the repository, and beside the user's configuration.

use camino::Utf8PathBuf;
use dandori_domain::Problem;
use dandori_text::editor as text;

use crate::cli::Context;
use crate::out::Failed;

/// What the instruction takes the place of.
const TEXT: &str = "{{text}}";

#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) name: String,
    pub(crate) path: Utf8PathBuf,
    pub(crate) text: String,
    pub(crate) is_users: bool,
}

impl Template {
    pub(crate) fn wants_text(&self) -> bool {
        self.text.contains(TEXT)
    }

    /// With the instruction in its place; below the rest when there is none for it.
    pub(crate) fn filled(&self, instruction: &str) -> String {
        if self.wants_text() {
            return self.text.replace(TEXT, instruction.trim()).trim().to_owned();
        }
        format!("{}\n\n{}", self.text.trim(), instruction.trim()).trim().to_owned()
    }

    /// Its first line with words in it.
    pub(crate) fn about(&self) -> &str {
        let line = self.text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        line.trim_start_matches('#').trim()
    }
}

/// The repository's own before the user's of the same name.
pub(crate) fn all(context: &Context) -> Vec<Template> {
    let mut found: Vec<Template> = Vec::new();
    for (folder, is_users) in folders(context) {
        let Ok(entries) = folder.read_dir_utf8() else { continue };
        for entry in entries.flatten() {
            let (Some("md"), Some(name)) = (entry.path().extension(), entry.path().file_stem()) else { continue };
            if found.iter().any(|known| known.name == name) {
                continue;
            }
            if let Ok(text) = std::fs::read_to_string(entry.path()) {
                found.push(Template { name: name.to_owned(), path: entry.path().to_owned(), text, is_users });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

pub(crate) fn find(context: &Context, name: &str) -> Result<Template, Failed> {
    let lang = context.out.lang;
    check_name(context, name)?;
    let all = all(context);
    let known: Vec<String> = all.iter().map(|template| template.name.clone()).collect();
    let found = all.into_iter().find(|template| template.name == name);
    found.ok_or_else(|| Failed::Refused(text::no_template(lang, name, &known)))
}

/// Where a new one is written.
pub(crate) fn place(context: &Context, name: &str, is_users: bool) -> Result<Utf8PathBuf, Failed> {
    check_name(context, name)?;
    let folder = folders(context).into_iter().find(|(_, users)| *users == is_users).map(|(folder, _)| folder);
    let folder = folder.ok_or_else(|| Problem::NotARepository { path: context.cwd.clone().unwrap_or_default() })?;
    Ok(folder.join(format!("{name}.md")))
}

/// A name, not a path.
fn check_name(context: &Context, name: &str) -> Result<(), Failed> {
    let is_name =
        !name.is_empty() && !name.starts_with('-') && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    if is_name { Ok(()) } else { Err(Failed::Usage(text::bad_name(context.out.lang, name))) }
}

fn folders(context: &Context) -> Vec<(Utf8PathBuf, bool)> {
    let root = context.cwd.as_deref().and_then(crate::cli::init::project_root);
    let users = dandori_host::layout::user_config(&context.env).parent().map(|folder| folder.join("prompts"));
    let repository = root.map(|root| (root.join(".dandori/prompts"), false));
    repository.into_iter().chain(users.map(|folder| (folder, true))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(text: &str) -> Template {
        Template { name: "fix".to_owned(), path: "fix.md".into(), text: text.to_owned(), is_users: false }
    }

    #[test]
    fn the_instruction_takes_its_place_or_stands_below() {
        assert_eq!(template("Fix:\n\n{{text}}\n\nAdd a test.\n").filled(" a bug "), "Fix:\n\na bug\n\nAdd a test.");
        assert_eq!(template("Be brief.\n").filled("a bug"), "Be brief.\n\na bug");
        assert_eq!(template("Update the changelog.\n").filled(""), "Update the changelog.");
        assert_eq!(template("# Fix\n\n{{text}}").about(), "Fix");
    }
}
