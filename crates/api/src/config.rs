//! What `dandori config` prints with `--json`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `dandori config show`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SettingsView {
    pub settings: Vec<SettingView>,
    pub total: usize,
    pub files: Vec<ConfigFileView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SettingView {
    pub key: String,
    /// `null`: not set.
    pub value: Option<serde_json::Value>,
    pub default: Option<serde_json::Value>,
    /// `default`, `user`, `repository`, or `both` for a list to which both files add.
    pub source: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ConfigFileView {
    /// `user` or `repository`
    pub source: String,
    pub path: String,
    pub exists: bool,
}

/// `dandori config set`, `edit` and `init`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ConfigChangeView {
    pub path: String,
    /// The key that was set or removed; `null` when the whole file was edited.
    pub key: Option<String>,
    /// Its value now; `null` when it was removed.
    pub value: Option<serde_json::Value>,
    pub changed: bool,
}
