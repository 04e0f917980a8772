//! `project.md`: what a project is about, as far as it says what is not.

use crate::lines::{entries, heading_of, prose};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Project {
    pub scope: Vec<String>,
    pub out_of_scope: Vec<String>,
}

impl Project {
    /// Keys `scope` and `out_of_scope`, and the bullets below a heading of that meaning.
    pub fn read(text: &str) -> Self {
        let mut project = Self::default();
        for entry in entries(text) {
            match entry.path.rsplit('.').next() {
                Some("scope") => project.scope.extend(entry.value.list()),
                Some("out_of_scope") => project.out_of_scope.extend(entry.value.list()),
                _ => {}
            }
        }
        let mut is_inside = false;
        for (_, line) in prose(text) {
            if let Some(heading) = heading_of(line) {
                is_inside = is_out_of_scope(heading);
            } else if is_inside {
                let words = line.trim_start();
                let item = words.strip_prefix("- ").or_else(|| words.strip_prefix("* "));
                project.out_of_scope.extend(item.map(|item| item.trim().to_owned()));
            }
        }
        project
    }
}

fn is_out_of_scope(heading: &str) -> bool {
    let heading = heading.to_lowercase().replace(['-', '_'], " ");
    ["out of scope", "non goals", "スコープ外", "対象外"].iter().any(|name| heading.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_project_is_not_about_is_read_from_keys_and_from_headings() {
        let text = "---\nscope: [src/**]\nout_of_scope:\n  - mobile app\n---\n# Project\n\n## Goals\n- billing\n\
                    \n## Out of scope (for now)\n- payment provider\n* SSO\nprose\n\n## スコープ外\n- 決済機能\n## Notes\n- x\n";
        let project = Project::read(text);
        assert_eq!(project.scope, ["src/**"]);
        assert_eq!(project.out_of_scope, ["mobile app", "payment provider", "SSO", "決済機能"]);
        assert_eq!(Project::read("# Scope\n- everything\n"), Project::default());
        assert_eq!(Project::read("\0---\n## Non-goals"), Project::default());
    }
}
