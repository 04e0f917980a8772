//! The daemon as a process: started in the background by the first command that needs it.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{ExitCode, Stdio};

use camino::Utf8PathBuf;
use clap::Args;
use dandori_domain::Problem;
use dandori_engine::{EngineOptions, Layout};
use dandori_host::{Env, StateRoot};
use dandori_server::ServeError;
use tokio_util::sync::CancellationToken;

use crate::cli::Context;
use crate::client::root_problem;

#[derive(Args)]
pub(crate) struct ServeArgs {
    /// Also listen on this loopback address
    #[arg(long)]
    listen: Option<SocketAddr>,
    /// Stay in the foreground
    #[arg(long)]
    foreground: bool,
}

/// Beyond this a new log is begun with a new daemon; one old one is kept.
const LOG_LIMIT: u64 = 16 << 20;

/// What a starting daemon tells the command that started it.
const READY: &str = "ready";
const ANOTHER: &str = "another";

/// Starts a daemon and waits until it is ready, or says why it is not.
pub(crate) async fn start(context: &Context, listen: Option<SocketAddr>) -> Result<(), Problem> {
    let layout = context.layout.clone();
    let env = context.env.clone();
    let start = move || match (listen, inherited(&layout)) {
        (None, Some(address)) => start_blocking(&layout, &env, Some(address)).or_else(|problem| match problem {
            // Somebody else has the address by now: better a daemon without it than none.
            Problem::CannotListen { .. } => start_blocking(&layout, &env, None),
            other => Err(other),
        }),
        _ => start_blocking(&layout, &env, listen),
    };
    tokio::task::spawn_blocking(start).await.map_err(|e| Problem::Internal { reason: e.to_string() })?
}

/// Whoever starts the next daemon, it is to listen where this one did.
pub(crate) fn bequeath(layout: &Layout, listen: SocketAddr) {
    let _ = dandori_host::replace_file(&legacy(layout), listen.to_string().as_bytes(), 0o600);
}

fn inherited(layout: &Layout) -> Option<SocketAddr> {
    std::fs::read_to_string(legacy(layout)).ok()?.parse().ok()
}

fn legacy(layout: &Layout) -> Utf8PathBuf {
    layout.private().join("listen-again")
}

#[expect(clippy::disallowed_methods, reason = "the daemon outlives us: it is not a command with a deadline")]
fn start_blocking(layout: &Layout, env: &Env, listen: Option<SocketAddr>) -> Result<(), Problem> {
    let failed = |reason: String| Problem::DaemonStarting { log: layout.log(), reason };
    StateRoot::make(layout).map_err(root_problem)?;
    if layout.log().metadata().is_ok_and(|m| m.len() > LOG_LIMIT) {
        let _ = std::fs::rename(layout.log(), layout.log().with_extension("log.old"));
    }
    let log = OpenOptions::new().create(true).append(true).open(layout.log()).map_err(|e| failed(e.to_string()))?;
    let own = std::env::current_exe().map_err(|e| failed(e.to_string()))?;
    let mut command = std::process::Command::new(own);
    command.args(["daemon", "serve"]).env_clear().envs(env.iter()).current_dir("/");
    command.env("DANDORI_STATE_DIR", layout.root());
    if let Some(address) = listen {
        command.arg(format!("--listen={address}"));
    }
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn().map_err(|e| failed(e.to_string()))?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        // Ends with the daemon at the latest: nobody waits for ever.
        BufReader::new(stdout).read_line(&mut line).map_err(|e| failed(e.to_string()))?;
    }
    // While we live it is our child: somebody has to take note when it ends.
    std::thread::spawn(move || child.wait());
    match line.trim() {
        READY => {
            let _ = std::fs::remove_file(legacy(layout));
            Ok(())
        }
        ANOTHER => Ok(()),
        "" => Err(failed("it exited before it was ready".to_owned())),
        other => Err(serde_json::from_str(other).unwrap_or_else(|_| failed(other.to_owned()))),
    }
}

/// `dandori daemon serve`
pub(crate) fn serve(args: &ServeArgs, mut env: Env) -> ExitCode {
    // Started from within a run it is not part of it.
    env.remove(dandori_host::shim::RUN_MARKER);
    if !args.foreground {
        // A session of its own: the terminal's Ctrl-C and its closing are not meant for the daemon.
        let _ = rustix::process::setsid();
    }
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("DANDORI_LOG")
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info")),
        )
        .init();
    let Some(layout) = Layout::from_env(&env) else { return ExitCode::from(2) };
    let Ok(Ok(dandori)) = std::env::current_exe().map(Utf8PathBuf::try_from) else { return ExitCode::from(70) };
    let user_config = dandori_host::layout::user_config(&env);
    let options = EngineOptions {
        layout: layout.clone(),
        env,
        user_config,
        dandori,
        words: crate::news::words,
        formation_words: crate::formation_words::words,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let Ok(runtime) = runtime else { return ExitCode::from(70) };
    let served = runtime.block_on(async {
        let stop = CancellationToken::new();
        tokio::spawn(stop_on_signal(stop.clone()));
        dandori_server::serve(options, args.listen, stop, || announce(READY)).await
    });
    match served {
        Ok(_) => ExitCode::SUCCESS,
        Err(ServeError::AnotherLives { .. }) => {
            announce(ANOTHER);
            ExitCode::from(1)
        }
        Err(e) => {
            tracing::error!("{e}");
            let problem = match e {
                ServeError::Engine(problem) => problem,
                ServeError::Listen { address, source } => {
                    Problem::CannotListen { address: address.to_string(), reason: source.to_string() }
                }
                ServeError::Root(error) => root_problem(error),
                ServeError::Io { path, source } => Problem::Io { path, reason: source.to_string() },
                ServeError::AnotherLives { .. } => Problem::Internal { reason: e.to_string() },
            };
            announce(&serde_json::to_string(&problem).unwrap_or_default());
            ExitCode::from(3)
        }
    }
}

/// One line for whoever started us; after it nobody reads any more.
fn announce(line: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{line}");
    let _ = stdout.flush();
}

async fn stop_on_signal(stop: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
        return;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
    stop.cancel();
}
