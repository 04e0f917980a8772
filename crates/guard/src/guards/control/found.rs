//! What a finder finds, or a listing names, belongs to the guards, and something is done to what comes out.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::{Act, Certainty, Command, Deed, How, Reach, Search, Word, Write, git_call, is_shell};

use super::trees::takes_rights;
use super::{below, is_client_s_folder, is_control, is_settings};
use crate::change::resolve;
use crate::context::Context;
use crate::guards::argv;
use crate::quiet::looks;
use crate::world::FileKind;

/// How deep and how far the guards' own folders are gone through.
const DEPTH: usize = 4;
const MOST: usize = 500;

/// `find . -name settings.json -exec rm {} +`, `fd -H settings.json -x rm`, `grep -rl x .claude | xargs rm`
pub(super) fn found_by_the_line(context: &Context) -> Option<Utf8PathBuf> {
    let is_handed_on = context.commands().iter().any(|command| changes_what_it_gets(context, command));
    for command in context.commands() {
        let Some(search) = Search::by(command) else { continue };
        for deed in &search.deeds {
            let is_done = match deed.act {
                Act::Delete => true,
                Act::Run(_) => is_handed_on || is_written(context, search.found(deed)),
                Act::Print => is_handed_on || is_written(context, search.listed(deed)),
                Act::PrintTo(_) | Act::Report => false,
            };
            let hit = is_done.then(|| search.roots.iter().find_map(|root| hit(context, command, &search, deed, root)));
            if let Some(path) = hit.flatten() {
                return Some(path);
            }
        }
    }
    if is_handed_on || reads_names_it_changes(context) { listed_folder(context) } else { None }
}

/// `find . -name '*.json' -exec sh -c 'echo > {}' \;`: no program is given what was found, but it is written.
fn is_written(context: &Context, found: Option<Vec<Word>>) -> bool {
    let writes = context.reading().map_or(&[][..], |reading| &reading.writes);
    // In code that `xargs` fills in, what it got has this name.
    let is_it = |write: &Write, word: &Word| {
        write.path.text == "$XARGS" || write.path.text.ends_with(word.text.trim_start_matches("./"))
    };
    let found = found.unwrap_or_default();
    let mut redirected = writes.iter().filter(|write| matches!(write.how, How::Redirect | How::Tee));
    redirected.any(|write| found.iter().any(|word| is_it(write, word)))
}

/// What of the guards a deed may be done to below one of its folders.
fn hit(context: &Context, command: &Command, search: &Search, deed: &Deed, root: &Word) -> Option<Utf8PathBuf> {
    let at_start = || context.project.as_ref().map(|project| project.root.clone());
    let start = match root.certainty {
        Certainty::Computed | Certainty::Names => at_start()?,
        _ => context.expanded(resolve(context.folder_of(command).as_deref(), &root.text).as_str()),
    };
    // Whatever is in a project may be handed on for good; of the guards' own folders nothing is.
    let is_meant = deed.act == Act::Delete || !deed.names.is_empty() || is_own_folder(context, &start);
    if !is_meant {
        return None;
    }
    held_below(context, &start).into_iter().find(|path| {
        let Ok(inside) = path.strip_prefix(&start) else { return false };
        let is_found = |inside: &Utf8Path| search.may_find(deed, root, inside.as_str());
        // A folder that is not empty is not deleted, but another program may take it with all that is in it.
        let folders = inside.ancestors().skip(1).filter(|folder| !folder.as_str().is_empty());
        let in_folder = || deed.act != Act::Delete && !deed.names.is_empty() && folders.into_iter().any(is_found);
        deed.takes_files && is_found(inside) || in_folder()
    })
}

/// A folder of a client, or of the guards.
fn is_own_folder(context: &Context, folder: &Utf8Path) -> bool {
    is_client_s_folder(folder) || is_control(context, folder)
}

/// What of the guards lies below a folder, with what is in their own.
fn held_below(context: &Context, start: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = below(context, start);
    if let Some(project) = context.project.as_ref().filter(|p| p.root != start && p.root.starts_with(start)) {
        found.extend(below(context, &project.root));
    }
    let mut folders: Vec<(Utf8PathBuf, usize)> = found.iter().map(|path| (path.clone(), 0)).collect();
    if is_control(context, start) {
        folders.push((start.to_owned(), 0));
    }
    while let Some((folder, depth)) = folders.pop() {
        if depth > DEPTH || found.len() > MOST || context.world.kind(&folder) != Some(FileKind::Folder) {
            continue;
        }
        let inside = context.world.names(&folder).into_iter().map(|name| folder.join(name));
        let inside: Vec<Utf8PathBuf> = inside.filter(|path| is_control(context, path)).take(MOST).collect();
        folders.extend(inside.iter().map(|path| (path.clone(), depth + 1)));
        found.extend(inside);
    }
    found
}

/// Reached through a finder, and more than a look.
fn changes_what_it_gets(context: &Context, command: &Command) -> bool {
    let is_finder = |name: &str| matches!(name, "find" | "gfind" | "fd" | "fdfind" | "xargs" | "gxargs" | "parallel");
    let edits = command.program == "sed" && argv::has(command.args(), "i", &["in-place"]);
    let spares = match command.program.as_str() {
        // What a shell runs stands in the line on its own.
        "touch" => true,
        program if is_shell(program) => true,
        "chmod" | "chown" | "chgrp" => !takes_rights(context, command),
        // What is copied stays as it is.
        "cp" => {
            let into = argv::has(command.args(), "t", &["target-directory"]);
            into || argv::operands(command.args(), &[]).last().is_some_and(|to| to.is_literal())
        }
        _ => git_call(command).is_some_and(|call| call.subcommand.text == "add"),
    };
    command.reached.iter().any(|reach| matches!(reach, Reach::Wrapper(name) if is_finder(name)))
        && !spares
        && (edits || !looks(command))
}

/// `… | while read f; do rm "$f"; done`, where nobody knows what comes in.
fn reads_names_it_changes(context: &Context) -> bool {
    let readers = context.commands().iter().filter(|command| matches!(command.program.as_str(), "read" | "mapfile"));
    let mut names =
        readers.flat_map(Command::args).map(|word| [format!("${}", word.text), format!("${{{}}}", word.text)]);
    let writes = context.reading().map_or(&[][..], |reading| &reading.writes);
    names.any(|forms| writes.iter().any(|write| changes(context, write) && forms.contains(&write.path.text)))
}

/// `grep -rl x .claude | xargs rm`, `ls .claude/settings.json | xargs rm`: a folder or file of a client is named.
fn listed_folder(context: &Context) -> Option<Utf8PathBuf> {
    let words = || context.commands().iter().flat_map(Command::args);
    let named = words().map(|word| context.expanded(word.text.trim_end_matches('/')));
    let mut folders = named.filter(|path| is_client_s_folder(path));
    folders
        .find_map(|folder| below(context, &folder).into_iter().next())
        .or_else(|| words().find_map(|word| Some(context.expanded(&word.text)).filter(|path| is_settings(path))))
}

/// Names that a listing prints are changed, one by one: `find .claude -type f | while read f; do rm "$f"; done`
pub(super) fn changed_by_name(context: &Context) -> Option<Utf8PathBuf> {
    let writes = context.reading().map_or(&[][..], |reading| &reading.writes);
    let by_name = writes.iter().filter(|write| write.path.certainty == Certainty::Names && changes(context, write));
    by_name.into_iter().find_map(|write| {
        let path = context.expanded(&write.path.text);
        let is_fixed = |part: &str| !part.contains(['*', '?', '[']);
        let start: Utf8PathBuf =
            path.components().map(|part| part.as_str()).take_while(|part| is_fixed(part)).collect();
        let pattern = path.strip_prefix(&start).ok().filter(|_| start.is_absolute())?;
        held_below(context, &start).into_iter().find(|held| {
            held.strip_prefix(&start).is_ok_and(|inside| names(context, write.how, &start, pattern.as_str(), inside))
        })
    })
}

/// Whether a listing below a folder names what lies in it.
fn names(context: &Context, how: How, start: &Utf8Path, pattern: &str, inside: &Utf8Path) -> bool {
    let fits = |pattern: &str, part: &str| fast_glob::glob_match(pattern.to_lowercase(), part.to_lowercase());
    let takes_all = matches!(how, How::Removed | How::MovedAway);
    let is_own = || is_own_folder(context, start);
    match pattern.split('/').collect::<Vec<_>>().as_slice() {
        ["**"] => is_own(),
        ["**", "*"] => is_own() || takes_all,
        ["**", name] => inside.components().any(|part| fits(name, part.as_str())),
        [name] => inside.components().next().is_some_and(|part| {
            fits(name, part.as_str()) && (name.starts_with('.') || !part.as_str().starts_with('.'))
        }),
        // For find a star stands for slashes, too.
        _ => fits(&pattern.replace("**", "*").replace('*', "**"), inside.as_str()) || fits(pattern, inside.as_str()),
    }
}

/// A mode that leaves the owner his rights, and a new date, change nothing.
fn changes(context: &Context, write: &Write) -> bool {
    match write.how {
        How::Made => false,
        How::Mode => context.commands().iter().any(|command| takes_rights(context, command)),
        _ => true,
    }
}
