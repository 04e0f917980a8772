//! `dandori notify test`

use std::process::ExitCode;

use dandori_api::{NoticesTried, TestNotices};
use dandori_text::inbox as text;

use super::Context;
use crate::client::Client;
use crate::out::{Failed, Out, bad, dim, good};

pub(crate) async fn run(context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let tried: NoticesTried = client.post("/v1/notify/test", &TestNotices { terminal: super::terminal() }).await?;
    let out = &context.out;
    out.object(&tried);
    if tried.ways.is_empty() {
        out.say(text::no_ways(out.lang, dandori_host::layout::user_config(&context.env).as_str()));
    }
    Ok(show(out, &tried))
}

/// How it went on each way.
pub(super) fn show(out: &Out, tried: &NoticesTried) -> ExitCode {
    let mut ok = true;
    for way in &tried.ways {
        let reason = way.reason.as_deref().unwrap_or_default();
        let said = match way.state.as_str() {
            "sent" => good(&text::way_sent(out.lang)),
            "failed" => {
                ok = false;
                bad(&text::way_failed(out.lang, reason))
            }
            _ => dim(&text::way_skipped(out.lang, reason)),
        };
        out.prose(0, format!("{:<8}  {said}", way.way));
    }
    ExitCode::from(u8::from(!ok))
}
