//! A new user's machine and its terminal: lines are typed, screens are kept.

use camino::Utf8PathBuf;
use dandori_testkit::env::{TestEnv, wait_for, wait_until};
use dandori_testkit::tmux::{PROMPT, Tmux};
use dandori_text::Lang;

use crate::agent;
use crate::plain::Plain;
use crate::screens::Screens;
use crate::words::{claude, codex, words};

/// Rows enough for what a pager would otherwise hold back.
const ROWS: u16 = 60;

pub(crate) struct Play {
    env: TestEnv,
    terminal: Tmux,
    screens: Screens,
    plain: Plain,
    typed: String,
    /// The last screen as it was, for the commands it names.
    last: String,
}

impl Play {
    pub(crate) fn new(lang: Lang, columns: u16) -> Self {
        let mut env = TestEnv::below(env!("CARGO_BIN_EXE_dandori"), "/tmp".as_ref());
        env.install().unset("DANDORI_STATE_DIR");
        env.var("TZ", "UTC");
        // One run at a time more than the play needs, also on a machine that is short of memory.
        env.write_user_config("[runs]\nmax_parallel = 3\nmin_free_memory = \"16MiB\"\n");
        agent::install(&mut env, &claude(lang), &codex(lang));
        if lang == Lang::Ja {
            env.var("LANG", "ja_JP.UTF-8").var("LC_CTYPE", "C.UTF-8");
        }
        repositories(&env, lang);
        let terminal = Tmux::start(&env, columns, ROWS, &[]);
        terminal.line("cd ~");
        let plain = Plain::new(env.root().as_str());
        Self { env, terminal, screens: Screens::new(lang, columns), plain, typed: String::new(), last: String::new() }
    }

    /// Changes to another folder of the user's home.
    pub(crate) fn goes_to(&mut self, folder: &str) {
        self.terminal.line(&format!("cd ~/{folder}"));
    }

    /// Types a line and keeps what it left.
    pub(crate) fn types(&mut self, name: &str, line: &str) {
        self.begins(line);
        self.ends(name);
    }

    /// Types the command that the last screen named and that begins like this.
    pub(crate) fn types_next(&mut self, name: &str, start: &str) {
        self.begins_next(start);
        self.ends(name);
    }

    pub(crate) fn begins(&mut self, line: &str) {
        line.clone_into(&mut self.typed);
        self.terminal.begin(line);
    }

    pub(crate) fn begins_next(&mut self, start: &str) {
        let mut named = self.last.split('`').skip(1).step_by(2);
        let command = named.find(|command| command.starts_with(start));
        if command.is_none() {
            self.screens.fault(&format!("`{start}` is not named as the next command"));
        }
        let command = command.unwrap_or(start).to_owned();
        self.begins(&command);
    }

    /// Waits for all these words and keeps the screen as it is then.
    pub(crate) fn sees(&mut self, name: &str, words: &[&str]) {
        for words in words {
            self.terminal.wait_for(words);
        }
        self.keep(name);
    }

    /// Types the command that the last screen named; what another program prints is not kept.
    pub(crate) fn does_next(&mut self, start: &str) {
        self.begins_next(start);
        self.terminal.end();
    }

    /// The shell is in a worktree of dandori's that has this file.
    pub(crate) fn is_in_worktree_with(&self, file: &str) {
        let said = self.terminal.line(&format!("pwd; ls {file}"));
        assert!(said.contains("worktrees/wt_") && said.ends_with(file), "{said}");
    }

    /// Answers a question, and keeps what is there when the command is over.
    pub(crate) fn is_asked(&mut self, answer: &str, name: &str) {
        self.terminal.until("a question", |screen| {
            let last = screen.trim_end().lines().last().unwrap_or_default().trim_end();
            last.ends_with([']', ':', '?']) && !last.starts_with(PROMPT)
        });
        self.terminal.answer(answer);
        self.ends(name);
    }

    pub(crate) fn ends(&mut self, name: &str) {
        self.terminal.end();
        self.keep(name);
    }

    fn keep(&mut self, name: &str) {
        let printed = self.terminal.printed();
        let lines = below(&printed, &self.typed);
        let typed = self.plain.of(&self.typed);
        self.screens.show(name, &typed, &self.plain.of(lines));
        lines.clone_into(&mut self.last);
    }

    /// Lets an agent that waits go on.
    pub(crate) fn lets_go(&self, task: &str, run: usize) {
        std::fs::write(self.worktree(task, run).join("go"), "").unwrap();
    }

    pub(crate) fn waits_for_file(&self, task: &str, file: &str) {
        let path = self.worktree(task, 0).join(file);
        // The agent may be at work a moment before that is written down.
        wait_until(path.as_str(), || path.exists() && self.shown(task)["runs"][0]["state"] == "RUNNING");
    }

    fn worktree(&self, task: &str, run: usize) -> Utf8PathBuf {
        wait_for("its worktree is there", || self.shown(task)["runs"][run]["worktree"].as_str().map(Into::into))
    }

    fn shown(&self, task: &str) -> serde_json::Value {
        self.env.dandori_in(&self.env.home(), ["task", "show", task, "--json"]).json()
    }

    /// Nothing of dandori is left, and all work is.
    pub(crate) fn is_clean(&self) {
        assert!(!self.env.home().join(".local/state/dandori").exists());
        for repo in ["hello", "shop"] {
            let repo = self.env.home().join(repo);
            assert_eq!(self.env.git_in(&repo, ["worktree", "list"]).lines().count(), 1);
            assert!(self.env.git_in(&repo, ["branch", "--list", "dandori/*"]).contains("dandori/"));
        }
    }

    pub(crate) fn close(self) {
        self.screens.close();
    }
}

/// What a screen shows below the line that was typed, without the prompt at its end.
fn below<'s>(screen: &'s str, typed: &str) -> &'s str {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let wanted = bare(&format!("{PROMPT}{typed}"));
    let ends = screen.match_indices('\n').map(|(at, _)| at).chain([screen.len()]);
    let end = ends.into_iter().find(|end| bare(&screen[..*end]).len() >= wanted.len()).unwrap_or(screen.len());
    assert_eq!(bare(&screen[..end]), wanted, "the command as it was typed stands at the top:\n{screen}");
    screen[end..].trim_start_matches('\n').trim_end().trim_end_matches(PROMPT).trim_end()
}

/// `hello` has no remote. `shop` has one, a commit that is not pushed and a file that is not committed.
fn repositories(env: &TestEnv, lang: Lang) {
    let words = words(lang);
    for name in ["hello", "shop"] {
        let repo = env.home().join(name);
        env.command("git", ["init", "--quiet", "-b", "main", repo.as_str()], env.root());
        std::fs::write(repo.join("README.md"), words.readme).unwrap();
        if name == "shop" {
            std::fs::write(repo.join("greet.sh"), "#!/bin/sh\necho Hello\n").unwrap();
        }
        env.git_in(&repo, ["add", "-A"]);
        env.git_in(&repo, ["commit", "--quiet", "-m", words.commit]);
    }
    let (shop, remote) = (env.home().join("shop"), env.home().join("shop.git"));
    env.command("git", ["init", "--quiet", "--bare", "-b", "main", remote.as_str()], env.root());
    env.git_in(&shop, ["remote", "add", "origin", remote.as_str()]);
    env.git_in(&shop, ["push", "--quiet", "--set-upstream", "origin", "main"]);
    std::fs::write(shop.join("notes.txt"), "milk\n").unwrap();
    env.git_in(&shop, ["add", "-A"]);
    env.git_in(&shop, ["commit", "--quiet", "-m", words.commit]);
    std::fs::write(shop.join("todo.txt"), "eggs\n").unwrap();
}
