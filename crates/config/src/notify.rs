//! How people are told: `[notify]`, in the user's own file alone. A repository's file could name a program otherwise.

use serde::Deserialize;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotifySettings {
    /// A notification on the desktop, where there is one.
    pub desktop: bool,
    /// The bell of the terminal a run was asked from.
    pub bell: bool,
    /// A shell line that gets the notice as JSON on standard input.
    pub command: Option<String>,
    /// An address the notice is sent to as JSON.
    pub webhook: Option<String>,
}

impl Default for NotifySettings {
    fn default() -> Self {
        Self { desktop: true, bell: false, command: None, webhook: None }
    }
}

#[derive(Deserialize)]
pub(crate) struct RawNotify {
    desktop: Option<bool>,
    bell: Option<bool>,
    command: Option<String>,
    webhook: Option<String>,
}

impl NotifySettings {
    pub(crate) fn take(&mut self, raw: RawNotify) -> Result<(), String> {
        self.desktop = raw.desktop.unwrap_or(self.desktop);
        self.bell = raw.bell.unwrap_or(self.bell);
        if let Some(command) = raw.command {
            if command.trim().is_empty() {
                return Err("notify.command is empty".to_owned());
            }
            self.command = Some(command);
        }
        if let Some(address) = raw.webhook {
            if !(address.starts_with("https://") || address.starts_with("http://")) {
                return Err(format!("notify.webhook = {address:?} is not an http:// or https:// address"));
            }
            self.webhook = Some(address);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Config, Source};
    use camino::Utf8Path;

    fn read(text: &str, source: Source) -> Result<Config, String> {
        let mut config = Config::default();
        config.merge(Utf8Path::new("config.toml"), text, source).map_err(|e| e.to_string())?;
        Ok(config)
    }

    #[test]
    fn the_user_says_how_to_be_told_and_a_repository_cannot() {
        let text = "[notify]\ndesktop = false\nbell = true\ncommand = \"cat\"\nwebhook = \"http://127.0.0.1:1/x\"\n";
        let notify = read(text, Source::User).unwrap().notify;
        assert_eq!((notify.desktop, notify.bell), (false, true));
        assert_eq!((notify.command.as_deref(), notify.webhook.as_deref()), (Some("cat"), Some("http://127.0.0.1:1/x")));
        for key in ["desktop = false", "bell = true", "command = \"cat\"", "webhook = \"http://h/\""] {
            let refused = read(&format!("[notify]\n{key}\n"), Source::Repository).unwrap_err();
            assert!(refused.contains("user's config.toml"), "{refused}");
        }
        for bad in ["command = \" \"", "webhook = \"ftp://h\"", "webhook = \"h\""] {
            assert!(read(&format!("[notify]\n{bad}\n"), Source::User).is_err(), "{bad}");
        }
    }
}
