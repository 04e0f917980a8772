//! By which path the agents call this program.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Problem;

use crate::cli::Context;

/// The name that outlives an upgrade, before the place it leads to: a link on the PATH stays when the folder with a
/// version in its name behind it goes.
pub(super) fn own_path(context: &Context) -> Result<Utf8PathBuf, Problem> {
    let failed = |reason: String| Problem::Io { path: "dandori".into(), reason };
    let running = std::env::current_exe().map_err(|e| failed(e.to_string()))?;
    let running = Utf8PathBuf::try_from(running).map_err(|e| failed(e.to_string()))?;
    // A program that was replaced while it runs has no path any more.
    let real = running.canonicalize_utf8().map_err(|e| Problem::Io { path: running.clone(), reason: e.to_string() })?;
    let on_path = context.env.find_program("dandori");
    let called = std::env::args().next().filter(|name| name.contains('/')).map(Utf8PathBuf::from);
    let candidates = [on_path, called].into_iter().flatten().filter_map(|path| absolute(&path));
    let same = |path: &Utf8PathBuf| path.canonicalize_utf8().is_ok_and(|found| found == real);
    Ok(candidates.filter(|path| !path.as_str().contains("/../")).find(same).unwrap_or(running))
}

fn absolute(path: &Utf8Path) -> Option<Utf8PathBuf> {
    Utf8PathBuf::try_from(std::path::absolute(path).ok()?).ok()
}

/// Whether an agent at work could replace it: it, or what it leads to, lies in the guarded checkout; for all
/// checkouts, in any.
pub(super) fn is_in_reach(program: &Utf8Path, guarded: Option<&Utf8Path>) -> bool {
    let real = program.canonicalize_utf8().unwrap_or_else(|_| program.to_owned());
    [program, &real].into_iter().any(|path| match guarded {
        Some(root) => path.starts_with(root) || root.canonicalize_utf8().is_ok_and(|root| path.starts_with(root)),
        None => path.ancestors().skip(1).any(|folder| folder.join(".git").exists()),
    })
}
