//! Writes whose file is only known when the line runs, as far as they may land in the project.
//!
//! `echo y > src/$f` writes somewhere below `src`, `echo y > "$OUT"` and `xargs sed -i` perhaps somewhere in the
//! project. What surely goes elsewhere (`/tmp/$x`, what `mktemp` made) is no business of the project's guards.

use std::rc::Rc;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::{Command, Cwd, How, Write, files_of_patch};

use crate::context::{By, Context};
use crate::event::Tool;
use crate::papers;
use crate::world::Checkout;

/// A write that may land in the project.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ComputedWrite {
    /// The file a patch names, else the folder it is below at least.
    pub(crate) path: Utf8PathBuf,
    pub(crate) checkout: Rc<Checkout>,
    /// For messages, as the line has it.
    pub(crate) shown: String,
}

/// Variables that name a folder for what is thrown away.
const TEMPORARY: [&str; 5] = ["TMPDIR", "TMP", "TEMP", "TEMPDIR", "RUNNER_TEMP"];

pub(crate) fn writes(context: &Context) -> Vec<ComputedWrite> {
    let (Some(Tool::Bash { command: line, .. }), Some(project)) = (&context.event.tool, &context.project) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for write in context.reading().map_or(&[][..], |reading| &reading.writes) {
        let is_unplaced = is_unplaced(write);
        if !is_unplaced && !write.path.is_computed() {
            continue;
        }
        let folder = if is_unplaced {
            if goes_to_temporary(context, line) {
                continue;
            }
            project.root.clone()
        } else if is_temporary(line, &write.path.text) {
            continue;
        } else {
            context.world.real(&context.expanded(fixed(&write.path.text)))
        };
        let Some((folder, checkout)) = in_project(context, project, folder) else { continue };
        if write.how == How::Patched {
            let names = patched(context);
            let shown = if names.is_empty() { vec![String::new()] } else { names };
            found.extend(shown.into_iter().map(|name| hidden(&folder, &checkout, &name)));
        } else {
            found.push(ComputedWrite { path: folder, checkout, shown: shown(&write.path.text) });
        }
    }
    found
}

fn hidden(folder: &Utf8Path, checkout: &Rc<Checkout>, name: &str) -> ComputedWrite {
    let shown = if name.is_empty() { "." } else { name };
    let path = if name.is_empty() { folder.to_owned() } else { folder.join(name) };
    ComputedWrite { path, checkout: checkout.clone(), shown: shown.to_owned() }
}

/// The shell reader's own names are nobody's.
fn shown(text: &str) -> String {
    if text.contains("$XARGS") { "xargs".to_owned() } else { text.to_owned() }
}

fn is_unplaced(write: &Write) -> bool {
    write.cwd == Cwd::Unknown && !write.path.text.starts_with(['/', '~'])
}

/// The folder a name with something computed in it is below of.
fn fixed(text: &str) -> &str {
    let known = text.find(['$', '`']).and_then(|at| text.get(..at)).unwrap_or(text);
    match known.rfind('/') {
        Some(0) => "/",
        Some(end) => known.get(..end).unwrap_or_default(),
        None => ".",
    }
}

/// The folder, when it is in the project, and the project's root when it is above it.
fn in_project(context: &Context, project: &Checkout, folder: Utf8PathBuf) -> Option<(Utf8PathBuf, Rc<Checkout>)> {
    if let Some(checkout) = context.checkout(&folder).filter(|found| found.common_dir == project.common_dir) {
        return (!folder.starts_with(&checkout.common_dir)).then_some((folder, checkout));
    }
    let is_above = project.root.starts_with(&folder);
    is_above.then(|| (project.root.clone(), Rc::new(project.clone())))
}

/// Every `cd` to somewhere computed goes where things are thrown away.
fn goes_to_temporary(context: &Context, line: &str) -> bool {
    let is_cd = |command: &&Command| matches!(command.program.as_str(), "cd" | "pushd");
    let mut words =
        context.commands().iter().filter(is_cd).flat_map(Command::args).filter(|word| word.is_computed()).peekable();
    words.peek().is_some() && words.all(|word| is_temporary(line, &word.text))
}

/// `$(mktemp)`, `$TMPDIR/x`, and `$t` when all the line makes of `t` is what `mktemp` gave it.
fn is_temporary(line: &str, text: &str) -> bool {
    // From here on it must not lead back out: `$TMPDIR/../repo`.
    if text.contains("..") {
        return false;
    }
    if is_made(text) {
        return true;
    }
    let Some(rest) = text.strip_prefix('$') else { return false };
    let rest = rest.strip_prefix('{').unwrap_or(rest);
    let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    if name.is_empty() {
        return false;
    }
    // `t=…`, and every other way to give it a value, `read t`: the name without a dollar.
    let mut values = Vec::new();
    for (at, _) in line.match_indices(name.as_str()) {
        let (before, after) = (line.get(..at).unwrap_or_default(), line.get(at + name.len()..).unwrap_or_default());
        if before.ends_with(is_of_a_name)
            || after.starts_with(is_of_a_name)
            || before.ends_with(['$', '{', '/', '-', '.'])
        {
            continue;
        }
        let Some(value) = after.strip_prefix('=') else { return false };
        values.push(value);
    }
    if values.is_empty() { TEMPORARY.contains(&name.as_str()) } else { values.into_iter().all(is_made) }
}

/// `$(mktemp)`, `"$(mktemp -d)"`: and nothing else in it, which might say where.
fn is_made(value: &str) -> bool {
    let value = value.trim_start_matches('"');
    let inner = value.strip_prefix("$(mktemp").and_then(|rest| rest.split_once(')')).map(|(inner, _)| inner);
    let inner = inner.or_else(|| value.strip_prefix("`mktemp").and_then(|rest| rest.split_once('`')).map(|(i, _)| i));
    inner.is_some_and(|options| {
        options
            .split_whitespace()
            .all(|word| matches!(word, "-d" | "-t" | "-q" | "-u" | "--directory") || is_template(word))
    })
}

/// `/tmp/x.XXXX`, `x.XXXX` behind `-t`
fn is_template(word: &str) -> bool {
    word.starts_with("/tmp/") || !word.contains(['/', '-', ';', '&', '|', '>', '<', '$', '='])
}

fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The files that patches of the line write, where their text can be read.
pub(crate) fn patched_files(context: &Context) -> Vec<Utf8PathBuf> {
    if !context.targets().iter().any(|target| target.is_computed && target.by == By::Shell(How::Patched)) {
        return Vec::new();
    }
    let names = patched(context);
    names.iter().map(|name| context.world.real(&context.expanded(name))).collect()
}

/// The files the patches of the line name, when nothing but patches that can be read comes in.
fn patched(context: &Context) -> Vec<String> {
    let is_plain = |command: &Command| {
        let words = command.args();
        matches!(command.program.as_str(), "git" | "patch" | "cat" | "cd")
            && !words.iter().any(|word| word.is_computed() || word.text == "-")
            && words.iter().all(|word| !word.text.starts_with("-p") || word.text == "-p1")
            && words.iter().all(|word| !word.text.starts_with("--strip") && !word.text.starts_with("--directory"))
    };
    if !context.commands().iter().all(is_plain) {
        return Vec::new();
    }
    files_of_patch(&papers::words_of_computed_writes(context).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Level;

    use crate::judge::Outcome;
    use crate::stage::Stage;
    use crate::world::Head;

    fn playbook() -> Stage {
        Stage::only("playbook", Level::Block)
            .file("state.md", "---\nplaybook:\n  active: null\n---\n")
            .file("src/a.rs", "x")
            .file("plan.patch", "--- a/plan/notes.md\n+++ b/plan/notes.md\n@@ -1 +1 @@\n-a\n+b\n")
            .file("src.patch", "--- a/plan/notes.md\n+++ b/plan/notes.md\n--- a/src/a.rs\n+++ b/src/a.rs\n")
    }

    const SOMEWHERE: [&str; 19] = [
        "grep -rl x src | xargs sed -i s/x/y/",
        "f=$(ls src); echo y > src/$f",
        "echo y > $OUT",
        "echo y > \"$(git rev-parse --show-toplevel)/a\"",
        "cd $D && echo y > a.rs",
        "git apply ../x.patch",
        "git apply src.patch",
        "curl -s http://x/y | git apply",
        "patch -p1 < ../x.patch",
        "patch -p0 < plan.patch",
        "echo y > /$x",
        "t=$(mktemp); t=$(ls src); echo y > $t",
        "echo y > $TMPDIR/../repo/a",
        "echo y > \"$(mktemp -d)/../../repo/src/a.rs\"",
        "t=$(mktemp -u >/dev/null; echo src/a.rs); echo y > $t",
        "t=$(mktemp -p src); echo y > $t",
        "t=$(mktemp); read t <<< src/a.rs; echo y > $t",
        "read TMPDIR <<< src; echo y > $TMPDIR/a.rs",
        "while read f; do rm $f; done < list",
    ];

    const ELSEWHERE: [&str; 10] = [
        "echo y > /tmp/$x",
        "t=$(mktemp); echo y > $t",
        "t=\"$(mktemp -d)\"; echo y > \"$t/a\"",
        "d=$(mktemp -d) && cd $d && echo y > a",
        "echo y > $(mktemp)",
        "echo y > ${TMPDIR}/x",
        "echo y > ~/.cache/$x",
        "echo y > plan/$x.md",
        "git apply plan.patch",
        "grep -rl x src | xargs cat",
    ];

    #[test]
    fn a_name_that_is_computed_is_somewhere_in_the_project_unless_it_surely_is_not() {
        let pending = |line: &str| {
            Stage::only("pending", Level::Block).file("src/a.rs", "x").mark(crate::world::Mark::PostLoop).bash(line)
        };
        for line in SOMEWHERE {
            assert_eq!(playbook().bash(line).outcome(), Outcome::Block, "playbook: {line}");
            assert_eq!(pending(line).outcome(), Outcome::Block, "pending: {line}");
        }
        for line in ELSEWHERE {
            let judged = playbook().bash(line);
            assert_eq!(judged.outcome(), Outcome::Pass, "playbook: {line}: {}", judged.said());
        }
    }

    #[test]
    fn main_and_the_wrong_branch_are_kept_from_it_too() {
        let mut main = Stage::only("main-branch", Level::Block).branch("main");
        main.rules.main.what = crate::rules::MainWhat::Edits;
        let wrong = Stage::only("coherence", Level::Block)
            .file("state.md", "---\nplaybook:\n  active: plan/playbook-a.md\n---\n")
            .file("plan/playbook-a.md", "---\nbranch: other\nreviewed: true\n---\n");
        for line in ["f=$(ls src); echo y > src/$f", "echo y > $OUT", "grep -rl x src | xargs sed -i s/x/y/"] {
            let judged = main.bash(line);
            assert_eq!(judged.outcome(), Outcome::Block, "main-branch: {line}");
            assert!(!judged.said().starts_with(" is"), "it names what: {}", judged.said());
            assert_eq!(wrong.bash(line).outcome(), Outcome::Block, "coherence: {line}");
        }
        for line in ["echo y > /tmp/$x", "t=$(mktemp); echo y > $t", "git switch -c other && echo y > $OUT"] {
            assert_eq!(main.bash(line).outcome(), Outcome::Pass, "main-branch: {line}");
        }
        for line in ["echo y > /tmp/$x", "t=$(mktemp); echo y > $t", "git switch other && echo y > $OUT"] {
            assert_eq!(wrong.bash(line).outcome(), Outcome::Pass, "coherence: {line}");
        }
        let work = Stage::only("main-branch", Level::Block).branch("work");
        assert_eq!(work.bash("echo y > $OUT").outcome(), Outcome::Pass);
    }

    #[test]
    fn a_worktree_is_the_place_when_the_name_begins_there() {
        let reviewed = "---\nreviewed: true\n---\n";
        let stage = playbook()
            .worktree("/wt", Some("/repo"), Head::Branch("w".to_owned()))
            .worktree("/other", None, Head::Branch("w".to_owned()))
            .file("/wt/state.md", "---\nplaybook:\n  active: plan/playbook-w.md\n---\n")
            .file("/wt/plan/playbook-w.md", reviewed);
        assert_eq!(stage.bash("echo y > /wt/$x").outcome(), Outcome::Pass);
        assert_eq!(stage.bash("echo y > /other/$x").outcome(), Outcome::Pass);
        assert_eq!(stage.bash("echo y > /repo/$x").outcome(), Outcome::Block);
    }
}
