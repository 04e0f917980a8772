//! One hook event, from stdin to the answer.
//!
//! A process of its own for each event, before any command line is parsed: no runtime, no database, no TOML unless the
//! configuration has changed. It answers once, in one write, before its own deadline, whatever happens inside: a guard
//! that fails or panics answers by its policy, and an event that could not be judged in time is refused where it is
//! about a tool.

mod checkout;
mod effects;
mod files;
mod memory;
mod place;
mod rules;
mod session;

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dandori_guard::{
    Agent, Answer, Decision, ErrorPolicy, Event, GuardName, Kind, Reason, Ruling, answer_unreadable, encode,
};
use dandori_host::Env;

pub use checkout::{find as find_checkout, main_root};
pub use files::Files;
pub use memory::Memory;
pub use place::guard_folder;
pub use rules::place as rules_place;
pub use session::{Judged, Request, Session};

/// A larger event is not read: no client sends one, and a hook is to stay small.
const MAX_EVENT: usize = 8 * 1024 * 1024;
/// How long an answer may take in all, programs of the project's own left out. Clients wait longer, at every event.
pub const DEADLINE: Duration = Duration::from_secs(8);
/// How long with them: what the client waits for before and after a tool, and some room below it.
const LONGEST: Duration = Duration::from_secs(110);
const WATCH_STACK: usize = 64 * 1024;

/// What a hook was called with.
#[derive(Clone, Debug)]
pub struct Called {
    pub agent: Option<Agent>,
    /// The folder of the run it belongs to, when it does.
    pub run: Option<camino::Utf8PathBuf>,
}

impl Called {
    /// `hook <agent> [--run <folder>]`; what is not understood is left away: an answer is owed in any case.
    pub fn from_words(words: impl Iterator<Item = String>) -> Self {
        let mut called = Self { agent: None, run: None };
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--run" => called.run = words.next().map(Into::into),
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
    let desk = Arc::new(Desk::default());
    let theirs = Arc::clone(&desk);
    // The work stays on this thread and the watch is the other one: the answer must not wait until a busy machine gets
    // round to a thread.
    let watch = std::thread::Builder::new().stack_size(WATCH_STACK).spawn(move || theirs.watch(begun));
    let answer = catch_unwind(AssertUnwindSafe(|| work(called, env, begun, &desk)))
        .unwrap_or_else(|_| unjudged(&desk.seen, "panicked"));
    drop(watch);
    desk.answer(&answer)
}

/// Where the one answer is given: by the work, or by the watch when the work takes too long.
#[derive(Default)]
struct Desk {
    /// The event, once it is read.
    seen: Mutex<Option<Event>>,
    /// How long programs of the project's own may hold up the answer, in milliseconds.
    allowance: Arc<AtomicU64>,
    is_taken: AtomicBool,
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
        let answer = unjudged(&self.seen, "took too long");
        let code = self.answer(&answer);
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
}

fn work(called: &Called, env: &Env, begun: Instant, desk: &Desk) -> Answer {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_EVENT + 1).unwrap_or(u64::MAX);
    if let Err(error) = std::io::stdin().lock().take(limit).read_to_end(&mut bytes) {
        return answer_unreadable(&Reason::new(&format!("dandori: {error}")));
    }
    if bytes.len() > MAX_EVENT {
        // Read to its end all the same: a client whose pipe breaks may not look at the answer.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        return too_large(called, &bytes);
    }
    let mut event = match dandori_guard::decode(&bytes, called.agent) {
        Ok(event) => event,
        Err(error) => return answer_unreadable(&Reason::new(&format!("dandori: {error}"))),
    };
    drop(bytes);
    if called.run.is_none() && place::is_in_run(&event, env) {
        return Answer { stdout: Vec::new(), stderr: String::new(), exit: 0 };
    }
    event.headless = called.run.is_some() || env.text("CLAUDE_CODE_ENTRYPOINT").is_some_and(|e| e.starts_with("sdk"));
    if let Ok(mut slot) = desk.seen.lock() {
        *slot = Some(event.outline());
    }
    let allowance = Arc::clone(&desk.allowance);
    let request = Request { event: &event, env, run: called.run.as_deref(), begun, allowance };
    match Session::open(&request) {
        Ok(session) => session.answer(&request),
        Err(error) => unjudged(&desk.seen, &error),
    }
}

/// An event that is not read whole is not passed either, as far as it can be seen that it is about a tool.
fn too_large(called: &Called, bytes: &[u8]) -> Answer {
    let names = ["PreToolUse", "BeforeTool"];
    let found = names.iter().find(|name| {
        [format!("\"hook_event_name\":\"{name}\""), format!("\"hook_event_name\": \"{name}\"")]
            .iter()
            .any(|field| bytes.windows(field.len()).any(|window| window == field.as_bytes()))
    });
    let stub = found.map(|name| format!("{{\"hook_event_name\":\"{name}\",\"tool_name\":\"\"}}"));
    let event = stub.and_then(|stub| dandori_guard::decode(stub.as_bytes(), called.agent).ok());
    unjudged(&Mutex::new(event), "got an event too large to read")
}

/// What is said when the guards could not be asked: a tool is refused, everything else passes with a word.
fn unjudged(seen: &Mutex<Option<Event>>, why: &str) -> Answer {
    let event = seen.lock().ok().and_then(|mut slot| slot.take());
    let text =
        format!("dandori hook {why}: not judged. `dandori doctor` says more / 判定できませんでした (`dandori doctor`)");
    let Some(event) = event else { return answer_unreadable(&Reason::new(&text)) };
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
