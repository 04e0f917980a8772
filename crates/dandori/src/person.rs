//! Some words are for people alone: an exception from a guard, the consent to a plan. Whoever is watched by the guards
//! must not be able to speak them.
//!
//! Three things are asked of the caller. No client's mark in the environment, no client among the processes it comes
//! from, and a terminal at which somebody types `yes`. The guards themselves refuse such a line before it runs
//! (`control`); this is for the ways they cannot see.

use std::io::{BufRead, BufReader, IsTerminal, Write};

use dandori_domain::{Client, Problem};
use dandori_host::{Env, ancestry};
use dandori_text::guard::verbs as text;

use crate::cli::Context;
use crate::out::Failed;

/// Proof that a person has agreed; only [`Confirmed::ask`] makes one.
pub(crate) struct Confirmed(());

impl Confirmed {
    pub(crate) fn ask(context: &Context, what: &str) -> Result<Self, Failed> {
        let lang = context.out.lang;
        let terminal = terminal(context)?;
        let mut answer = String::new();
        let asked = (&terminal)
            .write_all(text::confirm(lang, what).as_bytes())
            .and_then(|()| BufReader::new(&terminal).read_line(&mut answer));
        match asked {
            Ok(_) if answer.trim() == "yes" => Ok(Self(())),
            _ => Err(Failed::Refused(text::not_confirmed(lang))),
        }
    }

    /// A person who has said yes on the command line still has to sit at a terminal.
    pub(crate) fn said_before(context: &Context) -> Result<Self, Failed> {
        terminal(context).map(|_| Self(()))
    }
}

/// The terminal of whoever calls, if that is a person.
fn terminal(context: &Context) -> Result<std::fs::File, Failed> {
    let lang = context.out.lang;
    let refuse = |why: String| Err(Failed::Refused(text::not_a_person(lang, &why)));
    if let Some(agent) = agent_around(&context.env) {
        return refuse(text::inside_agent(lang, &agent));
    }
    match std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty") {
        Ok(terminal) if terminal.is_terminal() => Ok(terminal),
        _ => refuse(text::no_terminal(lang)),
    }
}

/// A question with yes or no, at a terminal. `otherwise` is what a script has to say instead.
pub(crate) fn agree(context: &Context, question: &str, otherwise: &str) -> Result<(), Failed> {
    let lang = context.out.lang;
    refuse_agents(context)?;
    let terminal = std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty").ok();
    let is_watched = std::io::stdin().is_terminal() && !context.out.json;
    let Some(terminal) = terminal.filter(|tty| tty.is_terminal() && is_watched) else {
        return Err(Failed::Refused(text::not_asked(lang, question, otherwise)));
    };
    let mut answer = String::new();
    let asked = (&terminal)
        .write_all(text::yes_or_no(lang, question).as_bytes())
        .and_then(|()| BufReader::new(&terminal).read_line(&mut answer));
    match (asked, answer.trim().to_lowercase().as_str()) {
        (Ok(_), "y" | "yes" | "はい") => Ok(()),
        _ => Err(Failed::Refused(text::declined(lang, otherwise))),
    }
}

/// What somebody at a terminal types to a question.
pub(crate) fn answer(question: &str) -> Result<String, Failed> {
    let io = |e: std::io::Error| Failed::Problem(Problem::Io { path: "/dev/tty".into(), reason: e.to_string() });
    let terminal = std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(io)?;
    let mut answer = String::new();
    (&terminal).write_all(question.as_bytes()).map_err(io)?;
    BufReader::new(&terminal).read_line(&mut answer).map_err(io)?;
    Ok(answer)
}

/// For what scripts of a person's may do as well, but no agent's.
pub(crate) fn refuse_agents(context: &Context) -> Result<(), Failed> {
    let lang = context.out.lang;
    match agent_around(&context.env) {
        Some(agent) => Err(Failed::Refused(text::not_a_person(lang, &text::inside_agent(lang, &agent)))),
        None => Ok(()),
    }
}

/// The agent this process was started by, as far as can be told.
fn agent_around(env: &Env) -> Option<String> {
    let marked = ancestry::marked(|name| env.text(name).is_some());
    marked.map(str::to_owned).or_else(agent_above)
}

/// A client among the processes above this one, or its mark on one of them.
fn agent_above() -> Option<String> {
    ancestry::ancestors()
        .find_map(|above| above.client().map(Client::title).or_else(|| above.marked()))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_s_mark_in_the_environment_is_enough() {
        for client in Client::ALL {
            for mark in client.describe().environment.marks {
                assert_eq!(agent_around(&Env::from_pairs([(*mark, "1")])).as_deref(), Some(client.title()));
            }
        }
    }
}
