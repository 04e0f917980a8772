//! One-liners of other languages: the commands they run and the files they write, as far as the text shows it.
//!
//! No parser: tokens, and the shapes of calls. What runs something that cannot be made out is opaque; code that runs
//! and writes nothing is neither.

pub(crate) mod folding;
pub(crate) mod languages;
pub(crate) mod tokens;
pub(crate) mod values;

use std::cell::Cell;

use crate::code::folding::fold;
use crate::code::languages::{Language, language};
use crate::code::tokens::{Token, split, tokens};
use crate::reading::{Certainty, How, Reach, Why, Word};
use crate::walk::Walker;
use crate::walk::scope::Input;

/// Tokens looked through in one code, all lookups together.
const MAX_LOOKED_AT: usize = 4_000_000;

/// Calls that run a command.
const RUNNERS: &[&str] = &[
    "system",
    "popen",
    "Popen",
    "execSync",
    "execFile",
    "execFileSync",
    "spawnSync",
    "check_call",
    "check_output",
    "getoutput",
    "getstatusoutput",
    "execl",
    "execle",
    "execlp",
    "execv",
    "execve",
    "execvp",
    "execvpe",
    "spawnl",
    "spawnlp",
    "spawnv",
    "spawnvp",
    "posix_spawn",
    "shell_exec",
    "passthru",
    "proc_open",
    "pcntl_exec",
    "create_subprocess_shell",
    "create_subprocess_exec",
    "qx",
    "system2",
    "popen2",
    "popen3",
    "capture2",
    "capture3",
    "capture2e",
];
/// Calls that run a command only when the code speaks of processes at all.
const WEAK_RUNNERS: &[&str] = &["run", "call", "exec", "spawn", "fork", "Command"];
/// Calls that run a command when they are this owner's.
const OWNED_RUNNERS: &[(&str, &str)] = &[
    ("os", "execute"),
    ("os", "cmd"),
    ("System", "cmd"),
    ("System", "shell"),
    ("Bun", "$"),
    ("vim", "cmd"),
    ("api", "nvim_command"),
    ("fn", "jobstart"),
    ("fn", "termopen"),
    ("Runtime", "exec"),
];
/// Calls whose first argument is a file that changes.
const WRITERS: &[&str] = &[
    "writeFileSync",
    "writeFile",
    "appendFileSync",
    "appendFile",
    "rmSync",
    "unlinkSync",
    "createWriteStream",
    "truncateSync",
    "chmodSync",
    "rmdirSync",
    "mkdirSync",
    "rmtree",
    "makedirs",
    "file_put_contents",
    "writeTextFile",
    "writeTextFileSync",
    "symlinkSync",
    "removeSync",
    "remove_tree",
    "remove_dir_all",
    "rm_rf",
    "remove_entry_secure",
    "removedirs",
];
/// Calls whose first argument is a file that is read.
const READERS: &[&str] = &[
    "open",
    "fopen",
    "openSync",
    "readFileSync",
    "readFile",
    "createReadStream",
    "file_get_contents",
    "readfile",
    "readTextFile",
    "readTextFileSync",
    "read",
    "readlines",
    "foreach",
    "Path",
];
/// The same, where the name alone is too common.
const WEAK_WRITERS: &[&str] = &[
    "rm_r", "mkdir_p", "remove", "unlink", "rmdir", "truncate", "chmod", "mkdir", "rm", "write", "delete", "rm_rf",
    "rm_f", "touch", "binwrite",
];
/// Calls with two files.
const MOVERS: &[&str] = &["renameSync", "copyFileSync", "copyFile", "cpSync", "copyfile", "copy2", "copytree"];
const WEAK_MOVERS: &[&str] = &["rename", "replace", "move", "copy", "mv", "cp", "ln_s", "symlink", "link"];
/// Methods of a path object.
const PATH_METHODS: &[&str] = &["write_text", "write_bytes", "unlink", "touch", "rmdir", "symlink_to", "hardlink_to"];
const OWNERS: &[&str] = &["os", "shutil", "fs", "File", "FileUtils", "IO", "Deno", "Bun", "fsp", "promises"];

impl Walker<'_> {
    /// Code of a language we do not parse.
    pub(crate) fn foreign_code(&mut self, program: &str, code: &str, args: &[Word]) {
        let other = if program == "bun" { Language::Node } else { Language::Other };
        let language = language(program).unwrap_or(other);
        if language == Language::Tcl {
            return self.tcl(program, code);
        }
        let (tokens, joined) = fold(tokens(code, language), language);
        // What is in one piece is looked for in the line itself; of what is put together nobody sees the whole there.
        for text in joined.into_iter().filter(|text| is_one_word(text)) {
            self.reads(Word::literal(text.trim_start_matches('<')), program);
        }
        self.within(Reach::Interpreter(program.to_owned()), |walker| {
            Reader { walker, tokens: &tokens, language, code, budget: Cell::new(MAX_LOOKED_AT), args, program }.read();
        });
    }
}

pub(crate) struct Reader<'r, 'w, 'o> {
    pub(crate) walker: &'w mut Walker<'o>,
    pub(crate) tokens: &'r [Token],
    pub(crate) language: Language,
    code: &'r str,
    /// Tokens that may still be looked through: names in names in calls multiply.
    pub(crate) budget: Cell<usize>,
    args: &'r [Word],
    program: &'r str,
}

impl Reader<'_, '_, '_> {
    /// All tokens are looked through once more; false when that was done too often.
    pub(crate) fn looks_through(&self) -> bool {
        self.budget.set(self.budget.get().saturating_sub(self.tokens.len()));
        self.budget.get() > 0
    }

    fn name(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at) {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    fn mark(&self, at: usize, mark: char) -> bool {
        self.tokens.get(at) == Some(&Token::Mark(mark))
    }

    pub(crate) fn mentions(&self, names: &[&str]) -> bool {
        self.tokens.iter().any(|t| match t {
            Token::Name(name) => names.contains(&name.as_str()),
            Token::Text(text) => names.contains(&text.trim_start_matches("node:")),
            _ => false,
        })
    }

    fn read(&mut self) {
        let processes =
            self.mentions(&["subprocess", "child_process", "os", "Open3", "Kernel", "asyncio", "pty", "Deno", "Bun"]);
        let mut ran = false;
        for at in 0..self.tokens.len() {
            if let Some(Token::Template(text)) = self.tokens.get(at)
                && matches!(self.language, Language::Ruby | Language::Perl | Language::Php | Language::Other)
                && let Some(code) = text.strip_prefix('`')
            {
                self.shell(code);
                continue;
            }
            let Some(name) = self.name(at).map(str::to_owned) else { continue };
            let name = name.as_str();
            let dotted = at > 0 && self.mark(at - 1, '.');
            let owner = if dotted {
                at.checked_sub(2).and_then(|o| self.name(o)).unwrap_or_default().to_owned()
            } else {
                String::new()
            };
            let called = self.mark(at + 1, '(') || self.is_called_bare(at);
            let scripting = matches!(self.language, Language::Ruby | Language::Perl | Language::Php);
            let runs = RUNNERS.contains(&name)
                || (WEAK_RUNNERS.contains(&name)
                    && processes
                    && (!dotted || owner != "asyncio")
                    && self.is_process_owner(&owner, name))
                || (scripting && !dotted && matches!(name, "exec" | "spawn"))
                || (self.language == Language::Groovy && dotted && name == "exec")
                || OWNED_RUNNERS.contains(&(owner.as_str(), name));
            if name == "execute" && dotted && self.language == Language::Groovy {
                ran = true;
                self.executed(at - 1);
            } else if runs && called {
                ran = true;
                self.command(at + 1);
            } else if (!called && RUNNERS.contains(&name) && self.is_renamed(at))
                || (called && self.is_dynamic(name, dotted, &owner, at))
            {
                self.walker.opaque(Why::Interpreter, self.code);
            } else if called && !self.unpacking_call(at, name) {
                self.file_call(at, name, &owner);
            } else if matches!(name, "__dict__" | "__builtins__" | "builtins" | "ctypes") && processes {
                self.walker.opaque(Why::Interpreter, self.code);
            }
            if matches!(name, "shell")
                && self.language == Language::Other
                && self.code.contains("do shell script")
                && self.is_text(at + 2)
            {
                self.command(at + 1);
            }
        }
        if self.budget.get() == 0 {
            self.walker.opaque(Why::TooLarge, self.code);
        }
        if !ran && self.mentions(&["child_process"]) {
            self.walker.opaque(Why::Interpreter, self.code);
        }
    }

    /// A call without brackets: `system "x"`, `exec qw(a b)`, `unlink glob "*"`, `(system "x")`.
    fn is_called_bare(&self, at: usize) -> bool {
        let next = self.tokens.get(at + 1);
        match self.language {
            Language::Perl => {
                let is_list = matches!(next, Some(Token::Mark('[' | '$' | '@' | '<')))
                    || matches!(next, Some(Token::Name(name)) if name == "glob");
                self.is_text(at + 1) || is_list && !self.mark(at.wrapping_sub(1), '$')
            }
            Language::Ruby | Language::Lua | Language::Other => self.is_text(at + 1),
            _ => false,
        }
    }

    /// Groovy's `"…".execute()` and `['a', 'b'].execute()`; the dot stands here.
    fn executed(&mut self, dot: usize) {
        let before = self.tokens.get(..dot).unwrap_or_default();
        let from = before.iter().rposition(|t| matches!(t, Token::Mark(';' | '\n' | '='))).map_or(0, |n| n + 1);
        let receiver = before.get(from..).unwrap_or_default().to_vec();
        if let Some(argv) = self.list(&receiver) {
            self.walker.run(&argv, Vec::new(), &Input::Unseen);
            return;
        }
        match receiver.last() {
            Some(Token::Text(code) | Token::Template(code)) => self.shell(&code.clone()),
            _ => self.walker.opaque(Why::Interpreter, self.code),
        }
    }

    fn is_text(&self, at: usize) -> bool {
        matches!(self.tokens.get(at), Some(Token::Text(_) | Token::Template(_)))
    }

    fn is_process_owner(&self, owner: &str, name: &str) -> bool {
        match self.language {
            Language::Python => {
                matches!(owner, "subprocess" | "sp" | "pty")
                    || (owner.is_empty() && name != "exec" && self.mentions(&["subprocess"]))
                    || (!owner.is_empty() && self.is_alias_of(owner, "subprocess"))
            }
            Language::Node => {
                matches!(name, "exec" | "spawn" | "fork" | "Command")
                    && self.mentions(&["child_process", "Deno", "Bun"])
            }
            _ => false,
        }
    }

    fn is_alias_of(&self, alias: &str, module: &str) -> bool {
        self.tokens.windows(3).any(|w| {
            matches!(w, [Token::Name(m), Token::Name(word), Token::Name(a)] if m == module && word == "as" && a == alias)
        })
    }

    /// `s = os.system`, `import system as s`, `{execSync: s}`.
    fn is_renamed(&self, at: usize) -> bool {
        if self.name(at + 1) == Some("as") || self.mark(at + 1, ':') || self.mark(at + 1, ']') || self.mark(at + 1, '.')
        {
            return true;
        }
        let statement = self.tokens.get(..at).unwrap_or_default().iter().rev();
        let before: Vec<&Token> = statement.take_while(|t| !matches!(t, Token::Mark(';' | '\n'))).collect();
        let import = before.iter().any(|t| matches!(t, Token::Name(n) if n == "import"));
        !import && !self.mark(at + 1, '}') && !self.mark(at + 1, ',') && before.iter().any(|t| **t == Token::Mark('='))
    }

    /// Code made at run time.
    fn is_dynamic(&self, name: &str, dotted: bool, owner: &str, at: usize) -> bool {
        let own = !dotted || matches!(owner, "builtins" | "globalThis" | "window" | "Kernel" | "vm");
        let plain_argument = self.is_text(at + 2) && self.mark(at + 3, ')');
        match name {
            "eval" | "Function" | "runInThisContext" | "instance_eval" | "class_eval" => own,
            "exec" => own && self.language == Language::Python,
            "__import__" | "import_module" | "require" => {
                !plain_argument && (name != "require" || (self.language == Language::Node && self.mark(at + 1, '(')))
            }
            "getattr" | "globals" | "vars" => own && self.mentions(&["os", "subprocess", "__import__"]),
            _ => false,
        }
    }

    /// A command in the arguments that begin here.
    fn command(&mut self, open: usize) {
        let args = self.arguments(open);
        let Some(first) = args.first().cloned() else { return };
        if let Some(argv) = self.list(&first) {
            self.walker.run(&argv, Vec::new(), &Input::Unseen);
            return;
        }
        let resolved = self.word(&first);
        if resolved.is_computed() && !resolved.text.contains(' ') {
            self.walker.opaque(Why::Interpreter, self.code);
            return;
        }
        // `spawn('git', ['push'])`, `system('git', 'push')`, `execlp('git', 'git', 'push')`.
        let mut more: Vec<Word> = Vec::new();
        for arg in args.get(1..).unwrap_or_default() {
            // `new Deno.Command('git', {args: ['push']})`
            let named = arg.windows(2).position(|w| matches!(w, [Token::Name(n), Token::Mark(':')] if n == "args"));
            let arg = match named.and_then(|at| arg.get(at + 2..)) {
                Some(rest) => split(rest).into_iter().next().unwrap_or_default(),
                None => arg.clone(),
            };
            let arg = arg.strip_suffix(&[Token::Mark('}')]).map(<[Token]>::to_vec).unwrap_or(arg);
            match self.list(&arg) {
                Some(words) => more.extend(words),
                None if matches!(arg.as_slice(), [Token::Text(_)]) => more.push(self.word(&arg)),
                None => {}
            }
        }
        if more.is_empty() || resolved.text.contains(' ') {
            self.shell(&resolved.text);
        } else {
            let mut argv = vec![resolved];
            argv.extend(more);
            self.walker.run(&argv, Vec::new(), &Input::Unseen);
            // The name may be given twice.
            if argv.first() == argv.get(1) {
                self.walker.run(argv.get(1..).unwrap_or_default(), Vec::new(), &Input::Unseen);
            }
        }
    }

    fn shell(&mut self, code: &str) {
        // An editor's `:!x`.
        let code = code.trim_start_matches('!');
        self.walker.code_apart(code, Reach::ShellCode("sh".to_owned()), &Input::Unseen);
    }

    fn file_call(&mut self, at: usize, name: &str, owner: &str) {
        let owned = OWNERS.contains(&owner)
            || (self.language == Language::Perl || self.language == Language::Php) && owner.is_empty();
        let args = self.arguments(at + 1);
        let how = how(name);
        if READERS.contains(&name) {
            self.read_call(&args);
        }
        if matches!(name, "open" | "fopen" | "openSync") {
            self.open_call(at, &args);
        } else if WRITERS.contains(&name)
            || (WEAK_WRITERS.contains(&name) && owned && !(name == "write" && owner.is_empty()))
        {
            self.write(args.first(), how);
        } else if MOVERS.contains(&name) || (WEAK_MOVERS.contains(&name) && owned) {
            self.write(args.first(), how);
            self.write(args.get(1), How::Interpreter);
        } else if PATH_METHODS.contains(&name) || (name == "rename" && !owner.is_empty()) {
            // What stands before the dot.
            let before = self.tokens.get(..at.saturating_sub(1)).unwrap_or_default();
            let from = before.iter().rposition(|t| matches!(t, Token::Mark(';' | '\n' | '='))).map_or(0, |n| n + 1);
            let receiver: Vec<Token> = before.get(from..).unwrap_or_default().to_vec();
            let texts: Vec<Token> = receiver.iter().filter(|t| matches!(t, Token::Text(_))).cloned().collect();
            match (texts.as_slice(), receiver.as_slice()) {
                _ if !self.word(&receiver).is_computed() => self.write(Some(&receiver), how),
                ([only], _) => self.write(Some(&vec![only.clone()]), how),
                ([], [Token::Name(_)]) => self.write(Some(&receiver), how),
                _ => self.write(None, how),
            }
        }
    }

    /// A file by a name that the code holds or puts together: `a = '.e'; open(a + 'nv')`. Writing needs what can be
    /// looked through more than this does.
    fn read_call(&mut self, args: &[Vec<Token>]) {
        let is_plain = |arg: &Vec<Token>| matches!(arg.as_slice(), [Token::Text(_)]);
        for arg in args.iter().take(3).filter(|arg| !is_plain(arg)) {
            if self.budget.get() < MAX_LOOKED_AT / 2 {
                return;
            }
            let word = self.word(arg);
            if word.is_literal() && is_one_word(&word.text) {
                self.walker.reads(word, self.program);
            }
        }
    }

    fn open_call(&mut self, at: usize, args: &[Vec<Token>]) {
        if self.language == Language::Perl {
            for (n, arg) in args.iter().enumerate() {
                let [Token::Text(text)] = arg.as_slice() else { continue };
                let text = text.trim();
                if let Some(code) = text
                    .strip_prefix('|')
                    .or_else(|| text.strip_suffix('|'))
                    .or_else(|| text.strip_prefix("|-").or(text.strip_prefix("-|")))
                {
                    if code.trim_matches('-').is_empty() {
                        self.command_words(args.get(n + 1..).unwrap_or_default());
                    } else {
                        self.shell(code);
                    }
                } else if text.starts_with('>') || text.starts_with('+') {
                    let file = text.trim_start_matches(['>', '+', '<', ' ']);
                    if file.is_empty() || file.starts_with(':') {
                        self.write(args.get(n + 1), How::Interpreter);
                    } else {
                        self.write(Some(&vec![Token::Text(file.to_owned())]), How::Interpreter);
                    }
                }
            }
            return;
        }
        let is_mode = |arg: &Vec<Token>| {
            arg.iter().any(|t| match t {
                Token::Text(text) => {
                    text.len() <= 4
                        && text.chars().all(|c| "rwaxbtU+".contains(c))
                        && text.contains(['w', 'a', 'x', '+'])
                }
                _ => false,
            })
        };
        // `Path('x').open('w')`: the file stands before the dot.
        let receiver_mode = self.mark(at.saturating_sub(1), '.')
            && at.checked_sub(2).is_some_and(|before| self.mark(before, ')'))
            && args.first().is_some_and(is_mode);
        if receiver_mode || args.iter().skip(1).any(is_mode) {
            if receiver_mode && at >= 2 {
                let before = self.tokens.get(..at).unwrap_or_default();
                let text = before.iter().rev().take(6).find(|t| matches!(t, Token::Text(_))).cloned();
                self.write(text.map(|t| vec![t]).as_ref(), How::Interpreter);
            } else {
                self.write(args.first(), How::Interpreter);
            }
        }
    }

    fn command_words(&mut self, args: &[Vec<Token>]) {
        let argv: Vec<Word> = args.iter().map(|a| self.word(a)).collect();
        match argv.as_slice() {
            [only] => self.shell(&only.text.clone()),
            [] => self.walker.opaque(Why::Interpreter, self.code),
            _ => {
                self.walker.run(&argv, Vec::new(), &Input::Unseen);
            }
        }
    }

    fn write(&mut self, path: Option<&Vec<Token>>, how: How) {
        let word = path.map_or_else(|| Word::computed("$CODE"), |path| self.word(path));
        if word.is_computed() && self.looks_through() {
            // Which file is only known when it runs: every name in the code may be meant.
            let names = self.tokens.iter().enumerate().filter_map(|(at, t)| match t {
                Token::Text(text) if looks_like_path(text) && !self.is_compared(at) => Some(text.clone()),
                _ => None,
            });
            let names: Vec<String> = names.chain(self.args.iter().map(|w| w.text.clone())).collect();
            // A folder is not written to; and where a pattern chooses, not all that is in it goes.
            let is_folder = |name: &String| matches!(name.as_str(), "." | "./" | ".." | "../");
            let chooses = how == How::Interpreter || names.iter().any(|name| name.contains('*'));
            for name in names.into_iter().filter(|name| !(chooses && is_folder(name))) {
                self.walker.writes(Word { text: name, certainty: Certainty::Glob }, how);
            }
        }
        self.walker.writes(word, how);
    }

    /// `'.git' in root`, `p.startswith('x')`, `name == 'x'`: the text is looked for, and goes nowhere.
    fn is_compared(&self, at: usize) -> bool {
        const LOOKS: [&str; 9] =
            ["includes", "startswith", "endswith", "startsWith", "endsWith", "indexOf", "has", "match", "fnmatch"];
        let before = |back: usize| at.checked_sub(back).and_then(|at| self.tokens.get(at));
        let is_member = self.language == Language::Python
            && matches!(self.tokens.get(at + 1), Some(Token::Name(word)) if word == "in" || word == "not");
        let is_asked = matches!(before(1), Some(Token::Mark('(')))
            && matches!(before(2), Some(Token::Name(name)) if LOOKS.contains(&name.as_str()));
        let is_equal = matches!((before(1), before(2)), (Some(Token::Mark('=')), Some(Token::Mark('=' | '!'))));
        is_member || is_asked || is_equal
    }

    /// The arguments of a call, split at commas; without brackets, up to the end of the statement.
    pub(crate) fn arguments(&self, open: usize) -> Vec<Vec<Token>> {
        let bracketed = self.mark(open, '(');
        let start = open + usize::from(bracketed);
        let mut depth = 0usize;
        let mut inner = Vec::new();
        for token in self.tokens.get(start..).unwrap_or_default() {
            match token {
                Token::Mark('(' | '[' | '{') => depth += 1,
                Token::Mark(')' | ']' | '}') if depth == 0 => break,
                Token::Mark(')' | ']' | '}') => depth -= 1,
                Token::Mark(';') if !bracketed => break,
                Token::Mark('\n') if !bracketed => break,
                _ => {}
            }
            if *token != Token::Mark('\n') {
                inner.push(token.clone());
            }
        }
        split(&inner)
    }
}

/// What a call does to its file.
fn how(name: &str) -> How {
    match name {
        "rmSync"
        | "unlinkSync"
        | "rmdirSync"
        | "rmtree"
        | "remove_tree"
        | "removeSync"
        | "remove"
        | "unlink"
        | "rmdir"
        | "rm"
        | "delete"
        | "rm_rf"
        | "rm_r"
        | "rm_f"
        | "remove_dir_all"
        | "remove_entry_secure"
        | "removedirs"
        | "delete_dir" => How::Removed,
        "rename" | "renameSync" | "move" | "mv" | "renames" => How::MovedAway,
        "mkdir" | "makedirs" | "mkdirSync" | "touch" | "mkdir_p" => How::Made,
        "chmod" | "chmodSync" | "chown" => How::Mode,
        _ => How::Interpreter,
    }
}

fn is_one_word(text: &str) -> bool {
    !text.is_empty() && text.len() < 200 && !text.contains(char::is_whitespace)
}

fn looks_like_path(text: &str) -> bool {
    is_one_word(text) && (text.contains(['.', '/']) || text.starts_with(char::is_uppercase))
}
