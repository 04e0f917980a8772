//! The client against GitHub's own description of its API: every request it sends is described there, and the answers
//! it is given are the description's examples, themselves checked before they are served.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::description::Description;
use crate::server::{Reply, Server};
use dandori_domain::Oid;
use dandori_domain::pull::{PullDraft, PullState};
use dandori_forge::{
    Exchange, ForgeError, GitHub, GitHubConfig, PullEdit, PullFilter, PullOpenness, PullSummary, Recorder, Tempo, Token,
};
use serde_json::{Value, json};

const PULLS: &str = "/repos/{owner}/{repo}/pulls";
const PULL: &str = "/repos/{owner}/{repo}/pulls/{pull_number}";
const MERGE: &str = "/repos/{owner}/{repo}/pulls/{pull_number}/merge";
const COMMENTS: &str = "/repos/{owner}/{repo}/issues/{issue_number}/comments";

/// A server with a script, a client of it, and everything that went between them.
struct Talk {
    server: Server,
    github: GitHub,
    recorded: Arc<Mutex<Vec<Exchange>>>,
}

impl Talk {
    fn new(script: impl IntoIterator<Item = Reply>) -> Self {
        let server = Server::start(script);
        let recorded = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&recorded);
        let recorder: Recorder = Arc::new(move |e| to.lock().unwrap().push(e.clone()));
        let config = GitHubConfig { api_base: server.base(), owner: "octocat".into(), repo: "Hello-World".into() };
        let tempo = Tempo { change_gap: Duration::ZERO, random: || 0, ..Tempo::default() };
        let github = GitHub::new(config, Token::new("t0ken").unwrap(), tempo, Some(recorder)).unwrap();
        Self { server, github, recorded }
    }

    /// Everything that was sent fits the description, and the server saw exactly what was recorded.
    fn assert_conforms(&self) {
        let recorded = self.recorded.lock().unwrap();
        let seen = self.server.seen();
        assert_eq!(recorded.len(), seen.len());
        for (exchange, seen) in recorded.iter().zip(seen) {
            assert_eq!(exchange.method, seen.method);
            assert_eq!(Some(exchange.path.as_str()), seen.target.split('?').next());
            assert_eq!(exchange.query.is_empty(), !seen.target.contains('?'));
            let body: Option<Value> = (!seen.body.is_empty()).then(|| serde_json::from_str(&seen.body).unwrap());
            assert_eq!(exchange.request, body);
            let operation = Description::load().operation_of(&exchange.method, &exchange.path);
            operation.assert_request_fits(exchange);
            let answer: Value = serde_json::from_str(&exchange.response).unwrap();
            operation.assert_answer_fits(exchange.status, &answer);
        }
    }
}

/// The example of an answer, found valid before it is served.
fn example(method: &str, template: &str, status: u16) -> Value {
    let operation = Description::load().operation(method, template);
    let mut example = operation.example(status);
    complete_teams(&mut example);
    operation.assert_answer_fits(status, &example);
    example
}

/// The one place where the description's examples do not fit its own schemas: a team's `type` came to be required
/// after the examples were written.
fn complete_teams(example: &mut Value) {
    let pulls = match example {
        Value::Array(list) => list.as_mut_slice(),
        one => std::slice::from_mut(one),
    };
    for team in pulls.iter_mut().filter_map(|p| p["requested_teams"].as_array_mut()).flatten() {
        assert!(team["type"].is_null(), "the examples are complete now: drop this");
        team["type"] = json!("organization");
    }
}

fn assert_same(pull: &PullSummary, example: &Value) {
    assert_eq!(json!(pull.number), example["number"]);
    assert_eq!(json!(pull.url), example["html_url"]);
    assert_eq!((pull.state, &example["state"]), (PullState::Open, &json!("open")));
    assert_eq!(json!(pull.head_sha), example["head"]["sha"]);
    assert_eq!(json!(pull.head), example["head"]["ref"]);
    assert_eq!(json!(pull.base), example["base"]["ref"]);
    assert_eq!(json!(pull.title), example["title"]);
    assert_eq!(json!(pull.body), example["body"]);
    assert_eq!(json!(pull.draft), example["draft"]);
    assert_eq!(json!(pull.created_at.to_string()), example["created_at"]);
}

#[tokio::test]
async fn creating_reading_and_changing_a_pull_request_conform() {
    let created = example("post", PULLS, 201);
    let read = example("get", PULL, 200);
    let changed = example("patch", PULL, 200);
    let talk = Talk::new([Reply::json(201, &created), Reply::json(200, &read), Reply::json(200, &changed)]);
    let wanted = Description::load().operation("post", PULLS).request_example();
    let text = |name: &str| wanted[name].as_str().unwrap().to_owned();
    let draft = PullDraft { title: text("title"), body: text("body"), head: text("head"), base: text("base") };

    assert_same(&talk.github.create_pull(&draft).await.unwrap(), &created);
    assert_same(&talk.github.pull(1347).await.unwrap(), &read);
    let edit = PullEdit { title: Some("new title".into()), body: Some("updated body".into()), state: None };
    assert_same(&talk.github.update_pull(1347, &edit).await.unwrap(), &changed);

    talk.assert_conforms();
    assert_eq!(talk.recorded.lock().unwrap()[0].request, Some(wanted));
}

#[tokio::test]
async fn listing_and_finding_pull_requests_conform() {
    let listed = example("get", PULLS, 200);
    let script = (0..4).map(|_| Reply::json(200, &listed));
    let talk = Talk::new(script);
    for filter in [PullFilter::Open, PullFilter::Closed, PullFilter::All] {
        let pulls = talk.github.list_pulls(filter, 30).await.unwrap();
        assert_eq!(pulls.len(), listed.as_array().unwrap().len());
        assert_same(&pulls[0], &listed[0]);
    }
    let head = listed[0]["head"]["ref"].as_str().unwrap();
    let found = talk.github.find_pulls(head, PullFilter::Open).await.unwrap();
    assert_same(&found[0], &listed[0]);
    talk.assert_conforms();
}

#[tokio::test]
async fn ensuring_a_pull_request_conforms_when_it_is_new_and_when_its_answer_is_lost() {
    let created = example("post", PULLS, 201);
    let listed = example("get", PULLS, 200);
    let head = listed[0]["head"]["ref"].as_str().unwrap().to_owned();
    let draft = PullDraft { title: "t".into(), body: "b".into(), head, base: "master".into() };

    let talk = Talk::new([Reply::new(200, "[]"), Reply::json(201, &created)]);
    assert_same(&talk.github.ensure_pull(&draft).await.unwrap(), &created);
    talk.assert_conforms();

    let talk = Talk::new([Reply::new(200, "[]"), Reply::new(502, ""), Reply::json(200, &listed)]);
    assert_same(&talk.github.ensure_pull(&draft).await.unwrap(), &listed[0]);
    let posts = talk.server.log().iter().filter(|l| l.starts_with("POST ")).count();
    assert_eq!(posts, 1, "a 502 on a POST is not repeated");
}

#[tokio::test]
async fn closing_and_opening_again_conform_and_are_done_once() {
    let open = example("get", PULL, 200);
    let mut closed = open.clone();
    closed["state"] = json!("closed");
    closed["closed_at"] = json!("2011-01-26T19:01:12Z");
    // The example is of one that was merged.
    closed["merged_at"] = Value::Null;
    let talk = Talk::new([
        Reply::json(200, &open),
        Reply::json(200, &closed),
        Reply::json(200, &closed),
        Reply::json(200, &closed),
        Reply::json(200, &open),
    ]);
    for _ in 0..2 {
        assert_eq!(talk.github.make_pull(1347, PullOpenness::Closed).await.unwrap().state, PullState::Closed);
    }
    assert_eq!(talk.github.make_pull(1347, PullOpenness::Open).await.unwrap().state, PullState::Open);
    talk.assert_conforms();
    let sent: Vec<Option<Value>> = talk.recorded.lock().unwrap().iter().map(|e| e.request.clone()).collect();
    let states: Vec<Value> = sent.into_iter().flatten().collect();
    assert_eq!(states, [json!({"state": "closed"}), json!({"state": "open"})]);
}

#[tokio::test]
async fn merging_conforms_is_pinned_to_a_head_and_is_looked_for_when_its_answer_is_lost() {
    let mut open = example("get", PULL, 200);
    open["merged_at"] = Value::Null;
    let mut merged = open.clone();
    merged["state"] = json!("closed");
    merged["merged_at"] = json!("2011-01-26T19:01:12Z");
    let done = example("put", MERGE, 200);
    let head = Oid::new("6dcb09b5b57875f334f61aebed695e2e4193db5e");
    let merge = async |talk: &Talk| talk.github.merge_pull(1347, &head, "Merge #1347", "why").await;

    let talk = Talk::new([Reply::json(200, &open), Reply::json(200, &done), Reply::json(200, &merged)]);
    assert_eq!(merge(&talk).await.unwrap().state, PullState::Merged);
    talk.assert_conforms();
    assert_eq!(
        talk.recorded.lock().unwrap()[1].request,
        Some(json!({
            "sha": head.as_str(), "merge_method": "merge", "commit_title": "Merge #1347", "commit_message": "why"
        }))
    );

    let talk = Talk::new([Reply::json(200, &open), Reply::new(502, ""), Reply::json(200, &merged)]);
    assert_eq!(merge(&talk).await.unwrap().state, PullState::Merged, "the answer was lost, the merge was not");

    let talk = Talk::new([Reply::json(200, &merged)]);
    assert_eq!(merge(&talk).await.unwrap().state, PullState::Merged, "it was merged before");

    let moved = json!({"message": "Head branch was modified. Review and try the merge again."});
    Description::load().operation("put", MERGE).assert_answer_fits(409, &moved);
    let talk = Talk::new([Reply::json(200, &open), Reply::json(409, &moved), Reply::json(200, &open)]);
    let detail = "Head branch was modified. Review and try the merge again.".to_owned();
    assert_eq!(merge(&talk).await, Err(ForgeError::Invalid { detail }));
    talk.assert_conforms();
}

#[tokio::test]
async fn a_remark_conforms_and_is_left_once() {
    let created = example("post", COMMENTS, 201);
    let listed = example("get", COMMENTS, 200);
    let said = listed[0]["body"].as_str().unwrap().to_owned();
    let talk = Talk::new([Reply::new(200, "[]"), Reply::json(201, &created), Reply::json(200, &listed)]);
    talk.github.remark(1347, &said).await.unwrap();
    talk.github.remark(1347, &said).await.unwrap();
    talk.assert_conforms();
    assert_eq!(talk.recorded.lock().unwrap()[1].request, Some(json!({ "body": said })));
}

#[tokio::test]
async fn one_of_another_branch_is_closed_with_a_remark_and_one_of_the_same_is_left_alone() {
    let mut open = example("get", PULL, 200);
    open["merged_at"] = Value::Null;
    let mut closed = open.clone();
    closed["state"] = json!("closed");
    let created = example("post", COMMENTS, 201);
    let talk = Talk::new([
        Reply::json(200, &open),
        Reply::new(200, "[]"),
        Reply::json(201, &created),
        Reply::json(200, &open),
        Reply::json(200, &closed),
        Reply::json(200, &closed),
        Reply::json(200, &open),
    ]);
    talk.github.close_unless_of(1347, "dandori/other", "why").await.unwrap();
    talk.github.close_unless_of(1347, "dandori/other", "why").await.unwrap();
    talk.github.close_unless_of(1347, open["head"]["ref"].as_str().unwrap(), "why").await.unwrap();
    talk.assert_conforms();
    let methods: Vec<String> = talk.recorded.lock().unwrap().iter().map(|e| e.method.clone()).collect();
    assert_eq!(methods, ["GET", "GET", "POST", "GET", "PATCH", "GET", "GET"]);
}

#[tokio::test]
async fn refusals_as_described_are_read() {
    let invalid = json!({
        "message": "Validation Failed",
        "documentation_url": "https://docs.github.com/rest/pulls/pulls#create-a-pull-request",
        "errors": [{"resource": "PullRequest", "code": "custom", "message": "No commits between main and dandori/abc"}],
    });
    let missing = json!({"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"});
    Description::load().operation("post", PULLS).assert_answer_fits(422, &invalid);
    Description::load().operation("get", PULL).assert_answer_fits(404, &missing);
    let talk = Talk::new([Reply::json(422, &invalid), Reply::json(404, &missing)]);
    let draft = PullDraft { title: "t".into(), body: String::new(), head: "dandori/abc".into(), base: "main".into() };
    let detail = "Validation Failed: No commits between main and dandori/abc".to_owned();
    assert_eq!(talk.github.create_pull(&draft).await, Err(ForgeError::Invalid { detail }));
    let repository = "octocat/Hello-World".to_owned();
    assert_eq!(talk.github.pull(9).await, Err(ForgeError::NoSuchPull { repository, number: 9 }));
    talk.assert_conforms();
}

#[test]
#[should_panic(expected = "is not of type")]
fn an_answer_that_does_not_fit_is_found() {
    let mut answer = example("get", PULL, 200);
    answer["number"] = json!("seven");
    Description::load().operation("get", PULL).assert_answer_fits(200, &answer);
}

#[test]
#[should_panic(expected = "is not described")]
fn a_request_with_an_unknown_parameter_is_found() {
    let exchange = Exchange {
        method: "GET".into(),
        path: "/repos/o/r/pulls".into(),
        query: vec![("status".into(), "open".into())],
        request: None,
        status: 200,
        response: "[]".into(),
    };
    Description::load().operation_of("GET", &exchange.path).assert_request_fits(&exchange);
}
