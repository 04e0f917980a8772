//! git's command line: global options, subcommand, aliases, settings that run things.

pub(crate) mod aliases;
pub(crate) mod settings;
pub(crate) mod valued;

use crate::git::settings::Lasts;
use crate::git::valued::options_alone;
use crate::options::{self, Parsed, Spec};
use crate::reading::{Command, How, Reach, Why, Word};
use crate::walk::Walker;
use crate::walk::scope::Input;

/// A call of git, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCall {
    /// `push`; computed when it is only known at run time.
    pub subcommand: Word,
    /// What comes after the subcommand.
    pub args: Vec<Word>,
    /// `-c key=value`.
    pub config: Vec<(String, Word)>,
    /// `-C folder`.
    pub folder: Option<Word>,
    /// `--git-dir`, `--work-tree`: the repository is another than the folder says.
    pub elsewhere: bool,
    /// `--git-dir` or `GIT_DIR`.
    pub git_dir: Option<Word>,
}

impl GitCall {
    /// An option by its long name or letter, abbreviated as git allows (`--forc`), bundled (`-fu`) or with a value; of
    /// `--dry-run --no-dry-run` the last one counts. What is the value of another option is none.
    pub fn has_option(&self, long: &str, short: Option<char>) -> bool {
        let says = |word: &String| match word.strip_prefix("--") {
            Some(given) => {
                let given = given.split('=').next().unwrap_or_default();
                match given.strip_prefix("no-") {
                    Some(given) if !given.is_empty() && long.starts_with(given) => Some(false),
                    _ => (given.len() >= 2 && long.starts_with(given)).then_some(true),
                }
            }
            None => {
                let letters = word.strip_prefix('-')?;
                letters.chars().take_while(char::is_ascii_alphanumeric).any(|c| Some(c) == short).then_some(true)
            }
        };
        options_alone(&self.subcommand.text, &self.args).iter().rev().find_map(says).unwrap_or(false)
    }

    /// The subcommand's options and operands. `short` and `long` are those that take a value; long ones may be
    /// abbreviated, but `--force` is not a short form of `--force-create`.
    pub fn options(&self, short: &str, long: &[&str]) -> Parsed {
        let whole = |word: &Word| {
            let given = word.text.strip_prefix("--").filter(|given| given.len() > 1 && !given.contains('='))?;
            let name = long.iter().find(|name| name.strip_prefix(given).is_some_and(|rest| !rest.starts_with('-')))?;
            Some(Word { text: format!("--{name}"), certainty: word.certainty })
        };
        let words: Vec<Word> = self.args.iter().map(|word| whole(word).unwrap_or_else(|| word.clone())).collect();
        options::parse(&words, Spec { short, long, stops: false })
    }

    /// The same by what is known of the subcommand.
    pub fn own_options(&self) -> Parsed {
        let (short, long) = valued::taking(&self.subcommand.text);
        self.options(short, long)
    }

    /// A push that can throw away what the remote has.
    pub fn is_forced_push(&self) -> bool {
        matches!(self.subcommand.text.as_str(), "push" | "send-pack")
            && (self.has_option("force", Some('f'))
                || self.has_option("force-with-lease", None)
                || self.has_option("force-if-includes", None)
                || self.has_option("mirror", None)
                || self.has_option("delete", Some('d'))
                || self.has_option("prune", None)
                || self.args.iter().any(|w| w.text.starts_with('+') || (w.text.starts_with(':') && w.text.len() > 1)))
    }

    /// Any word that is only known at run time: what is missing above may hide in it.
    pub fn has_computed(&self) -> bool {
        self.args.iter().any(Word::is_computed)
    }
}

/// The subcommand of a git command, if it is one: `push` for `git -C x -c a=b push` and for `git-push`.
pub fn git_subcommand(command: &Command) -> Option<String> {
    git_call(command).map(|call| call.subcommand.text)
}

/// Take a git command apart.
pub fn git_call(command: &Command) -> Option<GitCall> {
    let mut call = call(&command.program, command.args())?;
    if let Some((_, folder)) = command.assignments.iter().rfind(|(name, _)| name == "GIT_DIR") {
        call.elsewhere = true;
        call.git_dir.get_or_insert_with(|| folder.clone());
    }
    Some(call)
}

fn call(program: &str, args: &[Word]) -> Option<GitCall> {
    let mut call = GitCall {
        subcommand: Word::literal(""),
        args: Vec::new(),
        config: Vec::new(),
        folder: None,
        elsewhere: false,
        git_dir: None,
    };
    if let Some(dashed) = program.strip_prefix("git-") {
        call.subcommand = Word::literal(dashed);
        call.args = args.to_vec();
        return Some(call);
    }
    if program != "git" {
        return None;
    }
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-C" => call.folder = words.next().cloned(),
            "-c" | "--config-env" => {
                if let Some(setting) = words.next() {
                    let (key, value) = setting.text.split_once('=').unwrap_or((&setting.text, "true"));
                    call.config.push((key.to_owned(), Word { text: value.to_owned(), certainty: setting.certainty }));
                }
            }
            "--git-dir" | "--work-tree" | "--namespace" | "--super-prefix" | "--attr-source" | "--exec-path" => {
                call.elsewhere = true;
                // `--exec-path` alone asks; with a value it is `=`.
                let value = if word.text == "--exec-path" { None } else { words.next() };
                if word.text == "--git-dir" {
                    call.git_dir = value.cloned();
                }
            }
            text if text.starts_with("--git-dir=")
                || text.starts_with("--work-tree=")
                || text.starts_with("--exec-path=") =>
            {
                call.elsewhere = true;
                let folder = text.strip_prefix("--git-dir=");
                let named = folder.map(|folder| Word { text: folder.to_owned(), certainty: word.certainty });
                call.git_dir = named.or(call.git_dir);
            }
            text if text.starts_with("--config-env=") => {
                let (_, key) = text.split_once('=').unwrap_or_default();
                let (key, variable) = key.split_once('=').unwrap_or((key, ""));
                call.config.push((key.to_owned(), Word::computed(format!("${variable}"))));
            }
            text if text.starts_with('-') && !word.is_computed() => {}
            _ => {
                call.subcommand = word.clone();
                call.args = words.cloned().collect();
                break;
            }
        }
    }
    Some(call)
}

impl Walker<'_> {
    pub(crate) fn git(&mut self, program: &str, args: &[Word], input: &Input) {
        let Some(call) = call(program, args) else { return };
        for (key, value) in &call.config {
            self.git_setting(key, value, Lasts::Once);
        }
        // Where git looks for its own commands.
        for path in args.iter().take_while(|w| w.text.starts_with('-')).filter(|w| w.text.starts_with("--exec-path=")) {
            self.opaque(Why::Setting, &path.text);
        }
        if call.subcommand.is_computed() {
            let line = args.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
            return self.opaque(Why::ComputedCommand, &format!("git {line}"));
        }
        let folder = call.folder.clone();
        let scope = self.scope.clone();
        if let Some(folder) = &folder {
            self.change_folder(Some(folder));
        }
        self.git_alias(&call);
        self.git_files(&call, input);
        let aliases = std::mem::take(&mut self.scope.git_aliases);
        self.scope = scope;
        self.scope.git_aliases = aliases;
    }

    fn git_files(&mut self, call: &GitCall, input: &Input) {
        let args = &call.args;
        let first = args.first().map(|w| w.text.as_str()).unwrap_or_default();
        let after_dashes = || args.iter().skip_while(|w| w.text != "--").skip(1).cloned().collect::<Vec<_>>();
        let here = || Word::literal(".");
        let all = |short, long| Spec { short, long, stops: false };
        match call.subcommand.text.as_str() {
            "checkout" | "switch" => {
                let mut paths = after_dashes();
                paths.extend(args.iter().filter(|w| w.text == ".").cloned());
                if !args.iter().any(|w| matches!(w.text.as_str(), "-b" | "-B" | "--orphan" | "-t" | "--track"))
                    && args.iter().all(|w| w.text != "--")
                {
                    // `checkout HEAD file`: the second operand on is a path.
                    paths.extend(options::parse(args, all("bB", &[])).operands.into_iter().skip(1));
                }
                for path in paths {
                    self.writes(path, How::Restored);
                }
            }
            "restore" => {
                let parsed = options::parse(args, all("s", &["source"]));
                if !parsed.has(&["staged", "S"]) || parsed.has(&["worktree", "W"]) {
                    for path in parsed.operands {
                        self.writes(path, How::Restored);
                    }
                }
            }
            "rm" if !args.iter().any(|w| w.text == "--cached") => {
                for path in options::parse(args, all("", &[])).operands {
                    self.writes(path, How::Removed);
                }
            }
            "mv" => {
                for path in options::parse(args, all("", &[])).operands {
                    self.writes(path, How::MovedAway);
                }
            }
            "clean" if !call.has_option("dry-run", Some('n')) => {
                let mut paths = options::parse(args, all("e", &["exclude"])).operands;
                if paths.is_empty() {
                    paths.push(here());
                }
                for path in paths {
                    self.writes(path, How::Cleaned);
                }
            }
            "stash" if matches!(first, "" | "push" | "save") || first.starts_with('-') => {
                let parsed = options::parse(args, all("m", &["message", "pathspec-from-file"]));
                if parsed.has(&["u", "include-untracked", "a", "all"]) {
                    let mut paths: Vec<Word> = parsed.operands.into_iter().skip_while(|w| w.text == "push").collect();
                    if paths.is_empty() || first == "save" {
                        paths = vec![here()];
                    }
                    for path in paths {
                        self.writes(path, How::Cleaned);
                    }
                }
            }
            "reset" if args.iter().any(|w| matches!(w.text.as_str(), "--hard" | "--merge" | "--keep")) => {
                self.writes(here(), How::Restored);
            }
            "apply" | "am" => self.git_patch(&call.subcommand.text, args, input),
            "config" => self.git_config(args),
            "bisect" if first == "run" => {
                self.run_wrapped("git bisect", args.get(1..).unwrap_or_default(), &Input::Inherited);
            }
            "submodule" if first == "foreach" => {
                let code: Vec<&str> = args
                    .iter()
                    .skip(1)
                    .filter(|w| w.text != "--recursive" && w.text != "--quiet")
                    .map(|w| w.text.as_str())
                    .collect();
                self.code_apart(&code.join(" "), Reach::Wrapper("git submodule".to_owned()), &Input::Inherited);
            }
            "rebase" | "difftool" | "filter-branch" | "mergetool" => {
                let parsed = options::parse(
                    args,
                    all(
                        "x",
                        &[
                            "exec",
                            "extcmd",
                            "tree-filter",
                            "index-filter",
                            "msg-filter",
                            "env-filter",
                            "commit-filter",
                            "parent-filter",
                            "tag-name-filter",
                            "onto",
                        ],
                    ),
                );
                let names = [
                    "x",
                    "exec",
                    "extcmd",
                    "tree-filter",
                    "index-filter",
                    "msg-filter",
                    "env-filter",
                    "commit-filter",
                    "parent-filter",
                    "tag-name-filter",
                ];
                for code in parsed.values(&names).cloned().collect::<Vec<_>>() {
                    self.code_apart(
                        &code.text,
                        Reach::Wrapper(format!("git {}", call.subcommand.text)),
                        &Input::Unseen,
                    );
                }
            }
            "grep" => {
                // `-Oless`: the value cannot stand by itself.
                let pager = |w: &Word| {
                    let text = w.text.strip_prefix("-O").or_else(|| w.text.strip_prefix("--open-files-in-pager="))?;
                    (!text.is_empty()).then(|| text.to_owned())
                };
                for code in args.iter().filter_map(pager).collect::<Vec<_>>() {
                    self.code_apart(&code, Reach::Wrapper("git grep".to_owned()), &Input::Unseen);
                }
            }
            "clone" => {
                let parsed = options::parse(args, all("cuob", &["config", "upload-pack", "origin", "branch"]));
                for setting in parsed.values(&["c", "config"]).cloned().collect::<Vec<_>>() {
                    let (key, value) = setting.text.split_once('=').unwrap_or((&setting.text, "true"));
                    let value = Word { text: value.to_owned(), certainty: setting.certainty };
                    self.git_setting(key, &value, Lasts::Always);
                }
                for program in parsed.values(&["u"]).cloned().collect::<Vec<_>>() {
                    self.code_apart(&program.text, Reach::Wrapper("git clone".to_owned()), &Input::Unseen);
                }
            }
            _ => {}
        }
        // A remote that is a command, with its blanks written `% `.
        for remote in args.iter().filter_map(|w| w.text.strip_prefix("ext::")).map(str::to_owned).collect::<Vec<_>>() {
            self.opaque(Why::UnseenCode, &format!("ext::{remote}"));
            self.code_apart(&remote.replace("% ", " "), Reach::Wrapper("git".to_owned()), &Input::Unseen);
        }
        // The program at the other end, which is this machine for a path.
        let other_end = options::parse(args, all("", &["upload-pack", "receive-pack", "exec"]));
        if matches!(
            call.subcommand.text.as_str(),
            "fetch" | "pull" | "clone" | "push" | "ls-remote" | "send-pack" | "fetch-pack" | "archive"
        ) {
            for program in other_end.values(&["upload-pack", "receive-pack", "exec"]) {
                let reach = Reach::Wrapper(format!("git {}", call.subcommand.text));
                self.code_apart(&program.text, reach, &Input::Unseen);
            }
        }
        let mut words = args.iter().peekable();
        while let Some(word) = words.next() {
            if let Some(file) = word.text.strip_prefix("--output=") {
                self.writes(Word { text: file.to_owned(), certainty: word.certainty }, How::Output);
            } else if ((word.text == "-o" && call.subcommand.text == "archive") || word.text == "--output")
                && let Some(file) = words.peek()
            {
                self.writes((*file).clone(), How::Output);
            }
        }
    }
}
