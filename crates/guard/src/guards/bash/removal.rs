//! `rm -r` and `find -delete`: where they reach.

use camino::Utf8Path;
use dandori_shell::{Certainty, Command, Cwd, Word};

use crate::change::resolve;
use crate::context::Context;
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

pub(super) fn danger(context: &Context, command: &Command) -> Option<Danger> {
    let args = command.args();
    let heaviest = |words: &[&Word]| {
        words.iter().filter_map(|word| reach(context, command, word)).min_by_key(|class| *class != Class::RmRoot)
    };
    let class = match command.program.as_str() {
        "rm" | "grm" | "srm" if argv::has(args, "rR", &["recursive"]) => heaviest(&argv::operands(args, &[])),
        "rimraf" | "del-cli" => heaviest(&argv::operands(args, &[])),
        "find" if finds_to_remove(args) => {
            let here = Word::literal(".");
            let mut roots: Vec<&Word> = args.iter().take_while(|w| !w.text.starts_with(['-', '(', '!'])).collect();
            if roots.is_empty() {
                roots.push(&here);
            }
            match heaviest(&roots) {
                // Some files of the project are ordinary clearing up; of the machine they are not.
                Some(Class::RmRoot) if chooses(args) => {
                    let is_outside = roots.iter().any(|root| !is_inside(context, command, root));
                    is_outside.then_some(Class::RmOutside)
                }
                class => class,
            }
        }
        _ => None,
    };
    class.map(Danger::from)
}

/// What code of another language would remove: only what nobody means.
pub(super) fn by_code(context: &Context, path: &Utf8Path) -> Option<Danger> {
    (of_path(context, path, false) == Some(Class::RmRoot)).then(|| Class::RmRoot.into())
}

fn finds_to_remove(args: &[Word]) -> bool {
    let runs_rm = |pair: &[Word]| matches!(pair, [exec, rm] if exec.text.starts_with("-exec") && rm.text == "rm");
    args.iter().any(|w| w.text == "-delete") || args.windows(2).any(runs_rm)
}

/// Something says which files, other than `-name '*'`.
fn chooses(args: &[Word]) -> bool {
    const BY_PATTERN: &[&str] = &["-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"];
    const BY_FACT: &[&str] = &["-empty", "-size", "-mtime", "-mmin", "-newer", "-atime", "-ctime", "-user", "-perm"];
    let by_pattern = |pair: &[Word]| match pair {
        [name, value] => BY_PATTERN.contains(&name.text.as_str()) && !matches!(value.text.as_str(), "*" | ".*"),
        _ => false,
    };
    args.iter().any(|w| BY_FACT.contains(&w.text.as_str())) || args.windows(2).any(by_pattern)
}

fn is_inside(context: &Context, command: &Command, word: &Word) -> bool {
    let path = resolve(context.folder_of(command).as_deref(), &word.text);
    context.project.as_ref().is_some_and(|project| path.starts_with(&project.root))
}

/// What would be lost by removing this.
fn reach(context: &Context, command: &Command, word: &Word) -> Option<Class> {
    if word.is_computed() {
        let without_end = word.text.trim_end_matches(['*', '/', '.']);
        if without_end == "$(git rev-parse --show-toplevel)" {
            return Some(Class::RmRoot);
        }
        // With the variable unset, `$X/` and `$X/*` are the whole machine.
        let rest = word.text.trim_end_matches('*');
        let is_bare =
            rest.ends_with('/') && rest.trim_end_matches('/').starts_with('$') && rest.matches('/').count() == 1;
        return is_bare.then_some(Class::RmOutside);
    }
    let everything_in = word.certainty == Certainty::Glob
        && matches!(Utf8Path::new(&word.text).file_name(), Some("*" | ".*" | "{*,.*}" | "**"));
    let text = if everything_in { parent_text(&word.text) } else { word.text.clone() };
    if command.cwd == Cwd::Unknown && !text.starts_with(['/', '~']) {
        return None;
    }
    // Somebody else's home.
    if text.starts_with('~') && !(text == "~" || text.starts_with("~/")) {
        return Some(Class::RmOutside);
    }
    let base = context.folder_of(command);
    let path = match text.strip_prefix('~').zip(context.world.home()) {
        Some((rest, home)) if rest.is_empty() || rest.starts_with('/') => resolve(None, &format!("{home}{rest}")),
        _ => resolve(base.as_deref(), &text),
    };
    if !path.is_absolute() {
        return None;
    }
    let real = context.world.real(&path);
    [path, real]
        .iter()
        .filter_map(|path| of_path(context, path, everything_in))
        .min_by_key(|class| *class != Class::RmRoot)
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
