//! The words of a command that may name a file it reads.

use dandori_shell::{Command, Word};

use crate::guards::argv;

use super::flags::Flags;
use super::quiet::{GREP, is_accounted, lists, shows_nothing};
use super::{Mention, Named};

/// What is known of a program's options.
pub(super) struct Options {
    /// Their value, the next word, names no file that is shown.
    pub(super) valued: &'static [&'static str],
    /// Options that send a file although their name says that they only use it.
    pub(super) sends: &'static [&'static str],
}

const PLAIN: Options = Options { valued: &[], sends: &[] };

/// Options with a text, whatever the program.
const TEXT: &[&str] = &[
    "title",
    "message",
    "subject",
    "search",
    "query",
    "label",
    "pattern",
    "regexp",
    "grep",
    "jq",
    "description",
    "comment",
];

/// Options that say what to leave away.
const LEAVING: &[&str] = &[
    "exclude",
    "exclude-dir",
    "exclude-path",
    "ignore",
    "ignore-dir",
    "ignore-path",
    "ignore-pattern",
    "except",
    "skip",
];

/// How options end by which a program takes a key or variables for its own use.
const USING: &[&str] = &[
    "env-file",
    "envfile",
    "env_file",
    "env",
    "dotenv",
    "key",
    "key-file",
    "keyfile",
    "cert",
    "cert-file",
    "certfile",
    "certificate",
    "cacert",
    "ca-file",
    "cafile",
    "ca",
    "capath",
    "pem",
    "identity",
    "identity-file",
    "kubeconfig",
    "userconfig",
    "globalconfig",
];

/// Programs whose operands are files that they show, pack or send, with nothing else among them.
const READERS: &[&str] = &[
    "base64", "base32", "basenc", "openssl", "tar", "bsdtar", "zip", "7z", "comm", "sort", "uniq", "paste", "column",
    "fold", "rev", "gpg", "age", "split", "csplit", "iconv", "envsubst", "dotenv", "vim", "vi", "nvim", "nano",
    "emacs", "code", "open", "xdg-open", "delta", "join", "expand", "unexpand", "fmt", "look", "diff", "cmp", "pr",
    "shuf", "gzip", "bzip2", "xz", "zstd", "pbcopy", "xclip", "tr", "uuencode", "perl", "ruby",
];

pub(super) fn mentions(command: &Command) -> Vec<Mention> {
    let args = command.args();
    let program = command.program.as_str();
    let mut found = surely(lists(program, args));
    if shows_nothing(command) {
        return found;
    }
    if is_accounted(program) {
        found.extend(beside_reads(program, args));
        return found;
    }
    match program {
        // A certificate is public, and these show nothing else of a file.
        "openssl" if args.first().is_some_and(|w| matches!(w.text.as_str(), "x509" | "verify" | "crl")) => {}
        "xargs" | "gxargs" | "parallel" => {
            found.extend(surely(argv::values(args, &["-a", "--arg-file"])));
        }
        "docker" | "podman" | "nerdctl" | "docker-compose" => found.extend(into_container(args)),
        // What runs in a pod reads the pod's files.
        "kubectl" | "oc" if first_of(args, &["exec", "run", "debug", "attach"]) => {}
        "zip" | "ctags" => found.extend(operands(args, &["-x"])),
        "unzip" => found.extend(operands(args, &["-x", "-d"])),
        "perl" | "ruby" => found.extend(operands(args, &["-e"])),
        "diff" => found.extend(operands(args, &["-x", "--exclude", "--label"])),
        // Where it is unpacked to, nothing is read.
        "tar" | "bsdtar" if unpacks(args) => found.extend(operands(args, &["--exclude", "-C", "--directory"])),
        "tar" | "bsdtar" => found.extend(operands(args, &["--exclude"])),
        _ if READERS.contains(&program) => {
            found.extend(operands(args, &[]));
            found.extend(in_code(program, args));
        }
        _ => {
            found.extend(named(args, &options(program, args)));
            found.extend(in_code(program, args));
        }
    }
    found
}

fn options(program: &str, args: &[Word]) -> Options {
    match program {
        "gh" | "glab" => Options {
            valued: &["-t", "-b", "-q", "-S", "-l", "-n", "--body", "--notes", "--name", "--template"],
            sends: &["--env-file"],
        },
        "curl" => Options { valued: &["-E", "-A", "-e", "-X", "-u"], sends: &[] },
        "aws" => Options { valued: &["--key", "--prefix"], sends: &[] },
        "http-server" => Options { valued: &["-C", "-K"], sends: &[] },
        "env-cmd" | "dotenv-cli" => Options { valued: &["-f", "-e"], sends: &[] },
        "foreman" | "honcho" | "nf" => Options { valued: &["-e"], sends: &[] },
        "dotenvx" if first_of(args, &["run"]) => Options { valued: &["-f"], sends: &[] },
        _ => PLAIN,
    }
}

/// `tar xzf`, `tar -xf`, `tar --extract`
fn unpacks(args: &[Word]) -> bool {
    args.first().is_some_and(|word| {
        let letters = word.text.strip_prefix('-').unwrap_or(&word.text);
        // `-cf.x`: behind the `f` there is a name.
        let before_name = letters.split('f').next().unwrap_or_default();
        matches!(letters, "-extract" | "-get") || before_name.contains('x') && letters.chars().all(char::is_alphabetic)
    })
}

fn first_of(args: &[Word], verbs: &[&str]) -> bool {
    argv::operands(args, &["-n", "--namespace", "--context", "--kubeconfig"])
        .first()
        .is_some_and(|word| verbs.contains(&word.text.as_str()))
}

fn surely(values: Vec<&str>) -> Vec<Mention> {
    values.into_iter().map(|value| Mention { word: Word::literal(value), named: Named::Surely }).collect()
}

fn operands(args: &[Word], valued: &'static [&'static str]) -> Vec<Mention> {
    let words = argv::operands(args, valued).into_iter().cloned();
    let mut found: Vec<Mention> = words.map(|word| Mention { word, named: Named::Surely }).collect();
    found.extend(named(args, &Options { valued, sends: &[] }));
    found
}

/// Every operand, `=value` and `@value` that may name a file, but for what is text, left away, or only used.
pub(super) fn named(args: &[Word], options: &Options) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut words = args.iter();
    let mut only_operands = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if only_operands || !text.starts_with('-') || text.len() < 2 {
            match text.split_once('=') {
                Some((name, value)) if is_quiet_option(name, options) && !value.starts_with(['@', '<']) => {}
                _ => pieces(word, text, &mut found),
            }
            continue;
        }
        match text.split_once('=') {
            _ if text == "--" => only_operands = true,
            Some((name, value)) if !is_quiet_option(name, options) || value.starts_with('@') => {
                pieces(word, value, &mut found);
            }
            Some(_) => {}
            None if is_quiet_option(text, options) => drop(words.next()),
            // `-T.env`
            None if !text.starts_with("--") => {
                pieces(word, text.chars().skip(2).collect::<String>().as_str(), &mut found);
            }
            None => {}
        }
    }
    found
}

/// The value of such an option is text, is left away, or is used and not shown.
fn is_quiet_option(name: &str, options: &Options) -> bool {
    if options.valued.contains(&name) {
        return true;
    }
    let plain = name.trim_start_matches('-').to_ascii_lowercase();
    let is_long = name.starts_with("--") || !name.starts_with('-') || plain.len() > 1;
    let ends = |end: &&str| {
        plain.strip_suffix(*end).is_some_and(|head| head.is_empty() || head.ends_with(['-', '_']) || end.len() > 4)
    };
    let uses = USING.iter().any(ends)
        && !plain.starts_with("from")
        && !plain.starts_with("no-")
        && !options.sends.contains(&name);
    is_long && (uses || TEXT.contains(&plain.as_str()) || LEAVING.contains(&plain.as_str()))
}

/// A word as a whole, and what follows a mark in it: `a=@.env`, `FILE:.env`, `id=x,src=.env`.
fn pieces(word: &Word, text: &str, found: &mut Vec<Mention>) {
    const MARKS: [char; 5] = ['=', ':', ',', '@', '<'];
    if text.is_empty() {
        return;
    }
    let mut push = |text: &str, named| {
        let is_prose = word.is_computed() && text.contains(char::is_whitespace);
        if !text.is_empty() && !is_prose {
            found.push(Mention { word: Word { text: text.to_owned(), certainty: word.certainty }, named });
        }
    };
    push(text, Named::Perhaps);
    if text.contains(MARKS) && !word.is_computed() {
        text.split(MARKS).for_each(|piece| push(piece, Named::Perhaps));
    }
    if let Some((_, file)) = text.split_once('@') {
        push(file.split(';').next().unwrap_or_default(), Named::Surely);
    }
}

/// Which files a search looks into, as far as it shows what it finds there.
pub(super) fn patterns(command: &Command) -> Vec<&str> {
    let options: &[&str] = match command.program.as_str() {
        "grep" | "egrep" | "fgrep" | "ggrep" => &["--include"],
        "rg" => &["-g", "--glob", "--iglob"],
        "ugrep" | "ug" => &["-g", "--glob", "--iglob", "--include"],
        _ => return Vec::new(),
    };
    let is_silent = shows_nothing(command);
    let mut found = if is_silent { Vec::new() } else { argv::values(command.args(), options) };
    found.retain(|pattern| !pattern.starts_with('!'));
    found
}

/// What these read beside their operands.
fn beside_reads(program: &str, args: &[Word]) -> Vec<Mention> {
    match program {
        // Which files a search looks into, and where its patterns are from.
        "grep" | "egrep" | "fgrep" | "rg" => {
            let mut files = argv::values(args, &["--include", "-g", "--glob", "-f", "--file"]);
            files.retain(|files| !files.starts_with('!'));
            if program != "rg" && searches_where_it_stands(args) {
                files.push(".");
            }
            surely(files)
        }
        // `--rawfile name file`
        "jq" | "yq" => {
            let takes = |w: &Word| matches!(w.text.as_str(), "--rawfile" | "--slurpfile" | "--from-file");
            let after = |at: usize| args.get(at + 2).map(|w| w.text.as_str());
            surely((0..args.len()).filter(|at| args.get(*at).is_some_and(takes)).filter_map(after).collect())
        }
        "sed" | "gsed" => args.iter().flat_map(|word| read_by_sed(&word.text)).collect(),
        "awk" | "gawk" | "mawk" | "nawk" => {
            let code = args.iter().filter(|word| word.text.contains("getline"));
            let quoted = code.flat_map(|word| word.text.split('"').skip(1).step_by(2));
            surely(quoted.filter(|piece| super::is_path_like(piece)).collect())
        }
        _ => Vec::new(),
    }
}

/// `grep -r x`: without a file it is the folder.
fn searches_where_it_stands(args: &[Word]) -> bool {
    let flags = Flags::read(args, GREP);
    let patterns = usize::from(!flags.has(&["e", "f", "regexp", "file"]));
    let is_recursive = flags.has(&["r", "R", "recursive", "dereference-recursive"]);
    is_recursive && argv::operands(args, &["-e", "-f", "-m", "-A", "-B", "-C", "-d", "-D"]).len() <= patterns
}

/// The file of `r` in a script of sed: `r .env`, `$r .env`, `/x/r.env`.
fn read_by_sed(script: &str) -> Vec<Mention> {
    let deeds = script.split(['\n', ';', '{', '}']).map(str::trim);
    let files = deeds.filter_map(|deed| {
        let at = deed.find(['r', 'R'])?;
        let (address, file) = (deed.get(..at)?, deed.get(at + 1..)?.trim());
        let is_address = address.is_empty() || address.starts_with(|c: char| c.is_ascii_digit() || "/$\\".contains(c));
        (is_address && !file.is_empty() && !file.ends_with('/')).then_some(file)
    });
    surely(files.collect())
}

/// Of what is put into a container only what is copied: what runs in it reads the container's files.
fn into_container(args: &[Word]) -> Vec<Mention> {
    let operands = argv::operands(args, &["-f", "--file", "-p", "--context"]);
    let sends = operands.iter().take(3).any(|w| matches!(w.text.as_str(), "cp" | "secret" | "config"));
    let runs = operands.iter().take(2).any(|w| matches!(w.text.as_str(), "run" | "exec"));
    if sends && !runs { named(args, &PLAIN) } else { Vec::new() }
}

/// Files in code that a program is given as one word: `sqlite3 x "select readfile('.env')"`, `nc -c 'cat .env'`.
fn in_code(program: &str, args: &[Word]) -> Vec<Mention> {
    const CODE: &[&str] = &[
        "nc",
        "ncat",
        "netcat",
        "socat",
        "lftp",
        "sftp",
        "smbclient",
        "sqlite3",
        "duckdb",
        "psql",
        "mysql",
        "mariadb",
        "ed",
        "ex",
        "vi",
        "vim",
        "nvim",
        "emacs",
        "gdb",
        "expect",
    ];
    if !CODE.contains(&program) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for word in args.iter().filter(|word| word.text.contains([' ', '\'', '"', '('])) {
        let tokens = word.text.split([' ', '\n', '\t', '\'', '"', '(', ')', ';']);
        tokens.for_each(|token| pieces(word, token, &mut found));
    }
    found
}
