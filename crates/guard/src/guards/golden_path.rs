//! The way a task begins: skill `playbook-init` → pm → understanding check → reviewer. No step is left out.
//!
//! What was called is a mark of the session. Clients without a skill tool read the skill's file instead, and a user may
//! call it by a slash: both count.

use camino::Utf8Path;
use dandori_text::guard::{lifecycle, prompt};

use crate::context::Context;
use crate::event::{Kind, Tool};
use crate::voice::{Trouble, Voice};
use crate::world::{Effect, Mark};

const INIT: &str = "playbook-init";
const UNDERSTANDING: &str = "understanding-check";
/// Not a step of it, but what comes behind its end; it opens what `pending` holds.
const POST_LOOP: &str = "post-loop";

/// Who may be called while the playbook waits for its review: the way's own roles, and what only reads.
const BEFORE_REVIEW: [&str; 13] = [
    "reviewer",
    "review",
    "critic",
    "health",
    "setup-guide",
    "explor",
    "research",
    "search",
    "plan",
    "investigat",
    "understanding",
    "analy",
    "audit",
];

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    for skill in skills_called(context) {
        note_skill(skill, voice);
    }
    if context.world.mark(&Mark::PostLoop).is_some() && calls_post_loop(context) {
        voice.note(Effect::Clear(Mark::PostLoop));
        voice.info(lifecycle::post_loop_noted(context.lang));
    }
    match &context.event.tool {
        Some(Tool::Agent { role, .. }) if context.is_before_tool() => judge_agent(context, role.as_deref(), voice),
        _ => Ok(()),
    }
}

fn judge_agent(context: &Context, role: Option<&str>, voice: &mut Voice) -> Result<(), Trouble> {
    let called = |name: &str| context.world.mark(&Mark::Called(name.to_owned())).is_some();
    let role = role.map(bare_name).unwrap_or_default();
    if role == "pm" && !called(INIT) {
        voice.block(prompt::no_direct_pm(context.lang));
        return Ok(());
    }
    let draft = draft(context)?;
    if draft.is_some() && role == "reviewer" && !called(UNDERSTANDING) {
        voice.block(prompt::no_understanding(context.lang));
        return Ok(());
    }
    let may_come_first = role == "pm" || BEFORE_REVIEW.iter().any(|word| role.contains(word));
    if let (Some(path), false) = (&draft, may_come_first) {
        let role = if role.is_empty() { "agent" } else { &role };
        voice.block(prompt::reviewer_first(context.lang, role, path));
        return Ok(());
    }
    if role == "pm" || role == "reviewer" {
        voice.note(Effect::Set(Mark::Called(role), String::new()));
    }
    Ok(())
}

/// Where the active playbook is, while nobody has reviewed it.
fn draft(context: &Context) -> Result<Option<String>, Trouble> {
    let Some(project) = &context.project else { return Ok(None) };
    let documents = context.documents(project)?;
    let is_draft = documents.playbook.as_ref().is_some_and(|playbook| !playbook.reviewed);
    let path = documents.playbook_path.as_ref().map(|path| project.short(path).to_string());
    Ok(path.filter(|_| is_draft))
}

/// A new beginning asks for a new understanding.
fn note_skill(skill: &str, voice: &mut Voice) {
    voice.note(Effect::Set(Mark::Called(skill.to_owned()), String::new()));
    if skill == INIT {
        voice.note(Effect::Clear(Mark::Called(UNDERSTANDING.to_owned())));
    }
}

/// The skills of the way that this event calls.
fn skills_called(context: &Context) -> Vec<&'static str> {
    [INIT, UNDERSTANDING].into_iter().filter(|skill| calls(context, skill)).collect()
}

/// By the skill, or by the verb: a client's sandbox may keep the verb itself from the mark.
fn calls_post_loop(context: &Context) -> bool {
    let is_verb = |command: &dandori_shell::Command| {
        crate::verb::words(command).is_some_and(|words| words.first().is_some_and(|word| word.text == POST_LOOP))
    };
    calls(context, POST_LOOP) || context.is_before_tool() && context.commands().iter().any(is_verb)
}

fn calls(context: &Context, skill: &str) -> bool {
    match (&context.event.kind, &context.event.tool) {
        (Kind::PromptSubmit { prompt }, _) => {
            let command = prompt.trim_start().strip_prefix(['/', '$']);
            command.and_then(|c| c.split_whitespace().next()).is_some_and(|name| bare_name(name) == skill)
        }
        (Kind::PreTool, Some(Tool::Skill { name })) => bare_name(name) == skill,
        (Kind::PreTool, Some(Tool::Read { path })) => is_skill_file(path, skill),
        (Kind::PreTool, Some(Tool::Bash { .. })) => {
            let reads = context.reading().map_or(&[][..], |reading| &reading.reads);
            reads.iter().any(|read| is_skill_file(Utf8Path::new(&read.path.text), skill))
        }
        _ => false,
    }
}

fn is_skill_file(path: &Utf8Path, skill: &str) -> bool {
    path.ends_with(format!("{skill}/SKILL.md"))
}

/// `plugin:pm` → `pm`
fn bare_name(name: &str) -> String {
    name.rsplit(':').next().unwrap_or(name).trim().to_lowercase().replace('_', "-")
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

    const STATE: &str = "---\nplaybook:\n  active: plan/playbook-a.md\n---\n";

    fn plain() -> Stage {
        Stage::only("golden-path", Level::Block)
    }

    fn with_playbook(reviewed: bool) -> Stage {
        plain().file("state.md", STATE).file("plan/playbook-a.md", &format!("---\nreviewed: {reviewed}\n---\n"))
    }

    fn called(stage: Stage, name: &str) -> Stage {
        stage.mark(Mark::Called(name.to_owned()))
    }

    fn agent(stage: &Stage, role: &str) -> Judgement {
        stage.tool("Agent", &json!({"subagent_type": role, "prompt": "do it", "description": "d"}))
    }

    fn set(name: &str) -> Effect {
        Effect::Set(Mark::Called(name.to_owned()), String::new())
    }

    #[test]
    fn pm_is_only_called_through_playbook_init() {
        for role in ["pm", "dandori:pm", "PM"] {
            let judged = agent(&plain(), role);
            assert_eq!(judged.outcome(), Outcome::Block, "{role}");
            assert!(judged.said().contains("`playbook-init`") && judged.effects.is_empty(), "{}", judged.said());
            let judged = agent(&called(plain(), INIT), role);
            assert_eq!((judged.outcome(), judged.effects), (Outcome::Pass, vec![set("pm")]), "{role}");
        }
        let said = agent(&plain().lang(Lang::Ja), "pm").said();
        assert!(said.contains("直接呼び出せません") && said.contains("`playbook-init`"), "{said}");
    }

    #[test]
    fn calling_a_skill_is_noted_and_a_new_beginning_needs_a_new_understanding() {
        let skill = |name: &str| plain().tool("Skill", &json!({"skill": name})).effects;
        let begun = vec![set(INIT), Effect::Clear(Mark::Called(UNDERSTANDING.to_owned()))];
        assert_eq!(skill("playbook-init"), begun);
        assert_eq!(skill("dandori:playbook-init"), begun);
        assert_eq!(skill("understanding-check"), [set(UNDERSTANDING)]);
        assert_eq!(skill("pdf"), []);
        assert_eq!(plain().prompt("/playbook-init a health endpoint").effects, begun);
        assert_eq!(plain().prompt("what is /playbook-init?").effects, []);
    }

    #[test]
    fn where_there_is_no_skill_tool_reading_the_skill_counts() {
        let mut stage = plain();
        assert_eq!(stage.read(".claude/skills/understanding-check/SKILL.md").effects, [set(UNDERSTANDING)]);
        stage.agent = Client::Codex;
        assert!(stage.bash("cat ~/.codex/skills/playbook-init/SKILL.md").effects.contains(&set(INIT)));
        assert_eq!(stage.bash("cat docs/playbook-init.md").effects, []);
        for client in Client::ALL {
            stage.agent = client;
            assert_eq!(stage.does(Deed::Agent("pm")).unwrap().outcome(), Outcome::Block, "{client}");
            if let Some(judged) = stage.does(Deed::Skill("playbook-init")) {
                assert!(judged.effects.contains(&set(INIT)), "{client}");
            }
        }
    }

    #[test]
    fn the_post_loop_opens_what_waits_for_it_by_its_skill_and_by_its_verb() {
        let waiting = || plain().mark_with(Mark::PostLoop, r#"{"playbook":"plan/playbook-a.md"}"#);
        let opened = [Effect::Clear(Mark::PostLoop)];
        for judged in [
            waiting().tool("Skill", &json!({"skill": "post-loop"})),
            waiting().prompt("/post-loop"),
            waiting().read(".claude/skills/post-loop/SKILL.md"),
            waiting().bash("dandori post-loop --json"),
            waiting().bash("cd sub && dandori post-loop"),
        ] {
            assert_eq!((judged.outcome(), judged.effects.as_slice()), (Outcome::Info, &opened[..]));
            assert!(judged.said().contains("`dandori post-loop`"), "{}", judged.said());
        }
        for judged in [
            waiting().tool("Skill", &json!({"skill": "pdf"})),
            waiting().bash("echo dandori post-loop"),
            waiting().bash("dandori playbook show post-loop"),
            plain().tool("Skill", &json!({"skill": "post-loop"})),
        ] {
            assert_eq!((judged.outcome(), judged.effects), (Outcome::Pass, Vec::new()));
        }
    }

    #[test]
    fn the_reviewer_comes_after_the_understanding_check() {
        let judged = agent(&called(with_playbook(false), INIT), "reviewer");
        assert_eq!(judged.outcome(), Outcome::Block);
        assert!(judged.said().contains("`understanding-check`"), "{}", judged.said());
        let said = agent(&with_playbook(false).lang(Lang::Ja), "reviewer").said();
        assert!(said.contains("省略されています") && said.contains("`understanding-check`"), "{said}");
        let judged = agent(&called(with_playbook(false), UNDERSTANDING), "x:reviewer");
        assert_eq!((judged.outcome(), judged.effects), (Outcome::Pass, vec![set("reviewer")]));
        assert_eq!(agent(&with_playbook(true), "reviewer").outcome(), Outcome::Pass, "a review of the code");
        assert_eq!(agent(&plain(), "reviewer").outcome(), Outcome::Pass, "nothing to understand yet");
    }

    #[test]
    fn nobody_works_before_the_review() {
        let stage = with_playbook(false);
        for role in ["general-purpose", "codex-delegate", "my:worker"] {
            let judged = agent(&stage, role);
            assert_eq!(judged.outcome(), Outcome::Block, "{role}");
            assert!(judged.said().contains("`reviewer`") && judged.said().contains("plan/playbook-a.md"));
            assert_eq!(agent(&with_playbook(true), role).outcome(), Outcome::Pass, "{role}");
            assert_eq!(agent(&plain(), role).outcome(), Outcome::Pass, "{role}: no state.md");
            assert_eq!(agent(&plain().file("state.md", "---\nfocus: x\n---\n"), role).outcome(), Outcome::Pass);
        }
        let nameless = stage.tool("Task", &json!({"prompt": "x"}));
        assert_eq!(nameless.outcome(), Outcome::Block);
        for role in ["critic", "health-checker", "Explore", "Plan", "codebase_investigator", "code-reviewer"] {
            assert_eq!(agent(&stage, role).outcome(), Outcome::Pass, "{role}");
        }
        assert_eq!(agent(&called(with_playbook(false), INIT), "pm").outcome(), Outcome::Pass, "pm may try again");
    }

    #[test]
    fn odd_and_unreadable_papers() {
        let odd = with_playbook(true).file("plan/playbook-a.md", "\0reviewed: perhaps");
        assert_eq!(agent(&odd, "general-purpose").outcome(), Outcome::Block, "not known to be reviewed");
        assert_eq!(agent(&with_playbook(true).unreadable("state.md"), "worker").outcome(), Outcome::Error);
        assert_eq!(agent(&plain().unreadable("state.md"), "pm").outcome(), Outcome::Block, "that needs no paper");
    }
}
