//! A user who is logged in to a scripted model.

#![expect(clippy::disallowed_methods, reason = "a test's own fixture needs no durable write")]

use camino::Utf8Path;

use super::{Kind, ModelServer};

impl ModelServer {
    /// Settings and login of a user whose home folder is `home`, as the agent's own set-up would leave them. What
    /// comes back belongs into his environment.
    pub fn log_in(&self, home: &Utf8Path) -> Vec<(String, String)> {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let url = self.url();
        let write = |path: &str, text: &str| {
            let path = home.join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(home)).expect("a folder in the user's home");
            std::fs::write(path, text).expect("a file in the user's home");
        };
        match self.kind {
            Kind::Anthropic => vec![pair("ANTHROPIC_API_KEY", "sk-ant-scripted"), pair("ANTHROPIC_BASE_URL", &url)],
            Kind::OpenAi => {
                // A provider of the user's own: only those can be told how often to try again. The model is one
                // that uses the plain tools.
                write(
                    ".codex/config.toml",
                    &format!(
                        "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\n\
                         name = \"scripted\"\nbase_url = \"{url}\"\nenv_key = \"SCRIPTED_KEY\"\n\
                         wire_api = \"responses\"\n"
                    ),
                );
                vec![pair("SCRIPTED_KEY", "scripted")]
            }
            Kind::Gemini => {
                write(".gemini/settings.json", "{ \"model\": { \"name\": \"gemini-2.5-flash\" } }");
                vec![pair("GEMINI_API_KEY", "scripted"), pair("GOOGLE_GEMINI_BASE_URL", &url)]
            }
        }
    }
}
