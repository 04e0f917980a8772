//! The files whose text a tool would show, whichever tool it is.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::{Certainty, Command, Word, git_call};
use serde_json::Value;

use crate::change::resolve;
use crate::context::Context;
use crate::event::Tool;

use super::argv;

/// How deep the input of an unknown tool is looked through.
const DEPTH: usize = 6;

/// Every file that would be read. Of a computed path what is known of it: its last name may say enough.
pub(super) fn read_paths(context: &Context) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    match &context.event.tool {
        Some(Tool::Read { path }) => found.push(path.clone()),
        Some(Tool::Search { path, files, .. }) => {
            found.extend(path.clone());
            if let Some(files) = files.as_deref().filter(|files| !files.starts_with('!')) {
                found.push(resolve(path.as_deref().or(context.event.workdir()), files));
            }
        }
        Some(Tool::Mcp { input, .. } | Tool::Other { input, .. }) => paths_in(context, input, DEPTH, &mut found),
        Some(Tool::Bash { command, .. }) => shell_reads(context, command, &mut found),
        _ => {}
    }
    found
}

fn shell_reads(context: &Context, line: &str, found: &mut Vec<Utf8PathBuf>) {
    let Some(reading) = context.reading() else { return };
    for read in &reading.reads {
        if !tells_nothing(context, &read.program, &read.path) {
            filled_in(context, &read.path, found);
        }
    }
    for script in &reading.scripts {
        filled_in(context, &script.path, found);
    }
    for command in &reading.commands {
        for word in further_reads(command) {
            let base = context.folder_of(command);
            let path = Word { text: resolve(base.as_deref(), &word.text).into_string(), certainty: word.certainty };
            filled_in(context, &path, found);
        }
    }
    // What `find` hands on is only known when it runs, but not what it looks for.
    if reading.reads.iter().any(|read| read.path.is_computed()) {
        let finds = reading.commands.iter().filter(|command| command.program == "find");
        let names = finds.flat_map(|command| argv::values(command.args(), &["-name", "-iname", "-path"]));
        found.extend(names.map(|name| context.expanded(name.trim_matches('*'))));
    }
    // Code of another language opens files by names that stand in quotes.
    if reading.commands.iter().any(|command| is_interpreter(&command.program)) {
        let quoted = line.split(['\'', '"', '`']).filter(|piece| is_path_like(piece));
        found.extend(quoted.map(|piece| context.expanded(piece)));
    }
}

/// A pattern of the shell by the files it stands for.
fn filled_in(context: &Context, path: &Word, found: &mut Vec<Utf8PathBuf>) {
    let whole = context.expanded(&path.text);
    if path.certainty == Certainty::Glob {
        found.extend(context.filled_in(&whole));
    }
    found.push(whole);
}

/// Programs that say only that a file is there, how long it is, or whether a pattern is in it.
pub(super) fn tells_nothing(context: &Context, program: &str, path: &Word) -> bool {
    match program {
        "stat" | "file" | "wc" | "md5sum" | "sha1sum" | "sha256sum" | "tokei" => true,
        "head" | "tail" => context.commands().iter().filter(|command| command.program == program).all(shows_no_line),
        "grep" | "egrep" | "fgrep" | "rg" => {
            let name = Utf8Path::new(&path.text).file_name().unwrap_or(&path.text);
            let of_it = |command: &&Command| {
                command.program == program && command.args().iter().any(|w| w.text.ends_with(name))
            };
            context
                .commands()
                .iter()
                .filter(of_it)
                .all(|command| argv::has(command.args(), "qlLc", &["quiet", "silent", "count", "files-with-matches"]))
        }
        _ => false,
    }
}

/// `head -n 0`
fn shows_no_line(command: &Command) -> bool {
    let counts = argv::values(command.args(), &["-n", "-c", "--lines", "--bytes"]);
    counts.contains(&"0") || command.args().iter().any(|word| word.text == "-0")
}

/// Files that programs read in ways of their own.
fn further_reads(command: &Command) -> Vec<Word> {
    let args = command.args();
    let part = |word: &Word, text: &str| Word { text: text.to_owned(), certainty: word.certainty };
    match command.program.as_str() {
        // A certificate is public, and these show nothing else of a file.
        "openssl" if args.first().is_some_and(|w| matches!(w.text.as_str(), "x509" | "verify" | "crl")) => Vec::new(),
        "base64" | "base32" | "openssl" | "tar" | "zip" | "7z" | "diff" | "cmp" | "comm" | "sort" | "uniq"
        | "paste" | "column" | "fold" | "rev" | "gpg" | "age" | "split" | "iconv" | "envsubst" | "dotenv" | "vim"
        | "vi" | "nvim" | "nano" | "emacs" | "code" | "open" | "delta" | "join" | "expand" | "fmt" | "look" => {
            argv::operands(args, &[]).into_iter().cloned().collect()
        }
        "perl" | "ruby" => argv::operands(args, &["-e"]).into_iter().cloned().collect(),
        "xargs" => argv::values(args, &["-a", "--arg-file"]).into_iter().map(Word::literal).collect(),
        // Which files a search looks into.
        "grep" | "egrep" | "rg" => argv::values(args, &["--include", "-g", "--glob"])
            .into_iter()
            .filter(|files| !files.starts_with('!'))
            .map(Word::literal)
            .collect(),
        "curl" | "http" | "https" | "wget" => args
            .iter()
            .filter_map(|word| {
                let after = word.text.split_once('@').map(|(_, path)| path);
                let posted = word.text.strip_prefix("--post-file=").or(word.text.strip_prefix("file://"));
                Some(part(word, posted.or(after)?.split(';').next().unwrap_or_default()))
            })
            .chain(argv::values(args, &["-T", "--upload-file", "--post-file"]).into_iter().map(Word::literal))
            .collect(),
        "git" => {
            let Some(call) = git_call(command) else { return Vec::new() };
            match call.subcommand.text.as_str() {
                // `HEAD:.env`, and paths after `--`.
                "show" | "cat-file" | "diff" | "blame" | "annotate" | "grep" | "stash" | "log"
                    if call.subcommand.text != "log" || call.has_option("patch", Some('p')) =>
                {
                    call.args
                        .iter()
                        .filter(|word| ![":!", ":^", ":(", "-"].iter().any(|mark| word.text.starts_with(mark)))
                        .map(|word| part(word, word.text.split_once(':').map_or(word.text.as_str(), |(_, path)| path)))
                        .collect()
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

fn is_interpreter(program: &str) -> bool {
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(plain, "python" | "node" | "ruby" | "perl" | "php" | "deno" | "bun" | "lua" | "tclsh" | "osascript")
}

/// A text that could be the name of a file: of one word, and no address of the web.
fn is_path_like(text: &str) -> bool {
    !text.is_empty()
        && text.len() < 1024
        && !text.contains(char::is_whitespace)
        && (!text.contains("://") || text.starts_with("file://"))
}

/// Texts in an unknown tool's input that could be paths, those left away that are surely something else.
fn paths_in(context: &Context, value: &Value, depth: usize, found: &mut Vec<Utf8PathBuf>) {
    const PROSE: &[&str] = &[
        "query",
        "pattern",
        "prompt",
        "description",
        "content",
        "contents",
        "text",
        "title",
        "message",
        "body",
        "subject",
        "url",
        "old_string",
        "new_string",
        "name",
        "id",
    ];
    if depth == 0 {
        return;
    }
    match value {
        Value::String(text) if is_path_like(text) => {
            found.push(context.expanded(text.strip_prefix("file://").unwrap_or(text)));
        }
        Value::Array(items) => items.iter().for_each(|item| paths_in(context, item, depth - 1, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                if !PROSE.contains(&name.to_ascii_lowercase().as_str()) || !value.is_string() {
                    paths_in(context, value, depth - 1, found);
                }
            }
        }
        _ => {}
    }
}
