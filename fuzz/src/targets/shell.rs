//! Shell lines through the reader; and what is caught stays caught, however it is run.

use camino::Utf8Path;
use dandori_corpus::Form;
use dandori_guard::judge::Outcome;
use dandori_guard::{Asking, Client, Context, decode, judge};
use dandori_shell::{Options, Reading, read, read_with};
use dandori_text::Lang;
use serde_json::json;

use super::guarded::{Project, strict};
use crate::case::Finding;
use crate::mutate::lines;
use crate::random::Random;
use crate::seeds::Seeds;

/// One in so many is a hostile line run in another way; the choice says which line it was.
const DISGUISED: u64 = 3;

pub(crate) fn input(seeds: &Seeds, choice: u64, random: &mut Random) -> Vec<u8> {
    if let Some(form) = form(seeds, choice) {
        let mut line = form.command;
        // Inside quotes another way to write a word is another word.
        if !line.contains(['\'', '"', '$', '\\', '`', '<']) {
            let parts: Vec<String> = line.split_inclusive(' ').map(|word| disguise(word, random)).collect();
            line = parts.concat();
        }
        for _ in 0..=random.below(3) {
            line = lines::wrapped(&line, random).0;
        }
        return line.into_bytes();
    }
    any_line(seeds, random).into_bytes()
}

pub(crate) fn any_line(seeds: &Seeds, random: &mut Random) -> String {
    let pick = |random: &mut Random| {
        if random.one_in(2) {
            random.pick(&seeds.hostile).map(|form| form.command.clone()).unwrap_or_default()
        } else {
            random.pick(&seeds.harmless).cloned().unwrap_or_default()
        }
    };
    let (line, other) = (pick(random), pick(random));
    lines::mutated(&line, &other, random)
}

fn disguise(word: &str, random: &mut Random) -> String {
    if random.one_in(3) { lines::disguised(word, random) } else { word.to_owned() }
}

pub(crate) fn form(seeds: &Seeds, choice: u64) -> Option<Form> {
    let form = choice.is_multiple_of(DISGUISED).then(|| Random::new(choice).pick(&seeds.hostile).cloned()).flatten()?;
    // Whose arguments these are depends on what is around it.
    let has_arguments = ["$@", "$*", "$1"].iter().any(|arguments| form.command.contains(arguments));
    (!has_arguments).then_some(form)
}

pub(crate) fn look(line: &str, choice: u64, form: Option<&Form>) -> Result<(), Finding> {
    let options = Options {
        home: Some("/home/user".to_owned()),
        cwd: Some("/repo".to_owned()),
        project: Some("/repo".to_owned()),
        checkout: Some("/repo".to_owned()),
        aliases: vec![
            ("gp".to_owned(), "git push".to_owned()),
            ("loop".to_owned(), "loop2 loop".to_owned()),
            ("loop2".to_owned(), "loop".to_owned()),
        ],
        ..Options::default()
    };
    let reading = if choice.is_multiple_of(2) { read(line) } else { read_with(line, &options) };
    is_bounded(&reading)?;
    let Some(form) = form else { return Ok(()) };
    let plain = |line: &str| form.is_caught(&read(line));
    if !plain(line) && plain(&form.command) {
        return Err(Finding::new(
            "unseen",
            format!("{} {:?} is caught, and not in this line", form.target, form.command),
        ));
    }
    if !is_refused(&form.target, line) && is_refused(&form.target, &form.command) {
        return Err(Finding::new(
            "silent pass",
            format!("{} {:?} is refused, and not in this line", form.target, form.command),
        ));
    }
    Ok(())
}

fn is_bounded(reading: &Reading) -> Result<(), Finding> {
    let too_many = |what: &str, count: usize| Err(Finding::new("unbounded", format!("{count} {what}")));
    let words: usize = reading.commands.iter().map(|command| command.argv.len()).sum();
    match (reading.commands.len(), reading.opaque.len()) {
        (commands, _) if commands > 5_000 => too_many("commands", commands),
        (_, opaque) if opaque > 10_000 => too_many("opaque parts", opaque),
        _ if words > 400_000 => too_many("words", words),
        _ => Ok(()),
    }
}

fn is_refused(target: &str, line: &str) -> bool {
    let event = json!({
        "session_id": "s", "cwd": "/repo", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": line},
    });
    let Ok(event) = decode(event.to_string().as_bytes(), Some(Client::Claude)) else { return false };
    let (rules, world) = (strict(target), Project::plain());
    let context = Context::new(&event, &rules, &world, Lang::En, Some(Utf8Path::new("/repo")));
    judge(&context, Asking::UntilBlocked).steps.iter().any(|step| step.outcome >= Outcome::Ask)
}
