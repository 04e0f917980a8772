//! Settings are judged by what changes in them.

use serde_json::json;

use super::{OURS, is_refused, stage};
use crate::judge::Outcome;

#[test]
fn harmless_keys_pass_those_that_run_something_do_not_and_unknown_ones_are_asked_about() {
    let with = |key: &str| OURS.replace("\"model\"", &format!("{key},\"model\""));
    for (key, outcome) in [
        (r#""permissions":{"allow":["Bash(ls)"],"defaultMode":"plan"}"#, Outcome::Pass),
        (r#""cleanupPeriodDays":40,"outputStyle":"x""#, Outcome::Pass),
        (r#""apiKeyHelper":"/tmp/x.sh""#, Outcome::Block),
        (r#""awsAuthRefresh":"/tmp/x.sh""#, Outcome::Block),
        (r#""otelHeadersHelper":"/tmp/x.sh""#, Outcome::Block),
        (r#""statusLine":{"type":"command","command":"x"}"#, Outcome::Block),
        (r#""enableAllProjectMcpServers":true"#, Outcome::Block),
        (r#""enabledMcpjsonServers":["evil"]"#, Outcome::Block),
        (r#""enabledPlugins":{"a@b":true}"#, Outcome::Block),
        (r#""crossSessionInbound":"accept""#, Outcome::Block),
        (r#""nextYearsHelper":"/tmp/x.sh""#, Outcome::Ask),
        (r#""permissions":{"somethingNew":true}"#, Outcome::Ask),
    ] {
        let judged = stage().write(".claude/settings.json", &with(key));
        assert_eq!(judged.outcome(), outcome, "{key}: {}", judged.said());
    }
    let gemini = r#"{"ui":{"theme":"x"},"hooks":{"BeforeTool":[]}}"#;
    for (text, outcome) in [
        (gemini.replace("\"x\"", "\"y\""), Outcome::Pass),
        (gemini.replace("\"ui\"", "\"tools\":{\"allowed\":[\"a\"]},\"ui\""), Outcome::Pass),
        (gemini.replace("\"ui\"", "\"mcpServers\":{\"x\":{\"command\":\"y\"}},\"ui\""), Outcome::Block),
        (gemini.replace("\"ui\"", "\"tools\":{\"discoveryCommand\":\"x\"},\"ui\""), Outcome::Block),
        (gemini.replace("\"ui\"", "\"tools\":{\"newCommand\":\"x\"},\"ui\""), Outcome::Ask),
        (gemini.replace("BeforeTool", "Other"), Outcome::Block),
    ] {
        let judged = stage().file(".gemini/settings.json", gemini).write(".gemini/settings.json", &text);
        assert_eq!(judged.outcome(), outcome, "{text}: {}", judged.said());
    }
    for path in [".gemini/trustedFolders.json", ".codex/config.toml", ".codex/hooks.json"] {
        assert!(is_refused(&stage().write(path, r#"{"hooks":{},"/repo":"DO_NOT_TRUST"}"#)), "{path}");
    }
    let said = stage().write(".claude/settings.json", &with(r#""apiKeyHelper":"x""#)).said();
    assert!(said.contains("`apiKeyHelper`") && said.contains("ask the user"), "{said}");
}

#[test]
fn the_machine_s_own_settings_and_what_was_installed_into_a_client_are_out_of_reach() {
    for line in [
        "echo '{}' | sudo tee /etc/claude-code/managed-settings.json",
        "sudo rm /etc/claude-code/managed-settings.json",
        "cp x.toml /etc/codex/requirements.toml",
        "sudo mkdir -p /etc/gemini-cli && echo '{}' > /etc/gemini-cli/settings.json",
        "echo '{}' > ~/.claude/plugins/x/hooks/hooks.json",
        "cp -r evil ~/.gemini/extensions/evil",
        "echo '[]' > .claude/scheduled_tasks.json",
    ] {
        let judged = stage().bash(line);
        assert!(is_refused(&judged), "{line}: {}", judged.said());
    }
    assert!(is_refused(&stage().write("/etc/claude-code/managed-settings.json", "{}")));
    for line in ["cat /etc/claude-code/managed-settings.json", "ls ~/.claude/plugins", "echo x > .claude/notes.md"] {
        let judged = stage().bash(line);
        assert!(!is_refused(&judged), "{line}: {}", judged.said());
    }
}

#[test]
fn servers_are_asked_about() {
    let server = json!({"mcpServers": {"x": {"command": "npx", "args": ["y"]}}}).to_string();
    assert_eq!(stage().write(".mcp.json", &server).outcome(), Outcome::Ask);
    assert_eq!(stage().bash(&format!("echo '{server}' > .mcp.json")).outcome(), Outcome::Ask);
    assert_eq!(stage().file(".mcp.json", &server).write(".mcp.json", &server).outcome(), Outcome::Pass, "no change");
    for line in ["rm .mcp.json", "git checkout -- .mcp.json", "cat .mcp.json"] {
        assert_eq!(stage().file(".mcp.json", &server).bash(line).outcome(), Outcome::Pass, "{line}");
    }
    assert!(is_refused(&stage().write("/home/user/.claude.json", &server)));
    assert_eq!(stage().bash("echo '{}' > ~/.claude.json").outcome(), Outcome::Ask);
    for (line, outcome) in [
        ("claude mcp add evil -- npx evil", Outcome::Ask),
        ("claude plugin install x@y", Outcome::Ask),
        ("codex mcp add x -- y", Outcome::Ask),
        ("gemini mcp add x y", Outcome::Ask),
        ("gemini extensions install https://example.com/x", Outcome::Ask),
        ("claude mcp list", Outcome::Pass),
        ("codex mcp list", Outcome::Pass),
        ("gemini extensions list", Outcome::Pass),
        ("codex features disable hooks", Outcome::Block),
        ("codex features disable codex_hooks", Outcome::Block),
        ("gemini hooks disable dandori", Outcome::Block),
        ("codex features list", Outcome::Pass),
        ("codex features disable web_search", Outcome::Pass),
    ] {
        let judged = stage().bash(line);
        assert_eq!(judged.outcome(), outcome, "{line}: {}", judged.said());
    }
}

#[test]
fn the_head_of_an_agent_or_a_skill_names_no_hooks() {
    let plain = "---\nname: x\ndescription: y\ntools: Read, Grep\n---\nDo it.\n";
    for (path, text, outcome) in [
        (".claude/agents/x.md", plain.to_owned(), Outcome::Pass),
        (".claude/skills/x/SKILL.md", plain.replace("name", "hooks:\n  PreToolUse: []\nname"), Outcome::Block),
        (".claude/agents/x.md", plain.replace("name", "\"hooks\": {}\nname"), Outcome::Block),
        (".claude/commands/x.md", plain.replace("name", "mcpServers: [a]\nname"), Outcome::Block),
        (".claude/agents/x.md", plain.replace("name: x", "{hooks: {}}"), Outcome::Ask),
        (".claude/agents/x.md", plain.replace("name: x", "? hooks\n: {}"), Outcome::Ask),
        (".claude/agents/x.md", plain.replace("name: x", "newThing: 1"), Outcome::Ask),
        (".claude/agents/x.md", "no head, hooks: only in the text".to_owned(), Outcome::Pass),
        ("docs/agents/x.md", plain.replace("name", "hooks: {}\nname"), Outcome::Pass),
        ("/home/user/.claude/agents/x.md", plain.replace("name", "hooks: {}\nname"), Outcome::Block),
    ] {
        let judged = stage().write(path, &text);
        assert_eq!(judged.outcome(), outcome, "{path} {text}: {}", judged.said());
    }
    let there = stage().file(".claude/agents/x.md", &plain.replace("name", "hooks: {}\nname"));
    assert_eq!(there.edit(".claude/agents/x.md", "Do it.", "Do it well.").outcome(), Outcome::Pass, "it was there");
    let line = |key: &str| format!("cat > .claude/skills/x/SKILL.md <<'E'\n---\nname: x\n{key}---\nE");
    assert_eq!(stage().bash(&line("")).outcome(), Outcome::Pass);
    assert_eq!(stage().bash(&line("hooks: {}\n")).outcome(), Outcome::Ask);
}
