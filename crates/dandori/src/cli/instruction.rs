//! Where an instruction comes from: the command line, a file, or a pipe.

use std::io::Read;

use camino::Utf8PathBuf;
use clap::Args;
use dandori_domain::Problem;
use dandori_domain::task::MAX_INSTRUCTION_BYTES;

#[derive(Args)]
pub(crate) struct InstructionArgs {
    /// What is to be done; `-` reads it from stdin
    #[arg(value_name = "INSTRUCTION", required_unless_present = "file")]
    instruction: Option<String>,
    /// Read the instruction from a file
    #[arg(long, short = 'f', value_name = "FILE", conflicts_with = "instruction")]
    file: Option<Utf8PathBuf>,
}

impl InstructionArgs {
    pub(crate) fn read(&self) -> Result<String, Problem> {
        match (&self.file, self.instruction.as_deref()) {
            (Some(path), _) => {
                let io = |e: std::io::Error| Problem::of_named_file(path, &e);
                bounded(std::fs::File::open(path).map_err(io)?).map_err(io)
            }
            (None, Some("-")) => {
                bounded(std::io::stdin()).map_err(|e| Problem::Io { path: "-".into(), reason: e.to_string() })
            }
            (None, Some(text)) => Ok(text.to_owned()),
            (None, None) => Err(Problem::EmptyInstruction),
        }
    }
}

/// An amount of US dollars that can be a budget.
pub(crate) fn budget(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && dollars > 0.0 && dollars <= 1_000_000.0 => Ok(dollars),
        // What to give instead is told by whoever shows the error.
        _ => Err("no amount of US dollars above 0".to_owned()),
    }
}

/// No more than tells that it is too long.
fn bounded(from: impl Read) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    from.take(MAX_INSTRUCTION_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // Cut in the middle of a character: too long anyway, and it will be said so.
        Err(e) if e.as_bytes().len() > MAX_INSTRUCTION_BYTES => Ok(String::from_utf8_lossy(e.as_bytes()).into_owned()),
        Err(_) => Err(std::io::Error::other("it is not UTF-8 text")),
    }
}
