//! After an edit: the project's own checks on the file, and a note of what the session wrote.

use std::time::Duration;

use camino::Utf8Path;
use dandori_domain::shell_word;
use dandori_text::guard::edit;

use crate::context::{By, Context};
use crate::event::{Kind, Outcome};
use crate::rules::AfterEdit;
use crate::voice::{Trouble, Voice};
use crate::world::{Call, Checkout, Effect, FileKind, Mark, Ran};

const TAIL_LINES: usize = 20;
/// A reason is cut at its end, where the error usually stands.
const TAIL_CHARS: usize = 1_500;

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    if matches!(context.event.kind, Kind::PostTool { outcome: Outcome::Failed, .. }) {
        return Ok(());
    }
    for target in context.targets().iter().filter(|target| target.by == By::Edit) {
        voice.note(Effect::Set(Mark::Wrote(target.real.clone()), String::new()));
    }
    for (target, checkout) in context.project_targets() {
        if context.world.kind(&target.real) != Some(FileKind::File) {
            continue;
        }
        let is_for = |check: &&AfterEdit| {
            check.files.is_empty() || check.files.iter().any(|pattern| context.holds(pattern, &target.real))
        };
        for check in context.rules.checks.after_edit.iter().filter(is_for) {
            if let Some(output) = failure(context, check, &checkout, &target.real)? {
                let path = checkout.short(&target.real).as_str();
                voice.block(edit::check_failed(context.lang, path, &check.run, &tail(&output)));
                return Ok(());
            }
        }
    }
    Ok(())
}

/// What a check that failed has said.
fn failure(
    context: &Context,
    check: &AfterEdit,
    checkout: &Checkout,
    file: &Utf8Path,
) -> Result<Option<String>, Trouble> {
    let seconds = context.rules.checks.seconds;
    let line = check.run.replace("{file}", &shell_word(file.as_str()));
    let call = Call {
        argv: vec!["sh".to_owned(), "-c".to_owned(), line],
        cwd: Some(checkout.root.clone()),
        stdin: String::new(),
        limit: Duration::from_secs(seconds),
    };
    match context.world.run(&call) {
        Ran::Ended { code: Some(0), .. } => Ok(None),
        Ran::Ended { stdout, stderr, .. } => Ok(Some(format!("{}\n{}", stdout.trim_end(), stderr.trim_end()))),
        Ran::TimedOut => Err(Trouble::TimedOut { what: check.run.clone(), seconds }),
        Ran::NotStarted { why } => Err(Trouble::NotStarted { what: check.run.clone(), reason: why }),
    }
}

fn tail(output: &str) -> String {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(TAIL_LINES)..).unwrap_or_default().join("\n");
    let skipped = last.chars().count().saturating_sub(TAIL_CHARS);
    let rest: String = last.chars().skip(skipped).collect();
    if skipped > 0 { format!("…{rest}") } else { rest }
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Level;
    use dandori_text::Lang;
    use serde_json::json;

    use super::*;
    use crate::Client;
    use crate::judge::{Judgement, Outcome};
    use crate::stage::{Deed, Stage};

    fn stage() -> Stage {
        let mut stage =
            Stage::only("post-edit", Level::Block).file("src/a.rs", "x").file("it's.rs", "x").file("README.md", "x");
        stage.rules.checks.after_edit = vec![
            AfterEdit { files: vec!["*.rs".to_owned()], run: "rustfmt --check {file}".to_owned() },
            AfterEdit { files: Vec::new(), run: "typos {file} -- {file}".to_owned() },
        ];
        stage
    }

    fn edited(stage: &Stage, path: &str) -> Judgement {
        let path = Utf8Path::new("/repo").join(path);
        let input = json!({"file_path": path, "old_string": "x", "new_string": "y"});
        stage.event("PostToolUse", &json!({"tool_name": "Edit", "tool_input": input, "tool_response": {}}))
    }

    fn lines(stage: &Stage) -> Vec<String> {
        stage.calls.borrow().iter().map(|call| call.argv.join(" ")).collect()
    }

    #[test]
    fn the_checks_for_a_file_run_in_order_at_the_checkouts_root() {
        let stage = stage().answers(0, "", "").answers(0, "fine", "");
        let judged = edited(&stage, "src/a.rs");
        assert_eq!((judged.outcome(), judged.said()), (Outcome::Pass, String::new()));
        assert_eq!(
            lines(&stage),
            ["sh -c rustfmt --check /repo/src/a.rs", "sh -c typos /repo/src/a.rs -- /repo/src/a.rs"]
        );
        assert!(stage.calls.borrow().iter().all(|call| call.cwd.as_deref() == Some(Utf8Path::new("/repo"))));
        assert!(stage.calls.borrow().iter().all(|call| call.limit == Duration::from_mins(1)));
    }

    #[test]
    fn the_first_failure_is_said_with_its_tail_and_ends_it() {
        let long = (0..100).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
        let stage = stage().answers(1, &long, "error: here");
        let judged = edited(&stage, "src/a.rs");
        assert_eq!(judged.outcome(), Outcome::Block);
        let said = judged.said();
        assert!(said.contains("src/a.rs") && said.contains("`rustfmt --check {file}`"), "{said}");
        assert!(
            said.ends_with("line 99\nerror: here") && said.contains("line 81\n") && !said.contains("line 80\n"),
            "{said}"
        );
        assert_eq!(stage.calls.borrow().len(), 1);
        let wide = self::stage().lang(Lang::Ja).answers(1, &"あ".repeat(9_000), "the end");
        let said = edited(&wide, "src/a.rs").said();
        assert!(said.contains("失敗しました") && said.ends_with("the end") && said.chars().count() < 1_700);
    }

    #[test]
    fn a_files_name_is_one_word_whatever_is_in_it() {
        let stage = stage().answers(0, "", "").answers(0, "", "");
        edited(&stage, "it's.rs");
        assert_eq!(lines(&stage)[0], r"sh -c rustfmt --check '/repo/it'\''s.rs'");
    }

    #[test]
    fn only_what_concerns_the_file_runs() {
        let markdown = stage().answers(0, "", "");
        edited(&markdown, "README.md");
        assert_eq!(lines(&markdown), ["sh -c typos /repo/README.md -- /repo/README.md"]);
        for path in ["gone.rs", "/tmp/a.rs"] {
            let stage = stage().file("/tmp/a.rs", "x");
            assert_eq!(edited(&stage, path).outcome(), Outcome::Pass);
            assert_eq!(lines(&stage), Vec::<String>::new(), "{path}");
        }
    }

    #[test]
    fn a_check_that_does_not_run_is_a_failure_of_its_own_and_the_note_stays() {
        for (ran, want) in [(Ran::TimedOut, "60 s"), (Ran::NotStarted { why: "no sh".to_owned() }, "cannot start")] {
            let judged = edited(&stage().answers_with(ran), "src/a.rs");
            assert_eq!(judged.outcome(), Outcome::Error);
            assert!(judged.said().contains(want), "{}", judged.said());
            assert_eq!(judged.effects, [Effect::Set(Mark::Wrote("/repo/src/a.rs".into()), String::new())]);
        }
    }

    #[test]
    fn what_a_session_wrote_is_noted_for_every_client() {
        let mut stage = stage().link("link.rs", "src/a.rs");
        stage.rules.checks.after_edit.clear();
        let wrote = |path: &str| Effect::Set(Mark::Wrote(path.into()), String::new());
        assert_eq!(edited(&stage, "link.rs").effects, [wrote("/repo/src/a.rs")]);
        stage.agent = Client::Codex;
        let patch = "*** Begin Patch\n*** Add File: x.sh\n+x\n*** Add File: /tmp/y.sh\n+x\n*** End Patch";
        let fields = json!({"tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_response": "ok"});
        assert_eq!(stage.event("PostToolUse", &fields).effects, [wrote("/repo/x.sh"), wrote("/tmp/y.sh")]);
        for client in Client::ALL {
            stage.agent = client;
            assert_eq!(stage.has_done(Deed::Write("z.sh")).unwrap().effects, [wrote("/repo/z.sh")], "{client}");
        }
    }
}
