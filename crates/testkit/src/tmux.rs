//! A person at a terminal: lines typed into a real tmux of a certain size, and the screen as it then is.
//!
//! Nothing is left to timing: the shell says before every prompt that it is there (`tmux wait-for`), so a line that was
//! typed is over when its prompt has come.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a tool of the tests: a panic is how it reports")]

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::env::TestEnv;

/// Longer than anything takes that is typed, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(3);

/// What the shell's prompt looks like; nothing else on a screen does.
pub const PROMPT: &str = "❯";

#[derive(Debug)]
pub struct Tmux {
    socket: PathBuf,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Tmux {
    /// A shell in the environment's repository, and in nothing but its environment.
    pub fn start(env: &TestEnv, columns: u16, rows: u16, variables: &[(&str, &str)]) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let socket = env.root().join(format!("tmux-{number}")).into_std_path_buf();
        let tmux = Self { socket };
        let rc = env.root().join(format!("bashrc-{number}"));
        let ready = format!("tmux -S {} wait-for -S ready", tmux.socket.display());
        let bin = camino::Utf8Path::new(env.bin()).parent().map(ToString::to_string).unwrap_or_default();
        let text = format!(
            "PS1='{PROMPT} '\nPROMPT_COMMAND='{ready}'\nPATH={bin}:$PATH\nbind 'set enable-bracketed-paste off'\nunset HISTFILE TMUX TMUX_PANE\n"
        );
        std::fs::write(&rc, text).unwrap();
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let shell = ["bash", "--noprofile", "--rcfile", rc.as_str(), "-i"];
        let size = ["new-session", "-d", "-x", &columns, "-y", &rows];
        let mut command = env.program("tmux", ["-f", "/dev/null", "-S", tmux.path()], &env.repo());
        for (name, value) in variables {
            command.env(name, value);
        }
        let status = command.args(size).args(shell).status().unwrap();
        assert!(status.success(), "tmux could not be started");
        tmux.command(["set-option", "-g", "history-limit", "50000"]);
        tmux.until_prompt();
        tmux
    }

    /// Types a line, presses Enter, and comes back with what is on the screen when the prompt is there again: all that
    /// the line has left, also what has scrolled away.
    pub fn line(&self, line: &str) -> String {
        self.begin(line);
        self.end()
    }

    /// The same in two halves: what happens in between is the caller's.
    pub fn begin(&self, line: &str) {
        self.command(["send-keys", "-R"]);
        self.command(["clear-history"]);
        self.command(["send-keys", "C-l"]);
        self.until("an empty screen", |screen| screen.trim() == PROMPT);
        self.keys(line);
        self.command(["send-keys", "Enter"]);
    }

    pub fn end(&self) -> String {
        self.until_prompt();
        let all = self.capture(&["-S", "-"]);
        let text = all.trim_end().trim_end_matches(PROMPT).trim_end();
        text.to_owned()
    }

    /// Keys as they are, without Enter.
    pub fn keys(&self, text: &str) {
        self.command(["send-keys", "-l", text]);
    }

    /// A key by tmux's name for it: `C-c`, `Enter`, `q`.
    pub fn press(&self, key: &str) {
        self.command(["send-keys", key]);
    }

    /// Waits until the screen is as it should be, and gives it.
    pub fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(Instant::now() < end, "{what} did not come; the screen:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until this is there, and gives all that the line has left, also what has scrolled away.
    pub fn wait_for(&self, words: &str) -> String {
        self.until_all(words, |all| all.contains(words))
    }

    /// The same for what cannot be said in words.
    fn until_all(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let all = self.all();
            if is_so(&all) {
                return all;
            }
            assert!(Instant::now() < end, "{what:?} did not come; what is there:\n{all}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// All that the line has left so far, row by row as it is broken now.
    pub fn all(&self) -> String {
        let text = self.capture(&["-S", "-"]);
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// The same line by line as it was printed, however long: what the terminal broke is whole again.
    pub fn printed(&self) -> String {
        let text = self.capture(&["-J", "-S", "-"]);
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// Types an answer and presses Enter.
    pub fn answer(&self, text: &str) {
        self.keys(text);
        self.press("Enter");
    }

    /// Another width, as when somebody pulls at the window.
    pub fn resize(&self, columns: u16) {
        self.command(["resize-window", "-x", &columns.to_string()]);
    }

    pub fn screen(&self) -> String {
        self.capture(&[])
    }

    /// The screen with its colours.
    pub fn coloured(&self) -> String {
        self.capture(&["-e"])
    }

    fn until_prompt(&self) {
        let limit = PATIENCE.as_secs().to_string();
        let come =
            Command::new("timeout").args([&limit, "tmux", "-S", self.path(), "wait-for", "ready"]).status().unwrap();
        assert!(come.success(), "the prompt did not come; the screen:\n{}", self.screen());
        self.until("the prompt", |screen| screen.trim_end().lines().last().is_some_and(|l| l.trim_end() == PROMPT));
    }

    fn capture(&self, more: &[&str]) -> String {
        let mut args = vec!["capture-pane", "-p"];
        args.extend(more);
        self.command(args)
    }

    fn command<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> String {
        let output = Command::new("tmux").args(["-S", self.path()]).args(args).output().unwrap();
        assert!(output.status.success(), "tmux: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn path(&self) -> &str {
        self.socket.to_str().unwrap_or_default()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-S", self.path(), "kill-server"]).output();
    }
}
