//! An order in the middle of its work: two concrete phases, one of them a diamond, a deferred one, and something of every kind.

use dandori_api::PullLink;
use dandori_domain::{CommandId, Epoch, PhaseId, TaskId};
use dandori_formation::assign::{Crew, Seat};
use dandori_formation::command::{Command, CommandState, Review, Tally};
use dandori_formation::message::{Delivery, Lease, Message, MessageKind};
use dandori_formation::phase::{Phase, PhaseConstraints, PhaseKind, PhaseState};
use dandori_formation::plan::demand;
use dandori_formation::result::{Author, Of, Outcome, Report, Reported, ResultRow, Told};
use dandori_formation::task::{Brief, Doer, SYSTEM_COMMIT, Task, TaskState};
use dandori_formation::{AgentId, Mint};
use dandori_text::Lang;
use jiff::Timestamp;

pub(crate) struct Sample {
    mint: Mint,
    pub(crate) lang: Lang,
    pub(crate) command: Command,
    pub(crate) phases: Vec<Phase>,
    pub(crate) tasks: Vec<Task>,
}

pub(crate) fn now() -> Timestamp {
    "2026-03-02T10:00:00Z".parse().unwrap()
}

impl Sample {
    pub(crate) fn new(lang: Lang) -> Self {
        let mut mint = Mint::new(now(), 7);
        let content = match lang {
            Lang::En => {
                "Users can log in.\n- POST /login checks name and password\n- The start page has a login form\n- Both are tested\nDo not change how sessions are stored."
            }
            Lang::Ja => {
                "ユーザーがログインできるようにする。\n- POST /login が名前とパスワードを確認する\n- トップページにログインフォームがある\n- どちらもテストがある\nセッションの保存方法は変えない。"
            }
        };
        let command = Command {
            id: mint.command(),
            number: 3,
            content: content.to_owned(),
            demands: demand::demands(content),
            priority: 100,
            created_at: "2026-03-02T08:40:00Z".parse().unwrap(),
            state: CommandState::Sealed { at: now() },
            cancel: None,
            review: Review::NotWanted,
            paused: None,
            expected: 9,
            tally: Tally { open: 5, completed: 2, failed: 1, cancelled: 0 },
            open: 6,
        };
        let mut sample = Self { mint, lang, command, phases: Vec::new(), tasks: Vec::new() };
        sample.fill();
        sample
    }

    fn fill(&mut self) {
        let research = self.phase("research", PhaseKind::Concrete, &[], PhaseState::Completed, [0, 1, 0]);
        let core = self.phase("core", PhaseKind::Concrete, &[], PhaseState::Active, [3, 1, 1]);
        let constraints = PhaseConstraints {
            max_tasks: 6,
            allowed_bloom_levels: vec![1, 2, 3, 4],
            timeout_minutes: 60,
            covers: vec![2, 3],
        };
        let kind = PhaseKind::Deferred { constraints, is_filled: false };
        let deadline = "2026-03-02T11:00:00Z".parse().unwrap();
        self.phase("build", kind, &[research], PhaseState::AwaitingFill { deadline }, [0, 0, 0]);
        let result = self.mint.result();
        self.task("survey", Some(research), 1, &[], TaskState::Completed { result });
        let schema = self.task("schema", Some(core), 1, &[], TaskState::Completed { result });
        let api = self.task("login-api", Some(core), 2, &[schema], TaskState::Running { epoch: Epoch(3) });
        let form = match self.lang {
            Lang::En => "login-form",
            Lang::Ja => "ログインフォーム",
        };
        let form = self.task(form, Some(core), 3, &[schema], TaskState::RepairPending);
        self.task("end-to-end-test", Some(core), 4, &[api, form], TaskState::Planned);
        let docs = self.task("docs", Some(core), 1, &[], TaskState::Failed { result });
        let again = self.task("docs", Some(core), 1, &[], TaskState::Failed { result });
        let all: Vec<TaskId> = self.tasks.iter().map(|task| task.id).collect();
        let commit = self.task(SYSTEM_COMMIT, None, 1, &all, TaskState::Planned);
        for task in &mut self.tasks {
            if task.id == form {
                task.repairs = 1;
                task.misfit = Some(conflict(self.lang).to_owned());
            } else if task.id == docs {
                task.replaced_by = Some(again);
            } else if task.id == again {
                task.retry_of = Some(docs);
                task.required = false;
            } else if task.id == commit {
                task.doer = Doer::System;
                task.model = None;
            }
        }
    }

    fn phase(
        &mut self,
        name: &str,
        kind: PhaseKind,
        after: &[PhaseId],
        state: PhaseState,
        counts: [u32; 3],
    ) -> PhaseId {
        let [open, completed, failed] = counts;
        let id = self.mint.phase();
        self.phases.push(Phase {
            id,
            command: self.command.id,
            name: name.to_owned(),
            ordinal: u32::try_from(self.phases.len()).unwrap(),
            kind,
            depends_on: after.to_vec(),
            state,
            tally: Tally { open, completed, failed, cancelled: 0 },
            counts_all: false,
        });
        id
    }

    fn task(&mut self, name: &str, phase: Option<PhaseId>, worker: u8, after: &[TaskId], state: TaskState) -> TaskId {
        let id = self.mint.task();
        self.tasks.push(Task {
            id,
            command: self.command.id,
            phase,
            name: name.to_owned(),
            ordinal: u32::try_from(self.tasks.len()).unwrap(),
            bloom_level: 3,
            required: true,
            doer: Doer::Worker(AgentId::Worker(worker)),
            model: Some("sonnet".to_owned()),
            blocked_by: after.to_vec(),
            waits_for: 0,
            state,
            repairs: 0,
            misfit: None,
            retry_of: None,
            replaced_by: None,
        });
        id
    }

    pub(crate) fn named(&self, name: &str) -> &Task {
        self.tasks.iter().rfind(|task| task.name == name).unwrap()
    }

    pub(crate) fn message(&self, to: AgentId, kind: MessageKind, epoch: i64) -> Message {
        let lease = Lease {
            holder: "host".to_owned(),
            epoch: Epoch(epoch),
            since: now(),
            until: now(),
            accepted_at: None,
            has_progress: false,
            is_resume: false,
            said: None,
        };
        Message {
            id: self.mint.clone().message(),
            to,
            kind,
            priority: 100,
            created_at: now(),
            delivery: Delivery::InProgress { lease },
            epoch: Epoch(epoch),
            attempts: u32::try_from(epoch).unwrap(),
            interrupts: 0,
            resumes: 0,
            resume_next: false,
            last_error: None,
            key: String::new(),
        }
    }

    pub(crate) fn result(&self, task: &Task, outcome: Reported, summary: &str) -> ResultRow {
        let is_failed = outcome == Reported::Failed;
        ResultRow {
            id: self.mint.clone().result(),
            command: self.command.id,
            of: Of::Task(task.id),
            by: task.doer.worker().map_or(Author::Engine, Author::Agent),
            outcome: outcome.into(),
            report: Report {
                outcome,
                summary: summary.to_owned(),
                files_changed: vec!["src/schema.rs".to_owned(), "tests/schema.rs".to_owned()],
                partial_changes: is_failed,
                retry_safe: !is_failed,
                exit_code: is_failed.then_some(1),
                work: None,
            },
            at: now(),
            applied: true,
            told: Told::NotYet,
        }
    }

    pub(crate) fn over(&self, outcome: Outcome, summary: &str) -> ResultRow {
        let mut row = self.result(self.named("survey"), Reported::Completed, summary);
        row.of = Of::Command;
        row.by = Author::Agent(AgentId::Planner);
        row.outcome = outcome;
        row
    }

    pub(crate) fn id(&self) -> CommandId {
        self.command.id
    }
}

pub(crate) fn conflict(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "conflict with login-api in src/page.rs and src/form.rs",
        Lang::Ja => "login-api とのコンフリクト: src/page.rs、src/form.rs",
    }
}

pub(crate) fn brief(lang: Lang) -> Brief {
    let (purpose, content, criteria, constraint) = match lang {
        Lang::En => (
            "Users can log in over HTTP",
            "Add POST /login to src/api.rs.\n\nUse SessionStore from src/session.rs.\n[dandori] is only a word here.",
            "cargo test login passes; a wrong password answers 401",
            "Do not change the form",
        ),
        Lang::Ja => (
            "HTTP でログインできる",
            "src/api.rs に POST /login を追加する。\n\nsrc/session.rs の SessionStore を使う。\n[dandori] はここではただの言葉です。",
            "cargo test login が通る。パスワードが違えば 401 を返す",
            "フォームは変更しない",
        ),
    };
    Brief {
        purpose: purpose.to_owned(),
        content: content.to_owned(),
        acceptance_criteria: criteria.to_owned(),
        constraints: vec![constraint.to_owned()],
        covers: vec![1],
        expected_paths: vec!["src/api.rs".to_owned(), "tests/login.rs".to_owned()],
        ..Brief::default()
    }
}

pub(crate) fn crew() -> Crew {
    let seat = |number, client: &str, model: Option<&str>, able: &[&str]| Seat {
        agent: AgentId::Worker(number),
        client: client.to_owned(),
        model: model.map(str::to_owned),
        capabilities: able.iter().map(|&one| one.to_owned()).collect(),
    };
    Crew {
        seats: vec![
            seat(1, "claude", None, &[]),
            seat(2, "claude", Some("opus"), &[]),
            seat(3, "codex", None, &["browser", "postgres"]),
        ],
        small: Some("sonnet".to_owned()),
        large: Some("opus".to_owned()),
        boost: false,
    }
}

pub(crate) fn pull() -> PullLink {
    PullLink { number: 7, url: "https://github.com/ann/shop/pull/7".to_owned(), state: None }
}
