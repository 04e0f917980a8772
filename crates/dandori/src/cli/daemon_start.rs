//! `dandori daemon start`

use std::net::SocketAddr;
use std::process::ExitCode;

use clap::Args;
use dandori_api::Health;
use dandori_domain::Problem;

use super::{Context, daemon_status};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct DaemonStartArgs {
    /// Also listen on this loopback address, such as 127.0.0.1:4100
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

pub(crate) async fn run(args: DaemonStartArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect_listening(context, args.listen).await?;
    if let Some(asked) = args.listen {
        // It may have run before, or another command may have started it a moment earlier.
        let health: Health = client.get("/v1/health").await?;
        if !is_met(asked, health.listen.as_deref()) {
            return Err(Problem::DaemonListensElsewhere { asked: asked.to_string(), listens: health.listen }.into());
        }
    }
    daemon_status::run(context).await
}

/// Whoever asks for port 0 takes any.
fn is_met(asked: SocketAddr, listens: Option<&str>) -> bool {
    let listens = listens.and_then(|text| text.parse::<SocketAddr>().ok());
    listens.is_some_and(|l| l.ip() == asked.ip() && (asked.port() == 0 || l.port() == asked.port()))
}
