//! The product's scripted model, and a user who is logged in to it.

#![expect(clippy::disallowed_methods, reason = "a test's own fixture needs no durable write")]
#![expect(clippy::expect_used, reason = "a test that cannot have its server has failed")]

use std::ops::Deref;

use camino::Utf8Path;
pub use dandori_model::{Call, Fault, Kind, Script, Turn};

pub struct ModelServer(dandori_model::ModelServer);

impl Deref for ModelServer {
    type Target = dandori_model::ModelServer;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl ModelServer {
    pub fn start(kind: impl Into<Kind>, script: Script) -> Self {
        Self(dandori_model::ModelServer::start(kind.into(), script).expect("a free port on loopback"))
    }

    /// A model nobody serves: every connection is refused.
    pub fn refusing(kind: impl Into<Kind>) -> Self {
        let mut server = Self::start(kind, Script::default());
        server.stop();
        server
    }

    /// Hanging requests are cut off, the port is closed.
    pub fn stop(&mut self) {
        self.0.stop();
    }

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
        match self.kind() {
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
            Kind::Google => {
                write(".gemini/settings.json", "{ \"model\": { \"name\": \"gemini-2.5-flash\" } }");
                vec![pair("GEMINI_API_KEY", "scripted"), pair("GOOGLE_GEMINI_BASE_URL", &url)]
            }
        }
    }
}
