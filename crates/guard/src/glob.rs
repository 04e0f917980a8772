//! Path patterns, as people write them in an ignore file.

use camino::Utf8Path;

/// Whether a path is held by a pattern, or lies below a folder that is. `path` is from the checkout's root, or absolute
/// when it lies outside. A pattern without a slash is a name anywhere in it; one with a slash begins at the root.
pub fn holds(pattern: &str, path: &Utf8Path) -> bool {
    let anchored = pattern.trim_start_matches("./").trim_end_matches('/');
    if !anchored.contains('/') {
        return path.as_str().split('/').any(|part| !part.is_empty() && fits(anchored, part));
    }
    holds_from_root(if path.is_absolute() { anchored } else { anchored.trim_start_matches('/') }, path)
}

/// The same for a pattern that begins at the root, slash or not.
pub(crate) fn holds_from_root(pattern: &str, path: &Utf8Path) -> bool {
    let (pattern, path) = (pattern.trim_end_matches('/'), path.as_str());
    if is_plain(pattern) {
        return path.strip_prefix(pattern).is_some_and(|below| below.is_empty() || below.starts_with('/'));
    }
    let folders = path.match_indices('/').filter_map(|(end, _)| path.get(..end)).filter(|folder| !folder.is_empty());
    folders.chain(std::iter::once(path)).any(|part| !part.is_empty() && fast_glob::glob_match(pattern, part))
}

/// One name against a pattern for it. Nearly all patterns are a name or an ending, and every path is held against all
/// of them.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(ending) if is_plain(ending) => name.ends_with(ending),
        _ if is_plain(pattern) => name == pattern,
        _ => fast_glob::glob_match(pattern, name),
    }
}

fn is_plain(pattern: &str) -> bool {
    !pattern.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b']' | b'{' | b'}' | b'\\' | b'!'))
}

/// Words of a command against words of a pattern; a last `*` is any rest.
pub(crate) fn holds_words(pattern: &str, words: &[&str]) -> bool {
    let mut words = words.iter();
    let mut patterns = pattern.split_whitespace().peekable();
    while let Some(wanted) = patterns.next() {
        if wanted == "*" && patterns.peek().is_none() {
            return true;
        }
        match words.next() {
            Some(word) if wanted == "*" || fast_glob::glob_match(wanted, word) || wanted == *word => {}
            _ => return false,
        }
    }
    words.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_holds_names_anywhere_and_paths_from_the_root() {
        for (pattern, path, held) in [
            (".env", ".env", true),
            (".env", "app/.env", true),
            (".env", ".envrc", false),
            (".env.*", "app/.env.local", true),
            ("*.pem", "/home/user/.ssh/x.pem", true),
            (".git", ".git/config", true),
            ("docs/", "docs/a/b.md", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/a/b.rs", false),
            ("src/**", "src/a/b.rs", true),
            ("/src/a.rs", "src/a.rs", true),
            ("./src/a.rs", "src/a.rs", true),
            ("a/b", "x/a/b", false),
            ("**/b", "x/a/b", true),
            ("/etc/*", "/etc/passwd", true),
            ("日本/*.md", "日本/語.md", true),
            ("*_rsa", "home/id_rsa", true),
            ("*_rsa", "home/id_rsa.pub", false),
            ("src/a", "src/ab", false),
            ("src/a", "src/a/b", true),
            ("[ab].rs", "x/a.rs", true),
            ("\\*.rs", "x/a.rs", false),
        ] {
            assert_eq!(holds(pattern, Utf8Path::new(path)), held, "{pattern} {path}");
        }
    }

    #[test]
    fn a_command_is_held_word_by_word() {
        for (pattern, line, held) in [
            ("npm publish *", "npm publish --tag x", true),
            ("npm publish *", "npm publish", true),
            ("npm publish", "npm publish --tag x", false),
            ("npm * --force", "npm i --force", true),
            ("rm -*r* *", "rm -rf x", true),
            ("terraform apply *", "terraform plan", false),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(holds_words(pattern, &words), held, "{pattern}: {line}");
        }
    }
}
