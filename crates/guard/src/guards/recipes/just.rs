//! Recipes of a justfile: those that are named, and what they need.

use std::collections::{BTreeMap, BTreeSet};

use super::{filled, from_braces, reachable};

const MARK: &str = "DANDORI_END_OF_RECIPE";

struct Recipe {
    name: String,
    /// What stands behind the colon: the recipes it needs are among these words.
    needs: Vec<String>,
    body: Vec<String>,
}

/// The lines that `just` with these words would run; `None` when they are more than can be read.
pub(super) fn lines(text: &str, words: &[String]) -> Option<String> {
    let joined = text.replace("\\\n", " ");
    let mut variables = BTreeMap::new();
    let mut aliases: Vec<(String, String)> = Vec::new();
    let mut recipes: Vec<Recipe> = Vec::new();
    let mut evaluated = Vec::new();
    for line in joined.lines() {
        if line.starts_with([' ', '\t']) {
            if let Some(recipe) = recipes.last_mut() {
                recipe.body.push(line.to_owned());
            }
        } else if let Some((name, value)) = line.split_once(":=") {
            let name = name.trim().trim_start_matches("export ").trim();
            let value = value.trim();
            match name.strip_prefix("alias ") {
                Some(alias) => aliases.push((alias.trim().to_owned(), value.to_owned())),
                None => drop(variables.insert(name.to_owned(), from_braces(value.trim_matches(['\'', '"'])))),
            }
            // It is run when the file is read.
            evaluated.extend(value.strip_prefix('`').and_then(|code| code.strip_suffix('`')).map(str::to_owned));
        } else if let Some((head, needs)) = line.split_once(':').filter(|_| !line.starts_with(['#', '['])) {
            let name = head.trim_start_matches('@').split_whitespace().next().unwrap_or_default().to_owned();
            let needs = needs.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-')).map(str::to_owned);
            recipes.push(Recipe { name, needs: needs.collect(), body: Vec::new() });
        }
    }
    let by_name: BTreeMap<&str, &Recipe> = recipes.iter().rev().map(|recipe| (recipe.name.as_str(), recipe)).collect();
    let meant = |word: &String| aliases.iter().find(|(alias, _)| alias == word).map_or(word, |(_, name)| name).clone();
    let mut asked: Vec<String> = words.iter().map(meant).filter(|w| by_name.contains_key(w.as_str())).collect();
    asked.extend(recipes.first().filter(|_| asked.is_empty()).map(|recipe| recipe.name.clone()));
    let needs = |name: &str| -> Vec<String> {
        let Some(recipe) = by_name.get(name) else { return Vec::new() };
        let called = recipe.body.iter().filter(|line| line.contains("just ")).flat_map(|line| line.split_whitespace());
        recipe.needs.iter().cloned().chain(called.map(str::to_owned)).map(|word| meant(&word)).collect()
    };
    let run: BTreeSet<String> = reachable(asked, needs).into_iter().collect();
    let bodies = recipes.iter().filter(|recipe| run.contains(&recipe.name)).map(|recipe| script(&recipe.body));
    filled(evaluated.into_iter().chain(bodies).map(|code| from_braces(&code)), &variables)
}

/// Each line is a command, unless the first says who reads them all.
fn script(body: &[String]) -> String {
    let first = body.first().map_or("", |line| line.trim());
    let interpreter = first.strip_prefix("#!").and_then(|line| line.split(['/', ' ']).rfind(|word| !word.is_empty()));
    match interpreter {
        Some(name) if !dandori_shell::is_shell(name) => {
            let indent = first_indent(body);
            let code: Vec<&str> =
                body.iter().skip(1).map(|line| line.get(indent..).unwrap_or_default()).filter(|l| *l != MARK).collect();
            format!("{name} - <<'{MARK}'\n{}\n{MARK}", code.join("\n"))
        }
        _ => body.iter().map(|line| line.trim().trim_start_matches(['@', '-'])).collect::<Vec<_>>().join("\n"),
    }
}

fn first_indent(body: &[String]) -> usize {
    body.first().map_or(0, |line| line.len() - line.trim_start().len())
}
