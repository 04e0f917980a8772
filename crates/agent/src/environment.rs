//! The environment an agent gets: an allow-list of the user's, and our own words on top.
//!
//! Everything that is not named here stays outside: a token in the user's shell reaches an agent only when it is the
//! agent's own or the user named it in `pass_env`. Variables of dandori's own never do.

use camino::Utf8PathBuf;
use dandori_domain::{AgentName, Client};

use crate::Order;
use crate::driver::Driver;

/// One string of the environment may hold 128 KiB; a longer instruction goes by file and stdin alone.
pub(crate) const ENV_INSTRUCTION_LIMIT: usize = 64 * 1024;

/// The person, the language, the terminal, the way to the network.
const BASE: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TZDIR",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "LOCALE_ARCHIVE",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_DATA_DIRS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NIX_SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
];

/// Where tools and their caches are. Build output of the main checkout (`CARGO_TARGET_DIR`, `VIRTUAL_ENV`) is not
/// among them: a run has its own.
const TOOLS: &[&str] = &[
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "BUN_INSTALL",
    "BUNDLE_PATH",
    "CARGO_HOME",
    "COMPOSER_HOME",
    "COREPACK_HOME",
    "DENO_DIR",
    "DENO_INSTALL",
    "DOTNET_ROOT",
    "FNM_DIR",
    "FNM_MULTISHELL_PATH",
    "GEM_HOME",
    "GEM_PATH",
    "GHCUP_INSTALL_BASE_PREFIX",
    "GOCACHE",
    "GOFLAGS",
    "GOMODCACHE",
    "GOPATH",
    "GOPROXY",
    "GOROOT",
    "GOSUMDB",
    "GOTOOLCHAIN",
    "GRADLE_HOME",
    "GRADLE_USER_HOME",
    "HEX_HOME",
    "HOMEBREW_CELLAR",
    "HOMEBREW_PREFIX",
    "HOMEBREW_REPOSITORY",
    "JAVA_HOME",
    "JDK_HOME",
    "LD_LIBRARY_PATH",
    "M2_HOME",
    "MAVEN_HOME",
    "MISE_CACHE_DIR",
    "MISE_DATA_DIR",
    "MIX_HOME",
    "N_PREFIX",
    "NIX_PATH",
    "NIX_PROFILES",
    "NODE_PATH",
    "NPM_CONFIG_CACHE",
    "NPM_CONFIG_PREFIX",
    "NPM_CONFIG_REGISTRY",
    "NVM_BIN",
    "NVM_DIR",
    "OPAMROOT",
    "PIPX_HOME",
    "PIP_CACHE_DIR",
    "PIP_INDEX_URL",
    "PKG_CONFIG_PATH",
    "PLAYWRIGHT_BROWSERS_PATH",
    "PNPM_HOME",
    "POETRY_HOME",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "RUSTC_WRAPPER",
    "RUSTUP_DIST_SERVER",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SCCACHE_DIR",
    "SDKMAN_DIR",
    "STACK_ROOT",
    "UV_CACHE_DIR",
    "UV_INDEX_URL",
    "UV_PYTHON_INSTALL_DIR",
    "VOLTA_HOME",
    "YARN_CACHE_FOLDER",
    "npm_config_cache",
    "npm_config_prefix",
    "npm_config_registry",
];

/// Whether a variable of the user's goes to this agent, `pass_env` apart.
pub fn is_passed(agent: &AgentName, name: &str) -> bool {
    let is_own = |client: Client| {
        let environment = &client.describe().environment;
        environment.passed.contains(&name) || environment.passed_prefix.is_some_and(|prefix| name.starts_with(prefix))
    };
    let own = agent.client().is_some_and(is_own);
    own || name.starts_with("LC_") || BASE.contains(&name) || TOOLS.contains(&name)
}

/// Files and folders with the login of a cloud that the agent goes through.
pub(crate) fn login_files(order: &Order<'_>) -> Vec<Utf8PathBuf> {
    order.agent.client().map(|client| (Driver::of(client).login_files)(order)).unwrap_or_default()
}

/// The whole environment, sorted by name. `home` is where the private state folder is; `named` are variables the user's
/// own settings read by name.
pub(crate) fn of(order: &Order<'_>, home: &[(String, String)], named: &[String]) -> Vec<(String, String)> {
    let is_login = |name: &str| order.agent.client().is_some_and(|client| (Driver::of(client).is_login)(order, name));
    let is_asked_for = |name: &str| order.pass_env.iter().chain(named).any(|n| n == name);
    let passed = order.user_env.filtered(|name| {
        !name.starts_with("DANDORI_") && (is_passed(order.agent, name) || is_asked_for(name) || is_login(name))
    });
    let mut env: std::collections::BTreeMap<String, String> = passed
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())))
        .collect();
    env.extend(home.iter().cloned());
    env.extend(ours(order));
    env.into_iter().collect()
}

fn ours(order: &Order<'_>) -> Vec<(String, String)> {
    let mut env = vec![
        ("TMPDIR", order.tmp.to_string()),
        ("DANDORI_RUN", order.run.to_string()),
        ("DANDORI_TASK", order.task.to_string()),
        // Status calls of an agent must not fight with ours for the index.
        ("GIT_OPTIONAL_LOCKS", "0".to_owned()),
        ("GIT_TERMINAL_PROMPT", "0".to_owned()),
        ("GIT_EDITOR", "true".to_owned()),
    ];
    if let Some(door) = &order.door {
        env.push(("DANDORI_DOOR", door.socket.to_string()));
        env.push(("DANDORI_AGENT", door.agent.to_owned()));
        // It is told to call dandori by its name; what the user has by that name comes first.
        let found = order.user_env.text("PATH").unwrap_or_default();
        let own = order.dandori.parent().map(|folder| format!("{found}:{folder}"));
        env.extend(own.map(|path| ("PATH", path)));
    }
    match order.agent {
        AgentName::Client(client) => {
            let quiet = client.describe().environment.quiet.iter().map(|(name, value)| (*name, (*value).to_owned()));
            env.extend(quiet.chain((Driver::of(*client).variables)(order)));
        }
        // It is told in the protocol.
        AgentName::Custom(_) if order.is_acp() => {}
        AgentName::Exec(_) | AgentName::Custom(_) | AgentName::Rehearsal => {
            env.push(("DANDORI_INSTRUCTION_FILE", order.instruction_file.to_string()));
            // A NUL cannot stand in an environment; the file has it all.
            if order.instruction.len() <= ENV_INSTRUCTION_LIMIT && !order.instruction.contains('\0') {
                env.push(("DANDORI_INSTRUCTION", order.instruction.to_owned()));
            }
        }
    }
    env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
