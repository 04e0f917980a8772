//! Keys and passwords: nobody reads or writes them, by whatever tool.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::How;

use crate::context::{By, Context, PathToMatch, Target};
use crate::event::Tool;
use crate::voice::{Trouble, Voice};
use crate::world::FileKind;

use super::reads::{Named, Shown, read_paths};

mod printing;

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let patterns = &context.rules.secrets;
    let mut said: Vec<Utf8PathBuf> = Vec::new();
    for path in written(context, patterns).into_iter().chain(read(context, patterns)) {
        if said.contains(&path) {
            continue;
        }
        let shown = shown(context, &path);
        voice.block_file(path.clone(), dandori_text::guard::bash::secret(context.lang, &shown));
        said.push(path);
    }
    for command in context.commands().iter().filter(|command| printing::prints_login(command)) {
        voice.ask(dandori_text::guard::bash::login(context.lang, &command.line()));
    }
    Ok(())
}

/// The files of these patterns that would be changed. What merely puts things into a folder, or brings back what git
/// has, does not mean the secret that lies there; nor does a file that is made anew hold anybody's secret.
fn written(context: &Context, patterns: &[String]) -> Vec<Utf8PathBuf> {
    let is_held = |target: &&Target| {
        let removes = target.by == By::Shell(How::Removed);
        let aim = Aim::at(context, target);
        patterns.iter().any(|pattern| match aim.hit(pattern) {
            Hit::Itself => !is_example(&target.path) && !keeps_text(target) && !is_made_anew(context, target),
            Hit::Below => removes,
            Hit::No => false,
        })
    };
    context.targets().iter().filter(is_held).map(|target| target.path.clone()).collect()
}

/// `chmod 600 .env`, `touch .env`
fn keeps_text(target: &Target) -> bool {
    matches!(target.by, By::Shell(How::Mode | How::Made))
}

/// `cp .env.example .env`, `openssl genrsa -out dev.key`: a program makes a file where there was none. Text that the agent
/// itself brings is another thing, but for places that belong to nobody.
fn is_made_anew(context: &Context, target: &Target) -> bool {
    let is_there = target.is_computed || context.world.kind(&target.path).is_some();
    let by_a_program = match target.by {
        By::Shell(How::Copied) => target.from.as_deref().is_some_and(is_example),
        By::Shell(How::Output) => true,
        _ => false,
    };
    let is_temporary = ["/tmp", "/var/tmp", "/private/tmp"].iter().any(|folder| target.real.starts_with(folder));
    let is_elsewhere = context.checkout(&target.real).is_none();
    !is_there && if is_elsewhere { is_temporary } else { by_a_program }
}

pub(super) enum Hit {
    /// The file is held by the pattern, by the name it was called or by where it leads.
    Itself,
    /// It is a folder with such a file in it.
    Below,
    No,
}

/// A target that patterns are held against. Of a computed path what is known of it: its last name may say enough.
pub(super) struct Aim<'c> {
    context: &'c Context<'c>,
    target: &'c Target,
    called: PathToMatch<'c>,
    leads_to: PathToMatch<'c>,
}

impl<'c> Aim<'c> {
    pub(super) fn at(context: &'c Context<'c>, target: &'c Target) -> Self {
        Self { context, target, called: context.place(&target.path), leads_to: context.place(&target.real) }
    }

    pub(super) fn hit(&self, pattern: &str) -> Hit {
        if self.called.holds(pattern) || self.leads_to.holds(pattern) {
            Hit::Itself
        } else if self.target.is_tree && self.context.touches(pattern, self.target) {
            Hit::Below
        } else {
            Hit::No
        }
    }
}

/// The files of these patterns whose text would be seen.
pub(super) fn read(context: &Context, patterns: &[String]) -> Vec<Utf8PathBuf> {
    let is_secret = |path: &Utf8Path| {
        let place = context.place(path);
        !is_example(path) && patterns.iter().any(|pattern| place.holds(pattern))
    };
    let is_made_here = |path: &Utf8Path| {
        context.targets().iter().any(|t| t.path.as_str() == path.as_str() && is_made_anew(context, t))
    };
    let is_held = |shown: &Shown| {
        let kind = context.world.kind(&shown.path);
        if kind.is_none() && (shown.named == Named::Perhaps || is_made_here(&shown.path)) {
            return false;
        }
        let real = context.world.real(&shown.path);
        // `kubectl config` is no folder of that name.
        let is_folder =
            shown.named == Named::Surely || shown.path.as_str().contains("/.") || kind != Some(FileKind::Folder);
        is_secret(&shown.path)
            || real != shown.path && is_secret(&real)
            || is_folder && keeps_secrets(context, patterns, &real)
    };
    read_paths(context).into_iter().filter(is_held).map(|shown| shown.path).collect()
}

/// A folder that is there for such files, and is read as a whole: `~/.ssh`, `~/.aws`, the home folder. A folder of the
/// project only when there is nothing else in it, else no search of a package with a `.env` would pass.
fn keeps_secrets(context: &Context, patterns: &[String], folder: &Utf8Path) -> bool {
    let reads_whole = matches!(context.event.tool, Some(Tool::Bash { .. } | Tool::Search { .. }));
    if !reads_whole || context.world.kind(folder) != Some(FileKind::Folder) {
        return false;
    }
    let is_secret = |name: &String| {
        !is_example(Utf8Path::new(name))
            && patterns.iter().any(|pattern| !pattern.contains('/') && fast_glob::glob_match(pattern, name))
    };
    if context.checkout(folder).is_some() {
        let names = context.world.names(folder);
        let is_public = |name: &String| is_example(Utf8Path::new(name)) || name == ".gitignore" || name == ".gitkeep";
        return names.iter().any(is_secret) && names.iter().all(|name| is_secret(name) || is_public(name));
    }
    let home = context.world.home();
    let is_home = home.as_deref() == Some(folder);
    let is_hidden = folder.components().any(|part| part.as_str().starts_with('.'));
    let lies_below = |pattern: &String| {
        let path = match (pattern.strip_prefix("~/"), &home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => Utf8PathBuf::from(pattern),
        };
        path.is_absolute() && path.starts_with(folder) && context.world.kind(&path).is_some()
    };
    (is_home || is_hidden) && (patterns.iter().any(lies_below) || context.world.names(folder).iter().any(is_secret))
}

/// Made to be shown: examples of a configuration, code with such a name, and the public half of a key.
pub(super) fn is_example(path: &Utf8Path) -> bool {
    const EXAMPLES: &[&str] = &[
        "example", "sample", "template", "dist", "defaults", "schema", "tpl", "tmpl", "j2", "ts", "mts", "cts", "js",
        "mjs", "cjs",
    ];
    let Some(name) = path.file_name() else { return false };
    let end = name.rsplit('.').next().unwrap_or_default();
    path.extension() == Some("pub") || name.starts_with(".env") && EXAMPLES.contains(&end)
}

/// As people write it.
pub(super) fn shown(context: &Context, path: &Utf8Path) -> String {
    let Some(checkout) = context.checkout(path) else { return path.to_string() };
    let short = checkout.short(path).as_str();
    if short.is_empty() { ".".to_owned() } else { short.to_owned() }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod ways_round;
