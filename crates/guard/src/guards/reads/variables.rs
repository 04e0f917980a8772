//! Files of variables that are handed to a program which prints its variables: `dotenv -f .env run env`.
//!
//! Most that are started with such a file use it, and nothing of it is seen. What is listed are the programs that take
//! one, and what shows the environment it went into.

use dandori_domain::shell_word;
use dandori_shell::{Command, Reading, Word};

use crate::guards::argv;

use super::{Mention, Named};

/// Options of `docker run` and `docker exec` with a value: what follows the last of them is the image.
const CONTAINER: &[&str] = &[
    "-v",
    "-w",
    "-e",
    "-u",
    "-p",
    "-a",
    "-l",
    "-h",
    "-c",
    "-m",
    "--volume",
    "--workdir",
    "--mount",
    "--env",
    "--env-file",
    "--user",
    "--name",
    "--entrypoint",
    "--network",
    "--net",
    "--publish",
    "--label",
    "--hostname",
    "--memory",
    "--cpus",
    "--platform",
    "--pull",
    "--restart",
    "--add-host",
    "--cap-add",
    "--cap-drop",
    "--device",
    "--dns",
    "--gpus",
    "--ipc",
    "--pid",
    "--security-opt",
    "--shm-size",
    "--tmpfs",
    "--ulimit",
    "--userns",
];

/// The files whose variables would be printed.
pub(super) fn printed(command: &Command) -> Vec<Mention> {
    let Some(handed) = handed(command) else { return Vec::new() };
    let has_file = !handed.files.is_empty() || handed.usual.is_some();
    if !has_file || !(handed.shows_itself || prints(&handed.runs)) {
        return Vec::new();
    }
    let mention = |word: Word, named| Mention { word, named };
    if handed.files.is_empty() {
        return handed.usual.map(|named| mention(Word::literal(".env"), named)).into_iter().collect();
    }
    handed.files.into_iter().map(|file| mention(file, Named::Surely)).collect()
}

/// A file of variables and the command that gets them.
struct Handed {
    files: Vec<Word>,
    /// It takes `.env` when none is named.
    usual: Option<Named>,
    runs: Vec<Word>,
    /// It prints them on its own: `dotenv list`.
    shows_itself: bool,
}

fn handed(command: &Command) -> Option<Handed> {
    let args = command.args();
    let program = command.program.as_str();
    let started = |files: &[&str], valued: &[&str], usual| {
        let own = Own::read(args, valued);
        let runs = own.rest.iter().skip_while(|w| matches!(w.text.as_str(), "run" | "--")).cloned().collect();
        Handed { files: own.values(files), usual, runs, shows_itself: false }
    };
    Some(match program {
        "dotenv" | "dotenv-cli" | "dotenvx" => {
            let files = ["-f", "-e", "--file", "--env-file"];
            let own = Own::read(args, &["-f", "-e", "-v", "-p", "-fk", "--file", "--env-file", "--env-keys-file"]);
            // `dotenvx run -f .env -- x`: options on both sides of its word.
            let verb = own.rest.first().map_or("", |w| w.text.as_str());
            let behind = Own::read(own.rest.get(1..).unwrap_or_default(), &["-f", "-e", "-fk", "--file", "--env-file"]);
            let named = own.values(&files);
            if verb == "run" {
                let files = named.into_iter().chain(behind.values(&files)).collect();
                let usual = Some(Named::Surely);
                return Some(Handed { files, usual, runs: behind.rest.to_vec(), shows_itself: false });
            }
            let shows_itself = matches!(verb, "list" | "get" | "decrypt") || !own.values(&["-p"]).is_empty();
            let files = if shows_itself { [named, behind.values(&files)].concat() } else { named };
            Handed { files, usual: Some(Named::Surely), runs: own.rest.to_vec(), shows_itself }
        }
        "env-cmd" => {
            let valued = ["-f", "-e", "-r", "--file", "--environments", "--rc-file"];
            started(&["-f", "--file"], &valued, Some(Named::Surely))
        }
        "uv" => {
            let own = Own::read(args, &["--directory", "--project", "--config-file"]);
            let rest = own.rest.get(1..).filter(|_| own.is_verb("run"))?;
            let run = Own::read(rest, &["--env-file", "--with", "--python", "-p", "--extra", "--group", "--package"]);
            let files = run.values(&["--env-file"]);
            Handed { files, usual: None, runs: run.rest.to_vec(), shows_itself: false }
        }
        "foreman" | "honcho" | "nf" | "pipenv" => {
            let own = Own::read(args, &["-e", "--env", "-f", "-d"]);
            let rest = own.rest.get(1..).filter(|_| own.is_verb("run"))?;
            let run = Own::read(rest, &["-e", "--env", "-f", "-d"]);
            let files = if program == "pipenv" { &[][..] } else { &["-e", "--env"] };
            let files = [own.values(files), run.values(files)].concat();
            Handed { files, usual: Some(Named::Perhaps), runs: run.rest.to_vec(), shows_itself: false }
        }
        "docker" | "podman" | "nerdctl" => {
            let own = Own::read(args, &["-H", "-c", "-l", "--context", "--host", "--config", "--log-level"]);
            let skip = usize::from(own.is_verb("container"));
            let [verb, rest @ ..] = own.rest.get(skip..)? else { return None };
            if !matches!(verb.text.as_str(), "run" | "exec" | "create") {
                return None;
            }
            let run = Own::read(rest, CONTAINER);
            let entry = run.values(&["--entrypoint"]);
            // The image or the container, then the command.
            let runs = entry.into_iter().chain(run.rest.iter().skip(1).cloned()).collect();
            Handed { files: run.values(&["--env-file"]), usual: None, runs, shows_itself: false }
        }
        "node" | "bun" | "deno" | "tsx" => {
            let files = argv::values(args, &["--env-file", "--env-file-if-exists"]);
            let files = files.into_iter().map(Word::literal).collect();
            Handed { files, usual: None, runs: command.argv.clone(), shows_itself: false }
        }
        _ => return None,
    })
}

/// The options that stand before the first word that is none.
struct Own<'w> {
    values: Vec<(&'w str, Word)>,
    rest: &'w [Word],
}

impl<'w> Own<'w> {
    fn read(args: &'w [Word], valued: &[&str]) -> Self {
        let mut own = Self { values: Vec::new(), rest: args };
        while let [word, rest @ ..] = own.rest {
            let text = word.text.as_str();
            if text == "--" {
                own.rest = rest;
                break;
            }
            if !text.starts_with('-') || text == "-" {
                break;
            }
            own.rest = rest;
            let with = |value: &str| Word { text: value.to_owned(), certainty: word.certainty };
            if let Some((name, value)) = text.split_once('=') {
                own.values.push((name, with(value)));
            } else if valued.contains(&text) {
                let [value, behind @ ..] = rest else { break };
                own.values.push((text, value.clone()));
                own.rest = behind;
            } else if let Some((name, value)) = text.split_at_checked(2)
                && valued.contains(&name)
                && name != "--"
            {
                own.values.push((name, with(value)));
            }
        }
        own
    }

    fn values(&self, names: &[&str]) -> Vec<Word> {
        let meant = self.values.iter().filter(|(name, _)| names.contains(name));
        meant.map(|(_, value)| value.clone()).collect()
    }

    fn is_verb(&self, verb: &str) -> bool {
        self.rest.first().is_some_and(|w| w.text == verb)
    }
}

/// Somewhere in the command the variables are shown.
fn prints(words: &[Word]) -> bool {
    if words.is_empty() {
        return false;
    }
    let quoted: Vec<String> = words.iter().map(|w| shell_word(&w.text)).collect();
    let Reading { commands, reads, .. } = dandori_shell::read(&quoted.join(" "));
    let is_environment = |path: &str| path.starts_with("/proc/") && path.ends_with("/environ");
    commands.iter().any(shows_variables) || reads.iter().any(|read| is_environment(&read.path.text))
}

fn shows_variables(command: &Command) -> bool {
    let args = command.args();
    let any = |is: &dyn Fn(&str) -> bool| args.iter().any(|w| is(&w.text));
    let plain = command.program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match plain {
        "printenv" => true,
        // With a command it prints nothing itself.
        "env" => argv::operands(args, &["-u", "--unset", "-C", "--chdir"]).iter().all(|w| w.text.contains('=')),
        "set" => args.is_empty(),
        "export" | "declare" | "typeset" => argv::operands(args, &[]).is_empty() || argv::has(args, "p", &[]),
        "echo" | "printf" => args.iter().any(|w| w.is_computed() && is_variable(&w.text)),
        "npm" | "pnpm" => matches!(args, [run, env, ..] if run.text.starts_with("run") && env.text == "env"),
        "jq" => any(&|text| text == "env" || text.starts_with("env.") || text.contains("$ENV")),
        "awk" | "gawk" | "mawk" | "nawk" => any(&|text| text.contains("ENVIRON") && text.contains("print")),
        "node" | "bun" | "deno" | "tsx" => {
            let is_printed = argv::has(args, "p", &["print"]);
            any(&|text| {
                (text.contains("process.env") || text.contains("Deno.env") || text.contains("Bun.env"))
                    && (is_printed || text.contains("console.") || text.contains("stdout"))
            })
        }
        "python" | "pypy" => any(&|text| {
            (text.contains("environ") || text.contains("getenv")) && (text.contains("print") || text.contains("stdout"))
        }),
        "ruby" | "perl" => any(&|text| {
            let shows = ["puts", "print", "pp ", "p ENV", "p(ENV", "say", "STDOUT"];
            text.contains("ENV") && shows.iter().any(|show| text.contains(show))
        }),
        "php" => any(&|text| {
            let has = |names: &[&str]| names.iter().any(|name| text.contains(name));
            has(&["phpinfo"])
                || has(&["getenv", "_ENV", "_SERVER"]) && has(&["echo", "print", "var_dump", "var_export"])
        }),
        _ => false,
    }
}

/// `$KEY`, `${KEY}`: nothing else is in the word.
fn is_variable(text: &str) -> bool {
    let Some(name) = text.strip_prefix('$') else { return false };
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
