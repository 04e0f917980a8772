//! A git remote's address read as host, owner and repository.
//!
//! Only the shapes git itself takes for a server are read; a path on this machine, or a server path that is not
//! exactly owner and repository, is no answer. User names, passwords and ports are dropped: a token written into a
//! remote must not travel any further.

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RemoteUrl {
    /// Lower case, without port.
    pub host: String,
    pub owner: String,
    pub repo: String,
}

impl RemoteUrl {
    pub(crate) fn parse(url: &str) -> Option<Self> {
        let url = url.trim();
        let (authority, path) = match url.split_once("://") {
            Some((scheme, rest)) => {
                let known = ["https", "http", "ssh", "git", "git+ssh", "ssh+git"];
                known.iter().find(|k| scheme.eq_ignore_ascii_case(k))?;
                rest.split_once('/')?
            }
            // `host:path`, as scp writes it; git takes it for a path when a slash comes before the colon.
            None => url.split_once(':').filter(|(host, _)| !host.contains('/'))?,
        };
        let host = host_of(authority)?;
        let path = path.split(['?', '#']).next().unwrap_or(path).trim_matches('/');
        let (owner, repo) = path.split_once('/')?;
        let repo = repo.strip_suffix(".git").unwrap_or(repo);
        (is_name(owner) && is_name(repo)).then(|| Self { host, owner: owner.to_owned(), repo: repo.to_owned() })
    }
}

/// The host of `user:password@host:port`.
fn host_of(authority: &str) -> Option<String> {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host).to_ascii_lowercase();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    // One letter is a Windows drive, not a host.
    if host.len() < 2 || !host.chars().all(plain) {
        return None;
    }
    Some(match host.as_str() {
        // GitHub's ssh on the https port, and its old web name.
        "ssh.github.com" | "www.github.com" => "github.com".to_owned(),
        _ => host,
    })
}

fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !text.is_empty() && text != "." && text != ".." && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_git_takes_for_a_server_is_read() {
        for url in [
            "git@github.com:octo/hello.git",
            "github.com:octo/hello",
            "git@github.com:/octo/hello.git",
            "https://github.com/octo/hello",
            "https://github.com/octo/hello.git/",
            "https://GitHub.com/octo/hello.git",
            "https://someone:ghp_secret@github.com/octo/hello.git",
            "https://ghp_secret@github.com:443/octo/hello",
            "ssh://git@github.com/octo/hello.git",
            "ssh://git@ssh.github.com:443/octo/hello.git",
            "git+ssh://git@github.com/octo/hello",
            "git://github.com/octo/hello.git",
            "  https://github.com/octo/hello.git\n",
        ] {
            let read = RemoteUrl::parse(url).unwrap_or_else(|| panic!("{url}"));
            assert_eq!((read.host.as_str(), read.owner.as_str(), read.repo.as_str()), ("github.com", "octo", "hello"));
            assert!(!format!("{read:?}").contains("secret"), "{read:?}");
        }
        let enterprise = RemoteUrl::parse("ssh://git@ghe.example.com:2222/team_x/a.b-c.git").unwrap();
        assert_eq!(enterprise.host, "ghe.example.com");
        assert_eq!((enterprise.owner.as_str(), enterprise.repo.as_str()), ("team_x", "a.b-c"));
    }

    #[test]
    fn paths_and_what_is_not_owner_and_repository_are_not_read() {
        for url in [
            "",
            "/srv/git/octo/hello.git",
            "../octo/hello.git",
            "./a:octo/hello",
            "file:///srv/octo/hello.git",
            "C:/octo/hello.git",
            "https://github.com/hello.git",
            "https://github.com/octo/sub/hello.git",
            "https://github.com/octo/..",
            "https://github.com/octo/.git",
            "https://github.com",
            "git@github.com:octo/he llo",
            "https://[::1]/octo/hello",
            "ext::sh -c octo/hello",
        ] {
            assert_eq!(RemoteUrl::parse(url), None, "{url}");
        }
    }
}
