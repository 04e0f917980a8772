//! The project's own checks before a commit. `--no-verify` does not lift them.

use std::time::Duration;

use crate::context::Context;
use crate::voice::{Trouble, Voice};
use crate::world::{Call, Ran};

use super::git_run::git_runs;

/// As much of a failing check's output as a model needs.
const TAIL: usize = 20;

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let checks = &context.rules.checks;
    if checks.before_commit.is_empty() {
        return Ok(());
    }
    let runs = git_runs(context);
    let Some(run) = runs.iter().find(|run| run.is("commit") && !run.is_dry_run() && run.is_in_project(context)) else {
        return Ok(());
    };
    let cwd = run.checkout(context).map(|checkout| checkout.root.clone());
    for check in &checks.before_commit {
        let argv = ["sh", "-c", check].map(str::to_owned).to_vec();
        let limit = Duration::from_secs(checks.seconds);
        match context.world.run(&Call { argv, cwd: cwd.clone(), stdin: String::new(), limit }) {
            Ran::Ended { code: Some(0), .. } => {}
            Ran::Ended { stdout, stderr, .. } => {
                let output = tail(&[stdout, stderr].join("\n"));
                voice.block(dandori_text::guard::bash::check_failed(context.lang, check, &output));
                return Ok(());
            }
            Ran::TimedOut => return Err(Trouble::TimedOut { what: check.clone(), seconds: checks.seconds }),
            Ran::NotStarted { why } => return Err(Trouble::NotStarted { what: check.clone(), reason: why }),
        }
    }
    Ok(())
}

fn tail(output: &str) -> String {
    let lines: Vec<&str> = output.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(TAIL);
    lines.get(from..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use crate::Level;
    use crate::judge::Outcome;
    use crate::stage::Stage;
    use crate::world::{Head, Ran};
    use dandori_text::Lang;

    fn stage() -> Stage {
        let mut stage = Stage::only("lint", Level::Block);
        stage.rules.checks.before_commit = vec!["make lint".into(), "make test".into()];
        stage
    }

    #[test]
    fn a_failing_check_holds_the_commit_with_the_end_of_its_output() {
        for line in ["git commit -m x", "git commit --no-verify -m x", "git -C src commit", "sh -c 'git commit -m x'"] {
            let long = (1..40).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
            let judged = stage().file("src/a.rs", "").answers(0, "", "").answers(1, &long, "the end\n").bash(line);
            assert_eq!(judged.outcome(), Outcome::Block, "{line}");
            let said = judged.said();
            assert!(said.contains("make test") && said.contains("the end") && said.contains("line 39"), "{said}");
            assert!(!said.contains("line 20\n"), "{said}");
        }
        assert!(stage().lang(Lang::Ja).answers(1, "x", "").bash("git commit").said().contains("失敗"));
        let silent = stage().answers(1, "", "").bash("git commit").said();
        assert!(silent.trim_end().ends_with("commit again"), "nothing follows: {silent}");
    }

    #[test]
    fn passing_checks_run_in_the_root_and_let_it_go() {
        let stage = stage().answers(0, "", "").answers(0, "warnings", "");
        assert_eq!(stage.bash("git commit -m x").outcome(), Outcome::Pass);
        let calls = stage.calls.borrow();
        assert_eq!(calls.len(), 2);
        assert_eq!(calls[0].argv, ["sh", "-c", "make lint"]);
        assert_eq!(calls[0].cwd.as_deref().map(camino::Utf8Path::as_str), Some("/repo"));
    }

    #[test]
    fn without_a_commit_of_this_project_nothing_runs() {
        for line in ["git status", "git commit --dry-run", "echo 'git commit'", "git -C /other commit -m x", "git push"]
        {
            let stage = stage().worktree("/other", None, Head::Detached);
            assert_eq!(stage.bash(line).outcome(), Outcome::Pass, "{line}");
            assert!(stage.calls.borrow().is_empty(), "{line}");
        }
    }

    #[test]
    fn a_check_that_does_not_end_is_the_guards_own_failure() {
        assert_eq!(stage().answers_with(Ran::TimedOut).bash("git commit").outcome(), Outcome::Error);
        assert_eq!(stage().bash("git commit").outcome(), Outcome::Error, "it could not be started");
    }
}
