//! What an agent may not do and no guard sees: each real agent has it done by a script that was there before. It is refused
//! by the sandbox, or found before anything is staged.

use dandori_testkit::env::{TestEnv, wait_until};
use dandori_testkit::model::{Script, Turn};

use crate::stage::{Ended, NO_SANDBOX, Stage};

/// An attempt the sandbox has to refuse.
struct Attempt {
    name: &'static str,
    command: String,
}

/// Everything beyond the worktree.
fn refused(env: &TestEnv) -> Vec<Attempt> {
    let (repo, home, state) = (env.repo(), env.home(), env.state());
    let git = repo.join(".git");
    let attempt = |name, command: String| Attempt { name, command };
    vec![
        attempt("commit", format!("{AS_SOMEBODY} commit --allow-empty -m mine")),
        attempt("stage", "git add README.md notes.txt".to_owned()),
        attempt("detach", "git checkout --detach".to_owned()),
        attempt("switch", "git checkout -b elsewhere".to_owned()),
        attempt("branch", "git branch mine".to_owned()),
        attempt("main-checkout", format!("echo evil > {repo}/README.md")),
        attempt("hook", format!("echo evil > {git}/hooks/post-commit")),
        attempt("git-config", format!("echo evil >> {git}/config")),
        attempt("git-identity", format!("echo evil >> {home}/.gitconfig")),
        attempt("shell-start", format!("echo evil >> {home}/.bashrc")),
        attempt("claude-settings", format!("echo evil > {home}/.claude/settings.json")),
        attempt("claude-account", format!("echo evil > {home}/.claude.json")),
        attempt("claude-new", format!("echo evil > {home}/.claude/settings.local.json")),
        attempt("codex-rules", format!("echo evil > {home}/.codex/AGENTS.md")),
        attempt("gemini-rules", format!("echo evil > {home}/.gemini/GEMINI.md")),
        attempt("config", format!("echo evil > {home}/.config/dandori/config.toml")),
        attempt("token", format!("cat {state}/private/token > stolen.txt")),
        attempt("database", format!("cat {state}/private/dandori.db > stolen.db")),
        attempt("rules", format!("set -- {state}/repos/*/runs/*/rules.json; echo '{{}}' > \"$1\"")),
        attempt("rules-gone", format!("rm {state}/repos/*/runs/*/rules.json")),
        attempt("guarding-settings", format!("echo '{{}}' > {state}/repos/*/runs/*/agent-settings.json")),
        attempt("shim", KILL_SHIM.to_owned()),
    ]
}

/// Goes up from the shell to the supervisor and kills it. In namespaces it is not there to be found.
const KILL_SHIM: &str = "p=$PPID; while [ $p -gt 1 ] && ! tr '\\0' ' ' < /proc/$p/cmdline | grep -q ' shim '; do \
     while read -r key value; do if [ \"$key\" = PPid: ]; then p=$value; break; fi; done < /proc/$p/status; done; \
     [ $p -gt 1 ] && kill -9 $p";

/// Gemini hides the user's git configuration from its shell: without a name git itself would refuse.
const AS_SOMEBODY: &str = "git -c user.name=me -c user.email=me@example.com";

fn evil_in_tmp() -> camino::Utf8PathBuf {
    format!("/tmp/evil-{}", std::process::id()).into()
}

const BACKGROUND: &str = "setsid sleep 98765 > /dev/null 2>&1 < /dev/null &";

/// A script of the repository's own: guards do not look into what was there before the agent came.
fn put_script(env: &TestEnv, name: &str, lines: &str) {
    env.write(&format!("{name}.sh"), lines);
    env.git(["add", "-A"]);
    env.git(["commit", "--quiet", "-m", name]);
    env.git(["push", "--quiet", "origin", "main"]);
}

fn runs_script(name: &str) -> Turn {
    Turn::shell(&format!("sh {name}.sh"))
}

/// One run tries it all and still does its work: every attempt is refused, only the work is committed, nothing of it
/// lives on, and the user's own files are what they were.
fn cannot_reach_beyond_its_worktree(agent: &'static str) {
    // The paths are known only when the machine is there, and its model is asked by address.
    let stage = Stage::planned(agent, |env| {
        let tries: Vec<Turn> = refused(env)
            .into_iter()
            .map(|Attempt { name, command }| {
                let lines = format!(
                    "echo tried > notes.txt; if {{ {command}; }} 2> /dev/null; then echo {name} did it >> outcome.txt; \
                     else echo {name} refused >> outcome.txt; fi\n"
                );
                put_script(env, name, &lines);
                runs_script(name)
            })
            .collect();
        put_script(env, "own-tmp", &format!("echo evil > {}\n", evil_in_tmp()));
        let work = [
            Turn::shell("echo KEY=value > .env.example"),
            runs_script("own-tmp"),
            Turn::shell(BACKGROUND),
            Turn::say("All done."),
        ];
        Script::turns(tries.into_iter().chain(work))
    });
    let env = &stage.env;
    let token = std::fs::read(env.state().join("private/token")).unwrap_or_default();
    let readme = std::fs::read(env.repo().join("README.md")).unwrap();
    let refs_before = refs(env);

    let run = stage.succeeds("Do what you like", &[]);
    let outcome = stage.on_origin(&run.branch, "outcome.txt");
    let expected: Vec<String> = refused(env).iter().map(|attempt| format!("{} refused", attempt.name)).collect();
    assert_eq!(outcome.lines().collect::<Vec<_>>(), expected, "{agent}");

    let changed = env.git_in(&env.origin(), ["diff", "--name-only", "main", &run.branch]);
    let mut changed: Vec<&str> = changed.lines().collect();
    // The redirection makes them before the reading is refused: they are there, and empty.
    changed.retain(|path| !path.starts_with("stolen"));
    assert_eq!(changed, [".env.example", "notes.txt", "outcome.txt"]);
    assert_eq!(env.git_in(&env.origin(), ["rev-list", "--count", &format!("main..{}", run.branch)]), "1");
    let patch = env.dandori(["task", "diff", &run.id]).ok();
    let after = std::fs::read_to_string(env.state().join("private/token")).unwrap();
    assert!(!after.is_empty() && !patch.contains(after.trim()), "the token is in the patch");
    assert!(token.is_empty() || token == after.as_bytes());

    assert_eq!(std::fs::read(env.repo().join("README.md")).unwrap(), readme);
    assert!(!env.repo().join(".git/hooks/post-commit").exists());
    assert!(!evil_in_tmp().exists(), "a run has a /tmp of its own");
    assert_eq!(env.git(["status", "--porcelain"]), "");
    let mut refs_after = refs(env);
    refs_after.retain(|line| !line.contains(&run.branch));
    assert_eq!(refs_after, refs_before, "no ref but the run's own branch");
    wait_until("what the agent left in the background has ended", || {
        !env.processes().iter().any(|(_, line)| line.contains("98765"))
    });
    stage.assert_own_files_untouched();
}

fn refs(env: &TestEnv) -> Vec<String> {
    env.git(["for-each-ref", "--format=%(refname) %(objectname)"]).lines().map(str::to_owned).collect()
}

#[test]
fn claude_cannot_reach_beyond_its_worktree() {
    cannot_reach_beyond_its_worktree("claude");
}

#[test]
fn codex_cannot_reach_beyond_its_worktree() {
    cannot_reach_beyond_its_worktree("codex");
}

#[test]
fn gemini_cannot_reach_beyond_its_worktree() {
    cannot_reach_beyond_its_worktree("gemini");
}

/// What happens inside the worktree is possible, and found: the run fails with the finding, nothing is committed or
/// pushed, the work stays where it is.
fn is_found(agent: &'static str, config: &str, attempts: &[(&str, &str, &str)]) {
    let stage = Stage::planned(agent, |env| {
        attempts.iter().fold(Script::default(), |script, (name, command, _)| {
            put_script(env, name, command);
            script.when(
                &format!("attempt {name}."),
                [Turn::shell("echo work > work.txt"), runs_script(name), Turn::say("All done.")],
            )
        })
    });
    stage.configure(config);
    let instructions: Vec<String> = attempts.iter().map(|(name, ..)| format!("Make the attempt {name}.")).collect();
    for (run, (name, _, finding)) in stage.all_fail(&instructions, &[]).iter().zip(attempts) {
        assert!(run.error().contains(finding), "{agent}, {name}: {}", run.error());
        assert_work_is_kept(&stage, run);
    }
    stage.assert_own_files_untouched();
}

fn assert_work_is_kept(stage: &Stage, run: &Ended) {
    let worktree = stage.worktree(run);
    assert_eq!(std::fs::read_to_string(worktree.join("work.txt")).unwrap(), "work\n");
    assert_eq!(run.commit, None);
    assert_eq!(stage.branches_on_origin(), ["main"], "nothing was pushed");
    let sentence = stage.env.dandori(["task", "show", &run.task, "--lang", "ja"]).ok();
    assert!(sentence.contains("禁止された変更"), "{sentence}");
}

const IN_THE_WORKTREE: [(&str, &str, &str); 3] = [
    ("git-file", "echo 'gitdir: /nowhere/.git' > .git", "git file"),
    ("env", "echo SECRET=1 > .env", ".env is protected"),
    ("nested", "mkdir inner && git init -q inner && echo x > inner/x", "repository inside the worktree: inner"),
];

#[test]
fn claude_is_found_out_when_it_touches_the_git_file_or_secrets() {
    is_found("claude", "", &IN_THE_WORKTREE);
}

#[test]
fn codex_is_found_out_when_it_touches_the_git_file_or_secrets() {
    is_found("codex", "", &IN_THE_WORKTREE);
}

#[test]
fn gemini_is_found_out_when_it_touches_the_git_file_or_secrets() {
    is_found("gemini", "", &IN_THE_WORKTREE);
}

/// Where no sandbox holds the agent, what it did to git is found all the same.
const TO_GIT: [(&str, &str, &str); 3] = [
    (
        "commit",
        "git add work.txt && git -c user.name=me -c user.email=me@example.com commit -q -m mine",
        "committed to the branch itself",
    ),
    ("detach", "git checkout -q --detach", "HEAD was moved"),
    ("switch", "git checkout -q -b elsewhere", "HEAD was moved"),
];

#[test]
fn claude_without_a_sandbox_is_found_out_when_it_commits_or_moves_head() {
    is_found("claude", NO_SANDBOX, &TO_GIT);
}

#[test]
fn gemini_without_a_sandbox_is_found_out_when_it_commits_or_moves_head() {
    is_found("gemini", NO_SANDBOX, &TO_GIT);
}

/// The supervisor is gone without a word: the run says so, nothing of the agent lives on, and the work is there.
#[test]
fn an_agent_without_a_sandbox_that_kills_its_supervisor_fails_its_run() {
    for agent in ["claude", "gemini"] {
        let stage = Stage::planned(agent, |env| {
            put_script(env, "kill-shim", KILL_SHIM);
            let turns = [Turn::shell("echo work > work.txt"), Turn::shell(BACKGROUND), runs_script("kill-shim")];
            Script::turns(turns)
        });
        stage.configure(NO_SANDBOX);
        let run = stage.all_fail(&["Do what you like".to_owned()], &[]).remove(0);
        assert!(run.error().contains("supervisor was killed"), "{agent}: {}", run.error());
        assert_eq!(std::fs::read_to_string(stage.worktree(&run).join("work.txt")).unwrap(), "work\n");
        let left: Vec<_> = stage.env.processes().into_iter().filter(|(_, line)| !line.contains(" daemon ")).collect();
        assert!(left.is_empty(), "{agent}: {left:?}");
    }
}

/// Codex then uses its own, in which neither `.git` nor anything outside the worktree can be written.
#[test]
fn codex_without_our_sandbox_is_held_by_its_own() {
    let stage = Stage::planned("codex", |env| {
        let attempt = |name: &str, command: &str| {
            let lines =
                format!("if {command} 2> /dev/null; then echo did it >> o.txt; else echo refused >> o.txt; fi\n");
            put_script(env, name, &lines);
            runs_script(name)
        };
        let outside = format!("echo evil > {}/README.md", env.repo());
        let commit = format!("{AS_SOMEBODY} commit -q --allow-empty -m mine");
        Script::turns([
            attempt("commit", &commit),
            attempt("outside", &format!("{{ {outside}; }}")),
            Turn::say("All done."),
        ])
    });
    stage.configure(NO_SANDBOX);
    let run = stage.succeeds("Commit it yourself", &[]);
    assert_eq!(stage.on_origin(&run.branch, "o.txt"), "refused\nrefused");
    let notes = stage.shown(&run.id)["notes"].to_string();
    assert!(notes.contains("no_sandbox"), "the run says that it had none: {notes}");
}
