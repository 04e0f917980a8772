use super::*;

fn repository(text: &str) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    config.merge(Utf8Path::new("dandori.toml"), text, Source::Repository).map(|()| config)
}

fn reason(text: &str) -> String {
    match repository(text).unwrap_err() {
        ConfigError::Bad { reason, suggestion, .. } => format!("{reason} / {}", suggestion.unwrap_or_default()),
        other @ ConfigError::Unreadable { .. } => panic!("{other}"),
    }
}

#[test]
fn the_repository_s_file_lies_over_the_user_s() {
    let mut config = Config::default();
    let user = "agent = \"codex\"\nstore = \"postgres://h/d\"\n[limits]\nrun = \"30m\"\n[sandbox]\nhide = [\"~/.ssh\"]";
    config.merge(Utf8Path::new("config.toml"), user, Source::User).unwrap();
    let repo = "base = \"develop\"\npr = true\n[limits]\nsilence = \"5m\"\n[sandbox]\nhide = [\"~/.aws\"]\n[agents.mine]\ncommand = \"./a.sh\"";
    config.merge(Utf8Path::new("dandori.toml"), repo, Source::Repository).unwrap();
    assert_eq!(config.agent, AgentName::Client(dandori_domain::Client::Codex));
    assert_eq!(config.base.as_deref(), Some("develop"));
    assert!(config.pr);
    assert_eq!((config.limits.run_seconds, config.limits.silence_seconds), (1800, 300));
    assert_eq!(config.sandbox.hide, ["~/.ssh", "~/.aws"], "a repository adds to what is hidden, it cannot uncover");
    assert_eq!(config.custom(&AgentName::Custom("mine".into())), Some(CustomAgent::Command("./a.sh".into())));
}

#[test]
fn an_agent_is_started_by_a_command_or_by_the_protocol() {
    let mine = AgentName::Custom("mine".into());
    let acp = |acp: &str, auth: Option<&str>| CustomAgent::Acp { acp: acp.into(), auth: auth.map(Into::into) };
    let config = repository("[agents.mine]\nacp = \"agent --acp\"\nauth = \"key\"").unwrap();
    assert_eq!(config.custom(&mine), Some(acp("agent --acp", Some("key"))));
    assert!(config.known_agents().contains(&"mine".to_owned()));

    let mut config = Config::default();
    let user = "[agents.mine]\ncommand = \"./a.sh\"\nmodel = \"m\"";
    config.merge(Utf8Path::new("config.toml"), user, Source::User).unwrap();
    config.merge(Utf8Path::new("dandori.toml"), "[agents.mine]\nacp = \"b\"", Source::Repository).unwrap();
    assert_eq!(config.custom(&mine), Some(acp("b", None)), "the nearer file says how");
    assert_eq!(config.model(&mine), Some("m"));

    assert!(reason("[agents.x]\nacp = \"a\"\ncommand = \"b\"").contains("both"));
    assert!(reason("[agents.gemini]\nacp = \"gemini --acp\"").contains("another name"));
}

#[test]
fn unknown_keys_are_errors_with_the_nearest_name() {
    assert_eq!(reason("agnt = \"claude\""), "unknown key `agnt` / agent");
    assert_eq!(reason("[limits]\nsilense = \"1m\""), "unknown key `limits.silense` / limits.silence");
    assert_eq!(reason("[agents.x]\ncomand = \"y\""), "unknown key `agents.x.comand` / agents.x.command");
    assert!(reason("limits = 3").starts_with("`limits` is a table"));
}

#[test]
fn what_speaks_for_the_daemon_is_refused_in_a_repository() {
    assert!(reason("store = \"postgres://evil\"").contains("config.toml"));
    assert!(reason("[runs]\nmax_parallel = 900").contains("config.toml"));
}

#[test]
fn bad_values_say_what_a_good_one_looks_like() {
    assert!(reason("[limits]\nrun = \"soon\"").contains("\"15m\""));
    assert!(reason("agent = \"a b\"").contains("not the name of an agent"));
    assert!(reason("cleanup = \"later\"").contains("later"));
    assert!(reason("pr = \"yes\"").contains("pr"));
    assert!(reason("not toml at all").contains("line 1"));
}

#[test]
fn a_missing_file_is_all_defaults() {
    let config = Config::load(Utf8Path::new("/nonexistent/config.toml"), None).unwrap();
    assert_eq!(config, Config::default());
}
