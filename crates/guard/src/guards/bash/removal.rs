//! `rm -r` and `find -delete`: where they reach.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::guard::Level;
use dandori_shell::{Act, Certainty, Command, Cwd, Deed, How, Search, Word, is_shell};

use crate::change::resolve;
use crate::context::{By, Context};
use crate::guards::argv;

use super::{Class, Danger};

/// Top folders of a machine: whoever removes one means something else.
const TOP: &[&str] = &[
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/var",
    "/home",
    "/opt",
    "/boot",
    "/root",
    "/sys",
    "/dev",
    "/proc",
    "/srv",
    "/mnt",
    "/media",
    "/Users",
    "/System",
    "/Library",
    "/Applications",
    "/Volumes",
    "/tmp",
];

const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders", "/dev/shm"];

/// Programs that take files away.
const REMOVERS: &[&str] = &["rm", "grm", "srm", "shred", "unlink", "wipe", "trash", "trash-put", "rmtrash", "rimraf"];

pub(super) fn danger(context: &Context, command: &Command) -> Option<Danger> {
    let args = command.args();
    let class = match command.program.as_str() {
        "rm" | "grm" | "srm" | "wipe" if argv::has(args, "rR", &["recursive"]) => {
            heaviest(context, command, &argv::operands(args, &[]))
        }
        "rimraf" | "del-cli" => {
            // They fill in patterns themselves.
            let filled =
                |word: &&Word| Word { text: word.text.clone(), certainty: word.certainty.max(Certainty::Glob) };
            let words: Vec<Word> = argv::operands(args, &[]).iter().map(filled).collect();
            heaviest(context, command, &words.iter().collect::<Vec<_>>())
        }
        "find" | "gfind" => by_search(context, command),
        _ => None,
    };
    let class = class.map(Danger::from);
    class.or_else(|| listed(context, command)).or_else(|| unmoved(context, command))
}

fn heaviest(context: &Context, command: &Command, words: &[&Word]) -> Option<Class> {
    words.iter().filter_map(|word| reach(context, command, word)).min_by_key(|class| *class != Class::RmRoot)
}

fn by_search(context: &Context, command: &Command) -> Option<Class> {
    let search = Search::of(command.args());
    let is_removal = |deed: &&Deed| match &deed.act {
        Act::Delete => true,
        Act::Run(words) => removes(words),
        _ => false,
    };
    let deeds: Vec<&Deed> = search.deeds.iter().filter(is_removal).collect();
    if deeds.is_empty() {
        return None;
    }
    let roots: Vec<&Word> = search.roots.iter().collect();
    match heaviest(context, command, &roots) {
        // Some files of the project are ordinary clearing up, and so are some of a temporary folder; of the machine
        // they are not.
        Some(Class::RmRoot) if deeds.iter().all(|deed| deed.is_choosy) => {
            let is_clearing = |root: &&Word| is_inside(context, command, root) || is_temporary(context, command, root);
            (!roots.iter().all(is_clearing)).then_some(Class::RmOutside)
        }
        class => class,
    }
}

/// The words are a command that removes, or a shell that is told to: `sh -c 'rm "$1"' _ {}`.
fn removes(words: &[Word]) -> bool {
    let is_remover = |text: &str| REMOVERS.contains(&text.rsplit('/').next().unwrap_or(text));
    match words {
        [first, rest @ ..] if is_shell(&first.text) || matches!(first.text.as_str(), "env" | "sudo" | "command") => {
            rest.iter().flat_map(|w| w.text.split([' ', ';', '\n', '(', '&', '|'])).any(is_remover)
        }
        [first, ..] => is_remover(&first.text),
        [] => false,
    }
}

/// Whatever a listing of the whole project names: `find . | xargs rm`. A person may mean it.
fn listed(context: &Context, command: &Command) -> Option<Danger> {
    if !REMOVERS.contains(&command.program.as_str()) {
        return None;
    }
    let is_recursive = argv::has(command.args(), "rR", &["recursive"]) || command.program == "rimraf";
    let operands = argv::operands(command.args(), &[]);
    let patterns = operands.iter().filter(|word| word.certainty == Certainty::Names);
    // Without `-r`, only the names of files that a deep listing gives are removed.
    let all = patterns.filter(|word| is_recursive || word.text.ends_with("**"));
    let as_patterns: Vec<Word> = all.map(|word| Word { text: word.text.clone(), certainty: Certainty::Glob }).collect();
    let class = heaviest(context, command, &as_patterns.iter().collect::<Vec<_>>())?;
    Some(Danger { class, milder: Some(Level::Ask) })
}

/// `cd build; rm -rf *`, and there is no such folder: it happens where the shell stands.
fn unmoved(context: &Context, command: &Command) -> Option<Danger> {
    let stays = command.unmoved.clone()?;
    let folder = context.folder_of(command)?;
    let makes = |by: By| matches!(by, By::Shell(How::Made | How::Copied | How::Extracted | How::Interpreter));
    let is_made = || context.targets().iter().any(|target| makes(target.by) && folder.starts_with(&target.path));
    if context.world.kind(&context.world.real(&folder)).is_some() || is_made() {
        return None;
    }
    let there = Command { cwd: stays, unmoved: None, ..command.clone() };
    let danger = danger(context, &there).filter(|danger| danger.class == Class::RmRoot)?;
    Some(Danger { milder: Some(Level::Ask), ..danger })
}

/// What is removed or moved away by other means: only what nobody means.
pub(super) fn by_target(context: &Context, path: &Utf8Path) -> Option<Danger> {
    (of_path(context, path, false) == Some(Class::RmRoot)).then(|| Class::RmRoot.into())
}

fn is_temporary(context: &Context, command: &Command, word: &Word) -> bool {
    let path = resolve(context.folder_of(command).as_deref(), &word.text);
    TEMPORARY.iter().any(|folder| path.starts_with(folder))
}

fn is_inside(context: &Context, command: &Command, word: &Word) -> bool {
    let path = resolve(context.folder_of(command).as_deref(), &word.text);
    context.project.as_ref().is_some_and(|project| path.starts_with(&project.root))
}

/// What would be lost by removing this.
fn reach(context: &Context, command: &Command, word: &Word) -> Option<Class> {
    if word.is_computed() {
        if word.certainty == Certainty::Names {
            return None;
        }
        let without_end = word.text.trim_end_matches(['*', '/', '.']);
        if without_end == "$(git rev-parse --show-toplevel)" {
            return Some(Class::RmRoot);
        }
        // With the variable unset, `$X/` and `$X/*` are the whole machine.
        let rest = word.text.trim_end_matches('*');
        let is_bare =
            rest.ends_with('/') && rest.trim_end_matches('/').starts_with('$') && rest.matches('/').count() == 1;
        return is_bare.then_some(Class::RmOutside).or_else(|| below_known(context, command, word));
    }
    let everything_in = word.certainty == Certainty::Glob
        && matches!(Utf8Path::new(&word.text).file_name(), Some("*" | ".*" | "{*,.*}" | "**"));
    let text = if everything_in { parent_text(&word.text) } else { word.text.clone() };
    // Somebody else's home.
    if text.starts_with('~') && !(text == "~" || text.starts_with("~/")) {
        return Some(Class::RmOutside);
    }
    let path = placed(context, command, &text)?;
    let real = context.world.real(&path);
    [path, real]
        .iter()
        .filter_map(|path| of_path(context, path, everything_in))
        .min_by_key(|class| *class != Class::RmRoot)
}

/// Of `/usr/$X` and `~/$X` it is known in which folder something goes.
fn below_known(context: &Context, command: &Command, word: &Word) -> Option<Class> {
    let known = word.text.split(['$', '`', '{']).next()?;
    let (folder, _) = known.rsplit_once('/')?;
    let folder = placed(context, command, if folder.is_empty() { "/" } else { folder })?;
    of_path(context, &context.world.real(&folder).join("$"), false)
}

/// Where a text of the line leads, as far as that is known.
fn placed(context: &Context, command: &Command, text: &str) -> Option<Utf8PathBuf> {
    if command.cwd == Cwd::Unknown && !text.starts_with(['/', '~']) {
        return None;
    }
    let path = match text.strip_prefix('~').zip(context.world.home()) {
        Some((rest, home)) if rest.is_empty() || rest.starts_with('/') => resolve(None, &format!("{home}{rest}")),
        _ => resolve(context.folder_of(command).as_deref(), text),
    };
    path.is_absolute().then_some(path)
}

fn parent_text(text: &str) -> String {
    match text.rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((folder, _)) => folder.to_owned(),
        None => ".".to_owned(),
    }
}

/// The machine, one of its top folders, or what the home lies in.
pub(super) fn is_top(context: &Context, path: &Utf8Path) -> bool {
    path == "/" || TOP.iter().any(|top| path == *top) || context.world.home().is_some_and(|home| home.starts_with(path))
}

fn of_path(context: &Context, path: &Utf8Path, everything_in: bool) -> Option<Class> {
    if is_top(context, path) && !(everything_in && path == "/tmp") {
        return Some(Class::RmRoot);
    }
    let is_temporary = TEMPORARY.iter().any(|folder| path.starts_with(folder));
    let project = context.project.as_ref();
    if let Some(project) = project {
        let holds_repository =
            project.root.starts_with(path) || project.git_dir.starts_with(path) || project.common_dir.starts_with(path);
        if holds_repository {
            return Some(Class::RmRoot);
        }
    }
    // The history of another repository, or of one that lies in a temporary folder and is nobody's.
    if path.file_name() == Some(".git") && !is_temporary {
        return Some(Class::RmRoot);
    }
    let is_ours = match project {
        Some(project) => {
            path.starts_with(&project.root)
                || context.checkout(path).is_some_and(|checkout| checkout.common_dir == project.common_dir)
        }
        None => context.event.cwd.as_deref().is_some_and(|cwd| path.starts_with(cwd) && path != cwd),
    };
    (!is_ours && !is_temporary).then_some(Class::RmOutside)
}
