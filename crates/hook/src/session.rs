//! One event in its session: the rules that hold there, what is remembered, the judgement, and what is written down.

use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::guard::{Profile, RulesNote};
use dandori_guard::world::Gap;
use dandori_guard::{
    Answer, Asking, Checkout, Context, Decision, ErrorPolicy, Event, GuardName, Judgement, Kind, Mark, Permission,
    Reason, Rules, Ruling, encode, judge,
};
use dandori_host::layout::RunLayout;
use dandori_host::{Env, Layout};
use dandori_journal::{Begun, Logs, Record, event_name, local_time, spool};
use dandori_policy::RunRules;
use dandori_text::Lang;
use dandori_text::guard::Unjudged;
use jiff::Zoned;

use crate::Given;
use crate::files::Files;
use crate::looks::Looks;
use crate::memory::Memory;
use crate::{delivery, effects, project};

/// An event and where it is judged.
pub struct Request<'a> {
    pub event: &'a Event,
    pub env: &'a Env,
    pub given: &'a Given,
    /// The folder of the run it belongs to, when it does.
    pub run: Option<&'a Utf8Path>,
    pub begun: Instant,
    pub allowance: Arc<AtomicU64>,
    /// The call as it is written down, until its answer is given.
    pub call: Arc<Mutex<Option<Begun>>>,
}

/// The rules of one project, and what is remembered about a session in it.
pub struct Session {
    pub rules: Rules,
    /// What is wrong with the configuration, for the user.
    pub notes: Vec<RulesNote>,
    pub project: Option<Utf8PathBuf>,
    checkout: Option<Checkout>,
    pub lang: Lang,
    folder: Utf8PathBuf,
    layout: Option<Layout>,
    memory: Memory,
    now: Zoned,
}

/// What a session stands on, in a run or out of one.
struct Ground {
    rules: Rules,
    notes: Vec<RulesNote>,
    project: Option<Utf8PathBuf>,
    checkout: Option<Checkout>,
    folder: Utf8PathBuf,
    layout: Option<Layout>,
}

/// A judgement with its answer.
pub struct Judged {
    pub judgement: Judgement,
    pub answer: Answer,
}

impl Session {
    /// The session of a client's event.
    pub fn open(request: &Request) -> Result<Self, Unjudged> {
        let now = local_time(dandori_host::now(), request.env.text("TZ"));
        if let Some(run) = request.run {
            let run = RunLayout::at(run);
            let gaps = begin(&run.guards(), request);
            let unread = |e: std::io::Error| Unjudged::RunRules(e.to_string());
            let RunRules { worktree, rules } = RunRules::load(&run.rules()).map_err(unread)?;
            let project = Some(worktree);
            let folder = run.guards();
            let ground = Ground { rules, notes: Vec::new(), project, checkout: None, folder, layout: None };
            let mut session = Self::on(ground, request, now);
            session.memory.gaps = gaps;
            // The agent can write where they would stand, and nobody gives any in a run.
            session.memory.forget_exceptions();
            return Ok(session);
        }
        let layout = request.given.layout(request.env).ok_or(Unjudged::NoHome)?;
        let project = project::project(request.event, request.env, &layout);
        Ok(Self::in_project(project, layout, request, now, begin))
    }

    /// For whoever only asks what would be said: the event's own folder counts, and no session is remembered to have
    /// begun there.
    pub fn look(request: &Request) -> Result<Self, Unjudged> {
        let now = local_time(dandori_host::now(), request.env.text("TZ"));
        let layout = request.given.layout(request.env).ok_or(Unjudged::NoHome)?;
        Ok(Self::in_project(request.event.cwd.clone(), layout, request, now, |_, _| Vec::new()))
    }

    /// `begin` is called before the rules are looked at, which takes most of the time there is.
    fn in_project(
        project: Option<Utf8PathBuf>,
        layout: Layout,
        request: &Request,
        now: Zoned,
        begin: fn(&Utf8Path, &Request) -> Vec<Gap>,
    ) -> Self {
        let checkout = project.as_deref().and_then(crate::checkout::find);
        let root = checkout.as_ref().map(|c| c.root.clone());
        let folder = project::guard_folder(&layout, root.as_deref());
        let gaps = begin(&folder, request);
        let mut paths = crate::rules::policy_paths(checkout.as_ref(), request.env, request.given, &layout, &folder);
        paths.was_disciplined = !paths.has_state() && was_disciplined(&folder, request.event);
        let (rules, notes) = dandori_policy::load(&paths, now.timestamp());
        let mut session =
            Self::on(Ground { rules, notes, project, checkout, folder, layout: Some(layout) }, request, now);
        session.memory.gaps = gaps;
        session
    }

    fn on(ground: Ground, request: &Request, now: Zoned) -> Self {
        let Ground { rules, notes, project, checkout, folder, layout } = ground;
        let lang = Lang::choose(None, rules.language.as_deref(), |name| request.env.text(name));
        let window = Duration::from_secs(rules.denied_seconds);
        let memory = Memory::new(&folder, request.event, now.timestamp(), window);
        Self { rules, notes, project, checkout, lang, folder, layout, memory, now }
    }

    /// Asks the guards; nothing is noted.
    pub fn judge(&self, request: &Request, asking: Asking) -> Judged {
        let files = Files {
            env: request.env,
            home: request.given.home(request.env),
            memory: &self.memory,
            begun: request.begun,
            waited: Cell::default(),
            checkouts: RefCell::new(self.checkout.iter().cloned().collect()),
            looks: Looks::default(),
            allowance: Arc::clone(&request.allowance),
        };
        let context = Context::new(request.event, &self.rules, &files, self.lang, self.project.as_deref());
        let mut judgement = judge(&context, asking);
        self.say_what_is_wrong(request.event, &mut judgement.ruling);
        say_what_went_unjudged(&mut judgement);
        let answer = encode(request.event, &judgement.ruling);
        Judged { judgement, answer }
    }

    /// A configuration that is not as the user thinks is said once a turn, not at every tool; but a refusal may be due
    /// to a file that could not be read, and then nobody should have to guess.
    fn say_what_is_wrong(&self, event: &Event, ruling: &mut Ruling) {
        match &mut ruling.verdict {
            Permission::Block { reason, .. } | Permission::Ask { reason, .. } => {
                for note in self.notes.iter().filter(|note| note.is_unusable_file()) {
                    *reason = reason.with(&format!("dandori config: {}", dandori_text::policy::note(self.lang, note)));
                }
            }
            Permission::Go if matches!(event.kind, Kind::SessionStart { .. } | Kind::PromptSubmit { .. }) => {
                let notes = self.notes.iter().map(|note| Decision::Error {
                    guard: GuardName::known("config"),
                    detail: Reason::new(&dandori_text::policy::note(self.lang, note)),
                    policy: ErrorPolicy::Open,
                });
                ruling.notes.extend(Ruling::of(notes).notes);
            }
            Permission::Go => {}
        }
    }

    /// Judges, notes and writes down.
    pub fn answer(&self, request: &Request) -> Answer {
        self.decide(request).answer
    }

    /// The same, with what it rests on.
    pub(crate) fn decide(&self, request: &Request) -> Judged {
        let mut judged = self.judge(request, Asking::UntilBlocked);
        if !effects::use_exceptions(&judged.judgement.effects, &self.memory) {
            // Somebody else had the last use of it, or it cannot be told: then there is none.
            self.memory.forget_exceptions();
            judged = self.judge(request, Asking::UntilBlocked);
        }
        // Last: what a guard refuses is not taken.
        let goes = judged.judgement.ruling.verdict == Permission::Go;
        if let Some(refusal) = goes.then(|| delivery::refusal(&self.folder, request.event, self.lang)).flatten() {
            judged.judgement.ruling = Ruling::from(refusal);
            judged.answer = encode(request.event, &judged.judgement.ruling);
        }
        let judgement = &judged.judgement;
        let goes_on = match &judgement.ruling.verdict {
            Permission::Go => true,
            Permission::Ask { .. } => request.event.can_ask(),
            Permission::Block { .. } => false,
        };
        if let (true, Ok(mut slot)) = (goes_on, request.call.lock())
            && let Some(call) = slot.as_mut()
        {
            call.goes_on();
        }
        let logs = Logs::new(&self.folder);
        // What cannot be noted must not keep the answer back: the tool would run without one.
        let troubles =
            effects::apply(&judgement.effects, &self.memory, &logs, request.event, self.layout.as_ref(), &self.now);
        self.write_down(request, judgement, &logs, troubles);
        self.remember_discipline(request.event);
        if matches!(request.event.kind, Kind::SessionStart { .. }) {
            dandori_journal::sweep(&self.folder, self.now.timestamp());
        }
        judged
    }

    /// Once a turn: a session that works by a playbook goes on so, whatever becomes of state.md.
    fn remember_discipline(&self, event: &Event) {
        let begins = matches!(event.kind, Kind::SessionStart { .. } | Kind::PromptSubmit { .. });
        if begins && self.rules.profile == Profile::Discipline && self.memory.mark(&Mark::Discipline).is_none() {
            let _ = self.memory.session.set(&Mark::Discipline, "", self.memory.now);
        }
    }

    fn write_down(&self, request: &Request, judgement: &Judgement, logs: &Logs, troubles: Vec<String>) {
        let took = request.begun.elapsed();
        let at = self.now.datetime();
        let tool = request.event.tool_name.as_deref();
        let _ = logs.timing(at, &event_name(request.event), tool, took);
        let refused = match &judgement.ruling.verdict {
            Permission::Block { guard, .. } => Some(guard),
            // A question nobody can be asked is answered with no.
            Permission::Ask { guard, .. } if !request.event.can_ask() => Some(guard),
            _ => None,
        };
        if let Some(guard) = refused {
            let _ = logs.block(at, guard.as_str(), tool);
        }
        let mut record = Record::of(request.event, judgement, self.now.timestamp(), took);
        record.oddities.extend(troubles);
        let _ = spool::append(&self.folder, &record);
    }
}

/// A refusal leaves warnings away; that something went on unjudged is told once, so it goes along.
fn say_what_went_unjudged(judgement: &mut Judgement) {
    let (Permission::Block { reason, .. } | Permission::Ask { reason, .. }) = &mut judgement.ruling.verdict else {
        return;
    };
    let gaps = judgement.steps.iter().filter(|step| step.guard == "unjudged").filter_map(|step| step.message.as_ref());
    for gap in gaps {
        *reason = reason.with(&format!("[dandori unjudged] {gap}"));
    }
}

/// From here on the event is known to be judged; what was not is told.
fn begin(folder: &Utf8Path, request: &Request) -> Vec<Gap> {
    let id = request.event.session.as_ref().map(ToString::to_string);
    let session = dandori_journal::Session::new(folder, request.event.agent, id.as_deref());
    let Some((call, gaps)) = session.begin(request.event) else { return Vec::new() };
    if let Ok(mut slot) = request.call.lock() {
        *slot = Some(call);
    }
    gaps
}

fn was_disciplined(folder: &Utf8Path, event: &Event) -> bool {
    let id = event.session.as_ref().map(ToString::to_string);
    dandori_journal::Session::new(folder, event.agent, id.as_deref()).mark(&Mark::Discipline).is_some()
}
