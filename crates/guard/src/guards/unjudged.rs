//! Guards that were ended before they answered, and tools that ran without having been judged: nobody but the user ends
//! guards, so the next event says so. Clients that can be told to are told to refuse such a call; this is for the rest.

use dandori_text::guard::session as text;

use crate::context::Context;
use crate::voice::{Trouble, Voice};
use crate::world::{Effect, Gap, GapKind, Log};

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let gaps = context.world.gaps();
    let of = |kind: GapKind| gaps.iter().filter(move |gap| gap.kind == kind).map(named).collect::<Vec<_>>();
    let (killed, never_asked) = (of(GapKind::Killed), of(GapKind::NeverAsked));
    if !killed.is_empty() {
        voice.warn(text::killed(context.lang, killed.len(), &listed(&killed)));
    }
    if !never_asked.is_empty() {
        voice.warn(text::never_asked(context.lang, &listed(&never_asked)));
    }
    for gap in &gaps {
        let kind = if gap.kind == GapKind::Killed { "killed" } else { "never-asked" };
        voice.note(Effect::Log { log: Log::Session, line: format!("unjudged {kind} {}", named(gap)) });
    }
    Ok(())
}

/// `pre-tool Bash`
fn named(gap: &Gap) -> String {
    match &gap.tool {
        Some(tool) => format!("{} {tool}", gap.event),
        None => gap.event.clone(),
    }
}

/// Each once.
fn listed(names: &[String]) -> String {
    let mut once: Vec<&str> = Vec::new();
    for name in names {
        if !once.contains(&name.as_str()) {
            once.push(name);
        }
    }
    once.join(", ")
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::{Level, Profile};
    use dandori_text::Lang;
    use serde_json::json;

    use super::*;
    use crate::judge::Outcome;
    use crate::stage::Stage;

    fn gap(event: &str, tool: Option<&str>, kind: GapKind) -> Gap {
        Gap { event: event.to_owned(), tool: tool.map(str::to_owned), kind }
    }

    #[test]
    fn the_next_event_of_every_kind_says_what_went_unjudged() {
        let stage = || {
            let killed = gap("pre-tool", Some("Bash"), GapKind::Killed);
            Stage::only("unjudged", Level::Block).gap(killed.clone()).gap(killed)
        };
        let done = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {}});
        for judged in [
            stage().bash("ls"),
            stage().event("PostToolUse", &done),
            stage().prompt("go on"),
            stage().event("Stop", &json!({})),
        ] {
            assert_eq!(judged.outcome(), Outcome::Warn);
            assert!(judged.said().contains('2') && judged.said().contains("pre-tool Bash"), "{}", judged.said());
            assert!(judged.effects.iter().any(|e| matches!(e, Effect::Log { line, .. } if line.contains("unjudged"))));
        }
        let never = || Stage::only("unjudged", Level::Block).gap(gap("post-tool", Some("Write"), GapKind::NeverAsked));
        assert!(never().event("PostToolUse", &done).said().contains("Write"));
        assert!(never().lang(Lang::Ja).bash("ls").said().contains("Write"));
    }

    #[test]
    fn without_a_gap_nothing_is_said_and_it_is_on_in_both_profiles() {
        let judged = Stage::only("unjudged", Level::Block).bash("ls");
        assert_eq!((judged.outcome(), judged.effects.len()), (Outcome::Pass, 0));
        for profile in [Profile::Safety, Profile::Discipline] {
            assert_eq!(crate::rules::Rules::of(profile).level("unjudged"), Level::Warn);
        }
    }
}
