//! Each kind comes with its fact, and goes with it.

use super::*;
use crate::agent::{AgentFailure, Usage, Verdict};
use crate::client::Client;
use crate::id::{Epoch, HostId, MessageId, Oid, PullId, WorktreeKey};
use crate::machine::Machine;
use crate::pull::{PullFact, PullLink, PullWanted, PullWords, WantedBy};
use crate::run::{
    Changes, CustomAgent, Errand, Fact, Intent, PlannedCommit, PlannedPush, PlannedWorktree, ProcessRef, Purpose, Role,
    RunKind, RunSettings, RunSpec, Sandbox, Workspace,
};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn task() -> Task {
    Task {
        id: TaskId::mint(at(0), 8),
        number: TaskNumber(3),
        repo: RepoId::mint(at(0), 9),
        title: "fix it".into(),
        created_at: at(0),
        picked: None,
    }
}

fn workspace(n: u128) -> Workspace {
    let key = format!("key{n}");
    Workspace {
        path: format!("/w/{key}").into(),
        branch: format!("dandori/{key}"),
        key: WorktreeKey::new(key),
        base: "main".into(),
        base_oid: Oid::new("aaaa"),
        ours_after: Oid::new("aaaa"),
        merges: None,
    }
}

/// A run that was asked for at this second.
fn asked(n: u128, second: i64, agent: &str) -> Run {
    Run::new(RunSpec {
        retry_of: None,
        id: RunId::mint(at(second), n << 48),
        task: task().id,
        number: TaskNumber(3),
        repo: task().repo,
        host: HostId::mint(at(0), 10),
        agent: agent.parse().unwrap(),
        kind: RunKind::First,
        instruction: "fix it".into(),
        base: None,
        here: None,
        checkout: None,
        brings: None,
        errand: None,
        settings: RunSettings::default(),
        created_at: at(second),
    })
}

fn take(run: &mut Run, second: i64, facts: impl IntoIterator<Item = Fact>) {
    for fact in facts {
        let name = fact.name();
        run.apply(&fact, at(second)).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

fn to_running(run: &mut Run, n: u128) {
    let planned = PlannedWorktree { workspace: workspace(n), arrival: None, kept: None };
    let shim = ProcessRef { pid: 1, started: 1, boot: "b".into() };
    let facts = [
        Fact::Admitted,
        Fact::Intended { intent: Intent::Worktree(planned) },
        Fact::WorktreeReady { workspace: workspace(n), from_pool: false },
        Fact::SetUpDone { commands: 0 },
        Fact::Intended { intent: Intent::Launch },
        Fact::Launched { shim, sandbox: Sandbox::Landlock { abi: 7 } },
    ];
    take(run, 1, facts);
}

fn running(n: u128, agent: &str) -> Run {
    let mut run = asked(n, 0, agent);
    to_running(&mut run, n);
    run
}

/// Settled at this second.
fn failed(n: u128, asked_at: i64, settled_at: i64, failure: Failure) -> Run {
    let mut run = asked(n, asked_at, "claude");
    take(&mut run, asked_at, [Fact::Admitted, Fact::Failed { failure }]);
    take(&mut run, settled_at, [Fact::Settled]);
    run
}

fn pushed(n: u128, agent: &str) -> Run {
    let mut run = running(n, agent);
    let (tree, parent) = (Oid::new("tree"), Oid::new("aaaa"));
    let planned =
        PlannedCommit { tree: tree.clone(), parent: parent.clone(), merges: None, message: "m".into(), at: at(1) };
    let changes = Some(Changes { files: 1, insertions: 1, deletions: 0 });
    let oid = Oid::new(format!("cccc{n}"));
    let facts = [
        Fact::AgentEnded {
            verdict: Verdict::Done { summary: "done".into() },
            exit: Some(0),
            signal: None,
            usage: Usage::default(),
        },
        Fact::Staged { tree, parent, changes },
        Fact::Intended { intent: Intent::Commit(planned) },
        Fact::Committed { oid: oid.clone() },
        Fact::Intended { intent: Intent::Push(PlannedPush { oid: oid.clone(), expected: None }) },
        Fact::Pushed { oid },
    ];
    take(&mut run, 2, facts);
    take(&mut run, 3, [Fact::Settled]);
    run
}

fn canceled(n: u128, keeps: bool) -> Run {
    let mut run = running(n, "claude");
    take(&mut run, 2, [Fact::CancelRequested, Fact::Stopped]);
    if keeps {
        let reference = format!("refs/dandori/preserved/key{n}");
        take(&mut run, 2, [Fact::Preserved { reference, oid: Oid::new("dddd") }]);
    }
    let branch = crate::run::BranchFate::Delete;
    take(&mut run, 3, [Fact::Intended { intent: Intent::Remove { branch } }, Fact::Removed { branch }, Fact::Settled]);
    run
}

fn pull_of(run: &Run, second: i64, facts: &[PullFact]) -> Pull {
    let wanted = run.pull_wanted(PullWords { title: "t".into(), body: "b".into() }, WantedBy::Run, at(second)).unwrap();
    let mut pull = Pull::new(PullId::mint(at(second), 77), wanted);
    for fact in facts {
        pull.apply(fact, at(second)).unwrap();
    }
    pull
}

fn opened() -> [PullFact; 2] {
    let link = PullLink { number: 1, url: "dandori:x/pulls/1".into() };
    [PullFact::PullIntended, PullFact::PullOpened { link }]
}

fn refused() -> Failure {
    Failure::PushRefused { reason: "no".into() }
}

fn of(task: &Task, runs: &[Run], pulls: &[Pull]) -> Vec<Need> {
    with(task, runs, pulls, &[1], &[])
}

fn with(task: &Task, runs: &[Run], pulls: &[Pull], here: &[u64], silences: &[(RunId, Timestamp)]) -> Vec<Need> {
    let facts = TaskFacts { task, runs, pulls, open_here: here, silences };
    needs(&Facts { tasks: &[facts], repos: &[], daemon: &DaemonFacts::default(), now: at(1000) })
}

fn names(needs: &[Need]) -> Vec<&'static str> {
    needs.iter().map(|need| need.kind.name()).collect()
}

#[test]
fn a_failure_says_what_kind_of_need_it_is() {
    let budget = Failure::OverBudget { budget: Usd(1), spent: Usd(2) };
    let agent = Failure::Agent { failure: AgentFailure::MaxTurns };
    let silent = |limit| Failure::TimedOut { limit, seconds: 9 };
    let table = [
        (refused(), "failed"),
        (agent, "failed"),
        (silent(Limit::Run), "failed"),
        (silent(Limit::Silence), "silent"),
        (silent(Limit::Start), "silent"),
        (budget, "budget_reached"),
        (Failure::PushConflict { files: vec!["a".into()] }, "conflict"),
        (Failure::ConflictLeft { files: vec!["a".into()] }, "conflict"),
    ];
    for (failure, name) in table {
        let found = of(&task(), &[failed(1, 0, 5, failure.clone())], &[]);
        assert_eq!(names(&found), [name], "{failure:?}");
        assert_eq!((found[0].since, found[0].subject.number), (at(5), Some(TaskNumber(3))));
    }
}

#[test]
fn what_becomes_of_an_errand_is_for_its_formation_to_decide() {
    let mut runs = [failed(1, 1, 9, Failure::SupervisorLost), canceled(2, true), running(3, "claude")];
    let silences = [(runs[2].spec.id, at(0))];
    let found = |runs: &[Run]| names(&with(&task(), runs, &[], &[], &silences));
    assert!(!found(&runs).is_empty());
    for run in &mut runs {
        let message = MessageId::mint(at(0), 7);
        let (purpose, agent, role, about) = (Purpose::Work, "worker1".to_owned(), Role::Worker, String::new());
        let errand = Errand { command: None, message, epoch: Epoch(1), purpose, agent, role, about };
        run.spec.errand = Some(errand);
    }
    assert_eq!(found(&runs), Vec::<&str>::new());
    assert!(!runs.iter().any(may_need));
}

#[test]
fn a_failure_that_was_tried_again_followed_up_or_decided_against_is_none() {
    let first = failed(1, 0, 5, refused());
    let mut retry = asked(2, 6, "claude");
    retry.spec.retry_of = Some(first.spec.id);
    assert_eq!(of(&task(), &[first.clone(), retry.clone()], &[]), []);
    // The next attempt names the first one as well: the second is answered all the same.
    let second = failed(2, 6, 7, refused());
    let mut third = asked(3, 8, "claude");
    third.spec.retry_of = Some(first.spec.id);
    assert_eq!(of(&task(), &[first.clone(), second.clone(), third], &[]), []);
    // A second failure is another need.
    let again = of(&task(), &[first.clone(), second], &[]);
    assert_eq!(again.len(), 1);
    assert_ne!(again[0].id, of(&task(), std::slice::from_ref(&first), &[])[0].id);
    let mut follow_up = asked(2, 6, "claude");
    let after = first.spec.id;
    follow_up.spec.kind = RunKind::FollowUp { after, workspace: workspace(1), session: None };
    assert_eq!(of(&task(), &[first.clone(), follow_up], &[]), []);
    // Another agent at its side changes nothing, unless it is the one that was picked.
    let rival = pushed(2, "codex");
    assert_eq!(names(&of(&task(), &[first.clone(), rival.clone()], &[])), ["failed"]);
    let picked = Task { picked: Some(rival.spec.id), ..task() };
    assert_eq!(of(&picked, &[first.clone(), rival.clone()], &[]), []);
    let merged = [opened().as_slice(), &[PullFact::PullMerged { number: 1 }]].concat();
    assert_eq!(of(&task(), &[first, rival.clone()], &[pull_of(&rival, 4, &merged)]), []);
}

#[test]
fn a_push_that_fails_again_after_it_was_resumed_is_another_need() {
    let mut run = running(1, "claude");
    let (tree, parent) = (Oid::new("tree"), Oid::new("aaaa"));
    let planned =
        PlannedCommit { tree: tree.clone(), parent: parent.clone(), merges: None, message: "m".into(), at: at(1) };
    let facts = [
        Fact::AgentEnded {
            verdict: Verdict::Done { summary: "done".into() },
            exit: Some(0),
            signal: None,
            usage: Usage::default(),
        },
        Fact::Staged { tree, parent, changes: Some(Changes::default()) },
        Fact::Intended { intent: Intent::Commit(planned) },
        Fact::Committed { oid: Oid::new("c") },
        Fact::Failed { failure: refused() },
    ];
    take(&mut run, 2, facts);
    assert_eq!(of(&task(), std::slice::from_ref(&run), &[]), [], "it is still being cleaned up");
    take(&mut run, 3, [Fact::Settled]);
    let first = of(&task(), std::slice::from_ref(&run), &[]);
    take(&mut run, 4, [Fact::Resumed]);
    assert_eq!(of(&task(), std::slice::from_ref(&run), &[]), []);
    take(&mut run, 5, [Fact::Failed { failure: refused() }]);
    take(&mut run, 6, [Fact::Settled]);
    let second = of(&task(), std::slice::from_ref(&run), &[]);
    assert_eq!((names(&first), names(&second)), (vec!["failed"], vec!["failed"]));
    assert_ne!(first[0].id, second[0].id);
    assert_eq!(second, of(&task(), &[run], &[]), "and it is the same whenever one looks");
}

#[test]
fn kept_work_is_one_only_where_something_was_kept() {
    let run = canceled(1, true);
    let found = of(&task(), std::slice::from_ref(&run), &[]);
    assert_eq!(names(&found), ["kept_work"]);
    assert_eq!(Some(found[0].id.clone()), kept_work_id(&run), "whoever looks at it puts this away");
    assert_eq!(of(&task(), &[canceled(1, false)], &[]), []);
    let mut again = asked(2, 6, "claude");
    again.spec.retry_of = Some(run.spec.id);
    assert_eq!(of(&task(), &[run, again], &[]), []);
}

#[test]
fn an_agent_that_speaks_is_worth_a_look_when_it_is_quiet_for_long() {
    let run = running(1, "claude");
    let patience = i64::try_from(run.spec.settings.limits.silence_seconds / 3).unwrap();
    let quiet = |run: &Run, since: i64| with(&task(), std::slice::from_ref(run), &[], &[], &[(run.spec.id, at(since))]);
    assert_eq!(names(&quiet(&run, 1000 - patience)), ["quiet"]);
    assert_eq!(quiet(&run, 1000 - patience + 1), [], "not yet");
    assert_eq!(quiet(&running(1, "exec:make"), 0), [], "a plain program may be");
    let mut acp = running(1, "mine");
    acp.spec.settings.custom = Some(CustomAgent::Acp { acp: "x".into(), auth: None });
    assert_eq!(names(&quiet(&acp, 0)), ["quiet"]);
    let mut leaving = run.clone();
    take(&mut leaving, 2, [Fact::CancelRequested]);
    assert_eq!(quiet(&leaving, 0), []);
    assert_eq!(quiet(&pushed(1, "claude"), 0), []);
    assert_ne!(quiet(&run, 0)[0].id, quiet(&run, 1)[0].id, "a second silence is another");
}

#[test]
fn a_pull_request_that_failed_or_waits_here_is_one_until_it_is_over() {
    let run = pushed(1, "claude");
    let runs = std::slice::from_ref(&run);
    let problem = Problem::ForgeRefused { reason: "no".into() };
    let failed = pull_of(&run, 4, &[PullFact::PullIntended, PullFact::PullFailed { problem }]);
    assert_eq!(names(&of(&task(), runs, std::slice::from_ref(&failed))), ["pull_failed"]);
    let mut wanted = failed.clone();
    let again = PullWanted { at: at(9), ..failed.wanted.clone() };
    wanted.apply(&PullFact::PullWanted { wanted: again }, at(9)).unwrap();
    assert_eq!(of(&task(), runs, &[wanted]), [], "it is being tried again");
    let open = pull_of(&run, 4, &opened());
    let ready = of(&task(), runs, std::slice::from_ref(&open));
    assert_eq!((names(&ready), ready[0].subject.pull), (vec!["pull_ready"], Some(1)));
    let behind = beside_base(ready[0].clone(), 2, &[]);
    assert!(matches!(behind.kind, NeedKind::PullReady { behind: Some(2), .. }) && behind.id == ready[0].id);
    let conflict = beside_base(ready[0].clone(), 2, &["a.txt".to_owned()]);
    assert_eq!((names(std::slice::from_ref(&conflict)), &conflict.subject), (vec!["pull_conflict"], &ready[0].subject));
    assert_ne!(conflict.id, ready[0].id, "what was said about the one says nothing about the other");
    assert_eq!(with(&task(), runs, std::slice::from_ref(&open), &[], &[]), [], "GitHub's own");
    for over in [PullFact::PullClosed { number: 1 }, PullFact::PullMerged { number: 1 }] {
        let facts = [opened().as_slice(), &[over]].concat();
        assert_eq!(of(&task(), runs, &[pull_of(&run, 4, &facts)]), []);
    }
    // While a follow-up works on its branch it is not ready.
    let mut follow_up = asked(2, 6, "claude");
    let after = run.spec.id;
    follow_up.spec.kind = RunKind::FollowUp { after, workspace: workspace(1), session: None };
    assert_eq!(of(&task(), &[run, follow_up], &[open]), []);
}

#[test]
fn what_is_asked_for_after_a_merge_is_one_again() {
    let first = pushed(1, "claude");
    let merged = pull_of(&first, 4, &[opened().as_slice(), &[PullFact::PullMerged { number: 1 }]].concat());
    let mut second = pushed(2, "claude");
    second.spec.created_at = at(5);
    let link = PullLink { number: 2, url: "dandori:x/pulls/2".into() };
    let next = pull_of(&second, 6, &[PullFact::PullIntended, PullFact::PullOpened { link }]);
    let both = [merged.clone(), next.clone()];
    let ready = with(&task(), &[first.clone(), second.clone()], &both, &[2], &[]);
    assert_eq!((names(&ready), ready[0].subject.pull), (vec!["pull_ready"], Some(2)));
    let failed = failed(3, 7, 8, refused());
    assert_eq!(names(&of(&task(), &[first.clone(), failed], std::slice::from_ref(&merged))), ["failed"]);
    // A rival that was asked for before is not.
    second.spec.created_at = at(3);
    assert_eq!(with(&task(), &[first, second], &both, &[2], &[]), []);
}

#[test]
fn several_that_are_done_are_a_choice_until_one_is_picked() {
    let (one, two) = (pushed(1, "claude"), pushed(2, "codex"));
    let both = [one.clone(), two.clone()];
    let found = of(&task(), &both, &[]);
    assert_eq!(names(&found), ["choice"]);
    assert_eq!(found[0].kind, NeedKind::Choice { agents: vec!["claude".into(), "codex".into()] });
    assert_eq!(of(&Task { picked: Some(one.spec.id), ..task() }, &both, &[]), []);
    assert_eq!(of(&task(), &[one.clone(), running(2, "codex")], &[]), [], "the other is still at work");
    assert_eq!(of(&task(), &[one], &[]), []);
}

#[test]
fn a_repository_and_the_daemon_have_their_own() {
    let untrusted = Untrusted {
        path: "/r/dandori.toml".into(),
        what: vec!["agent: exec:x".into()],
        digest: "d".into(),
        refused_at: at(1),
    };
    let waiting = Unconfirmed { session: "claude-1".into(), refused_at: at(2) };
    let repo = RepoFacts { repo: task().repo, untrusted: Some(untrusted), unconfirmed: vec![waiting] };
    let damaged = Problem::StoreDamaged { quarantine: "/q".into(), restored: Some("b".into()) };
    let daemon = DaemonFacts {
        notices: vec![(damaged, at(3)), (Problem::StoreFull, at(4))],
        disk: Some(DiskFacts { path: "/s".into(), free: 1, needed: 2, since: at(5) }),
    };
    let all =
        |repos: &[RepoFacts], daemon: &DaemonFacts| names(&needs(&Facts { tasks: &[], repos, daemon, now: at(10) }));
    let newest_first = ["disk_low", "daemon_trouble", "store_restored", "consent", "trust"];
    assert_eq!(all(std::slice::from_ref(&repo), &daemon), newest_first);
    let quiet = RepoFacts { untrusted: None, unconfirmed: Vec::new(), ..repo };
    assert_eq!(all(&[quiet], &DaemonFacts::default()), Vec::<&str>::new());
}

#[test]
fn what_is_at_work_or_went_well_needs_nobody() {
    for run in [asked(1, 0, "claude"), running(1, "claude"), pushed(1, "claude")] {
        assert_eq!(of(&task(), std::slice::from_ref(&run), &[]), [], "{run:?}");
        assert_eq!(may_need(&run), !run.is_settled());
    }
    assert!(may_need(&failed(1, 0, 5, refused())) && may_need(&canceled(1, true)) && !may_need(&canceled(1, false)));
    assert!(matches!(asked(1, 0, "claude").spec.agent, AgentName::Client(Client::Claude)));
}

#[test]
fn ids_are_the_same_everywhere_and_told_apart() {
    assert_eq!(NeedId::of(&["failed", "run_x", "t"]).to_string(), NeedId::of(&["failed", "run_x", "t"]).to_string());
    assert_ne!(NeedId::of(&["a", "bc"]), NeedId::of(&["ab", "c"]));
    let many: std::collections::HashSet<String> =
        (0..20_000).map(|n| NeedId::of(&["failed", &format!("run_{n}")]).to_string()).collect();
    assert_eq!(many.len(), 20_000);
    let id = NeedId::of(&["x"]);
    assert_eq!(id.as_str().parse::<NeedId>(), Ok(id));
    assert!("T-3".parse::<NeedId>().is_err());
}

#[test]
fn a_snooze_ends_and_what_was_put_away_stays_away() {
    let snoozed = Answer::Snoozed { until: at(10), reason: "later".into() };
    assert!(snoozed.hides(at(9)) && !snoozed.hides(at(10)));
    assert!(Answer::Dismissed.hides(at(99)) && Answer::Seen.hides(at(99)));
}
