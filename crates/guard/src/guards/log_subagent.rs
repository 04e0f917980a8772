//! Every subagent is written down: its type, when it began and ended, and how.

use crate::context::Context;
use crate::event::{Kind, Outcome, Tool};
use crate::voice::{Trouble, Voice};
use crate::world::{Effect, Log};

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let event = context.event;
    let subagent = event.subagent.as_ref();
    let id = subagent.and_then(|s| s.id.as_deref()).unwrap_or("-");
    let role = subagent.and_then(|s| s.role.as_deref()).unwrap_or("-");
    let line = match (&event.kind, &event.tool) {
        (Kind::SubagentStart, _) => format!("START type={role} id={id}"),
        (Kind::SubagentStop { .. }, _) => format!("STOP type={role} id={id}"),
        (Kind::PostTool { outcome, .. }, Some(Tool::Agent { role, .. })) => {
            let outcome = match outcome {
                Outcome::Succeeded => "ok",
                Outcome::Failed => "failed",
                Outcome::Unknown => "unknown",
            };
            format!("RETURNED type={} outcome={outcome}", role.as_deref().unwrap_or("-"))
        }
        _ => return Ok(()),
    };
    voice.note(Effect::Log { log: Log::Subagents, line });
    Ok(())
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Level;
    use serde_json::{Value, json};

    use super::*;
    use crate::stage::Stage;

    #[test]
    fn start_end_and_return_of_a_subagent_are_written_down() {
        let line = |name: &str, fields: &Value| match Stage::only("log-subagent", Level::Info)
            .event(name, fields)
            .effects
            .pop()
        {
            Some(Effect::Log { log: Log::Subagents, line }) => Some(line),
            _ => None,
        };
        let who = json!({"agent_id": "a1", "agent_type": "critic"});
        assert_eq!(line("SubagentStart", &who).as_deref(), Some("START type=critic id=a1"));
        assert_eq!(line("SubagentStop", &who).as_deref(), Some("STOP type=critic id=a1"));
        let input = json!({"subagent_type": "critic", "prompt": "look", "description": "d"});
        let returned = json!({"tool_name": "Agent", "tool_input": input, "tool_response": {}});
        assert_eq!(line("PostToolUse", &returned).as_deref(), Some("RETURNED type=critic outcome=ok"));
        let failed = json!({"tool_name": "Agent", "tool_input": input, "error": "x"});
        assert_eq!(line("PostToolUseFailure", &failed).as_deref(), Some("RETURNED type=critic outcome=failed"));
        let other = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {}});
        assert_eq!(line("PostToolUse", &other), None);
    }
}
