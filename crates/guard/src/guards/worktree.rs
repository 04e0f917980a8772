//! `git worktree` from the command line: worktrees stand where they are looked for, and none goes with somebody's work in it.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::{Command, Cwd, How, Word};

use crate::change::resolve;
use crate::context::{By, Context};
use crate::voice::{Trouble, Voice};
use crate::world::Checkout;

use super::argv;
use super::git_run::{GitRun, git_runs};
use super::secrets::shown;

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    for run in git_runs(context).iter().filter(|run| run.is("worktree")) {
        let rest = run.call.args.get(1..).unwrap_or_default();
        match run.first() {
            "add" => place(context, run, argv::operands(rest, &["-b", "-B", "--reason"]).first().copied(), voice),
            "move" => place(context, run, argv::operands(rest, &[]).get(1).copied(), voice),
            "remove" if argv::has(rest, "f", &["force"]) => {
                let name = argv::operands(rest, &[]).first().map_or("", |w| w.text.as_str());
                voice.block(dandori_text::guard::forge::worktree_forced(context.lang, name));
            }
            _ => {}
        }
    }
    removals(context, voice);
    Ok(())
}

/// Where a new one would stand.
fn place(context: &Context, run: &GitRun, path: Option<&Word>, voice: &mut Voice) {
    use dandori_text::guard::forge;
    let Some(path) = path else { return };
    let (Some(checkout), Some(folder)) = (run.checkout(context), &run.folder) else { return };
    if path.is_computed() {
        voice.ask(forge::worktree_computed(context.lang, &path.text));
        return;
    }
    let named =
        if path.text.starts_with('~') { context.expanded(&path.text) } else { resolve(Some(folder), &path.text) };
    // Through a link it would stand somewhere else than its name says.
    let real = context.world.real(&named);
    if !is_allowed(context, &checkout, &real) {
        voice.block(forge::worktree_place(context.lang, &path.text, real.as_str(), real != named));
    }
}

/// Next to the repository by its name, in its folder for worktrees, or where runs work.
fn is_allowed(context: &Context, checkout: &Checkout, path: &Utf8Path) -> bool {
    let root = match checkout.common_dir.file_name() {
        Some(".git") => checkout.common_dir.parent().unwrap_or(&checkout.root),
        _ => &checkout.root,
    };
    let inside = ["worktrees", ".worktrees", ".claude/worktrees"].iter().any(|name| {
        let folder = root.join(name);
        path.starts_with(&folder) && path != folder
    });
    let beside = root.parent().zip(root.file_name()).is_some_and(|(parent, name)| {
        let first = path.strip_prefix(parent).ok().and_then(|rest| rest.components().next());
        first.is_some_and(|first| {
            first.as_str().strip_prefix(name).is_some_and(|rest| rest.starts_with(['-', '.', '_']) && rest.len() > 1)
        })
    });
    inside || beside || context.rules.worktrees.iter().any(|folder| path.starts_with(folder) && path != folder)
}

/// `rm -rf` of a worktree, or of a folder with worktrees in it.
fn removals(context: &Context, voice: &mut Voice) {
    let is_recursive = |command: &Command| match command.program.as_str() {
        "rm" | "grm" => argv::has(command.args(), "rR", &["recursive"]) && command.cwd != Cwd::Unknown,
        "rimraf" | "trash" | "del-cli" | "trash-put" => true,
        _ => false,
    };
    if !context.commands().iter().any(is_recursive) {
        return;
    }
    let mut said: Vec<Utf8PathBuf> = Vec::new();
    let removed = context.targets().iter().filter(|t| t.by == By::Shell(How::Removed) && t.is_tree && !t.is_computed);
    for target in removed {
        let inside = context.world.names(&target.real).into_iter().map(|name| target.real.join(name));
        let mut worktrees =
            std::iter::once(target.real.clone()).chain(inside).filter(|path| is_worktree(context, path));
        if let Some(path) = worktrees.next().filter(|path| !said.contains(path)) {
            voice.block(dandori_text::guard::forge::worktree_removed(context.lang, &shown_path(context, &path)));
            said.push(path);
        }
    }
}

/// The top folder of a worktree that is linked to a repository.
fn is_worktree(context: &Context, path: &Utf8Path) -> bool {
    context.checkout(path).is_some_and(|checkout| checkout.root == path && checkout.git_dir != checkout.common_dir)
}

fn shown_path(context: &Context, path: &Utf8Path) -> String {
    let short = shown(context, path);
    if short == "." { path.to_string() } else { short }
}

#[cfg(test)]
mod tests {
    use crate::Level;
    use crate::judge::Outcome;
    use crate::stage::Stage;
    use crate::world::Head;
    use dandori_text::Lang;

    fn stage() -> Stage {
        let mut stage = Stage::only("worktree", Level::Block)
            .file("src/a.rs", "")
            .worktree("/repo/worktrees/a", Some("/repo"), Head::Branch("a".into()))
            .file("worktrees/a/x", "")
            .worktree("/repo-b", Some("/repo"), Head::Branch("b".into()))
            .worktree("/lib", None, Head::Branch("main".into()))
            .file("/lib/x", "")
            .link("worktrees/link", "/etc/x");
        stage.rules.worktrees = vec!["/state/worktrees".into()];
        stage
    }

    #[test]
    fn a_worktree_stands_only_where_it_is_looked_for() {
        for line in [
            "git worktree add /tmp/x",
            "git worktree add -b new ../elsewhere main",
            "git worktree add ~/x topic",
            "git worktree add src/x",
            "git worktree add worktrees/../../x",
            "git worktree add worktrees/link/y",
            "git worktree add /repository",
            "env X=1 git -C /repo worktree add /etc/x",
            "bash -c 'git worktree add /tmp/x'",
            "git worktree move worktrees/a /tmp/a",
            "git worktree add worktrees",
        ] {
            let judged = stage().bash(line);
            assert_eq!(judged.outcome(), Outcome::Block, "{line}");
            assert!(judged.said().contains("dandori worktree add"), "{}", judged.said());
        }
        for line in [
            "git worktree add worktrees/x",
            "git worktree add -b new .worktrees/x main",
            "git worktree add ../repo-x topic",
            "git worktree add /state/worktrees/run_1",
            "cd src && git worktree add ../worktrees/x",
            "git -C /repo-b worktree add /repo-c",
            "git worktree list",
            "git worktree prune",
            "dandori worktree add x",
        ] {
            let judged = stage().bash(line);
            assert_eq!(judged.outcome(), Outcome::Pass, "{line}: {}", judged.said());
        }
        assert_eq!(stage().bash("git worktree add \"$DIR\"").outcome(), Outcome::Ask);
    }

    #[test]
    fn no_worktree_goes_by_force() {
        for line in [
            "git worktree remove --force worktrees/a",
            "git worktree remove -f worktrees/a",
            "rm -rf worktrees/a",
            "rm -rf worktrees",
            "rm -rf /repo-b",
            "cd worktrees && rm -r -f a",
            "sudo rm -rf ../repo-b/",
        ] {
            let judged = stage().bash(line);
            assert_eq!(judged.outcome(), Outcome::Block, "{line}: {}", judged.said());
            assert!(judged.said().contains("dandori worktree remove"), "{}", judged.said());
        }
        for line in [
            "git worktree remove worktrees/a",
            "rm -rf worktrees/a/target",
            "rm -rf /lib",
            "rm worktrees/a/x",
            "rm -rf target",
        ] {
            let judged = stage().bash(line);
            assert_eq!(judged.outcome(), Outcome::Pass, "{line}: {}", judged.said());
        }
    }

    #[test]
    fn it_speaks_japanese() {
        assert!(stage().lang(Lang::Ja).bash("git worktree add /tmp/x").said().contains("ワークツリー用の場所"));
    }
}
