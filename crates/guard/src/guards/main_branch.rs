//! Nothing is done on the main branch: not a commit, not a push to it, and in the discipline profile not an edit either.
//!
//! Which branch that is is asked of the target's own checkout: an agent may stand in one worktree and write in another.

use std::rc::Rc;

use camino::Utf8PathBuf;
use dandori_shell::{Command, GitCall, git_call};
use dandori_text::guard::branch as text;

use crate::change::resolve;
use crate::context::Context;
use crate::hidden;
use crate::rules::MainWhat;
use crate::voice::{Trouble, Voice};
use crate::world::{Checkout, FileKind, Head};

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let line = GitLine::read(context);
    if let Some(moved) = line.moved {
        if !is_excused(context, moved.checkout.as_deref())? {
            voice.block(text::moves_main(context.lang, &moved.branch, &moved.what));
        }
        return Ok(());
    }
    if context.rules.main.what == MainWhat::Branch {
        return Ok(());
    }
    let named = context.targets().iter().filter(|target| !target.is_computed).filter_map(|target| {
        let checkout = context.checkout(&target.real)?;
        let shown = checkout.short(&target.real).to_string();
        Some((checkout, shown))
    });
    let hidden = hidden::writes(context).into_iter().map(|write| (write.checkout, write.shown));
    for (checkout, shown) in named.chain(hidden) {
        let Head::Branch(branch) = &checkout.head else { continue };
        let has_left = line.switches.iter().any(|(root, branch)| *root == checkout.root && !is_main(context, branch));
        if is_main(context, branch) && !has_left && !is_excused(context, Some(&checkout))? {
            voice.block(text::edits_main(context.lang, branch, &shown));
            return Ok(());
        }
    }
    Ok(())
}

fn is_main(context: &Context, branch: &str) -> bool {
    context.rules.main.branches.iter().any(|main| fast_glob::glob_match(main, branch))
}

/// The seed's other reading: only while the focus is the workspace.
fn is_excused(context: &Context, checkout: Option<&Checkout>) -> Result<bool, Trouble> {
    let Some(checkout) = checkout.filter(|_| context.rules.main.only_workspace) else { return Ok(false) };
    Ok(context.documents(checkout)?.state.focus.as_deref() != Some("workspace"))
}

/// The git commands of a line, followed from one to the next: `git switch -c x && git commit` commits on `x`.
#[derive(Default)]
struct GitLine {
    switches: Vec<(Utf8PathBuf, String)>,
    moved: Option<Moved>,
}

struct Moved {
    branch: String,
    what: String,
    checkout: Option<Rc<Checkout>>,
}

impl GitLine {
    fn read(context: &Context) -> Self {
        let mut line = Self::default();
        for command in context.commands() {
            let Some(call) = git_call(command) else { continue };
            line.follow(context, command, &call);
            if line.moved.is_some() {
                break;
            }
        }
        line
    }

    fn follow(&mut self, context: &Context, command: &Command, call: &GitCall) {
        let folder = context.folder_of(command).map(|folder| match &call.folder {
            Some(inner) => resolve(Some(&folder), &inner.text),
            None => folder,
        });
        // With another git folder named, or a computed one, the session's own checkout is the best guess.
        let named = folder.filter(|_| !call.elsewhere).and_then(|folder| context.checkout(&folder.join(".")));
        let checkout = named.or_else(|| context.project.clone().map(Rc::new));
        let branch = checkout.as_ref().and_then(|checkout| self.branch_of(checkout));
        let on_main = branch.as_deref().filter(|branch| is_main(context, branch)).map(str::to_owned);
        let moved = |branch: String| Some(Moved { branch, what: command.line(), checkout: checkout.clone() });
        match call.subcommand.text.as_str() {
            "switch" | "checkout" => {
                if let (Some(checkout), Some(to)) = (&checkout, switched_to(call)) {
                    let resets = call.has_option("force-create", Some('C')) || call.has_option("B", Some('B'));
                    if resets && is_main(context, &to) {
                        self.moved = moved(to);
                        return;
                    }
                    if is_made(call) || exists(context, checkout, &to) {
                        self.switches.push((checkout.root.clone(), to));
                    }
                }
            }
            "commit" | "merge" | "cherry-pick" | "revert" | "am" | "rebase" => {
                let only_looks = call.has_option("dry-run", None)
                    || ["--abort", "--quit", "--show-current-patch"]
                        .iter()
                        .any(|f| call.args.iter().any(|w| w.text == *f));
                if let (Some(branch), false) = (on_main, only_looks) {
                    self.moved = moved(branch);
                }
            }
            "push" => {
                if let Some(branch) = pushed_main(context, call, branch.as_deref()) {
                    self.moved = moved(branch);
                }
            }
            "branch"
                if ["force", "delete", "move"].iter().any(|o| call.has_option(o, None))
                    || has_letter(call, "fdDmM") =>
            {
                let named = call.args.iter().filter(|w| !w.text.starts_with('-')).map(|w| w.text.as_str());
                let main = named.into_iter().find(|name| is_main(context, name));
                self.moved = main.and_then(|main| moved(main.to_owned()));
            }
            "update-ref" => {
                let refs = call.args.iter().filter_map(|w| w.text.strip_prefix("refs/heads/"));
                let main = refs.into_iter().find(|name| is_main(context, name));
                self.moved = main.and_then(|main| moved(main.to_owned()));
            }
            _ => {}
        }
    }

    /// Where a checkout would stand by now.
    fn branch_of(&self, checkout: &Checkout) -> Option<String> {
        let switched = self.switches.iter().rev().find(|(root, _)| *root == checkout.root);
        match (switched, &checkout.head) {
            (Some((_, branch)), _) => Some(branch.clone()),
            (None, Head::Branch(branch)) => Some(branch.clone()),
            (None, Head::Unborn(_) | Head::Detached) => None,
        }
    }
}

fn has_letter(call: &GitCall, letters: &str) -> bool {
    call.args.iter().any(|w| {
        let options = w.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        options.is_some_and(|rest| rest.chars().any(|c| letters.contains(c)))
    })
}

const MAKES: [&str; 7] = ["-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan"];

fn is_made(call: &GitCall) -> bool {
    call.args.iter().any(|w| MAKES.contains(&w.text.as_str()))
}

/// `git checkout README.md` goes nowhere: a name must be a branch to lead away from main.
fn exists(context: &Context, checkout: &Checkout, branch: &str) -> bool {
    let name = format!("refs/heads/{branch}");
    let is_packed = || {
        let packed = context.world.text(&checkout.common_dir.join("packed-refs")).ok().flatten().unwrap_or_default();
        packed.lines().any(|line| line.split_once(' ').is_some_and(|(_, rest)| rest == name))
    };
    context.world.kind(&checkout.common_dir.join(&name)) == Some(FileKind::File) || is_packed()
}

/// The branch a checkout or switch would go to.
fn switched_to(call: &GitCall) -> Option<String> {
    if call.args.iter().any(|w| w.text == "--") || call.has_computed() {
        return None;
    }
    let mut words = call.args.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            text if MAKES.contains(&text) => return words.next().map(|name| name.text.clone()),
            text if text.starts_with('-') => {}
            text => return Some(text.to_owned()),
        }
    }
    None
}

/// The main branch a push would move.
fn pushed_main(context: &Context, call: &GitCall, current: Option<&str>) -> Option<String> {
    if call.has_option("dry-run", Some('n')) {
        return None;
    }
    let first = |context: &Context| context.rules.main.branches.first().cloned();
    if call.has_option("all", None) || call.has_option("mirror", None) || call.has_option("branches", None) {
        return first(context);
    }
    let mut words = call.args.iter().peekable();
    let mut operands = Vec::new();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-o" | "--push-option" | "--repo" | "--receive-pack" | "--exec" => drop(words.next()),
            text if text.starts_with('-') => {}
            text => operands.push(text),
        }
    }
    let refspecs = operands.get(1..).unwrap_or_default();
    if refspecs.is_empty() {
        return current.filter(|branch| is_main(context, branch)).map(str::to_owned);
    }
    refspecs.iter().find_map(|spec| {
        let to = spec.trim_start_matches('+').rsplit(':').next().unwrap_or(spec);
        let to = to.strip_prefix("refs/heads/").unwrap_or(to);
        let to = if matches!(to, "HEAD" | "@") { current.unwrap_or(to) } else { to };
        is_main(context, to).then(|| to.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::{Level, Profile};
    use dandori_text::Lang;
    use serde_json::json;

    use crate::judge::Outcome;
    use crate::rules::MainWhat;
    use crate::stage::Stage;
    use crate::world::Head;

    fn stage() -> Stage {
        Stage::only("main-branch", Level::Block)
    }

    fn branch_only() -> Stage {
        let mut stage = stage();
        stage.rules.main.what = MainWhat::Branch;
        stage
    }

    #[test]
    fn a_line_that_moves_the_main_branch_is_refused_and_others_pass() {
        for (branch, line, refused) in [
            ("main", "git commit -m x", true),
            ("main", "git -c a.b=c -C . commit -m x", true),
            ("main", "env A=1 bash -c 'git commit -m x'", true),
            ("main", "git merge feature", true),
            ("main", "git push", true),
            ("main", "git push origin HEAD", true),
            ("work", "git push origin HEAD:main", true),
            ("work", "git push origin work:refs/heads/main", true),
            ("work", "git push origin +main", true),
            ("work", "git push --all", true),
            ("work", "git branch -f main HEAD", true),
            ("work", "git branch -D master", true),
            ("work", "git update-ref refs/heads/main abc", true),
            ("work", "git checkout main && git commit -m x", true),
            ("main", "git checkout README.md && git commit -m x", true),
            ("main", "git checkout $x && git commit -m x", true),
            ("main", "git checkout other && git commit -m x", false),
            ("main", "git switch packed && git commit -m x", false),
            ("work", "git checkout -B main", true),
            ("work", "git commit -m 'git push origin main'", false),
            ("work", "git push origin work", false),
            ("work", "git push -u origin HEAD", false),
            ("work", "git push", false),
            ("main", "git status", false),
            ("main", "git log --oneline", false),
            ("main", "git pull --ff-only", false),
            ("main", "git switch -c work", false),
            ("main", "git switch -c work && git add -A && git commit -m x && git push -u origin work", false),
            ("main", "git checkout -b work origin/main && git commit -m x", false),
            ("main", "git commit --dry-run", false),
            ("main", "git push --dry-run", false),
            ("main", "git merge --abort", false),
            ("main", "git branch -d old", false),
            ("work", "git branch -D old", false),
            ("maintenance", "git commit -m x", false),
            ("main", "echo 'git commit' > notes.txt", false),
        ] {
            let refs = "# pack-refs with: peeled\nabc refs/heads/packed\n";
            let stage =
                ["main", "other"].iter().fold(branch_only(), |s, b| s.file(&format!(".git/refs/heads/{b}"), "abc"));
            let judged = stage.file(".git/packed-refs", refs).file("README.md", "").branch(branch).bash(line);
            assert_eq!(judged.outcome() == Outcome::Block, refused, "on {branch}: {line}: {}", judged.said());
        }
    }

    #[test]
    fn an_edit_on_main_is_refused_only_where_edits_are_kept_off_it() {
        assert_eq!(stage().branch("main").write("a.rs", "").outcome(), Outcome::Block);
        assert_eq!(stage().branch("master").bash("echo x > a.rs").outcome(), Outcome::Block);
        assert_eq!(stage().branch("main").bash("sed -i s/a/b/ a.rs").outcome(), Outcome::Block);
        assert_eq!(stage().branch("work").write("a.rs", "").outcome(), Outcome::Pass);
        assert_eq!(branch_only().branch("main").write("a.rs", "").outcome(), Outcome::Pass);
        assert_eq!(stage().branch("main").bash("cat a.rs 2>/dev/null").outcome(), Outcome::Pass);
        assert_eq!(stage().branch("main").bash("git switch -c x && echo x > a.rs").outcome(), Outcome::Pass, "left it");
        assert_eq!(stage().branch("main").bash("echo x > /tmp/a").outcome(), Outcome::Pass, "outside any checkout");
        assert_eq!(stage().branch("main").read("a.rs").outcome(), Outcome::Pass);
    }

    #[test]
    fn the_target_s_own_checkout_counts_not_where_the_agent_stands() {
        let two = |here: &str, there: &str| {
            stage().branch(here).worktree("/wt", Some("/repo"), Head::Branch(there.to_owned()))
        };
        let write = |stage: &Stage| stage.tool("Write", &json!({"file_path": "/wt/a.rs", "content": ""})).outcome();
        assert_eq!(write(&two("main", "work")), Outcome::Pass);
        assert_eq!(write(&two("work", "main")), Outcome::Block);
        assert_eq!(two("work", "main").bash("git -C /wt commit -m x").outcome(), Outcome::Block);
        assert_eq!(two("main", "work").bash("cd /wt && git commit -m x").outcome(), Outcome::Pass);
        assert_eq!(
            two("main", "work").link("link", "/wt").write("link/a.rs", "").outcome(),
            Outcome::Pass,
            "through a link"
        );
        let other = stage().worktree("/other", None, Head::Branch("main".to_owned()));
        assert_eq!(other.bash_in("/other", "git commit -m x").outcome(), Outcome::Block, "another repository's main");
    }

    #[test]
    fn a_branch_without_a_commit_and_a_detached_head_have_nothing_to_protect() {
        for head in [Head::Unborn("main".to_owned()), Head::Detached] {
            assert_eq!(stage().head(head.clone()).write("a.rs", "").outcome(), Outcome::Pass);
            assert_eq!(stage().head(head).bash("git commit -m first").outcome(), Outcome::Pass);
        }
    }

    #[test]
    fn with_the_seed_s_setting_only_the_workspace_is_kept() {
        let with_focus = |focus: &str| {
            let mut stage = stage().branch("main").file("state.md", &format!("---\nfocus: {focus}\n---\n"));
            stage.rules.main.only_workspace = true;
            stage
        };
        assert_eq!(with_focus("workspace").write("a.rs", "").outcome(), Outcome::Block);
        assert_eq!(with_focus("setup").write("a.rs", "").outcome(), Outcome::Pass);
        let unreadable = with_focus("setup").unreadable("state.md");
        assert_eq!(unreadable.write("a.rs", "").outcome(), Outcome::Error, "and this guard fails closed");
        assert!(matches!(unreadable.write("a.rs", "").ruling.verdict, crate::Verdict::Block { .. }));
    }

    #[test]
    fn the_way_out_is_said_in_both_languages() {
        let said = |lang| stage().lang(lang).branch("main").write("a.rs", "").said();
        assert!(said(Lang::En).contains("git switch -c"), "{}", said(Lang::En));
        assert!(said(Lang::Ja).contains("git switch -c") && said(Lang::Ja).contains("ブランチ"));
    }

    #[test]
    fn in_the_safety_profile_the_first_edit_of_a_plain_repository_passes() {
        assert_eq!(Stage::new(Profile::Safety).branch("main").write("README.md", "# hi").outcome(), Outcome::Pass);
    }
}
