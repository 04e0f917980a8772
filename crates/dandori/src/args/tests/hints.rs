//! Every command that a message, a refusal or a document names can be typed: it is held against the real command line, with
//! a sample in place of what stands for a value.

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::Cli;

/// Where a command stands, and the command.
type Named = (String, String);

#[test]
fn every_command_in_backquotes_is_understood() {
    let crates = top().join("crates");
    let mut files = Vec::new();
    for folder in std::fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().path().join("src")) {
        files_in(&folder, "rs", &mut files);
    }
    let named: Vec<Named> = files.iter().flat_map(|file| in_source(file)).collect();
    assert!(named.len() > 150, "they are found: {}", named.len());
    let wrong: Vec<String> = named.iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "cannot be typed:\n{}", wrong.join("\n"));
}

#[test]
fn every_command_in_a_document_is_understood() {
    let mut files = vec![top().join("README.md"), top().join("README.ja.md")];
    files_in(&top().join("docs"), "md", &mut files);
    let named: Vec<Named> = files.iter().flat_map(|file| in_document(file)).collect();
    assert!(named.len() > 50, "they are found: {}", named.len());
    let plain = named.iter().flat_map(|(place, line)| plainly(line).into_iter().map(move |line| (place.clone(), line)));
    let wrong: Vec<String> = plain.filter_map(|named| wrong(&named)).collect();
    assert!(wrong.is_empty(), "cannot be typed:\n{}", wrong.join("\n"));
}

#[test]
fn a_command_that_does_not_exist_is_found() {
    let fails = |line: &str| wrong(&("here".to_owned(), line.to_owned())).is_some();
    for line in ["dandori tsk list", "dandori task list --no-such", "dandori task retry", "dandori worktree remove"] {
        assert!(fails(line), "{line}");
    }
    for line in ["dandori task retry {key}", "dandori run \"…\"", "dandori task show --help", "dandori task …"] {
        assert!(!fails(line), "{line}");
    }
}

/// A document also names a verb without its arguments, writes `[…]` for what may be left out and `a|b` for a choice, and
/// speaks of what other programs call us with.
fn plainly(line: &str) -> Vec<String> {
    let mut rest = line.to_owned();
    while let Some((from, to)) = rest.find('[').and_then(|from| Some((from, from + rest.get(from..)?.find(']')?))) {
        rest.replace_range(from..=to, "");
    }
    let called = rest.split("&&").map(str::trim).filter(|one| one.starts_with("dandori "));
    let chosen = called.map(|one| {
        let one = one.split(" | ").next().unwrap_or(one);
        one.split(' ').map(|word| word.split('|').next().unwrap_or(word)).collect::<Vec<_>>().join(" ")
    });
    let is_ours =
        |line: &String| !["hook", "acp", "shim"].iter().any(|mode| line.starts_with(&format!("dandori {mode}")));
    chosen.filter(is_ours).map(|line| if line.ends_with('…') { line } else { line + " …" }).collect()
}

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files_in(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        let is_test = path.file_stem().is_some_and(|name| name == "tests");
        if path.is_dir() && !is_test {
            files_in(&path, ending, found);
        } else if path.extension().is_some_and(|e| e == ending) && !is_test {
            found.push(path);
        }
    }
}

/// What stands in backquotes in the strings of a source file, and strings that are a command with values: comments and tests
/// are left out, broken strings joined.
fn in_source(file: &Path) -> Vec<Named> {
    let text = std::fs::read_to_string(file).unwrap();
    let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut joined = String::new();
    for line in shipped.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        joined.push_str(line.strip_suffix('\\').unwrap_or(line));
        if !line.ends_with('\\') {
            joined.push('\n');
        }
    }
    let joined = joined.replace("\\\"", INNER_QUOTE);
    let strings = joined.split('\n').flat_map(|line| line.split('"').skip(1).step_by(2));
    let whole = strings.filter(|string| is_text(file) && string.starts_with("dandori ") && string.contains('{'));
    let whole = whole.map(|command| (file.display().to_string(), command.replace(INNER_QUOTE, "\"")));
    whole.chain(quoted(file, &joined.replace(INNER_QUOTE, "\""))).collect()
}

/// Stands for a quote inside a string while strings are told apart.
const INNER_QUOTE: &str = "\u{1}";

/// Other rooms have strings that begin like this and are no commands.
fn is_text(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == "text")
}

/// What stands in backquotes in a document, and the lines of its code that begin with the program.
fn in_document(file: &Path) -> Vec<Named> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut named = Vec::new();
    let mut prose = String::new();
    let mut in_code = false;
    for line in text.lines() {
        let bare = line.trim_start();
        if bare.starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            prose.push_str(line);
            prose.push(' ');
        } else if let Some(command) = bare.trim_start_matches("$ ").strip_prefix("dandori ") {
            let command = command.split(" # ").next().unwrap_or(command).split("  ").next().unwrap_or(command);
            named.push((file.display().to_string(), format!("dandori {}", command.trim())));
        }
    }
    named.extend(quoted(file, &prose));
    named
}

fn quoted(file: &Path, text: &str) -> Vec<Named> {
    let lines = text.split('\n').flat_map(|line| line.split('`').skip(1).step_by(2));
    let ours = lines.filter(|inner| inner.strip_prefix("dandori ").is_some_and(|rest| !rest.starts_with('"')));
    ours.map(|command| (file.display().to_string(), command.to_owned())).collect()
}

/// Why it cannot be typed.
fn wrong((place, line): &Named) -> Option<String> {
    // `dandori task …` speaks of all its verbs.
    let (line, is_open) = line.strip_suffix(" …").map_or((line.as_str(), false), |line| (line, true));
    // As the program reads it: `help task show` is led to what it means. A line that goes on below ends here.
    let typed = words(sampled(line).trim_end_matches(['\\', ' ']));
    let led = crate::near::led(typed.into_iter().skip(1).collect()).unwrap_or_default();
    let words = std::iter::once("dandori".to_owned()).chain(led);
    let error = Cli::command().try_get_matches_from(words).err()?;
    let is_fine = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => true,
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => is_open,
        _ => false,
    };
    (!is_fine).then(|| format!("{place}: {line}: {:?}", error.kind()))
}

/// A sample for everything that stands for something: `{key}`, `<task>`, `…`.
fn sampled(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['{', '<', '…']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = match from.chars().next() {
            Some('{') => from.find('}').map(|close| close + 1),
            Some('<') => from.find('>').map(|close| close + 1),
            _ => Some('…'.len_utf8()),
        };
        let Some(end) = end else { break };
        let (name, behind) = from.split_at(end);
        out.push_str(match name.trim_matches(['{', '}', '<', '>']) {
            "asked" | "address" => "127.0.0.1:4100",
            // An optional flag with the space before it.
            "flag" => "",
            "bloom_level" => "3",
            "command" => "run",
            _ => "7",
        });
        rest = behind;
    }
    out + rest
}

/// As a shell splits it: quotes keep words together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
