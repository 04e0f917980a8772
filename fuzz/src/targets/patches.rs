//! Texts of `apply_patch`: a file that is deleted in it is seen, or the patch is not complete.

use camino::Utf8Path;
use dandori_guard::patch::{Patch, patches_in_command};

use crate::case::Finding;
use crate::mutate;
use crate::random::Random;
use crate::seeds::Seeds;

const CANARY: &str = "zqcanary.txt";

pub(crate) fn input(seeds: &Seeds, random: &mut Random) -> Vec<u8> {
    let text = random.pick(&seeds.patches).cloned().unwrap_or_default();
    let other = random.pick(&seeds.patches).cloned().unwrap_or_default();
    let mut text = mutate::shuffled_lines(&text, &other, random);
    if random.one_in(2) {
        text = mutate::text(&text, &other, random);
    }
    if random.one_in(50) {
        text = text.repeat((mutate::long(random) / text.len().max(1)).clamp(1, 2_000));
    }
    let mut bytes = text.into_bytes();
    if random.one_in(6) {
        mutate::bytes(&mut bytes, other.as_bytes(), random);
    }
    bytes
}

pub(crate) fn look(text: &str) -> Result<(), Finding> {
    let base = Some(Utf8Path::new("/repo"));
    Patch::read(text, base);
    patches_in_command(text);
    let planted = format!("*** Begin Patch\n*** Delete File: {CANARY}\n{text}\n*** End Patch\n");
    sees_canary(&planted, "first")?;
    // Behind whatever it is, unless that ended the patch.
    if let Some((body, _)) = text.rsplit_once("*** End Patch")
        && let Some((_, body)) = body.split_once("*** Begin Patch\n")
        && !body.contains("*** End Patch")
        && !body.contains("*** Begin Patch")
    {
        let end = if body.ends_with('\n') { "" } else { "\n" };
        sees_canary(&format!("*** Begin Patch\n{body}{end}*** Delete File: {CANARY}\n*** End Patch\n"), "last")?;
    }
    Ok(())
}

fn sees_canary(text: &str, place: &str) -> Result<(), Finding> {
    let patch = Patch::read(text, Some(Utf8Path::new("/repo")));
    let is_seen = patch.changes.iter().any(|change| change.path.as_str() == format!("/repo/{CANARY}"));
    if is_seen || !patch.complete {
        Ok(())
    } else {
        Err(Finding::new("lost header", format!("the {place} is not seen: {text:?}")))
    }
}
