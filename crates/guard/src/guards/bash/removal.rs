//! `rm -r` and `find -delete`: where they reach.

use camino::{Utf8Path, Utf8PathBuf};
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
    let words: Vec<&Word> = match command.program.as_str() {
        "rm" | "grm" | "srm" if argv::has(args, "rR", &["recursive"]) => argv::operands(args, &[]),
        "rimraf" | "del-cli" => argv::operands(args, &[]),
        "find" if finds_to_delete(args) => args.iter().take_while(|w| !w.text.starts_with(['-', '(', '!'])).collect(),
        _ => return None,
    };
    let here = Word::literal(".");
    let words = if words.is_empty() && command.program == "find" { vec![&here] } else { words };
    words
        .into_iter()
        .filter_map(|word| reach(context, command, word))
        .min_by_key(|class| *class != Class::RmRoot)
        .map(Danger::from)
}

/// Everything below its folders, with nothing that says which files.
fn finds_to_delete(args: &[Word]) -> bool {
    let has = |names: &[&str]| args.iter().any(|w| names.contains(&w.text.as_str()));
    let removes = has(&["-delete"])
        || args.windows(2).any(|pair| matches!(pair, [exec, rm] if exec.text.starts_with("-exec") && rm.text == "rm"));
    let chooses = has(&[
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-regex",
        "-iregex",
        "-empty",
        "-size",
        "-mtime",
        "-mmin",
        "-newer",
        "-atime",
        "-ctime",
        "-user",
        "-perm",
    ]);
    removes && !chooses
}

/// What would be lost by removing this.
fn reach(context: &Context, command: &Command, word: &Word) -> Option<Class> {
    if word.is_computed() {
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

fn of_path(context: &Context, path: &Utf8PathBuf, everything_in: bool) -> Option<Class> {
    let is_top = path == "/" || TOP.iter().any(|top| path == top) && !(everything_in && path == "/tmp");
    let holds_home = context.world.home().is_some_and(|home| home.starts_with(path));
    if is_top || holds_home {
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
