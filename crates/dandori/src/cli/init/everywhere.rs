//! Our hooks in every settings file that we know of: this checkout's, the user's, and those written down at `init`.

use camino::Utf8PathBuf;
use dandori_domain::Problem;
use dandori_install::Client;

use super::files::{Deed, Records, read};
use super::places::Places;
use super::program;
use crate::cli::Context;

/// What it takes to be gone from all of them.
pub(in crate::cli) fn all(context: &Context) -> Result<Vec<Deed>, Problem> {
    let program = program::own_path(context)?;
    let mut deeds: Vec<Deed> = Vec::new();
    for (path, records) in known(context) {
        if deeds.iter().any(|deed| deed.path == path) {
            continue;
        }
        let Some(text) = read(&path)? else { continue };
        let owner = Client::with_hooks().map(|(client, _)| client).find(|c| dandori_install::has_ours(*c, &text));
        if let Some(client) = owner {
            deeds.extend(Deed::uninstall(client, path, program.as_str(), &records)?);
        }
    }
    Ok(deeds)
}

/// Every file that may have our hooks, with what is remembered of it.
fn known(context: &Context) -> Vec<(Utf8PathBuf, Records)> {
    let mut found = Vec::new();
    let folders = context.layout.guards().read_dir_utf8().into_iter().flatten().flatten();
    for record in folders.map(|entry| entry.path().join("install.json")) {
        let files: Vec<Utf8PathBuf> = Records::load(&record).paths().cloned().collect();
        found.extend(files.into_iter().map(|file| (file, Records::load(&record))));
    }
    // Hooks of before there were records.
    for places in Places::both(context) {
        for (client, _) in Client::with_hooks() {
            found.extend(places.files(client).map(|file| (file, Records::load(&places.records))));
        }
    }
    found
}
