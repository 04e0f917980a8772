//! What this machine can do, found out by doing it: every layer is put up once, around nothing.

use std::time::Duration;

use camino::Utf8Path;
use dandori_domain::cause::with_causes;
use dandori_domain::run::Sandbox;

use crate::{Cmd, Env};

/// `program` is the `dandori` binary.
pub fn probe(program: &Utf8Path) -> Sandbox {
    let answer = Cmd::new(program, &Env::default()).arg("fence-probe").deadline(Duration::from_secs(30)).run();
    match answer {
        Ok(output) => serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| Sandbox::None { reason: format!("the trial said what it may not: {e}") }),
        Err(error) => Sandbox::None { reason: format!("the trial failed: {}", with_causes(&error)) },
    }
}
