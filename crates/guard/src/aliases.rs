//! Settings of git and the aliases of git and gh, from the configuration of the repository and of the user.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::{Foreign, Options};

use crate::change::resolve;
use crate::context::Context;
use crate::world::Checkout;

/// A file is read with this many it includes: one may include itself.
const MOST_FILES: usize = 16;

/// Adds every alias that is in force where an unknown subcommand would run; one alias may call another. A file that
/// cannot be read holds none.
pub(crate) fn look_up(context: &Context, foreign: &Foreign, options: &mut Options) {
    let config = context.world.config_home();
    if foreign.program == "gh" {
        let text = config.and_then(|folder| text(context, &folder.join("gh/config.yml")));
        options.gh_aliases = of_gh(&text.unwrap_or_default());
        return;
    }
    let folder = context.folder(&foreign.cwd);
    let checkout = folder.and_then(|folder| context.world.checkout(&folder)).or_else(|| context.project.clone());
    let aliases = in_force(context, checkout.as_ref()).into_iter();
    options
        .git_aliases
        .extend(aliases.filter_map(|(key, value)| Some((key.strip_prefix("alias.")?.to_owned(), value))));
}

/// All that git's files set for a checkout, as `section.subsection.name` and value; of one name the last counts.
pub(crate) fn in_force(context: &Context, checkout: Option<&Checkout>) -> Vec<(String, String)> {
    let mut files: Vec<Utf8PathBuf> = vec!["/etc/gitconfig".into()];
    files.extend(context.world.config_home().map(|folder| folder.join("git/config")));
    files.extend(context.world.home().map(|home| home.join(".gitconfig")));
    if let Some(checkout) = checkout {
        files.extend([checkout.common_dir.join("config"), checkout.git_dir.join("config.worktree")]);
    }
    let mut found = Vec::new();
    for file in files {
        let mut left = MOST_FILES;
        add(context, &file, &mut left, &mut found);
    }
    found
}

fn text(context: &Context, path: &Utf8Path) -> Option<String> {
    context.world.text(path).ok().flatten()
}

fn add(context: &Context, file: &Utf8Path, left: &mut usize, found: &mut Vec<(String, String)>) {
    let (Some(rest), Some(text)) = (left.checked_sub(1), text(context, file)) else { return };
    *left = rest;
    for (key, value) in settings(&text) {
        if key.starts_with("include") && key.rsplit('.').next() == Some("path") {
            let path = match (value.strip_prefix("~/"), context.world.home()) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => resolve(file.parent(), &value),
            };
            add(context, &path, left, found);
        } else {
            found.push((key, value));
        }
    }
}

/// What a file of git's settings sets, as `section.subsection.name` and value.
fn settings(text: &str) -> Vec<(String, String)> {
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut section = String::new();
    let mut found = Vec::new();
    for line in joined.lines() {
        let mut line = line.trim();
        if let Some((name, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            section = match name.split_once('"') {
                Some((name, sub)) => format!("{}.{}", name.trim().to_lowercase(), sub.trim_end_matches('"')),
                None => name.trim().to_lowercase(),
            };
            line = rest.trim();
        }
        let (name, text) = line.split_once('=').unwrap_or((line, "true"));
        let name = name.trim();
        if !name.is_empty() && !name.starts_with(['#', ';']) {
            found.push((format!("{section}.{}", name.to_lowercase()), value(text.trim())));
        }
    }
    found
}

/// Without quotes, escapes and the comment behind it.
fn value(text: &str) -> String {
    let mut value = String::new();
    let mut is_quoted = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => match chars.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(c) => value.push(c),
                None => {}
            },
            c => value.push(c),
        }
    }
    value.trim_end().to_owned()
}

/// The table `aliases` of gh's settings, which gh writes itself: one level, plain, quoted or as a block.
fn of_gh(text: &str) -> Vec<(String, String)> {
    let is_inner = |line: &&str| line.starts_with([' ', '\t']) || line.trim().is_empty();
    let mut lines =
        text.lines().skip_while(|line| line.trim_end() != "aliases:").skip(1).take_while(is_inner).peekable();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let Some((name, text)) = line.trim().split_once(':') else { continue };
        let text = text.trim();
        let text = if text.starts_with(['|', '>']) {
            let mut block = String::new();
            while let Some(more) = lines.next_if(|more| more.trim().is_empty() || indent(more) > indent(line)) {
                block.push_str(more.trim());
                block.push('\n');
            }
            block
        } else if let Some(inner) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            inner.replace("''", "'")
        } else {
            value(text)
        };
        found.push((name.trim_matches(['"', '\'']).to_owned(), text));
    }
    found
}

#[cfg(test)]
mod tests;
