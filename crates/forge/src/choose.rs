//! Which forge a repository's pull requests go to. Pure: a remote's address and the configuration in, a choice out.

use reqwest::Url;

use crate::ForgeError;
use crate::remote::RemoteUrl;

/// The configuration's word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ForgeSetting {
    /// GitHub where the remote is GitHub, else the embedded forge.
    #[default]
    Auto,
    GitHub,
    Local,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Chosen {
    GitHub { host: String, owner: String, repo: String },
    Local,
}

/// The configuration says GitHub, and the remote names no repository there.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the forge is set to github, but {} does not name a repository as host, owner and name", shown(.remote.as_deref()))]
pub struct NotGitHub {
    pub remote: Option<String>,
}

fn shown(remote: Option<&str>) -> String {
    remote.map_or_else(|| "the missing remote".to_owned(), |r| format!("the remote {r}"))
}

/// `github_host` is an Enterprise host from the configuration. With the setting `GitHub` it also stands in for a
/// remote whose host is only an alias of ssh's configuration.
pub fn choose(remote_url: Option<&str>, setting: ForgeSetting, github_host: Option<&str>) -> Result<Chosen, NotGitHub> {
    let remote = remote_url.and_then(RemoteUrl::parse);
    let configured = github_host.map(str::to_ascii_lowercase);
    match (setting, remote) {
        (ForgeSetting::Local, _) | (ForgeSetting::Auto, None) => Ok(Chosen::Local),
        (ForgeSetting::GitHub, None) => Err(NotGitHub { remote: remote_url.map(without_userinfo) }),
        (ForgeSetting::GitHub, Some(RemoteUrl { host, owner, repo })) => {
            let host = if is_github_com(&host) { host } else { configured.unwrap_or(host) };
            Ok(Chosen::GitHub { host, owner, repo })
        }
        (ForgeSetting::Auto, Some(RemoteUrl { host, owner, repo })) => {
            let is_github = is_github_com(&host) || configured.as_deref() == Some(host.as_str());
            Ok(if is_github { Chosen::GitHub { host, owner, repo } } else { Chosen::Local })
        }
    }
}

/// Where the REST API of a GitHub host is.
pub fn api_base(host: &str) -> Result<Url, ForgeError> {
    let host = host.to_ascii_lowercase();
    let address = if host == "github.com" {
        "https://api.github.com".to_owned()
    } else if host.ends_with(".ghe.com") {
        format!("https://api.{host}")
    } else {
        format!("https://{host}/api/v3")
    };
    Url::parse(&address).map_err(|e| ForgeError::BadAddress { address, reason: e.to_string() })
}

/// GitHub's own cloud, data-residency tenants included: their tokens are the cloud's tokens.
pub(crate) fn is_github_com(host: &str) -> bool {
    host == "github.com" || host.ends_with(".ghe.com")
}

fn without_userinfo(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            format!("{scheme}://{host}/{path}")
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn github(host: &str) -> Chosen {
        Chosen::GitHub { host: host.into(), owner: "o".into(), repo: "r".into() }
    }

    #[test]
    fn auto_follows_the_remote() {
        let auto = |url, host| choose(url, ForgeSetting::Auto, host);
        assert_eq!(auto(Some("git@github.com:o/r.git"), None), Ok(github("github.com")));
        assert_eq!(auto(Some("https://corp.ghe.com/o/r"), None), Ok(github("corp.ghe.com")));
        assert_eq!(auto(Some("git@ghe.corp:o/r.git"), Some("GHE.corp")), Ok(github("ghe.corp")));
        for elsewhere in ["git@ghe.corp:o/r.git", "https://gitlab.com/o/r", "/srv/r.git", "https://notgithub.com/o/r"] {
            assert_eq!(auto(Some(elsewhere), None), Ok(Chosen::Local), "{elsewhere}");
        }
        assert_eq!(auto(None, Some("ghe.corp")), Ok(Chosen::Local));
    }

    #[test]
    fn a_setting_decides_over_the_remote() {
        assert_eq!(choose(Some("git@github.com:o/r"), ForgeSetting::Local, None), Ok(Chosen::Local));
        assert_eq!(choose(Some("git@ghe.corp:o/r"), ForgeSetting::GitHub, None), Ok(github("ghe.corp")));
        assert_eq!(choose(Some("git@work:o/r"), ForgeSetting::GitHub, Some("ghe.corp")), Ok(github("ghe.corp")));
        assert_eq!(
            choose(Some("git@github.com:o/r"), ForgeSetting::GitHub, Some("ghe.corp")),
            Ok(github("github.com"))
        );
    }

    #[test]
    fn github_without_a_github_remote_is_refused_without_showing_a_password() {
        let error = choose(Some("https://me:pw@host.example/only"), ForgeSetting::GitHub, None).unwrap_err();
        assert!(error.to_string().contains("https://host.example/only"), "{error}");
        assert!(!format!("{error:?}").contains("pw"), "{error:?}");
        let none = choose(None, ForgeSetting::GitHub, None).unwrap_err();
        assert!(none.to_string().contains("missing remote"), "{none}");
    }

    #[test]
    fn the_api_lives_elsewhere_on_enterprise() {
        let base = |host| api_base(host).unwrap().to_string();
        assert_eq!(base("github.com"), "https://api.github.com/");
        assert_eq!(base("corp.ghe.com"), "https://api.corp.ghe.com/");
        assert_eq!(base("ghe.corp"), "https://ghe.corp/api/v3");
        assert!(api_base("no host").is_err());
    }
}
