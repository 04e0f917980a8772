//! One hook event, from stdin to the answer.
//!
//! A process of its own for each event, before any command line is parsed: no runtime, no database, no TOML unless the
//! configuration has changed. It answers once, in one write, before its own deadline, whatever happens inside: a guard
//! that fails or panics answers by its policy, and an event that could not be judged in time is refused where it is
//! about a tool.

mod asked;
mod checkout;
mod delivery;
mod effects;
mod files;
mod given;
mod lineage;
mod looks;
mod memory;
mod project;
mod rules;
mod session;

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dandori_guard::{
    Answer, Client, Decision, DecodeError, ErrorPolicy, Event, GuardName, Kind, Reason, Ruling, answer_unreadable,
    encode,
};
use dandori_host::Env;
use dandori_journal::Begun;
use dandori_text::Lang;
use dandori_text::guard::Unjudged;

pub use asked::{Said, decide};
pub use checkout::{find as find_checkout, main_root};
pub use files::Files;
pub use given::Given;
pub use memory::Memory;
pub use project::guard_folder;
pub use rules::policy_paths;
pub use session::{Judged, Request, Session};

/// A larger event is not read: no client sends one, and a hook is to stay small.
const MAX_EVENT: usize = 8 * 1024 * 1024;
/// How long an answer may take in all, programs of the project's own left out. Clients wait longer, at every event.
pub(crate) const DEADLINE: Duration = Duration::from_secs(8);
/// How long with them: what the client waits for before and after a tool, and some room below it.
const LONGEST: Duration = Duration::from_secs(110);
const WATCH_STACK: usize = 64 * 1024;

/// What a hook was called with.
#[derive(Clone, Debug)]
pub struct Called {
    pub agent: Option<Client>,
    /// The folder of the run it belongs to, when it does.
    pub run: Option<camino::Utf8PathBuf>,
    pub given: Given,
}

impl Called {
    /// `hook <agent> [--run <folder>] [--state <folder>] [--config <file>] [--home <folder>]`; what is not understood is
    /// left away: an answer is owed in any case.
    pub fn from_words(words: impl Iterator<Item = String>) -> Self {
        let mut called = Self { agent: None, run: None, given: Given::default() };
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--run" => called.run = words.next().map(Into::into),
                "--state" => called.given.state = words.next().map(Into::into),
                "--config" => called.given.config = words.next().map(Into::into),
                "--home" => called.given.home = words.next().map(Into::into),
                name => called.agent = called.agent.or(name.parse().ok()),
            }
        }
        called
    }
}

/// Reads an event on stdin, answers it and gives the exit code.
pub fn main(called: &Called, env: &Env) -> u8 {
    // A panic must not print: what stands on stderr goes to the model.
    std::panic::set_hook(Box::new(|_| {}));
    let begun = Instant::now();
    let lang = Lang::choose(None, None, |name| env.text(name));
    let desk = Arc::new(Desk { lang, ..Desk::default() });
    let theirs = Arc::clone(&desk);
    // The work stays on this thread and the watch is the other one: the answer must not wait until a busy machine gets
    // round to a thread.
    let watch = std::thread::Builder::new().stack_size(WATCH_STACK).spawn(move || theirs.watch(begun));
    let answer = catch_unwind(AssertUnwindSafe(|| work(called, env, begun, &desk)))
        .unwrap_or_else(|_| desk.unjudged(&Unjudged::Panicked));
    drop(watch);
    let code = desk.answer(&answer);
    desk.end_call();
    code
}

/// Where the one answer is given: by the work, or by the watch when the work takes too long.
#[derive(Default)]
struct Desk {
    /// The event, once it is read.
    seen: Mutex<Option<Event>>,
    /// How long programs of the project's own may hold up the answer, in milliseconds.
    allowance: Arc<AtomicU64>,
    /// As it is written down while it is being answered.
    call: Arc<Mutex<Option<Begun>>>,
    is_taken: AtomicBool,
    /// By the locale: the configuration may be what cannot be read.
    lang: Lang,
}

impl Desk {
    fn watch(&self, begun: Instant) {
        loop {
            let allowance = Duration::from_millis(self.allowance.load(Ordering::SeqCst));
            match (DEADLINE + allowance).min(LONGEST).checked_sub(begun.elapsed()) {
                // More may be allowed by then.
                Some(left) => std::thread::sleep(left),
                None => break,
            }
        }
        let answer = self.unjudged(&Unjudged::TookTooLong);
        let code = self.answer(&answer);
        self.end_call();
        // The work is stuck: there is nothing to go back to.
        std::process::exit(i32::from(code));
    }

    /// Writes the answer, unless another was: then whoever gave it ends the process.
    fn answer(&self, answer: &Answer) -> u8 {
        while self.is_taken.swap(true, Ordering::SeqCst) {
            std::thread::park();
        }
        write(answer)
    }

    /// Only now: whoever is killed before the answer is out has not answered.
    fn end_call(&self) {
        if let Some(call) = self.call.lock().ok().and_then(|mut slot| slot.take()) {
            call.end();
        }
    }

    fn unjudged(&self, why: &Unjudged) -> Answer {
        unjudged(self.seen.lock().ok().and_then(|mut slot| slot.take()), why, self.lang)
    }
}

fn work(called: &Called, env: &Env, begun: Instant, desk: &Desk) -> Answer {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_EVENT + 1).unwrap_or(u64::MAX);
    if let Err(error) = std::io::stdin().lock().take(limit).read_to_end(&mut bytes) {
        return desk.unjudged(&Unjudged::Unread(error.to_string()));
    }
    if bytes.len() > MAX_EVENT {
        // Read to its end all the same: a client whose pipe breaks may not look at the answer.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    }
    let mut event = match read(&bytes, called.agent, desk.lang) {
        Ok(event) => event,
        Err(unread) => return unread.answer,
    };
    drop(bytes);
    if called.run.is_none() && project::is_in_run(&event, env, &called.given) {
        return Answer { stdout: Vec::new(), stderr: String::new(), exit: 0 };
    }
    event.headless = called.run.is_some() || env.text("CLAUDE_CODE_ENTRYPOINT").is_some_and(|e| e.starts_with("sdk"));
    // Looked at where it decides something: who has spoken, and whose session it is.
    if matches!(event.kind, Kind::PromptSubmit { .. } | Kind::SessionEnd { .. }) {
        let lineage = lineage::Lineage::of(dandori_host::ancestry::ancestors());
        event.headless |= lineage.headless;
        event.nested = lineage.nested;
    }
    if let Ok(mut slot) = desk.seen.lock() {
        *slot = Some(event.outline());
    }
    let allowance = Arc::clone(&desk.allowance);
    let (given, run, call) = (&called.given, called.run.as_deref(), Arc::clone(&desk.call));
    let request = Request { event: &event, env, given, run, begun, allowance, call };
    match Session::open(&request) {
        Ok(session) => session.answer(&request),
        Err(why) => desk.unjudged(&why),
    }
}

/// An event that could not be read, and what is answered all the same.
pub struct Unread {
    pub why: Unjudged,
    pub answer: Answer,
}

/// The event in these bytes. One that is too large, cut off or garbled is not passed, as far as it can be seen that it
/// is about a tool.
pub fn read(bytes: &[u8], agent: Option<Client>, lang: Lang) -> Result<Event, Unread> {
    let why = if bytes.len() > MAX_EVENT {
        Unjudged::TooLarge
    } else {
        match dandori_guard::decode(bytes, agent) {
            Ok(event) => return Ok(event),
            Err(DecodeError::NotJson(error)) => Unjudged::NotJson(error.to_string()),
        }
    };
    let stub = before_a_tool(bytes).map(|name| format!("{{\"hook_event_name\":\"{name}\",\"tool_name\":\"\"}}"));
    let event = stub.and_then(|stub| dandori_guard::decode(stub.as_bytes(), agent).ok());
    Err(Unread { answer: unjudged(event, &why, lang), why })
}

/// The name of the event, when it is one before a tool. Inside of a text its quotes would be escaped.
fn before_a_tool(bytes: &[u8]) -> Option<&'static str> {
    const FIELD: &[u8] = b"\"hook_event_name\"";
    let fields = bytes.windows(FIELD.len()).enumerate().filter(|(_, window)| *window == FIELD);
    fields.into_iter().find_map(|(at, _)| {
        let value = bytes.get(at + FIELD.len()..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        ["PreToolUse", "BeforeTool"].into_iter().find(|name| value.starts_with(format!("\"{name}\"").as_bytes()))
    })
}

/// What is said when the guards could not be asked: a tool is refused, everything else passes with a word.
fn unjudged(event: Option<Event>, why: &Unjudged, lang: Lang) -> Answer {
    let text = dandori_text::guard::unjudged(lang, why);
    let Some(event) = event else { return answer_unreadable(&Reason::new(&format!("dandori: {text}"))) };
    let policy = if event.kind == Kind::PreTool { ErrorPolicy::Closed } else { ErrorPolicy::Open };
    let decision = Decision::Error { guard: GuardName::known("hook"), detail: Reason::new(&text), policy };
    encode(&event, &Ruling::from(decision))
}

/// One write for each stream: a client that reads half an answer runs the tool.
fn write(answer: &Answer) -> u8 {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(answer.stderr.as_bytes());
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(&answer.stdout).and_then(|()| stdout.flush());
    answer.exit
}
