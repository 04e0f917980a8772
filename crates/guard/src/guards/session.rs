//! Where sessions begin and end, as far as other guards need it: the marks they go by, and the dates in state.md.
//!
//! The user's own word is the consent: an answer typed into the session is theirs. A prompt that stood on a command line,
//! or came from an agent that started this client, is not. Nor does such a client's end end the session it went on with.

use dandori_domain::guard::Level;
use dandori_text::guard::session as text;

use super::init;
use crate::context::Context;
use crate::event::{Kind, Source};
use crate::voice::{Trouble, Voice};
use crate::world::{Effect, Log, Mark, StateValue};

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    match &context.event.kind {
        Kind::SessionStart { source } => begin(context, source, voice),
        Kind::SessionEnd { reason } => end(context, reason.as_deref(), voice),
        Kind::PromptSubmit { prompt } => {
            let is_typed = !context.event.headless && !context.event.nested;
            if is_typed && wants_consent(context) && agrees(prompt) {
                voice.note(Effect::Set(Mark::Confirmed, String::new()));
                voice.note(Effect::Clear(Mark::Consent));
                log(voice, "consent given in the session");
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn begin(context: &Context, source: &Source, voice: &mut Voice) -> Result<(), Trouble> {
    log(voice, &format!("session start source={}", name(source)));
    let is_disciplined = context.rules.level("init") != Level::Off;
    let wants_consent = wants_consent(context);
    if wants_consent {
        voice.note(Effect::Set(Mark::Consent, String::new()));
    }
    let required = init::required(context);
    if is_disciplined && !required.is_empty() {
        for path in &required {
            voice.note(Effect::Clear(Mark::Read(path.clone())));
        }
        voice.note(Effect::Set(Mark::Pending, String::new()));
    }
    if is_disciplined || wants_consent {
        let files: Vec<&str> = required.iter().map(|path| init::short(context, path)).collect();
        voice.info(text::begins(context.lang, &files, wants_consent));
    }
    set_state(context, "session.last_start", voice)
}

fn wants_consent(context: &Context) -> bool {
    context.rules.level("consent") != Level::Off && context.world.mark(&Mark::Confirmed).is_none()
}

fn end(context: &Context, reason: Option<&str>, voice: &mut Voice) -> Result<(), Trouble> {
    log(voice, &format!("session end reason={}", reason.unwrap_or("-")));
    if context.event.nested {
        // It may have gone on with the session of the agent that started it: that one's marks are not its own.
        voice.note(Effect::Clear(Mark::Consent));
        return Ok(());
    }
    // A cleared conversation goes on under another name; its marks are made again there.
    voice.note(Effect::EndSession);
    set_state(context, "session.last_end", voice)
}

fn set_state(context: &Context, key: &'static str, voice: &mut Voice) -> Result<(), Trouble> {
    let Some(project) = &context.project else { return Ok(()) };
    if context.rules.level("init") != Level::Off && context.documents(project)?.has_state {
        voice.note(Effect::SetState { checkout: project.root.clone(), key, value: StateValue::Now });
    }
    Ok(())
}

fn log(voice: &mut Voice, line: &str) {
    voice.note(Effect::Log { log: Log::Session, line: line.to_owned() });
}

fn name(source: &Source) -> &str {
    match source {
        Source::Startup => "startup",
        Source::Resume => "resume",
        Source::Fork => "fork",
        Source::Clear => "clear",
        Source::Compact => "compact",
        Source::Other(name) => name,
    }
}

/// A prompt that is nothing but a yes.
pub(super) fn agrees(prompt: &str) -> bool {
    const YES: [&str; 24] = [
        "ok",
        "okay",
        "yes",
        "y",
        "go",
        "go ahead",
        "proceed",
        "confirmed",
        "confirm",
        "agreed",
        "lgtm",
        "consent",
        "dandori consent",
        "はい",
        "承認",
        "承認します",
        "同意",
        "同意します",
        "了解",
        "ok です",
        "okです",
        "進めて",
        "進めてください",
        "お願いします",
    ];
    let said = prompt.trim().trim_end_matches(['.', '!', '。', '！']).trim().to_lowercase();
    YES.contains(&said.as_str())
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Profile;
    use dandori_text::Lang;
    use serde_json::json;

    use super::*;
    use crate::stage::Stage;

    fn start(stage: &Stage, source: &str) -> crate::Judgement {
        stage.event("SessionStart", &json!({"source": source}))
    }

    fn disciplined() -> Stage {
        Stage::new(Profile::Discipline).unconfirmed().file("state.md", "---\nfocus: x\n---\n").file("CLAUDE.md", "")
    }

    #[test]
    fn a_disciplined_session_begins_with_reading_and_consent() {
        let judged = start(&disciplined(), "startup");
        for effect in [Effect::Set(Mark::Pending, String::new()), Effect::Set(Mark::Consent, String::new())] {
            assert!(judged.effects.contains(&effect), "{:?}", judged.effects);
        }
        assert!(judged.effects.iter().any(|e| matches!(e, Effect::SetState { key: "session.last_start", .. })));
        assert!(judged.said().contains("CLAUDE.md, state.md"), "{}", judged.said());
        assert!(start(&disciplined().lang(Lang::Ja), "startup").said().contains("[自認]"));
    }

    #[test]
    fn after_a_compaction_the_files_are_read_again_but_nobody_is_asked_again() {
        let judged = start(&disciplined().mark(Mark::Confirmed), "compact");
        assert!(judged.effects.contains(&Effect::Set(Mark::Pending, String::new())));
        assert!(!judged.effects.contains(&Effect::Set(Mark::Consent, String::new())));
        for source in ["compact", "resume"] {
            let waiting = start(&disciplined(), source);
            assert!(waiting.effects.contains(&Effect::Set(Mark::Consent, String::new())), "{source}");
            assert!(waiting.said().contains("dandori consent"), "{source}: what is still owed is said again");
        }
    }

    #[test]
    fn nobody_else_s_yes_is_consent() {
        let mut headless = disciplined();
        headless.headless = true;
        let mut nested = disciplined();
        nested.nested = true;
        for stage in [headless, nested] {
            let effects = stage.prompt("ok").effects;
            assert!(!effects.iter().any(|e| matches!(e, Effect::Set(Mark::Confirmed, _))), "{effects:?}");
        }
    }

    #[test]
    fn a_client_of_the_agent_s_own_does_not_end_the_session_it_went_on_with() {
        let mut nested = disciplined();
        nested.nested = true;
        let judged = nested.event("SessionEnd", &json!({"reason": "other"}));
        assert!(!judged.effects.contains(&Effect::EndSession), "{:?}", judged.effects);
        assert!(!judged.effects.iter().any(|e| matches!(e, Effect::SetState { .. })), "{:?}", judged.effects);
    }

    #[test]
    fn a_plain_session_is_left_alone() {
        let judged = start(&Stage::new(Profile::Safety).file("CLAUDE.md", ""), "startup");
        assert_eq!(judged.said(), "");
        assert!(!judged.effects.iter().any(|e| matches!(e, Effect::Set(..))));
    }

    #[test]
    fn the_user_s_yes_in_the_session_is_consent_and_other_words_are_not() {
        for (prompt, cleared) in [
            ("ok", true),
            ("はい。", true),
            ("Go ahead!", true),
            ("ok, but first change the plan", false),
            ("yes or no?", false),
            ("add a login page", false),
        ] {
            let judged = disciplined().prompt(prompt);
            for effect in [Effect::Set(Mark::Confirmed, String::new()), Effect::Clear(Mark::Consent)] {
                assert_eq!(judged.effects.contains(&effect), cleared, "{prompt}");
            }
        }
        assert!(disciplined().mark(Mark::Confirmed).prompt("ok").effects.is_empty());
    }

    #[test]
    fn the_end_of_a_session_takes_its_marks_along() {
        let judged = disciplined().event("SessionEnd", &json!({"reason": "other"}));
        assert!(judged.effects.contains(&Effect::EndSession));
        assert!(judged.effects.iter().any(|e| matches!(e, Effect::SetState { key: "session.last_end", .. })));
    }
}
