//! The real Claude Code, Codex and Gemini CLIs, started as a run would start them, against a scripted model.
//!
//! Cleared environment, fresh home folders, a made-up key, a server on loopback: nothing else.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stdout, reason = "a test")]

use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_agent::{Launch, Order, Reader, prepare, version};
use dandori_domain::run::Limits;
use dandori_domain::{AgentEvent, AgentFailure, AgentName, Client, RunId, SessionId, TaskId, Usage, Verdict};
use dandori_host::{Cmd, Env};
use dandori_testkit::clis;
use dandori_testkit::model::{Call, Kind, ModelServer, Script, Turn};
use sha2::{Digest, Sha256};

const LIMITS: Limits =
    Limits { start_seconds: 60, silence_seconds: 60, run_seconds: 120, api_retries: 1, grace_seconds: 5 };

/// A user with a home folder, a repository, and a run of one agent.
struct Stage {
    agent: AgentName,
    server: ModelServer,
    env: Env,
    limits: Limits,
    sandboxed: bool,
    _dir: tempfile::TempDir,
    root: Utf8PathBuf,
}

struct Played {
    launch: Launch,
    events: Vec<AgentEvent>,
    verdict: Verdict,
    usage: Usage,
    session: Option<SessionId>,
}

impl Stage {
    fn new(agent: AgentName, server: impl FnOnce(Kind) -> ModelServer) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        for folder in ["user", "repo", "tmp", "private"] {
            std::fs::create_dir(root.join(folder)).unwrap();
        }
        let server = server(agent.client().unwrap().into());
        let mut env = Env::of_process().filtered(|name| name == "PATH");
        let path = format!("{}:{}", clis::bin(), env.text("PATH").unwrap());
        env.set("PATH", path).set("HOME", root.join("user").as_str()).set("LANG", "C.UTF-8").set("SECRET", "s3cret");
        for (name, value) in server.log_in(&root.join("user")) {
            env.set(name, value);
        }
        let stage = Self { agent, server, env, limits: LIMITS, sandboxed: true, _dir: dir, root };
        stage.git(&["init", "-q", "-b", "main"]);
        stage.git(&["-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "--allow-empty", "-m", "x"]);
        stage
    }

    fn scripted(agent: AgentName, script: Script) -> Self {
        Self::new(agent, |kind| ModelServer::start(kind, script))
    }

    fn git(&self, args: &[&str]) {
        Cmd::new("git", &self.env).args(args).cwd(&self.path("repo")).run().unwrap();
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        self.root.join(name)
    }

    fn private(&self) -> Utf8PathBuf {
        self.path("private/home")
    }

    fn write_user(&self, path: &str, text: &str) {
        let path = self.path("user").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn prepare(&self, instruction: &str, session: Option<&SessionId>) -> Launch {
        let now = dandori_host::now();
        prepare(&Order {
            agent: &self.agent,
            run: RunId::mint(now, dandori_host::random()),
            task: TaskId::mint(now, dandori_host::random()),
            instruction,
            instruction_file: &self.path("instruction"),
            workdir: &self.path("repo"),
            tmp: &self.path("tmp"),
            home: &self.private(),
            session,
            new_session: uuid::Builder::from_random_bytes(dandori_host::random().to_be_bytes()).into_uuid(),
            model: None,
            budget: None,
            limits: &self.limits,
            user_env: &self.env,
            pass_env: &[],
            sandboxed: self.sandboxed,
            custom: None,
            earlier: None,
            forbidden_paths: &[],
            door: None,
            guards: None,
            dandori: Utf8Path::new("dandori"),
            now,
        })
        .unwrap()
    }

    fn play(&self, instruction: &str, session: Option<&SessionId>, before: Usage) -> Played {
        let launch = self.prepare(instruction, session);
        let started = Instant::now();
        let output = Cmd::new("sh", &Env::from_pairs(launch.env.clone()))
            .args(["-c", "from=$1; shift; exec \"$@\" <\"$from\"", "sh", launch.stdin.as_ref().unwrap().as_str()])
            .args(&launch.argv)
            .cwd(&self.path("repo"))
            .deadline(Duration::from_secs(100))
            .run_any()
            .unwrap();
        let mut reader = Reader::new(&self.agent, launch.session.clone(), before);
        let events = reader.feed(&output.stdout);
        let verdict = reader.finish(output.status.code(), dandori_host::cmd::signal_of(output.status), &output.stderr);
        println!("{} in {:?}: {:?}", self.agent, started.elapsed(), output.status);
        if matches!(verdict, Verdict::Failed { .. }) {
            println!("{verdict:?}\n{}", output.stderr);
        }
        Played { launch, events, verdict, usage: reader.usage(), session: reader.session().cloned() }
    }
}

/// Everything below a folder: names, kinds, modes and contents.
fn fingerprint(folder: &Utf8Path) -> String {
    fn add(path: &Utf8Path, hash: &mut Sha256) {
        use std::os::unix::fs::MetadataExt;
        let meta = path.symlink_metadata().unwrap();
        hash.update(format!("{path} {:o} {}\n", meta.mode(), meta.mtime()));
        if meta.is_dir() {
            let mut names: Vec<_> = path.read_dir_utf8().unwrap().map(|e| e.unwrap().into_path()).collect();
            names.sort();
            for path in &names {
                add(path, hash);
            }
        } else if meta.is_file() {
            hash.update(std::fs::read(path).unwrap());
        }
    }
    let mut hash = Sha256::new();
    add(folder, &mut hash);
    format!("{:x}", hash.finalize())
}

/// An agent edits a file and, on the side, everything in its state folder that could bind a later run. The
/// follow-up goes on in the same conversation, with the user's settings again. The user's own folder is as it was.
fn edits_and_follows_up(agent: AgentName, settings: &str, tampered: &[&str]) {
    // No substitutions, no `rm -f`: Gemini and Codex refuse those by themselves.
    let tamper = |file: &&str| {
        let file = Utf8Path::new("../private/home").join(file);
        format!("mkdir -p {}; echo '{{}}' > {file}", file.parent().unwrap())
    };
    let tamper: Vec<String> = tampered.iter().map(tamper).collect();
    let command = format!("echo hi > a.txt; {}", tamper.join("; "));
    let script = Script::turns([
        Turn::say("I will write a file.").thinking("hm").and_call(Call::Shell(command)),
        Turn::say("All done."),
        Turn::say("Follow-up answered."),
    ]);
    let stage = Stage::scripted(agent, script);
    if !stage.path("user").join(settings).exists() {
        stage.write_user(settings, "{}");
    }
    let user_before = fingerprint(&stage.path("user"));

    let first = stage.play("Write hi into a.txt", None, Usage::default());
    assert_eq!(first.verdict, Verdict::Done { summary: "All done.".to_owned() });
    assert_eq!(std::fs::read_to_string(stage.path("repo/a.txt")).unwrap(), "hi\n");
    assert_eq!(first.usage.input_tokens, 200);
    assert!(first.events.iter().any(|e| matches!(e, AgentEvent::ToolResult { ok: true, .. })), "{:?}", first.events);
    assert!(first.launch.session.is_none() || first.launch.session == first.session);
    assert_eq!(first.launch.write, [stage.private()]);
    let seen_by_agent: Vec<&str> = first.launch.env.iter().map(|(name, _)| name.as_str()).collect();
    assert!(!seen_by_agent.contains(&"SECRET"), "{seen_by_agent:?}");
    for file in tampered {
        let text = std::fs::read_to_string(stage.private().join(file)).unwrap_or_default();
        assert_eq!(text, "{}\n", "{file}: the scene is set");
    }

    let session = first.session.unwrap();
    let second = stage.play("And now say so", Some(&session), first.usage);
    assert_eq!(second.verdict, Verdict::Done { summary: "Follow-up answered.".to_owned() });
    assert_eq!(second.session.as_ref(), Some(&session));
    assert_eq!(second.usage.input_tokens, 100, "only what this process used");
    let last = stage.server.turns().pop().unwrap().to_string();
    for words in ["Write hi into a.txt", "I will write a file.", "All done.", "And now say so"] {
        assert!(last.contains(words), "the model saw {words:?}");
    }
    for file in tampered {
        let left = std::fs::read_to_string(stage.private().join(file)).unwrap_or_default();
        assert_ne!(left, "{}\n", "{file} was made anew");
    }
    assert_eq!(fingerprint(&stage.path("user")), user_before, "the user's folder is untouched");
}

#[test]
fn claude_edits_a_file_and_goes_on_in_the_same_conversation() {
    let tampered = ["settings.json", "settings.local.json", "CLAUDE.md", "agents/evil.md", ".claude.json"];
    edits_and_follows_up(AgentName::Client(Client::Claude), ".claude/settings.json", &tampered);
}

#[test]
fn codex_edits_a_file_and_goes_on_in_the_same_conversation() {
    let tampered = ["AGENTS.md", "hooks.json", "rules/evil.rules", "auth.json"];
    edits_and_follows_up(AgentName::Client(Client::Codex), ".codex/config.toml", &tampered);
}

#[test]
fn gemini_edits_a_file_and_goes_on_in_the_same_conversation() {
    let tampered = [".gemini/settings.json", ".gemini/GEMINI.md", ".gemini/policies/evil.toml", ".gemini/.env"];
    edits_and_follows_up(AgentName::Client(Client::Gemini), ".gemini/settings.json", &tampered);
}

fn long_instruction_arrives(agent: AgentName) {
    let stage = Stage::scripted(agent, Script::turns([Turn::say("Read.")]));
    let instruction = format!("BEGIN {} END", "word ".repeat(60 * 1024));
    assert!(instruction.len() > 300_000);
    let played = stage.play(&instruction, None, Usage::default());
    assert_eq!(played.verdict, Verdict::Done { summary: "Read.".to_owned() });
    assert!(stage.server.turns().first().unwrap().to_string().contains(&instruction));
}

#[test]
fn claude_gets_a_long_instruction_whole() {
    long_instruction_arrives(AgentName::Client(Client::Claude));
}

#[test]
fn codex_gets_a_long_instruction_whole() {
    long_instruction_arrives(AgentName::Client(Client::Codex));
}

#[test]
fn gemini_gets_a_long_instruction_whole() {
    long_instruction_arrives(AgentName::Client(Client::Gemini));
}

fn failure_of(agent: AgentName, server: impl FnOnce(Kind) -> ModelServer) -> AgentFailure {
    let stage = Stage::new(agent, server);
    let started = Instant::now();
    let played = stage.play("Do it", None, Usage::default());
    assert!(started.elapsed() < Duration::from_mins(1), "a dead API is given up within the limits");
    let Verdict::Failed { failure } = played.verdict else { panic!("{:?}", played.verdict) };
    failure
}

fn fails_clearly(agent: &AgentName) {
    let refused = failure_of(agent.clone(), ModelServer::refusing);
    assert!(matches!(refused, AgentFailure::Unreachable { .. }), "{refused:?}");
    for status in [401, 529] {
        let failure = failure_of(agent.clone(), |kind| ModelServer::start(kind, Script::turns([Turn::status(status)])));
        match (status, &failure) {
            (401, AgentFailure::NotAuthorised { detail }) => assert!(detail.contains("scripted 401"), "{detail}"),
            (529, AgentFailure::Overloaded { .. }) => {}
            _ => panic!("{status}: {failure:?}"),
        }
    }
}

#[test]
fn claude_fails_clearly_on_a_dead_or_refusing_api() {
    fails_clearly(&AgentName::Client(Client::Claude));
}

#[test]
fn codex_fails_clearly_on_a_dead_or_refusing_api() {
    fails_clearly(&AgentName::Client(Client::Codex));
}

#[test]
fn gemini_fails_clearly_on_a_dead_or_refusing_api() {
    fails_clearly(&AgentName::Client(Client::Gemini));
}

#[test]
fn an_unknown_conversation_is_named_as_such() {
    for agent in Client::ALL.map(AgentName::Client) {
        let stage = Stage::scripted(agent.clone(), Script::default());
        let asked = SessionId::new("11111111-2222-4333-8444-555555555555");
        let played = stage.play("Go on", Some(&asked), Usage::default());
        let failure = AgentFailure::WrongSession { asked, got: None };
        assert_eq!(played.verdict, Verdict::Failed { failure }, "{agent}");
    }
}

#[test]
fn words_that_look_like_a_command_are_still_words() {
    for agent in Client::ALL.map(AgentName::Client) {
        let stage = Stage::scripted(agent.clone(), Script::turns([Turn::say("Read.")]));
        let played = stage.play("/help me with @nosuch/file", None, Usage::default());
        assert_eq!(played.verdict, Verdict::Done { summary: "Read.".to_owned() }, "{agent}");
        assert!(stage.server.turns().first().unwrap().to_string().contains("/help me with @nosuch/file"), "{agent}");
    }
}

#[test]
fn the_rules_reach_every_model() {
    for agent in Client::ALL.map(AgentName::Client) {
        let stage = Stage::scripted(agent.clone(), Script::turns([Turn::say("Read.")]));
        stage.play("Do it", None, Usage::default());
        let request = stage.server.turns().remove(0).to_string();
        assert!(request.contains("dandori stages, commits and pushes your changes"), "{agent}");
    }
}

/// Without our sandbox Claude keeps its own questions, but for what an unattended run needs.
#[test]
fn claude_works_without_our_sandbox_too() {
    let script = Script::turns([Turn::shell("echo hi > a.txt"), Turn::say("All done.")]);
    let mut stage = Stage::scripted(AgentName::Client(Client::Claude), script);
    stage.sandboxed = false;
    let played = stage.play("Write", None, Usage::default());
    assert_eq!(played.verdict, Verdict::Done { summary: "All done.".to_owned() });
    assert_eq!(std::fs::read_to_string(stage.path("repo/a.txt")).unwrap(), "hi\n");
}

/// The login of an account works without the refresh token, which stays with the user.
#[test]
fn claude_works_with_the_access_token_alone() {
    let mut stage = Stage::scripted(AgentName::Client(Client::Claude), Script::turns([Turn::say("Read.")]));
    stage.env.remove("ANTHROPIC_API_KEY");
    let ends = dandori_host::now().as_millisecond() + 3_600_000;
    let login = format!(
        "{{\"claudeAiOauth\":{{\"accessToken\":\"sk-ant-oat01-made-up\",\"refreshToken\":\"sk-ant-ort01-made-up\",\
         \"expiresAt\":{ends},\"scopes\":[\"user:inference\"],\"subscriptionType\":\"max\"}}}}"
    );
    stage.write_user(".claude/.credentials.json", &login);
    let played = stage.play("Do it", None, Usage::default());
    assert_eq!(played.verdict, Verdict::Done { summary: "Read.".to_owned() });
    let request = stage.server.requests().into_iter().find(|r| !r["turn"].is_null()).unwrap();
    assert_eq!(request["headers"]["authorization"], "Bearer sk-ant-oat01-made-up");
}

#[test]
fn each_agent_tells_its_version() {
    let dir = tempfile::tempdir().unwrap();
    let home = Utf8Path::from_path(dir.path()).unwrap();
    let mut env = Env::of_process().filtered(|name| name == "PATH");
    let path = format!("{}:{}", clis::bin(), env.text("PATH").unwrap());
    env.set("PATH", path);
    for client in Client::ALL {
        let expected = client.describe().program.newest();
        assert_eq!(version(&AgentName::Client(client), &env, home).unwrap(), expected);
    }
}
