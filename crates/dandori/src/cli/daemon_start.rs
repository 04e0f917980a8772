//! `dandori daemon start`

use std::net::SocketAddr;
use std::process::ExitCode;

use clap::Args;

use super::{Context, daemon_status};
use crate::client::Client;
use crate::daemon;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct DaemonStartArgs {
    /// Also listen on this loopback address, such as 127.0.0.1:4100
    #[arg(long)]
    listen: Option<SocketAddr>,
}

pub(crate) async fn run(args: DaemonStartArgs, context: &Context) -> Result<ExitCode, Failed> {
    if Client::reach(&context.layout).await?.is_none() {
        daemon::start(context, args.listen).await?;
    }
    Client::connect(context).await?;
    daemon_status::run(context).await
}
