//! The forge by its API: the same deeds as `gh repo delete`, a forced push or a commit on main, by another door.

use dandori_shell::{Command, gh_call};

use crate::context::Context;
use crate::guards::argv;
use crate::guards::main_branch::is_main;

/// What is taken away there every day, and easily put back.
const SMALL: &[&str] = &[
    "labels",
    "reactions",
    "comments",
    "assignees",
    "requested_reviewers",
    "subscription",
    "starred",
    "lock",
    "caches",
    "artifacts",
    "logs",
];

pub(super) fn tears_down(context: &Context, command: &Command) -> bool {
    let args = command.args();
    let texts = || args.iter().map(|word| word.text.as_str());
    match command.program.as_str() {
        "gh" | "glab" => {
            let Some(call) = gh_call(command).or_else(|| gh_call(&as_gh(command))) else { return false };
            let Some(method) = call.api_method() else { return false };
            let endpoint = call.operands.first().or_else(|| args.get(1)).map_or("", |word| word.text.as_str());
            destroys(context, &method, endpoint, &texts().collect::<Vec<_>>())
        }
        "curl" | "wget" | "http" | "https" | "xh" | "xhs" => {
            let endpoints = texts().filter(|text| is_forge(text));
            let given = argv::values(args, &["-X", "--request", "--method"]).into_iter();
            let verb = texts().find(|text| matches!(*text, "DELETE" | "PATCH" | "PUT" | "POST"));
            let Some(method) = given.chain(verb).next().map(str::to_ascii_uppercase) else { return false };
            let words: Vec<&str> = texts().collect();
            endpoints.into_iter().any(|endpoint| destroys(context, &method, endpoint, &words))
        }
        _ => false,
    }
}

/// `glab api` has the options of `gh api`.
fn as_gh(command: &Command) -> Command {
    Command { program: "gh".to_owned(), ..command.clone() }
}

fn is_forge(text: &str) -> bool {
    text.contains("api.github.com/") || text.contains("/api/v3/repos/") || text.contains("/api/v4/projects/")
}

/// `words` are all of the command: fields and bodies are among them.
fn destroys(context: &Context, method: &str, endpoint: &str, words: &[&str]) -> bool {
    let path = endpoint.split(['?', '#']).next().unwrap_or_default();
    let path = ["api.github.com/", "/api/v3/", "/api/v4/"]
        .iter()
        .find_map(|host| path.split_once(host))
        .map_or(path, |(_, rest)| rest);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let has = |text: &str| words.iter().any(|word| word.replace([' ', '"', '\''], "").replace(':', "=").contains(text));
    match (method, parts.as_slice()) {
        (_, ["graphql"]) => has("mutation") && ["delete", "updateRef", "createCommitOnBranch"].iter().any(|m| has(m)),
        ("DELETE" | "PUT", ["repos", _, _, "contents", ..]) => on_main(context, words),
        ("DELETE", parts) => !parts.iter().any(|part| SMALL.contains(part)),
        ("PATCH", ["repos", _, _, "git", "refs", "heads", branch @ ..]) => {
            has("force=true") || is_main(context, &branch.join("/"))
        }
        ("PATCH" | "POST", ["repos", _, _, "git", "refs", ..]) => has("force=true"),
        ("PUT" | "PATCH", ["repos", _, _, "branches", _, "protection", ..]) => true,
        ("PATCH", ["repos", _, _]) => {
            ["archived=true", "private=false", "visibility=", "default_branch="].iter().any(|f| has(f))
        }
        ("POST", ["repos", _, _, "transfer"]) => true,
        _ => false,
    }
}

/// A commit that the API makes lands on the default branch, unless it names another.
fn on_main(context: &Context, words: &[&str]) -> bool {
    let plain = words.iter().map(|word| word.replace([' ', '"', '\'', '{', '}'], "").replace(':', "="));
    let branches: Vec<String> = plain
        .flat_map(|word| word.split([',', '&', '?']).map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|field| field.rsplit_once("branch=").map(|(_, branch)| branch.to_owned()))
        .collect();
    branches.is_empty() || branches.iter().any(|branch| is_main(context, branch))
}
