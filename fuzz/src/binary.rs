//! The dandori binary that is run: built from this tree, in the profile the fuzzer itself has.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_host::{Cmd, Env};

use crate::trouble::Trouble;

const BUILD_DEADLINE: Duration = Duration::from_hours(1);

/// `asked`; else what cargo builds; else, without cargo, what lies beside us.
pub(crate) fn find(asked: Option<&Utf8Path>) -> Result<Utf8PathBuf, Trouble> {
    if let Some(path) = asked {
        return path.canonicalize_utf8().map_err(Trouble::io(path));
    }
    let own = Utf8PathBuf::try_from(std::env::current_exe()?).map_err(|e| Trouble::wrong(e.to_string()))?;
    let beside = own.with_file_name("dandori");
    let env = Env::of_process();
    // `cargo run` and `cargo test` name themselves to what they run.
    if let Some(cargo) = env.text("CARGO") {
        let profile: &[&str] = if cfg!(debug_assertions) { &[] } else { &["--release"] };
        let build = Cmd::new(cargo, &env).args(["build", "--quiet", "-p", "dandori"]).args(profile);
        build.cwd(Utf8Path::new(env!("CARGO_MANIFEST_DIR"))).deadline(BUILD_DEADLINE).run()?;
    }
    if beside.is_file() {
        return Ok(beside);
    }
    Err(Trouble::wrong(format!("there is no dandori at {beside}: build it, or name one with --dandori")))
}
