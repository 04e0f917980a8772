//! Settings of the clients: what goes in comes out without a trace, and a second time changes nothing.

use dandori_install::{Call, Client, Places, has_ours, install, reach, uninstall};

use crate::case::Finding;
use crate::mutate;
use crate::random::Random;
use crate::seeds::Seeds;

const PROGRAM: &str = "/usr/local/bin/dandori";

pub(crate) fn input(seeds: &Seeds, random: &mut Random) -> Vec<u8> {
    let text = random.pick(&seeds.settings).cloned().unwrap_or_default();
    let other = random.pick(&seeds.settings).cloned().unwrap_or_default();
    let mut text = match random.below(4) {
        0 => text,
        1 => mutate::shuffled_lines(&text, &other, random),
        2 => blanks(&text, random),
        _ => mutate::text(&text, &other, random),
    };
    if random.one_in(100) {
        let depth = 1 + random.below(2_000);
        text = format!("{{\"a\": {}{}, \"hooks\": {{}}}}", "[".repeat(depth), "]".repeat(depth));
    }
    let mut bytes = text.into_bytes();
    if random.one_in(4) {
        mutate::bytes(&mut bytes, other.as_bytes(), random);
    }
    bytes
}

/// White space and comments where they may stand.
fn blanks(text: &str, random: &mut Random) -> String {
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if matches!(c, '{' | '[' | ',' | '}' | ']') && random.one_in(3) {
            out.push_str(random.word(&[
                " ",
                "\n",
                "\t",
                "\r\n  ",
                "/* c */",
                "// c\n",
                "/* a\n b */ ",
                " //\r\n",
                ",",
            ]));
        }
    }
    out
}

pub(crate) fn look(text: &str, choice: u64) -> Result<(), Finding> {
    let mut random = Random::new(choice);
    let client = random.pick(&Client::ALL).copied().unwrap_or(Client::Claude);
    let _ = uninstall(client, Some(PROGRAM), text, None);
    let _ = reach(client, text);
    let mut path = |name: &str| {
        random.pick(&[None, Some("/home/me"), Some("/it's here")]).copied().flatten().map(|at| format!("{at}/{name}"))
    };
    let places = Places { state: path("state"), config: path("config.toml"), home: path("") };
    let call = Call { program: PROGRAM.to_owned(), places };
    let Ok(once) = install(client, &call, Some(text), None) else { return Ok(()) };
    if !has_ours(client, &once.text) {
        return Err(Finding::new("not installed", once.text));
    }
    let twice = install(client, &call, Some(&once.text), once.memory.as_ref());
    if twice.as_ref().ok() != Some(&once) {
        return Err(Finding::new("installed twice", format!("{twice:?}")));
    }
    let left = uninstall(client, Some(PROGRAM), &once.text, once.memory.as_ref());
    let is_as_before = left.as_ref().is_ok_and(|left| left.text.as_deref() == Some(text));
    // What was ours before goes, too.
    if !is_as_before && !has_ours(client, text) && !text.contains(PROGRAM) {
        return Err(Finding::new("trace left", format!("{left:?}")));
    }
    Ok(())
}
