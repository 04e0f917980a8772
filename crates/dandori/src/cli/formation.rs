//! What the formation's verbs share: where they stand, and texts from arguments, files and pipes.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use dandori_domain::Problem;
use dandori_text::formation::asked as text;

use super::{Context, instruction};
use crate::client::{in_path, quoted};
use crate::out::Failed;

/// What a summary is given as.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct SummaryArgs {
    /// What was done, in two to five sentences
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Read the summary from a file; `-` reads stdin
    #[arg(long, value_name = "FILE")]
    summary_file: Option<Utf8PathBuf>,
}

impl SummaryArgs {
    pub(crate) fn read(self) -> Result<String, Failed> {
        Ok(given(self.summary, self.summary_file.as_deref())?.unwrap_or_default())
    }
}

/// A text, or what is in the file.
pub(crate) fn given(text: Option<String>, file: Option<&Utf8Path>) -> Result<Option<String>, Failed> {
    match (text, file) {
        (Some(text), _) => Ok(Some(text)),
        (None, Some(file)) => Ok(Some(read(file)?)),
        (None, None) => Ok(None),
    }
}

/// A file, or stdin where that is meant.
pub(crate) fn read(file: &Utf8Path) -> Result<String, Failed> {
    if file == "-" || file == "/dev/stdin" {
        let io = |e: std::io::Error| Problem::Io { path: "-".into(), reason: e.to_string() };
        return Ok(instruction::bounded(std::io::stdin()).map_err(io)?);
    }
    let io = |e: std::io::Error| Problem::of_named_file(file, &e);
    Ok(instruction::bounded(std::fs::File::open(file).map_err(io)?).map_err(io)?)
}

/// Where the user stands, for requests that name a folder in the repository.
pub(crate) fn place(context: &Context) -> Result<String, Failed> {
    Ok(context.here()?.into_string())
}

/// The same as a query.
pub(crate) fn query(context: &Context) -> Result<String, Failed> {
    Ok(format!("?path={}", in_path(&context.here()?)))
}

/// An order in an address.
pub(crate) fn order_at(order: &str) -> String {
    format!("/v1/formation/orders/{}", quoted(order))
}

/// An id that only a machine makes.
pub(crate) fn id<T: std::str::FromStr>(context: &Context, flag: &str, text: &str) -> Result<T, Failed> {
    text.parse().map_err(|_| Failed::Usage(text::bad_id(context.out.lang, flag, text)))
}
