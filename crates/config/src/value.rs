//! What a value may be where its type alone does not tell. Each says what is wrong with it, and what is right.

/// A worktree costs disk space, and preparing it time.
const MOST_IN_POOL: u32 = 64;
const LANGUAGES: [&str; 2] = ["en", "ja"];
/// What a commit message can be made of.
const PARTS: [&str; 7] = ["type", "subject", "summary", "instruction", "task", "agent", "run"];

pub(crate) fn language(text: &str) -> Result<(), String> {
    if LANGUAGES.contains(&text) {
        return Ok(());
    }
    Err(format!("language = {text:?} is not one of: {}", LANGUAGES.join(", ")))
}

/// An address, or `host=… dbname=…` as the clients of PostgreSQL know it.
pub(crate) fn store(text: &str) -> Result<(), String> {
    let is_address = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
    let is_list = !text.contains("://") && text.contains('=');
    if is_address || is_list {
        return Ok(());
    }
    // Not repeated: it may hold a password.
    Err("store is not an address such as \"postgres://user@host/dandori\"".to_owned())
}

pub(crate) fn pool(count: u32) -> Result<(), String> {
    if count <= MOST_IN_POOL {
        return Ok(());
    }
    Err(format!("worktrees.pool = {count} is too many: use 0 to {MOST_IN_POOL}"))
}

pub(crate) fn template(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("commit.template is empty".to_owned());
    }
    let named = text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    let is_word = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match named.filter(is_word).find(|name| !PARTS.contains(name)) {
        None => Ok(()),
        Some(unknown) => {
            let known = PARTS.map(|part| format!("{{{part}}}")).join(" ");
            Err(format!("commit.template names {{{unknown}}}, which does not exist; use: {known}"))
        }
    }
}

/// A name or an address, with a port if need be.
pub(crate) fn host(text: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    if !text.is_empty() && text.chars().all(fits) {
        return Ok(());
    }
    Err(format!("github.host = {text:?} is not a host such as \"github.example.com\""))
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use crate::load::{Config, Source};

    fn read(text: &str) -> Result<(), String> {
        Config::default().merge(Utf8Path::new("config.toml"), text, Source::User).map_err(|e| e.to_string())
    }

    #[test]
    fn what_cannot_work_is_refused_when_it_is_read_with_what_can() {
        for (text, says) in [
            ("language = 'fr'", "en, ja"),
            ("store = 'mysql://x?a=b'", "postgres://"),
            ("store = 'x'", "postgres://"),
            ("worktrees.pool = 1000000", "0 to 64"),
            ("commit.template = '{type} {bogus}'", "{subject}"),
            ("commit.template = ' '", "empty"),
            ("github.host = 'a b'", "github.example.com"),
            ("github.host = ''", "github.example.com"),
            ("agents.''.command = 'x'", "agents."),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
        }
        for text in [
            "language = 'ja'",
            "store = 'postgresql://me@db/x'",
            "store = 'host=/run/postgresql dbname=x'",
            "worktrees.pool = 0",
            "commit.template = '{type}: {subject} { } {} {run}'",
            "github.host = 'git.example.com:8443'",
            "agents.mine.command = 'x'",
        ] {
            assert_eq!(read(text), Ok(()), "{text}");
        }
    }
}
