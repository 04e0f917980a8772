//! Who understands which program, and which files the plain ones write and read.

pub(crate) mod archives;
pub(crate) mod containers;
pub(crate) mod escapes;
pub(crate) mod fd;
pub(crate) mod finders;
pub(crate) mod launchers;
pub(crate) mod manifests;
pub(crate) mod patches;
pub(crate) mod patterns;
pub(crate) mod search;
pub(crate) mod settings;
pub(crate) mod text_tools;
pub(crate) mod wrappers;

use crate::code::languages::Language;
use crate::options::{self, Parsed, Spec};
use crate::reading::{Certainty, Cwd, How, Reach, Word};
use crate::walk::Walker;
use crate::walk::scope::{Input, Output};
use crate::walk::shells::is_shell;

const fn all(short: &'static str, long: &'static [&'static str]) -> Spec<'static> {
    Spec { short, long, stops: false }
}

impl Walker<'_> {
    pub(crate) fn program(&mut self, program: &str, word: &Word, args: &[Word], input: &Input) -> Output {
        if let Some(output) = self.builtin(program, args, input) {
            return output;
        }
        self.escapes(program, args, input);
        if let Some(output) = self.wrapper(program, args, input) {
            return output;
        }
        if is_shell(program) {
            return self.shell(program, args, input);
        }
        let has_code = |w: &Word| matches!(w.text.as_str(), "-e" | "--eval" | "-p" | "--print");
        let bun = (program == "bun" && args.first().is_some_and(has_code)).then_some(Language::Node);
        if program == "deno" && args.first().is_some_and(|w| w.text == "task") {
            self.build_tool(program, args);
        }
        if let Some(language) = bun.or_else(|| crate::code::languages::language(program)) {
            self.interpreter(program, language, args, input);
            return Output::Unknown;
        }
        if program == "git" || program.starts_with("git-") {
            self.git(program, args, input);
            return self.git_prints(args);
        }
        if let Some(output) = Self::listing(program, args) {
            return output;
        }
        match program {
            "gh" => self.gh(args),
            "realpath" | "readlink" | "dirname" => return self.path_prints(program, args),
            "sed" | "gsed" | "awk" | "gawk" | "mawk" | "nawk" | "ed" | "ex" | "vi" | "vim" | "nvim" | "nano"
            | "emacs" => {
                return self.text_tool(program, args, input);
            }
            "make" | "gmake" | "npm" | "pnpm" | "yarn" | "bun" | "just" | "task" | "rake" | "cargo" | "composer" => {
                self.build_tool(program, args);
                if matches!(program, "make" | "gmake")
                    && let Input::Text(text) = input
                    && args.iter().any(|w| w.text == "-" || w.text == "-f-" || w.text == "/dev/stdin")
                {
                    self.recipes(program, &text.clone());
                }
            }
            _ => {}
        }
        if let Some(output) = self.file_tool(program, args, input) {
            return output;
        }
        if word.text.contains('/') {
            return self.path_program(word, args, input);
        }
        Output::Unknown
    }

    /// What git prints, where that can be told.
    fn git_prints(&self, args: &[Word]) -> Output {
        let words: Vec<&str> = args.iter().map(|w| w.text.as_str()).collect();
        match (words.as_slice(), &self.scope.cwd, &self.options.checkout) {
            (["rev-parse", "--show-toplevel"], Cwd::Start, Some(top)) => Output::Text(format!("{top}\n")),
            // In a linked work tree it is elsewhere, and nobody removes that either.
            (["rev-parse", .., "--git-dir" | "--git-common-dir" | "--absolute-git-dir"], Cwd::Start, Some(top)) => {
                Output::Text(format!("{top}/.git\n"))
            }
            _ => Self::listing("git", args).unwrap_or(Output::Unknown),
        }
    }

    /// What `realpath` and `dirname` make of a path that is known. Links are not followed.
    fn path_prints(&self, program: &str, args: &[Word]) -> Output {
        let operands: Vec<&Word> = args.iter().filter(|w| !w.text.starts_with('-')).collect();
        let [path] = operands.as_slice() else { return Output::Unknown };
        let follows = program == "realpath" || args.iter().any(|w| matches!(w.text.as_str(), "-f" | "-e" | "-m"));
        match program {
            _ if !path.is_literal() => Output::Unknown,
            "dirname" => {
                let bare = path.text.trim_end_matches('/');
                let folder =
                    bare.rsplit_once('/').map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder });
                Output::Text(format!("{folder}\n"))
            }
            _ if follows && self.here().is_some() => Output::Text(format!("{}\n", self.at(path).text)),
            _ => Output::Unknown,
        }
    }

    /// Programs that only read and write files.
    fn file_tool(&mut self, program: &str, args: &[Word], input: &Input) -> Option<Output> {
        match program {
            "cat" | "bat" | "batcat" | "tac" | "nl" => {
                let parsed = options::parse(args, all("", &["style", "theme", "language", "line-range"]));
                let mut output = Output::nothing();
                for file in parsed.operands.iter().filter(|w| w.text != "-") {
                    self.reads(file.clone(), program);
                    output = output.then(self.fresh_text(&file.text).unwrap_or(Output::Unknown));
                }
                if parsed.operands.is_empty() || parsed.operands.iter().any(|w| w.text == "-") {
                    output = output.then(match input {
                        Input::Text(text) if program == "cat" => Output::Text(text.clone()),
                        _ => Output::Unknown,
                    });
                }
                return Some(output);
            }
            "head" | "tail" | "less" | "more" | "wc" | "file" | "strings" | "xxd" | "od" | "hexdump" | "stat"
            | "cut" | "view" | "md5sum" | "sha256sum" | "sha1sum" | "tokei" => {
                let valued = match program {
                    "head" | "tail" => "nc",
                    "cut" => "cdfb",
                    "strings" => "nt",
                    "xxd" => "clsgo",
                    "od" => "AjNtwS",
                    "hexdump" => "enfs",
                    "stat" => "c",
                    "file" => "fFm",
                    _ => "",
                };
                let parsed = options::parse(args, all(valued, &["lines", "bytes", "delimiter", "fields", "format"]));
                for file in parsed.operands {
                    self.reads(file, program);
                }
            }
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "jq" | "yq" => {
                let parsed = options::parse(
                    args,
                    all(
                        "efmABCgtTdj",
                        &["regexp", "file", "arg", "argjson", "slurpfile", "include", "exclude", "glob", "type"],
                    ),
                );
                let pattern = usize::from(!parsed.has(&["e", "regexp"]) || matches!(program, "jq" | "yq"));
                let in_place = parsed.has(&["i", "in-place", "inplace"]) && program == "yq";
                for file in parsed.operands.into_iter().skip(pattern) {
                    if in_place {
                        self.writes(file.clone(), How::InPlace);
                    }
                    self.reads(file, program);
                }
            }
            "tee" | "sponge" => {
                let parsed = options::parse(args, all("", &[]));
                let output = match input {
                    Input::Text(text) => Output::Text(text.clone()),
                    _ => Output::Unknown,
                };
                for file in &parsed.operands {
                    self.writes(file.clone(), How::Tee);
                    self.note_fresh(&file.text, output.clone(), parsed.has(&["a", "append"]));
                }
                return Some(output);
            }
            "cp" | "mv" | "ln" | "link" | "install" | "rsync" | "scp" | "ditto" | "gcp" | "gmv" | "rename" => {
                self.copies(program, args);
            }
            "gio" if args.first().is_some_and(|w| matches!(w.text.as_str(), "trash" | "remove")) => {
                for file in options::parse(args.get(1..).unwrap_or_default(), all("", &[])).operands {
                    self.writes(file, How::Removed);
                }
            }
            "rm" | "unlink" | "rmdir" | "shred" | "srm" | "trash" | "trash-put" | "rmtrash" | "wipe" | "rimraf"
            | "del-cli" | "grm" => {
                for file in options::parse(args, all("ns", &[])).operands {
                    self.writes(file, How::Removed);
                }
            }
            "truncate" | "fallocate" => {
                for file in options::parse(args, all("srlo", &["size", "reference", "length", "offset"])).operands {
                    self.writes(file, How::Truncated);
                }
            }
            "touch" | "mkdir" | "mkfifo" | "mknod" | "mktemp" => {
                let valued = match program {
                    "touch" => "drt",
                    "mktemp" => "p",
                    _ => "mZ",
                };
                for file in options::parse(args, all(valued, &["date", "reference", "mode"])).operands {
                    self.writes(file, How::Made);
                }
            }
            "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "chflags" | "xattr" => {
                let parsed = options::parse(args, all("", &["reference"]));
                // `chmod -x f`: the mode looks like an option.
                let mode_is_option = args.first().is_some_and(|w| {
                    w.text.starts_with('-')
                        && matches!(program, "chmod" | "chattr")
                        && !w.text.starts_with("--")
                        && w.text != "-R"
                        && w.text != "-v"
                });
                let skip = usize::from(!mode_is_option && !parsed.has(&["reference"]));
                for file in parsed.operands.into_iter().skip(skip) {
                    self.writes(file, How::Mode);
                }
            }
            "dd" => {
                for word in args {
                    if let Some(file) = word.text.strip_prefix("of=") {
                        self.writes(Word { text: file.to_owned(), certainty: word.certainty }, How::Output);
                        self.note_fresh(file, Output::Unknown, false);
                    } else if let Some(file) = word.text.strip_prefix("if=") {
                        self.reads(Word { text: file.to_owned(), certainty: word.certainty }, program);
                    }
                }
            }
            "patch" => self.patch(args, input),
            "tar" | "gtar" | "bsdtar" | "unzip" | "7z" | "7za" | "7zr" | "7zz" | "cpio" | "bsdcpio" | "unar"
            | "unrar" | "ar" | "jar" | "pax" => self.archive(program, args),
            "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" => {
                let parsed = options::parse(args, all("o", &[]));
                if !parsed.has(&["c", "stdout", "t", "l"]) {
                    for file in parsed.operands {
                        let name = [".gz", ".bz2", ".xz", ".zst"].iter().find_map(|end| file.text.strip_suffix(end));
                        let made = name.map_or_else(|| file.text.clone(), str::to_owned);
                        self.writes(Word { text: made, certainty: file.certainty }, How::Output);
                    }
                }
            }
            "sort" | "shuf" | "curl" | "wget" | "base64" | "gpg" | "gcc" | "cc" | "clang" | "g++" | "rustc" | "ld"
            | "pandoc" | "protoc" | "jsonnet" | "http" | "aria2c" | "iconv" | "xmllint" | "uniq" | "csplit"
            | "split" => {
                self.outputs(program, args);
            }
            // Its long options have one dash.
            "openssl" => {
                for (option, file) in args.iter().zip(args.iter().skip(1)) {
                    if matches!(option.text.as_str(), "-out" | "--out" | "-keyout" | "--keyout") {
                        self.writes(file.clone(), How::Output);
                        self.note_fresh(&file.text, Output::Unknown, false);
                    }
                }
            }
            "prettier" | "rustfmt" | "gofmt" | "goimports" | "black" | "clang-format" | "shfmt" | "ruff" | "eslint"
            | "isort" | "dos2unix" | "unix2dos" => {
                self.formatters(program, args);
            }
            "crontab" => {
                if let Input::Text(text) = input {
                    for line in text.clone().lines().filter(|l| !l.trim_start().starts_with('#')) {
                        let command: Vec<&str> = line.split_whitespace().skip(5).collect();
                        self.code_apart(&command.join(" "), Reach::Wrapper("crontab".to_owned()), &Input::Inherited);
                    }
                } else if args.iter().any(|w| w.text == "-") {
                    self.opaque(crate::Why::UnseenCode, "crontab -");
                }
            }
            _ => return None,
        }
        Some(Output::Unknown)
    }

    fn copies(&mut self, program: &str, args: &[Word]) {
        let short = match program {
            "install" => "mogtS",
            "rsync" => "efT",
            "scp" => "cFiJloPS",
            _ => "tS",
        };
        let mut parsed = options::parse(
            args,
            all(short, &["target-directory", "suffix", "mode", "owner", "group", "exclude", "include", "rsh"]),
        );
        if let Some(code) = parsed.value(&["e", "rsh"]).cloned()
            && program == "rsync"
        {
            self.code_apart(&code.text, Reach::Wrapper("rsync".to_owned()), &Input::Unseen);
        }
        let folder = parsed.value(&["t", "target-directory"]).cloned();
        let to = match folder {
            Some(folder) => Some(Word { text: format!("{}/", folder.text), certainty: folder.certainty }),
            None if program == "install" && parsed.has(&["d", "directory"]) => {
                for folder in parsed.operands.drain(..) {
                    self.writes(folder, How::Made);
                }
                return;
            }
            None if parsed.operands.len() > 1 => parsed.operands.pop(),
            None if program == "ln" => Some(Word::literal("./")),
            None => None,
        };
        let Some(to) = to else { return };
        let is_symbolic = parsed.has(&["s", "symbolic", "symbolic-link"]);
        let is_link = matches!(program, "ln" | "link") || is_symbolic || parsed.has(&["l", "link"]) && program == "cp";
        let sources = parsed.operands;
        for source in &sources {
            let name = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let inside = Word {
                text: format!("{}/{name}", to.text.trim_end_matches('/')),
                certainty: to.certainty.max(source.certainty),
            };
            // Whether the destination is a folder is not ours to look up: unless it must be one, both may be meant.
            let is_folder = to.text.ends_with('/') || matches!(to.text.as_str(), "." | "..") || sources.len() > 1;
            if is_folder {
                self.writes_from(inside.clone(), How::Copied, Some(source));
            } else {
                self.writes_from(
                    Word { text: inside.text.clone(), certainty: inside.certainty.max(Certainty::Glob) },
                    How::Copied,
                    Some(source),
                );
                self.writes_from(to.clone(), How::Copied, Some(source));
                self.note_copy(source, &to);
            }
            self.note_copy(source, &inside);
            if is_folder && source.text.ends_with(['/', '.', '*']) {
                // What is in the source goes straight into the destination.
                self.writes_from(to.clone(), How::Copied, Some(source));
            }
            if is_link {
                // A link by name is read from the folder it lies in.
                let from_link = |link: &str| {
                    let folder = link.rsplit_once('/').map(|(folder, _)| format!("{folder}/"))?;
                    let is_told_there = is_symbolic && !source.text.starts_with(['/', '~', '$']);
                    let text = folder + &source.text;
                    is_told_there.then_some(Word { text, certainty: source.certainty })
                };
                let names = if is_folder { vec![&inside] } else { vec![&inside, &to] };
                for name in names {
                    self.note_link(source, name);
                    if let Some(target) = from_link(&name.text) {
                        self.note_link(&target, name);
                    }
                }
            }
            if is_link && !is_symbolic {
                self.writes(source.clone(), How::Linked);
            }
            if program == "mv" {
                self.writes(source.clone(), How::MovedAway);
            } else if !matches!(program, "ln" | "link") {
                self.reads(source.clone(), program);
            }
        }
        if program == "rsync" && parsed.flags.iter().any(|(f, _)| f.starts_with("del")) {
            self.writes(to, How::Removed);
        }
    }

    fn outputs(&mut self, program: &str, args: &[Word]) {
        let (short, names): (&'static str, &[&str]) = match program {
            "sort" => ("oktST", &["o", "output"]),
            "curl" => (
                "oXHdFuAebcTxmwEKCrYyzP",
                &["o", "output", "c", "cookie-jar", "D", "dump-header", "trace", "trace-ascii"],
            ),
            "wget" => ("OoaPUtTiQlARDeB", &["O", "output-document", "o", "output-file", "a", "append-output"]),
            _ => ("oIlLDfxk", &["o", "output", "out"]),
        };
        let long = &[
            "output",
            "output-document",
            "output-file",
            "out",
            "header",
            "data",
            "request",
            "user",
            "cookie-jar",
            "dump-header",
            "data-raw",
            "data-binary",
            "form",
            "url",
            "max-time",
            "retry",
            "key",
            "field-separator",
        ];
        let parsed: Parsed = options::parse(args, all(short, long));
        for file in parsed.values(names).filter(|w| w.text != "-").cloned().collect::<Vec<_>>() {
            // A program that was compiled is what its source says, as with `cargo run`.
            if !is_compiler(program) {
                self.note_fresh(&file.text, Output::Unknown, false);
            }
            self.writes(file, How::Output);
        }
        let remote_name = (program == "curl" && parsed.has(&["O", "remote-name", "J"]))
            || (program == "wget" && parsed.value(names).is_none());
        if remote_name {
            for url in &parsed.operands {
                let name = url.text.rsplit('/').next().unwrap_or_default();
                if !name.is_empty() {
                    self.note_fresh(name, Output::Unknown, false);
                    self.writes(Word { text: name.to_owned(), certainty: url.certainty }, How::Output);
                }
            }
        }
        if matches!(program, "uniq" | "iconv") && parsed.operands.len() == 2 {
            self.writes(parsed.operands.get(1).cloned().unwrap_or_else(|| Word::literal("")), How::Output);
        }
    }

    fn formatters(&mut self, program: &str, args: &[Word]) {
        let parsed = options::parse(args, all("", &["config", "edition", "line-length"]));
        let writes = match program {
            "prettier" | "eslint" | "ruff" => {
                parsed.has(&["write", "w", "fix"]) || parsed.operands.first().is_some_and(|w| w.text == "format")
            }
            "rustfmt" | "black" | "isort" => !parsed.has(&["check", "diff"]),
            "dos2unix" | "unix2dos" => true,
            _ => parsed.has(&["w", "i", "write"]),
        };
        if writes {
            for file in parsed.operands {
                self.writes(file, How::InPlace);
            }
        }
    }
}

fn is_compiler(program: &str) -> bool {
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    matches!(
        plain,
        "cc" | "gcc"
            | "g++"
            | "c++"
            | "clang"
            | "clang++"
            | "rustc"
            | "go"
            | "ghc"
            | "ocamlopt"
            | "swiftc"
            | "zig"
            | "ld"
            | "nim"
            | "dmd"
            | "ldc"
            | "gfortran"
            | "javac"
            | "kotlinc"
            | "tsc"
            | "nvcc"
            | "emcc"
    )
}
