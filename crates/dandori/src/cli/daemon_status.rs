//! `dandori daemon status`

use std::process::ExitCode;

use dandori_api::{DaemonStatus, Health};
use dandori_text::ui;

use super::Context;
use crate::client::Client;
use crate::out::Failed;

pub(crate) async fn run(context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let Some(client) = Client::reach(context).await? else {
        out.object(&DaemonStatus { running: false, health: None });
        out.prose(0, ui::daemon_stopped(out.lang));
        return Ok(ExitCode::from(1));
    };
    let health: Health = client.get("/v1/health").await?;
    out.object(&DaemonStatus { running: true, health: Some(health.clone()) });
    out.prose(0, ui::daemon_running(out.lang, health.pid, &health.version));
    if let Some(address) = &health.listen {
        out.line(ui::daemon_listens(out.lang, address));
    }
    out.prose(0, ui::daemon_counts(out.lang, health.live_runs, health.max_parallel, health.waiting_runs));
    let store = &health.store;
    let (damage, backup) = (store.damage.as_deref(), store.newest_backup.as_deref());
    out.prose(0, ui::store(out.lang, &store.backend, store.bytes, damage, backup));
    for notice in &health.notices {
        out.note(&notice.message);
    }
    Ok(ExitCode::SUCCESS)
}
