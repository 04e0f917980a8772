//! The ways to tell a person: the desktop, the terminal's bell, a command, a webhook.
//!
//! Nothing of a notice becomes part of a shell line: it goes to standard input, into arguments behind `--`, or into a
//! request's body. Each way has a deadline of its own, and none waits for another.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::plain::plain_line;
use dandori_host::cmd::Cmd;
use dandori_host::{Env, cmd};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};

use super::{NotifyEdge, Sending, WayOutcome, WayResult};
use crate::notices::NewsWords;

const COMMAND_DEADLINE: Duration = Duration::from_secs(20);
const DESKTOP_DEADLINE: Duration = Duration::from_secs(5);
const REQUEST_DEADLINE: Duration = Duration::from_secs(10);
/// How often a webhook is tried, and the pauses in between.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];

pub(crate) struct RealNotify {
    env: Env,
}

impl RealNotify {
    pub(crate) fn new(env: &Env) -> Self {
        Self { env: env.clone() }
    }
}

impl NotifyEdge for RealNotify {
    fn send<'a>(&'a self, sending: &'a Sending) -> BoxFuture<'a, Vec<WayResult>> {
        async move {
            let settings = &sending.settings;
            let mut ways: Vec<BoxFuture<'a, WayResult>> = Vec::new();
            if settings.desktop {
                ways.push(self.desktop(&sending.words).boxed());
            }
            if settings.bell {
                ways.push(bell(sending.terminal.clone()).boxed());
            }
            if let Some(line) = &settings.command {
                ways.push(self.command(line.clone(), sending.body.to_string()).boxed());
            }
            if let Some(address) = &settings.webhook {
                ways.push(webhook(address, sending.body.to_string()).boxed());
            }
            join_all(ways).await
        }
        .boxed()
    }
}

impl RealNotify {
    /// By the programs that every desktop has: a library for D-Bus would be the larger part of us.
    async fn desktop(&self, words: &NewsWords) -> WayResult {
        let skipped =
            |reason: &str| WayResult { way: "desktop", outcome: WayOutcome::Skipped { reason: reason.into() } };
        if !has_session(&self.env) {
            return skipped("no_session");
        }
        let (title, body) = (plain_line(&words.title), escaped(&plain_line(&words.message)));
        let command = if let Some(program) = self.env.find_program("notify-send") {
            Cmd::new(program.as_str(), &self.env).args(["--app-name=dandori", "--", &title, &body])
        } else if let Some(program) = self.env.find_program("busctl") {
            // As the freedesktop.org specification has it: app, replaces, icon, summary, body, actions, hints, timeout.
            let place =
                ["org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications"];
            Cmd::new(program.as_str(), &self.env).args(["--user", "--quiet", "call"]).args(place).args([
                "Notify",
                "susssasa{sv}i",
                "--",
                "dandori",
                "0",
                "",
                &title,
                &body,
                "0",
                "0",
                "-1",
            ])
        } else {
            return skipped("no_program");
        };
        done("desktop", blocking(move || command.deadline(DESKTOP_DEADLINE).run()).await)
    }

    async fn command(&self, line: String, body: String) -> WayResult {
        let mut command = Cmd::new("sh", &self.env).args(["-c", &line]).stdin(body.into_bytes());
        if let Some(home) = self.env.home().filter(|home| home.is_dir()) {
            command = command.cwd(&home);
        }
        done("command", blocking(move || command.deadline(COMMAND_DEADLINE).run()).await)
    }
}

async fn webhook(address: &str, body: String) -> WayResult {
    let client = match client_for(address) {
        Ok(client) => client,
        Err(reason) => return failed("webhook", reason),
    };
    let mut pauses = PAUSES.into_iter();
    loop {
        let request = client.post(address).header("content-type", "application/json").body(body.clone());
        let (reason, again) = match request.timeout(REQUEST_DEADLINE).send().await {
            Ok(answer) if answer.status().is_success() => {
                return WayResult { way: "webhook", outcome: WayOutcome::Sent };
            }
            Ok(answer) => {
                let status = answer.status();
                (format!("it answered {status}"), status.is_server_error() || status.as_u16() == 429)
            }
            Err(e) => (dandori_domain::cause::root_cause(&e.without_url()), true),
        };
        match pauses.next().filter(|_| again) {
            Some(pause) => tokio::time::sleep(pause).await,
            None => return failed("webhook", reason),
        }
    }
}

/// No certificate is looked at for plain HTTP, so a machine without any can still talk to its own loopback.
fn client_for(address: &str) -> Result<reqwest::Client, String> {
    let url = reqwest::Url::parse(address).map_err(|e| e.to_string())?;
    // The client is built for TLS all the same, and wants to know whose.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent("dandori")
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never());
    if url.scheme() == "http" {
        builder = builder.tls_certs_only([]);
    }
    if matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]")) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|e| dandori_domain::cause::root_cause(&e))
}

/// Somebody is logged in at a desktop whose bus can be reached.
fn has_session(env: &Env) -> bool {
    let bus = env.path("XDG_RUNTIME_DIR").map(|folder| folder.join("bus"));
    env.text("DBUS_SESSION_BUS_ADDRESS").is_some() || bus.is_some_and(|bus| bus.exists())
}

/// Desktops read a little HTML in the body.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

async fn bell(terminal: Option<Utf8PathBuf>) -> WayResult {
    let Some(path) = terminal else {
        return WayResult { way: "bell", outcome: WayOutcome::Skipped { reason: "no_terminal".into() } };
    };
    let rung = tokio::task::spawn_blocking(move || ring(&path)).await;
    match rung {
        Ok(Ok(())) => WayResult { way: "bell", outcome: WayOutcome::Sent },
        // It was closed, or has become somebody else's.
        Ok(Err(_)) | Err(_) => {
            WayResult { way: "bell", outcome: WayOutcome::Skipped { reason: "terminal_gone".into() } }
        }
    }
}

/// One byte to a terminal of our own user; it neither becomes ours nor makes us wait.
fn ring(path: &Utf8Path) -> std::io::Result<()> {
    let refused = |why: &str| Err(std::io::Error::other(why.to_owned()));
    if !path.starts_with("/dev/") {
        return refused("not a terminal");
    }
    let flags = rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let mut file: File =
        File::options().write(true).custom_flags(i32::try_from(flags.bits()).unwrap_or(0)).open(path)?;
    let found = file.metadata()?;
    if !found.file_type().is_char_device()
        || found.uid() != rustix::process::getuid().as_raw()
        || !rustix::termios::isatty(&file)
    {
        return refused("not a terminal of this user");
    }
    file.write_all(b"\x07")
}

fn done(way: &'static str, ran: Result<cmd::CmdOutput, String>) -> WayResult {
    match ran {
        Ok(_) => WayResult { way, outcome: WayOutcome::Sent },
        Err(reason) => failed(way, reason),
    }
}

fn failed(way: &'static str, reason: String) -> WayResult {
    WayResult { way, outcome: WayOutcome::Failed { reason } }
}

async fn blocking(
    work: impl FnOnce() -> Result<cmd::CmdOutput, cmd::CmdError> + Send + 'static,
) -> Result<cmd::CmdOutput, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(ran) => ran.map_err(|e| dandori_domain::cause::with_causes(&e)),
        Err(e) => Err(e.to_string()),
    }
}
