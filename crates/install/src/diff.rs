//! What would change, as people read it.

use similar::TextDiff;

/// A unified diff; a file that is not there is `/dev/null`. Nothing when nothing changes.
pub fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let name = |side: &str, text: Option<&str>| match text {
        Some(_) => format!("{side}/{}", path.trim_start_matches('/')),
        None => "/dev/null".to_owned(),
    };
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    diff.unified_diff().context_radius(3).header(&name("a", before), &name("b", after)).to_string()
}
