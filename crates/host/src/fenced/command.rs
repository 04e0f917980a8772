//! `dandori fence`: one command behind the fence, for whoever waits for it as for any other.
//!
//! The order is in [`ORDER`], the outputs are its own. It exits as the command did, and not before everything the command
//! started has ended; asked to stop, it ends all of it. What could not be begun is said on stderr, with [`NOT_BEGUN`].

use rustix::event::poll;
use rustix::process::Signal;

use super::begin::{Outputs, Refusal, begin};
use super::family::Family;
use super::{Fenced, Streams};
use crate::Env;

/// The variable with the order.
pub(crate) const ORDER: &str = "DANDORI_FENCED";
/// As `env`, `timeout` and `nice` say that they could not do their part.
pub(crate) const NOT_BEGUN: i32 = 125;
/// Something was left that could not be ended.
const SURVIVORS: i32 = 124;

/// Returns the exit code.
pub fn main(env: &Env) -> i32 {
    let order = env.text(ORDER).and_then(|text| serde_json::from_str::<Fenced>(text).ok());
    let Some(order) = order else { return complain("there is no order") };
    match run(&order) {
        Ok(code) => code,
        Err(detail) => complain(&detail),
    }
}

/// `dandori fence-probe`: what this machine can do, as JSON. Nothing is run.
pub fn probe_main() -> i32 {
    let sandbox = crate::sandbox::SandboxPolicy::new(dandori_domain::run::SandboxMode::Auto);
    let argv = vec!["/proc/self/exe".to_owned()];
    let order = Fenced { argv, env: Vec::new(), cwd: "/".into(), stdin: None, streams: Streams::Own, sandbox };
    let family = Family::found().map_err(|e| e.to_string());
    let begun = family.and_then(|family| Ok((family, begin(&order, &Outputs::Inherited).map_err(told)?)));
    let (mut family, begun) = match begun {
        Ok(begun) => begun,
        Err(detail) => return complain(&detail),
    };
    let text = serde_json::to_string(&begun.sandbox).unwrap_or_default();
    family.end(None, || {});
    let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
    0
}

fn run(order: &Fenced) -> Result<i32, String> {
    let mut family = Family::found().map_err(|e| format!("cannot watch over a command: {e}"))?;
    let mut begun = begin(order, &Outputs::Inherited).map_err(told)?;
    family.follow(begun.lead, Streams::Own);
    begun.go().map_err(told)?;
    loop {
        family.reap();
        if family.lead_status.is_some() || family.is_asked_to_stop() {
            break;
        }
        let _ = poll(&mut [family.child_fd(), family.stop_fd()], None);
    }
    let status = family.lead_status;
    let survivors = family.end(None, || {}).survivors;
    if !survivors.is_empty() {
        complain(&format!("processes {survivors:?} could not be ended"));
        return Ok(SURVIVORS);
    }
    Ok(match status.map(|status| begun.end(status)) {
        Some(end) => end.code.unwrap_or_else(|| 128 + end.signal.unwrap_or(0)),
        None => 128 + Signal::TERM.as_raw(),
    })
}

fn told(refusal: Refusal) -> String {
    match refusal {
        Refusal::NoSandbox { reason } => reason,
        Refusal::Failed { detail } => detail,
    }
}

fn complain(detail: &str) -> i32 {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("fence: {detail}\n").as_bytes());
    NOT_BEGUN
}
