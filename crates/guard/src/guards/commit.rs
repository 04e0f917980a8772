//! state.md should go with the work it is about. Warns, and never more.

use std::time::Duration;

use camino::Utf8Path;

use crate::context::Context;
use crate::voice::{Trouble, Voice};
use crate::world::{Call, Checkout, Ran};

use super::git_run::git_runs;

/// Git answers at once, or the commit is not held up for it.
const LIMIT: Duration = Duration::from_millis(500);

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let runs = git_runs(context);
    let Some(run) = runs.iter().find(|run| run.is("commit") && !run.is_dry_run() && run.is_in_project(context)) else {
        return Ok(());
    };
    let Some(checkout) = run.checkout(context) else { return Ok(()) };
    if !context.documents(&checkout)?.has_state {
        return Ok(());
    }
    let Some(changed) = git(context, &checkout, &["status", "--porcelain", "-z", "--untracked-files=no"]) else {
        return Ok(());
    };
    let changed = changed_files(&changed);
    let is_work = |path: &&str| **path != *"state.md" && !Utf8Path::new(path).starts_with("plan");
    if !changed.iter().any(|path| is_work(&path.as_str())) || changed.iter().any(|path| path == "state.md") {
        return Ok(());
    }
    let last = git(context, &checkout, &["log", "-1", "--name-only", "--format=", "-z"]).unwrap_or_default();
    if last.split(['\0', '\n']).any(|path| path == "state.md") {
        return Ok(());
    }
    voice.warn(dandori_text::guard::bash::state_unchanged(context.lang));
    Ok(())
}

/// What git says; nothing when it does not.
fn git(context: &Context, checkout: &Checkout, args: &[&str]) -> Option<String> {
    let argv = ["git", "--no-optional-locks"].iter().chain(args).map(|word| (*word).to_owned()).collect();
    let call = Call { argv, cwd: Some(checkout.root.clone()), stdin: String::new(), limit: LIMIT };
    match context.world.run(&call) {
        Ran::Ended { code: Some(0), stdout, .. } => Some(stdout),
        Ran::Ended { .. } | Ran::TimedOut | Ran::NotStarted { .. } => None,
    }
}

/// The paths of `status --porcelain -z`; of a renamed file the old name follows as a record of its own.
fn changed_files(status: &str) -> Vec<String> {
    let mut records = status.split('\0');
    let mut found = Vec::new();
    while let Some(record) = records.next() {
        let (Some(state), Some(path)) = (record.get(..2), record.get(3..)) else { continue };
        found.push(path.to_owned());
        if state.contains(['R', 'C']) {
            found.extend(records.next().map(str::to_owned));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::changed_files;
    use crate::Level;
    use crate::judge::Outcome;
    use crate::stage::Stage;
    use crate::world::{Head, Ran};
    use dandori_text::Lang;

    fn stage(status: &str, last: &str) -> Stage {
        Stage::only("commit", Level::Block).file("state.md", "").answers(0, status, "").answers(0, last, "")
    }

    #[test]
    fn work_without_its_state_is_warned_about_and_never_refused() {
        for line in
            ["git commit -m x", "git -C . commit -am x", "git add -A && git commit -m x", "bash -c 'git commit -m x'"]
        {
            assert_eq!(stage("M  src/a.rs\0", "src/b.rs\0").bash(line).outcome(), Outcome::Warn, "{line}");
        }
        assert!(stage("M  a\0", "").bash("git commit").said().contains("state.md"));
        assert!(stage("M  a\0", "").lang(Lang::Ja).bash("git commit").said().contains("更新"));
    }

    #[test]
    fn state_that_goes_with_it_or_went_before_it_is_enough() {
        for (status, last) in [
            ("M  src/a.rs\0 M state.md\0", ""),
            ("R  new.rs\0state.md\0", ""),
            ("M  src/a.rs\0", "state.md\0src/b.rs\0"),
            ("M  plan/playbook-x.md\0", ""),
            ("", ""),
        ] {
            assert_eq!(stage(status, last).bash("git commit -m x").outcome(), Outcome::Pass, "{status:?} {last:?}");
        }
    }

    #[test]
    fn without_a_state_a_commit_or_an_answer_it_is_silent() {
        let no_state = Stage::only("commit", Level::Block).answers(0, "M  a\0", "");
        assert_eq!(no_state.bash("git commit -m x").outcome(), Outcome::Pass);
        for line in ["git status", "git commit --dry-run", "echo git commit", "git -C /other commit -m x"] {
            let stage = stage("M  a\0", "").worktree("/other", None, Head::Detached).file("/other/state.md", "");
            assert_eq!(stage.bash(line).outcome(), Outcome::Pass, "{line}");
            assert!(stage.calls.borrow().is_empty(), "{line}");
        }
        for ran in [Ran::TimedOut, Ran::NotStarted { why: "no git".into() }] {
            let stage = Stage::only("commit", Level::Block).file("state.md", "").answers_with(ran);
            assert_eq!(stage.bash("git commit -m x").outcome(), Outcome::Pass);
        }
    }

    #[test]
    fn a_renamed_file_has_two_names() {
        assert_eq!(changed_files("R  b\0a\0 M ü.rs\0"), ["b", "a", "ü.rs"]);
    }
}
