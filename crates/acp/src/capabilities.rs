//! What an agent says it can, from its answers to `initialize` and `session/new`.

use dandori_domain::{AgentFailure, ProtocolTrouble};
use serde_json::{Value, json};

/// The only version there is; the next one is a draft.
const PROTOCOL_VERSION: u64 = 1;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Capabilities {
    /// It goes on with a conversation without telling it again.
    pub(crate) resume: bool,
    /// It goes on with a conversation, and tells all of it again first.
    pub(crate) load: bool,
    /// Its ways to log in, by its own names.
    pub(crate) logins: Vec<String>,
}

pub(crate) fn initialize() -> Value {
    json!({
        "protocolVersion": PROTOCOL_VERSION,
        "clientCapabilities": { "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": true },
        "clientInfo": { "name": "dandori", "title": "dandori", "version": env!("CARGO_PKG_VERSION") },
    })
}

impl Capabilities {
    pub(crate) fn of(answer: &Value) -> Result<Self, AgentFailure> {
        let version = answer.get("protocolVersion").unwrap_or(&Value::Null);
        if version.as_u64() != Some(PROTOCOL_VERSION) {
            let trouble = match version {
                Value::Null => {
                    let (method, detail) = ("initialize".to_owned(), "no protocolVersion".to_owned());
                    ProtocolTrouble::BadAnswer { method, detail }
                }
                other => ProtocolTrouble::Version { offered: other.to_string() },
            };
            return Err(AgentFailure::Protocol { trouble });
        }
        let can = |path: &str| answer.pointer(&format!("/agentCapabilities/{path}"));
        let methods = answer.get("authMethods").and_then(Value::as_array);
        let id = |method: &Value| method.get("id").and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            resume: can("sessionCapabilities/resume").is_some_and(|v| !v.is_null() && v != &json!(false)),
            load: can("loadSession") == Some(&json!(true)),
            logins: methods.into_iter().flatten().filter_map(id).collect(),
        })
    }
}

/// How a model is chosen in a session: agents have two ways to offer them.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ModelChoice {
    pub(crate) method: &'static str,
    /// Beside the session's id.
    pub(crate) params: Value,
}

/// `session` is the answer that opened it. `Err` has the models that are offered.
pub(crate) fn choose_model(session: &Value, wanted: &str) -> Result<ModelChoice, Vec<String>> {
    let mut offered = Vec::new();
    let options = session.get("configOptions").and_then(Value::as_array);
    let is_model = |option: &&Value| option.get("category").and_then(Value::as_str) == Some("model");
    for option in options.into_iter().flatten().filter(is_model) {
        let Some(id) = option.get("id").and_then(Value::as_str) else { continue };
        let listed = option.get("options").and_then(Value::as_array);
        for choice in listed.into_iter().flatten().flat_map(|entry| match entry.get("options") {
            // A group of them.
            Some(group) => group.as_array().map_or(&[][..], Vec::as_slice),
            None => std::slice::from_ref(entry),
        }) {
            let Some(value) = choice.get("value").and_then(Value::as_str) else { continue };
            if value == wanted || choice.get("name").and_then(Value::as_str) == Some(wanted) {
                let params = json!({ "configId": id, "value": value });
                return Ok(ModelChoice { method: "session/set_config_option", params });
            }
            offered.push(value.to_owned());
        }
    }
    let models = session.pointer("/models/availableModels").and_then(Value::as_array);
    for id in models.into_iter().flatten().filter_map(|model| model.get("modelId")?.as_str()) {
        if id == wanted {
            return Ok(ModelChoice { method: "session/set_model", params: json!({ "modelId": id }) });
        }
        offered.push(id.to_owned());
    }
    offered.dedup();
    Err(offered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_version_is_spoken() {
        let trouble = |answer: Value| match Capabilities::of(&answer) {
            Err(AgentFailure::Protocol { trouble }) => Some(trouble),
            _ => None,
        };
        assert_eq!(trouble(json!({ "protocolVersion": 1 })), None);
        let offered = |text: &str| Some(ProtocolTrouble::Version { offered: text.to_owned() });
        assert_eq!(trouble(json!({ "protocolVersion": 2 })), offered("2"));
        assert_eq!(trouble(json!({ "protocolVersion": "1" })), offered("\"1\""));
        assert!(matches!(trouble(json!({})), Some(ProtocolTrouble::BadAnswer { .. })));
    }

    #[test]
    fn what_the_agent_can_is_read_from_its_answer() {
        let answer = json!({
            "protocolVersion": 1,
            "authMethods": [{ "id": "key", "name": "Key" }, { "name": "nameless" }],
            "agentCapabilities": { "loadSession": true, "sessionCapabilities": { "resume": {}, "list": {} } },
        });
        let want = Capabilities { resume: true, load: true, logins: vec!["key".to_owned()] };
        assert_eq!(Capabilities::of(&answer).unwrap(), want);
        let none = Capabilities::of(&json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": false } }));
        assert_eq!(none.unwrap(), Capabilities::default());
    }

    #[test]
    fn a_model_is_chosen_in_either_way_and_a_missing_one_names_the_others() {
        let options = json!({ "configOptions": [
            { "id": "mode", "category": "mode", "options": [{ "value": "big", "name": "Big" }] },
            { "id": "m", "category": "model", "type": "select", "options": [
                { "value": "small", "name": "Small One" },
                { "group": "g", "name": "G", "options": [{ "value": "big", "name": "Big" }] },
            ] },
        ] });
        let choice = choose_model(&options, "big").unwrap();
        assert_eq!(choice.params, json!({ "configId": "m", "value": "big" }));
        assert_eq!(choose_model(&options, "Small One").unwrap().params["value"], "small");
        assert_eq!(choose_model(&options, "other").unwrap_err(), ["small", "big"]);

        let models = json!({ "models": { "availableModels": [{ "modelId": "a" }, { "modelId": "b" }] } });
        let choice = choose_model(&models, "b").unwrap();
        assert_eq!((choice.method, choice.params), ("session/set_model", json!({ "modelId": "b" })));
        assert_eq!(choose_model(&json!({}), "b").unwrap_err(), Vec::<String>::new());
    }
}
