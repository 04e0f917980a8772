//! `dandori guard revoke`

use std::process::ExitCode;

use clap::Args;
use dandori_api::ExceptionRevoked;
use dandori_journal::{ExceptionError, Exceptions};
use dandori_text::guard::verbs as text;

use super::Context;
use crate::guarded::Guarded;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct GuardRevokeArgs {
    /// Id of the exception, from `dandori guard list`
    id: String,
}

pub(crate) fn run(args: &GuardRevokeArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let guarded = Guarded::here(context)?;
    match Exceptions::new(&guarded.folder).revoke(&args.id) {
        Ok(()) => {}
        Err(ExceptionError::None { .. }) => {
            return Err(Failed::Refused(text::no_such_exception(out.lang, &args.id)));
        }
        Err(e) => return Err(guarded.io(&std::io::Error::other(e)).into()),
    }
    out.object(&ExceptionRevoked { id: args.id.clone() });
    out.prose(0, text::revoked(out.lang, &args.id));
    Ok(ExitCode::SUCCESS)
}
