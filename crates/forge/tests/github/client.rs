//! The client's promises against a scripted server: what is repeated and what is not, limits, redirects, secrets.

use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::server::{Reply, Server};
use dandori_domain::Problem;
use dandori_domain::pull::{PullDraft, PullState};
use dandori_forge::{Exchange, ForgeError, GitHub, GitHubConfig, PullEdit, PullFilter, Recorder, Tempo, Token, Url};
use serde_json::{Value, json};

const SECRET: &str = "ghp_TheSecretOfThisTest";
const LOOK: &str = "GET /repos/o/r/pulls?state=open&head=o%3Adandori%2Fabc&per_page=100";
const CREATE: &str = "POST /repos/o/r/pulls";

fn tempo() -> Tempo {
    Tempo {
        timeout: Duration::from_secs(20),
        first_backoff: Duration::from_millis(2),
        change_gap: Duration::ZERO,
        random: || 0,
        ..Tempo::default()
    }
}

fn client_at(base: Url, tempo: Tempo, recorder: Option<Recorder>) -> GitHub {
    let config = GitHubConfig { api_base: base, owner: "o".into(), repo: "r".into() };
    GitHub::new(config, Token::new(SECRET).unwrap(), tempo, recorder).unwrap()
}

fn client(server: &Server) -> GitHub {
    client_at(server.base(), tempo(), None)
}

fn draft() -> PullDraft {
    PullDraft { title: "t".into(), body: "b".into(), head: "dandori/abc".into(), base: "main".into() }
}

fn pull(number: u64, head: &str) -> Value {
    json!({
        "number": number, "html_url": format!("https://h/o/r/pull/{number}"), "state": "open", "title": "t",
        "body": null, "merged_at": null, "created_at": "2026-01-02T03:04:05Z",
        "head": {"ref": head, "sha": "abc123", "repo": {"id": 1}},
        "base": {"ref": "main", "sha": "def456", "repo": {"id": 1}},
    })
}

fn none() -> Reply {
    Reply::json(200, &json!([]))
}

fn one() -> Reply {
    Reply::json(200, &json!([pull(7, "dandori/abc")]))
}

#[tokio::test]
async fn a_502_on_creation_is_never_repeated_and_the_pull_is_found() {
    let server = Server::start([none(), Reply::new(502, "<html>bad gateway</html>"), one()]);
    let found = client(&server).ensure_pull(&draft()).await.unwrap();
    assert_eq!((found.number, found.head_sha.as_str()), (7, "abc123"));
    assert_eq!(server.log(), [LOOK, CREATE, LOOK]);
}

#[tokio::test]
async fn a_502_on_creation_that_left_nothing_is_an_unknown_outcome_after_one_creation() {
    let server = Server::start([none(), Reply::new(502, ""), none(), none(), none(), none()]);
    let error = client(&server).ensure_pull(&draft()).await.unwrap_err();
    assert!(matches!(&error, ForgeError::UnknownOutcome { detail, .. } if detail.contains("502")), "{error}");
    assert!(matches!(error.to_problem(), Problem::ForgeUnreachable { .. }));
    assert_eq!(server.log(), [LOOK, CREATE, LOOK, LOOK, LOOK, LOOK]);
}

#[tokio::test]
async fn a_creation_whose_answer_is_lost_is_looked_for() {
    for lost in [
        Reply::Cut,
        Reply::Truncated(b"{\"number\"".to_vec()),
        Reply::new(201, "not json"),
        Reply::new(201, "{}"),
        Reply::new(500, ""),
        Reply::new(504, ""),
    ] {
        let server = Server::start([none(), lost, one()]);
        assert_eq!(client(&server).ensure_pull(&draft()).await.unwrap().number, 7);
        assert_eq!(server.log(), [LOOK, CREATE, LOOK]);
    }
}

#[tokio::test]
async fn a_creation_that_times_out_is_looked_for() {
    let server = Server::start([none(), Reply::Silence, one()]);
    let tempo = Tempo { timeout: Duration::from_secs(1), ..tempo() };
    assert_eq!(client_at(server.base(), tempo, None).ensure_pull(&draft()).await.unwrap().number, 7);
    assert_eq!(server.log(), [LOOK, CREATE, LOOK]);
}

#[tokio::test]
async fn an_open_pull_of_the_branch_is_taken_and_others_are_not() {
    let server = Server::start([one()]);
    assert_eq!(client(&server).ensure_pull(&draft()).await.unwrap().number, 7);
    assert_eq!(server.log(), [LOOK]);

    let mut of_a_fork = pull(8, "dandori/abc");
    of_a_fork["head"]["repo"]["id"] = json!(2);
    let mut of_a_lost_fork = pull(9, "dandori/abc");
    of_a_lost_fork["head"]["repo"] = Value::Null;
    let others = json!([pull(6, "dandori/other"), of_a_fork, of_a_lost_fork]);
    let server = Server::start([Reply::json(200, &others), Reply::json(201, &pull(10, "dandori/abc"))]);
    assert_eq!(client(&server).ensure_pull(&draft()).await.unwrap().number, 10);
    let sent: Value = serde_json::from_str(&server.seen()[1].body).unwrap();
    assert_eq!(sent, json!({"title": "t", "body": "b", "head": "dandori/abc", "base": "main"}));
}

#[tokio::test]
async fn somebody_who_was_faster_is_no_error_and_a_real_refusal_is() {
    let exists = json!({"message": "Validation Failed", "errors": [{"message": "A pull request already exists"}]});
    let server = Server::start([none(), Reply::json(422, &exists), one()]);
    assert_eq!(client(&server).ensure_pull(&draft()).await.unwrap().number, 7);

    let refusal = json!({"message": "Validation Failed", "errors": [{"resource": "PullRequest", "field": "base", "code": "invalid"}]});
    let server = Server::start([none(), Reply::json(422, &refusal), none()]);
    let error = client(&server).ensure_pull(&draft()).await.unwrap_err();
    assert_eq!(error, ForgeError::Invalid { detail: "Validation Failed: base of PullRequest is invalid".into() });
    assert!(matches!(error.to_problem(), Problem::ForgeRefused { .. }));
}

#[tokio::test]
async fn reading_is_repeated_within_bounds() {
    let server =
        Server::start([Reply::new(502, ""), Reply::Cut, Reply::Truncated(vec![b'{']), Reply::json(200, &pull(7, "h"))]);
    assert_eq!(client(&server).pull(7).await.unwrap().number, 7);
    assert_eq!(server.seen().len(), 4);

    let server = Server::start((0..9).map(|_| Reply::new(502, "")));
    let error = client(&server).pull(7).await.unwrap_err();
    assert!(matches!(error, ForgeError::Server { status: 502, .. }), "{error}");
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn a_short_limit_is_waited_for_and_a_long_one_is_an_error_that_holds_the_next_request_back() {
    let server = Server::start([Reply::new(429, "").with("retry-after", "1"), Reply::json(200, &pull(7, "h"))]);
    client(&server).pull(7).await.unwrap();
    let seen = server.seen();
    assert!(seen[1].at - seen[0].at >= Duration::from_millis(950), "{:?}", seen[1].at - seen[0].at);

    let server = Server::start([Reply::new(429, "").with("retry-after", "3600")]);
    let github = client(&server);
    let ForgeError::RateLimited { until } = github.pull(7).await.unwrap_err() else { panic!("no limit") };
    let left = until.duration_since(dandori_host::now()).as_secs();
    assert!((3500..=3600).contains(&left), "{left}");
    assert_eq!(github.create_pull(&draft()).await, Err(ForgeError::RateLimited { until }));
    assert_eq!(server.log(), ["GET /repos/o/r/pulls/7"], "nothing is sent against a limit");
}

#[tokio::test]
async fn a_used_up_budget_waits_for_its_reset_and_a_plain_403_is_forbidden() {
    let reset = (dandori_host::now().as_second() + 3600).to_string();
    let message = json!({"message": "API rate limit exceeded"});
    let limited = Reply::json(403, &message).with("x-ratelimit-remaining", "0").with("x-ratelimit-reset", &reset);
    let server = Server::start([limited]);
    let error = client(&server).create_pull(&draft()).await.unwrap_err();
    assert!(matches!(error, ForgeError::RateLimited { until } if until.as_second().to_string() == reset), "{error}");

    let server = Server::start([Reply::json(403, &json!({"message": "Resource not accessible"}))]);
    let error = client(&server).create_pull(&draft()).await.unwrap_err();
    assert_eq!(error, ForgeError::Forbidden { detail: "Resource not accessible".into() });
}

#[tokio::test]
async fn an_unchanged_answer_comes_from_memory() {
    let first = Reply::json(200, &pull(7, "h")).with("etag", "W/\"one\"");
    let changed = Reply::json(200, &pull(8, "h")).with("etag", "W/\"two\"");
    let server = Server::start([first, Reply::new(304, ""), changed, Reply::new(304, "")]);
    let github = client(&server);
    let mut numbers = Vec::new();
    for _ in 0..4 {
        numbers.push(github.pull(7).await.unwrap().number);
    }
    assert_eq!(numbers, [7, 7, 8, 8]);
    let asked: Vec<_> = server.seen().iter().map(|s| s.headers.get("if-none-match").cloned()).collect();
    let (one, two) = (Some("W/\"one\"".to_owned()), Some("W/\"two\"".to_owned()));
    assert_eq!(asked, [None, one.clone(), one, two]);
}

#[tokio::test]
async fn what_cannot_be_read_is_not_remembered() {
    let server = Server::start([Reply::new(200, "garbage").with("etag", "\"x\""), Reply::json(200, &pull(7, "h"))]);
    let github = client(&server);
    assert!(matches!(github.pull(7).await, Err(ForgeError::Garbled { .. })));
    assert_eq!(github.pull(7).await.unwrap().number, 7);
    assert_eq!(server.seen()[1].headers.get("if-none-match"), None);
    let server = Server::start([Reply::new(304, "")]);
    assert!(matches!(client(&server).pull(7).await, Err(ForgeError::Garbled { .. })));
}

#[tokio::test]
async fn a_renamed_repository_is_followed_and_another_host_does_not_get_the_token() {
    let elsewhere = Server::start([Reply::json(200, &pull(7, "h"))]);
    let target = format!("{}away", elsewhere.base());
    let home = Server::start([
        Reply::new(301, "").with("location", "/repositories/1/pulls/7"),
        Reply::new(307, "").with("location", &target),
    ]);
    assert_eq!(client(&home).pull(7).await.unwrap().number, 7);
    assert_eq!(home.log(), ["GET /repos/o/r/pulls/7", "GET /repositories/1/pulls/7"]);
    assert!(home.seen().iter().all(|s| s.headers["authorization"] == format!("Bearer {SECRET}")));
    assert_eq!(elsewhere.log(), ["GET /away"]);
    assert!(!format!("{:?}", elsewhere.seen()).contains(SECRET));

    let circle = Server::start((0..9).map(|_| Reply::new(301, "").with("location", "/again")));
    assert!(matches!(client(&circle).pull(7).await, Err(ForgeError::Garbled { .. })));
    assert_eq!(circle.seen().len(), 4);
}

#[tokio::test]
async fn a_change_is_never_redirected() {
    let server = Server::start([Reply::new(307, "").with("location", "/repositories/1/pulls")]);
    let error = client(&server).create_pull(&draft()).await.unwrap_err();
    assert_eq!(error, ForgeError::Moved { location: "/repositories/1/pulls".into() });
    assert_eq!(server.log(), [CREATE]);
}

#[tokio::test]
async fn pages_are_followed_on_the_same_host_only() {
    let page = |from: u64| Reply::json(200, &(from..from + 2).map(|n| pull(n, "h")).collect());
    let base = "/repositories/1/pulls?state=all&page=2";
    let server = Server::start([page(1).with("link", &format!("<{base}>; rel=\"next\"")), page(3)]);
    let numbers = |pulls: Vec<dandori_forge::PullSummary>| pulls.iter().map(|p| p.number).collect::<Vec<_>>();
    assert_eq!(numbers(client(&server).list_pulls(PullFilter::All, 100).await.unwrap()), [1, 2, 3, 4]);
    assert_eq!(server.log(), ["GET /repos/o/r/pulls?state=all&per_page=100".to_owned(), format!("GET {base}")]);

    let server = Server::start([page(1).with("link", &format!("<{base}>; rel=\"next\""))]);
    assert_eq!(numbers(client(&server).list_pulls(PullFilter::Open, 1).await.unwrap()), [1]);
    assert_eq!(server.seen().len(), 1, "no page more than was asked for");

    let server = Server::start([page(1).with("link", "<https://elsewhere.example/x>; rel=\"next\"")]);
    assert!(matches!(client(&server).list_pulls(PullFilter::All, 100).await, Err(ForgeError::Garbled { .. })));
}

#[tokio::test]
async fn every_request_carries_the_pinned_version_and_the_enterprise_path() {
    let server = Server::start([Reply::json(200, &pull(7, "h")), Reply::json(200, &pull(7, "h"))]);
    let github = client_at(server.base().join("api/v3/").unwrap(), tempo(), None);
    github.pull(7).await.unwrap();
    github.update_pull(7, &PullEdit { title: Some("new".into()), ..PullEdit::default() }).await.unwrap();
    assert_eq!(server.log(), ["GET /api/v3/repos/o/r/pulls/7", "PATCH /api/v3/repos/o/r/pulls/7"]);
    assert_eq!(server.seen()[1].body, r#"{"title":"new"}"#);
    for seen in server.seen() {
        assert_eq!(seen.headers["accept"], "application/vnd.github+json");
        assert_eq!(seen.headers["x-github-api-version"], "2022-11-28");
        assert!(seen.headers["user-agent"].starts_with("dandori/"));
    }
}

#[tokio::test]
async fn changes_are_apart_even_when_asked_for_together() {
    let server = Server::start((0..3).map(|n| Reply::json(201, &pull(n, "h"))));
    let gap = Duration::from_millis(150);
    let github = client_at(server.base(), Tempo { change_gap: gap, ..tempo() }, None);
    let sibling = github.for_repo("o", "another");
    let draft = draft();
    let (a, b, c) = tokio::join!(github.create_pull(&draft), sibling.create_pull(&draft), github.create_pull(&draft));
    assert!(a.is_ok() && b.is_ok() && c.is_ok());
    let seen = server.seen();
    assert!(seen.windows(2).all(|w| w[1].at - w[0].at >= gap), "{seen:?}");
}

#[tokio::test]
async fn the_token_is_in_no_error_no_debug_and_no_recording() {
    let recorded = Arc::new(Mutex::new(Vec::<Exchange>::new()));
    let to = Arc::clone(&recorded);
    let recorder: Recorder = Arc::new(move |exchange| to.lock().unwrap().push(exchange.clone()));
    let echo = json!({"message": format!("Bad credentials {SECRET}"), "errors": [SECRET]}).to_string();
    let mut wrong = pull(7, "h");
    wrong["number"] = json!(SECRET);
    let server = Server::start([
        Reply::new(401, echo.clone()),
        Reply::new(403, echo.clone()),
        Reply::new(422, echo.clone()),
        Reply::json(200, &wrong),
        Reply::new(307, "").with("location", &format!("/{SECRET}")),
        Reply::new(500, echo),
    ]);
    let github = client_at(server.base(), Tempo { retries: 0, ..tempo() }, Some(recorder));
    let mut said = format!("{github:?}");
    let with_secret = PullDraft { body: format!("pasted {SECRET}"), ..draft() };
    let errors = [
        github.pull(7).await.unwrap_err(),
        github.pull(7).await.unwrap_err(),
        github.create_pull(&with_secret).await.unwrap_err(),
        github.pull(7).await.unwrap_err(),
        github.create_pull(&draft()).await.unwrap_err(),
        github.create_pull(&draft()).await.unwrap_err(),
    ];
    for error in &errors {
        write!(said, "{error} {error:?} {:?}", error.to_problem()).unwrap();
    }
    assert!(matches!(&errors[0], ForgeError::Unauthorised { detail, .. } if detail == "Bad credentials ***: ***"));
    let recorded = recorded.lock().unwrap();
    assert_eq!(recorded.len(), 6);
    assert_eq!(recorded[2].request.as_ref().unwrap()["body"], json!("pasted ***"));
    write!(said, "{recorded:?}").unwrap();
    assert!(!said.contains(SECRET), "{said}");
}

#[tokio::test]
async fn garbage_is_an_error_and_no_panic() {
    for body in ["", "null", "[]", "{}", "{\"number\":-1}", "\u{0}\u{1}", "{\"number\":1", "<html></html>"] {
        let server = Server::start([Reply::new(200, body)]);
        let error = client(&server).pull(7).await.unwrap_err();
        assert!(matches!(error, ForgeError::Garbled { .. }), "{body:?}: {error}");
        let server = Server::start([Reply::new(200, body)]);
        let listed = client(&server).list_pulls(PullFilter::All, 5).await;
        assert!(matches!(listed, Err(ForgeError::Garbled { .. })) || body == "[]", "{body:?}: {listed:?}");
    }
    let server = Server::start([Reply::new(200, vec![0xff; 100_000]), Reply::new(600, ""), Reply::new(303, "")]);
    let github = client(&server);
    for _ in 0..3 {
        assert!(github.pull(7).await.is_err());
    }
}

#[tokio::test]
async fn a_missing_pull_and_a_missing_repository_are_told_apart_by_what_was_asked() {
    let not_found = || Reply::json(404, &json!({"message": "Not Found"}));
    let server = Server::start([not_found(), not_found()]);
    let github = client(&server);
    let error = github.pull(7).await.unwrap_err();
    assert_eq!(error.to_problem(), Problem::NoSuchPull { number: 7 });
    let error = github.create_pull(&draft()).await.unwrap_err();
    assert_eq!(error, ForgeError::NoSuchRepository { repository: "o/r".into() });
}

#[tokio::test]
async fn a_slow_server_is_a_timeout_and_a_closed_port_is_unreachable() {
    let server = Server::start([Reply::Silence]);
    let tempo = Tempo { timeout: Duration::from_secs(1), retries: 0, ..tempo() };
    let started = Instant::now();
    let error = client_at(server.base(), tempo, None).pull(7).await.unwrap_err();
    assert!(matches!(error, ForgeError::TimedOut { seconds: 1, .. }), "{error}");
    assert!(started.elapsed() < Duration::from_secs(15));

    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let github = client_at(Url::parse(&format!("http://{port}")).unwrap(), tempo, None);
    let error = github.create_pull(&draft()).await.unwrap_err();
    assert!(matches!(error, ForgeError::Unreachable { .. }), "nothing was sent, so nothing can have happened: {error}");
}

#[tokio::test]
async fn merged_and_closed_are_told_apart() {
    let mut merged = pull(1, "h");
    merged["state"] = json!("closed");
    let mut closed = merged.clone();
    merged["merged_at"] = json!("2026-01-02T03:04:05Z");
    closed["draft"] = json!(true);
    let server = Server::start([Reply::json(200, &json!([merged, closed]))]);
    let pulls = client(&server).find_pulls("h", PullFilter::Closed).await.unwrap();
    let states: Vec<_> = pulls.iter().map(|p| (p.state, p.merged(), p.draft)).collect();
    assert_eq!(states, [(PullState::Merged, true, false), (PullState::Closed, false, true)]);
}
