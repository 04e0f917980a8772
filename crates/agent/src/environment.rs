//! The environment an agent gets: an allow-list of the user's, and our own words on top.
//!
//! Everything that is not named here stays outside: a token in the user's shell reaches an agent only when it is the
//! agent's own or the user named it in `pass_env`. Variables of dandori's own never do.

use camino::Utf8PathBuf;
use dandori_domain::AgentName;

use crate::Order;

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

/// Login and tuning of Claude Code, beyond `ANTHROPIC_*`. Names, not a prefix: `CLAUDE_CODE_*` also tells a child
/// which session it belongs to and with which token, and dandori may well have been started from inside one.
const CLAUDE: &[&str] = &[
    "API_TIMEOUT_MS",
    "BASH_DEFAULT_TIMEOUT_MS",
    "BASH_MAX_OUTPUT_LENGTH",
    "BASH_MAX_TIMEOUT_MS",
    "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "CLAUDE_CODE_CERT_STORE",
    "CLAUDE_CODE_CLIENT_CERT",
    "CLAUDE_CODE_CLIENT_KEY",
    "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
    "CLAUDE_CODE_DISABLE_1M_CONTEXT",
    "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS",
    "CLAUDE_CODE_EFFORT_LEVEL",
    "CLAUDE_CODE_EXTRA_BODY",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_PROXY_RESOLVES_HOSTS",
    "CLAUDE_CODE_SHELL",
    "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
    "CLAUDE_CODE_SKIP_FOUNDRY_AUTH",
    "CLAUDE_CODE_SKIP_VERTEX_AUTH",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_MANTLE",
    "CLAUDE_CODE_USE_VERTEX",
    "CLOUD_ML_REGION",
    "DISABLE_PROMPT_CACHING",
    "MAX_MCP_OUTPUT_TOKENS",
    "MAX_THINKING_TOKENS",
    "MCP_TIMEOUT",
    "MCP_TOOL_TIMEOUT",
];

/// The login of Codex, beyond `OPENAI_*`.
const CODEX: &[&str] =
    &["AZURE_OPENAI_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_API_KEY", "CODEX_CA_CERTIFICATE", "CODEX_OSS_BASE_URL"];

/// The login of the Gemini CLI, by key, by account or by Vertex.
const GEMINI: &[&str] = &[
    "CODE_ASSIST_ENDPOINT",
    "GEMINI_API_KEY",
    "GEMINI_API_KEY_AUTH_MECHANISM",
    "GEMINI_CLI_CUSTOM_HEADERS",
    "GEMINI_DEFAULT_AUTH_TYPE",
    "GEMINI_MODEL",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_PROJECT_ID",
    "GOOGLE_CLOUD_QUOTA_PROJECT",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_GENAI_API_VERSION",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_VERTEX_BASE_URL",
];

/// Whether a variable of the user's goes to this agent, `pass_env` apart.
pub fn is_passed(agent: &AgentName, name: &str) -> bool {
    let own = match agent {
        AgentName::Claude => CLAUDE.contains(&name) || name.starts_with("ANTHROPIC_"),
        AgentName::Codex => CODEX.contains(&name) || name.starts_with("OPENAI_"),
        AgentName::Gemini => GEMINI.contains(&name),
        AgentName::Exec(_) | AgentName::Custom(_) | AgentName::Rehearsal => false,
    };
    own || name.starts_with("LC_") || BASE.contains(&name) || TOOLS.contains(&name)
}

/// The cloud a login of Claude goes through, only when it does.
fn is_cloud_login(order: &Order<'_>, name: &str) -> bool {
    let uses = |clouds: &[&str]| {
        let switch = |cloud| order.user_env.text(&format!("CLAUDE_CODE_USE_{cloud}"));
        clouds.iter().any(|cloud| switch(cloud).is_some_and(|v| v != "0" && v != "false"))
    };
    let clouds: &[&str] = match name.split('_').next() {
        Some("AWS") => &["BEDROCK", "MANTLE", "ANTHROPIC_AWS"],
        Some("GOOGLE" | "VERTEX") => &["VERTEX"],
        Some("AZURE") => &["FOUNDRY"],
        _ => &[],
    };
    *order.agent == AgentName::Claude && uses(clouds)
}

/// Files and folders with the login of a cloud that the agent goes through.
pub(crate) fn login_files(order: &Order<'_>) -> Vec<Utf8PathBuf> {
    let home = order.user_env.home();
    let below = |name: &str| home.as_ref().map(|home| home.join(name));
    let is_gemini = *order.agent == AgentName::Gemini;
    let mut files = Vec::new();
    if is_cloud_login(order, "AWS_PROFILE") {
        files.extend(below(".aws"));
        files.extend(["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"].iter().filter_map(|n| order.user_env.path(n)));
    }
    if is_cloud_login(order, "AZURE_CONFIG_DIR") {
        files.extend(order.user_env.path("AZURE_CONFIG_DIR").or_else(|| below(".azure")));
    }
    if is_gemini || is_cloud_login(order, "GOOGLE_CLOUD_PROJECT") {
        files.extend(order.user_env.path("GOOGLE_APPLICATION_CREDENTIALS"));
        let uses = |name| order.user_env.text(name).is_some_and(|v| v != "0" && v != "false");
        if !is_gemini || uses("GOOGLE_GENAI_USE_VERTEXAI") {
            files.extend(below(".config/gcloud"));
        }
    }
    files
}

/// The whole environment, sorted by name. `home` is where the private state folder is; `named` are variables the user's
/// own settings read by name.
pub(crate) fn of(order: &Order<'_>, home: &[(String, String)], named: &[String]) -> Vec<(String, String)> {
    let is_asked_for = |name: &str| order.pass_env.iter().chain(named).any(|n| n == name);
    let passed = order.user_env.filtered(|name| {
        !name.starts_with("DANDORI_")
            && (is_passed(order.agent, name) || is_asked_for(name) || is_cloud_login(order, name))
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
    match order.agent {
        AgentName::Claude => {
            env.push(("DISABLE_AUTOUPDATER", "1".to_owned()));
            env.push(("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()));
            // Nothing goes on behind the run's back, or comes again after it. Agents are waited for instead.
            env.push(("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1".to_owned()));
            env.push(("CLAUDE_CODE_DISABLE_CRON", "1".to_owned()));
            env.push(("CLAUDE_CODE_DISABLE_WORKFLOWS", "1".to_owned()));
            env.push(("CLAUDE_CODE_MAX_RETRIES", order.limits.api_retries.to_string()));
            // It refuses to go without questions as root unless it is told that somebody holds it.
            if order.sandboxed && rustix::process::geteuid().is_root() {
                env.push(("IS_SANDBOX", "1".to_owned()));
            }
        }
        AgentName::Gemini => env.push(("GEMINI_CLI_NO_RELAUNCH", "true".to_owned())),
        AgentName::Codex => {}
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
