//! GitHub's own description of its API (npm `@octokit/openapi`), installed when the tests run, and what it says about
//! an exchange. OpenAPI 3.0 is not JSON Schema: `nullable` and the examples are converted on the way in.

use std::fs::File;
use std::sync::OnceLock;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_forge::Exchange;
use dandori_host::{Cmd, Env};
use serde_json::{Map, Value, json};

const PACKAGE: &str = "@octokit/openapi@23.0.2";

pub(crate) struct Description(Value);

/// One operation of the description.
pub(crate) struct Operation<'a> {
    description: &'a Description,
    template: &'a str,
    value: &'a Value,
}

impl Description {
    pub(crate) fn load() -> &'static Self {
        static LOADED: OnceLock<Description> = OnceLock::new();
        LOADED.get_or_init(|| {
            let text = std::fs::read(install()).expect("the installed description");
            Self(serde_json::from_slice(&text).expect("the description is JSON"))
        })
    }

    pub(crate) fn operation(&self, method: &str, template: &str) -> Operation<'_> {
        let (template, path) = self.0["paths"].as_object().unwrap().get_key_value(template).expect("a known path");
        let value = &path[method.to_lowercase()];
        assert!(value.is_object(), "{method} {template} is not described");
        Operation { description: self, template, value }
    }

    /// The operation an address belongs to: of several templates that fit, the one with the most literal segments.
    pub(crate) fn operation_of(&self, method: &str, path: &str) -> Operation<'_> {
        let fits = |template: &&String| fitting(template, path).is_some();
        let literal = |template: &&String| template.split('/').filter(|s| !s.starts_with('{')).count();
        let template = self.0["paths"].as_object().unwrap().keys().filter(fits).max_by_key(literal);
        self.operation(method, template.unwrap_or_else(|| panic!("no path of the description fits {path}")))
    }

    /// A `$ref` followed to what it names.
    fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(name) => self.resolve(self.0.pointer(name.trim_start_matches('#')).expect("a known reference")),
            None => value,
        }
    }

    /// Why `instance` does not fit `schema`, if it does not.
    fn misfits(&self, schema: &Value, instance: &Value) -> Vec<String> {
        let mut schemas = Map::new();
        self.gather(schema, &mut schemas);
        let root = json!({ "allOf": [converted(schema)], "components": { "schemas": schemas } });
        let validator = jsonschema::draft7::new(&root).expect("a schema");
        validator.iter_errors(instance).map(|e| format!("{}: {e}", e.instance_path())).collect()
    }

    /// Every named schema that `schema` leads to, converted.
    fn gather(&self, schema: &Value, into: &mut Map<String, Value>) {
        match schema {
            Value::Object(fields) => {
                let name = schema["$ref"].as_str().and_then(|r| r.strip_prefix("#/components/schemas/"));
                if let Some(name) = name.filter(|n| !into.contains_key(*n)) {
                    let named = &self.0["components"]["schemas"][name];
                    into.insert(name.to_owned(), converted(named));
                    self.gather(named, into);
                }
                fields.values().for_each(|v| self.gather(v, into));
            }
            Value::Array(items) => items.iter().for_each(|v| self.gather(v, into)),
            _ => {}
        }
    }
}

impl Operation<'_> {
    /// The description's own example of an answer.
    pub(crate) fn example(&self, status: u16) -> Value {
        let examples = &self.answer(status)["examples"];
        let first = examples.as_object().and_then(|e| e.values().next()).expect("an example");
        self.description.resolve(first)["value"].clone()
    }

    /// The description's own example of a request body.
    pub(crate) fn request_example(&self) -> Value {
        let content = &self.value["requestBody"]["content"]["application/json"]["examples"];
        content.as_object().and_then(|e| e.values().next()).expect("an example")["value"].clone()
    }

    pub(crate) fn assert_answer_fits(&self, status: u16, body: &Value) {
        let misfits = self.description.misfits(&self.answer(status)["schema"], body);
        assert!(misfits.is_empty(), "{status} of {}: {misfits:#?}", self.template);
    }

    /// Everything we sent is described, and is as described. Stricter than the schemas, which allow any extra field.
    pub(crate) fn assert_request_fits(&self, exchange: &Exchange) {
        let at = format!("{} {}", exchange.method, exchange.path);
        let parameters: Vec<&Value> =
            self.value["parameters"].as_array().unwrap().iter().map(|p| self.description.resolve(p)).collect();
        let in_path = fitting(self.template, &exchange.path).expect("the template fits").into_iter();
        let sent = in_path.map(|(k, v)| ("path", k, v));
        let sent = sent.chain(exchange.query.iter().map(|(k, v)| ("query", k.clone(), v.clone())));
        for (place, name, text) in sent {
            let parameter = parameters.iter().find(|p| p["in"] == place && p["name"] == name.as_str());
            let schema =
                &parameter.unwrap_or_else(|| panic!("{at}: {place} parameter {name} is not described"))["schema"];
            let value = match schema["type"].as_str() {
                Some("integer") => json!(text.parse::<i64>().unwrap_or_else(|_| panic!("{at}: {name}={text}"))),
                _ => json!(text),
            };
            let misfits = self.description.misfits(schema, &value);
            assert!(misfits.is_empty(), "{at}: {name}={text}: {misfits:?}");
        }
        let schema = &self.value["requestBody"]["content"]["application/json"]["schema"];
        let Some(body) = &exchange.request else {
            assert!(schema.is_null(), "{at}: a body is described and none was sent");
            return;
        };
        let misfits = self.description.misfits(schema, body);
        assert!(misfits.is_empty(), "{at}: {misfits:#?}");
        for field in body.as_object().expect("an object").keys() {
            assert!(schema["properties"].get(field).is_some(), "{at}: the field {field} is not described");
        }
    }

    fn answer(&self, status: u16) -> &Value {
        let answer = &self.value["responses"][status.to_string()];
        assert!(answer.is_object(), "{status} of {} is not described", self.template);
        &self.description.resolve(answer)["content"]["application/json"]
    }
}

/// The parameters of a path, when it is one of this template.
fn fitting(template: &str, path: &str) -> Option<Vec<(String, String)>> {
    let (names, values): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    if names.len() != values.len() {
        return None;
    }
    let mut parameters = Vec::new();
    for (name, value) in names.into_iter().zip(values) {
        match name.strip_prefix('{').and_then(|n| n.strip_suffix('}')) {
            Some(name) => parameters.push((name.to_owned(), value.to_owned())),
            None if name == value => {}
            None => return None,
        }
    }
    Some(parameters)
}

/// An OpenAPI 3.0 schema as JSON Schema.
fn converted(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(converted).collect(),
        Value::Object(fields) => {
            // A field of an object may itself be called `example`; only a keyword's value is dropped.
            let keep = |(k, v): &(&String, &Value)| !matches!(k.as_str(), "example" | "examples") || is_schema(v);
            let mut out: Map<_, _> = fields.iter().filter(keep).map(|(k, v)| (k.clone(), converted(v))).collect();
            if out.remove("nullable") != Some(json!(true)) {
                return Value::Object(out);
            }
            if let Some(Value::Array(values)) = out.get_mut("enum")
                && !values.contains(&Value::Null)
            {
                values.push(Value::Null);
            }
            match out.get("type").cloned() {
                Some(Value::String(one)) => {
                    out.insert("type".to_owned(), json!([one, "null"]));
                    Value::Object(out)
                }
                _ => json!({ "anyOf": [out, { "type": "null" }] }),
            }
        }
        other => other.clone(),
    }
}

fn is_schema(value: &Value) -> bool {
    ["type", "$ref", "allOf", "anyOf", "oneOf"].iter().any(|k| value.get(k).is_some())
}

/// Installs the package once for all test processes and keeps the one file of it (13 of 390 MB) that is read.
fn install() -> Utf8PathBuf {
    let folder = Utf8Path::new(env!("CARGO_TARGET_TMPDIR")).join("octokit-openapi-23.0.2");
    let kept = folder.join("api.github.com.json");
    std::fs::create_dir_all(&folder).expect("a folder for the description");
    let lock = File::create(folder.join("lock")).expect("a lock file");
    lock.lock().expect("the lock");
    if !kept.exists() {
        let staging = folder.join("staging");
        let output = Cmd::new("npm", &Env::of_process())
            .args(["install", "--prefix", staging.as_str(), "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"])
            .arg(PACKAGE)
            .deadline(Duration::from_mins(5))
            .run_any()
            .unwrap_or_else(|e| panic!("npm is needed for GitHub's description: {e}"));
        let said = format!("{}\n{}", output.text(), output.stderr);
        assert!(output.status.success(), "npm could not install {PACKAGE}:\n{said}");
        let installed = staging.join("node_modules/@octokit/openapi/generated/api.github.com.json");
        std::fs::rename(installed, &kept).unwrap_or_else(|e| panic!("{PACKAGE} has no description: {e}\n{said}"));
        std::fs::remove_dir_all(staging).expect("the rest of the package goes");
    }
    kept
}
