//! Programs and calls that unpack an archive: the folder it goes to, and the archive itself where the line names it.

use crate::code::Reader;
use crate::code::tokens::Token;
use crate::options::{self, Parsed, Spec};
use crate::reading::{Certainty, How, Reach, Word};
use crate::walk::Walker;
use crate::walk::scope::Input;

const fn all(short: &'static str, long: &'static [&'static str]) -> Spec<'static> {
    Spec { short, long, stops: false }
}

/// Letters of tar that take a value.
const TAR_VALUES: &str = "CfTIFgXbHKLNV";

/// Options of tar whose value is a command.
const TAR_RUNS: [&str; 7] = [
    "to-command",
    "checkpoint-action",
    "use-compress-program",
    "info-script",
    "new-volume-script",
    "rsh-command",
    "rmt-command",
];

/// Something is unpacked: where to, and which archive, if that is a file that the line names.
struct Unpacks {
    folder: Option<Word>,
    archive: Option<Word>,
}

impl Walker<'_> {
    pub(crate) fn archive(&mut self, program: &str, args: &[Word]) {
        let unpacks = match program {
            "tar" | "gtar" | "bsdtar" => self.tar(program, args),
            "unzip" => unzip(args),
            "cpio" | "bsdcpio" => cpio(args),
            "pax" => pax(args),
            _ => by_verb(program, args),
        };
        if let Some(unpacks) = unpacks {
            self.unpacks(unpacks);
        }
    }

    fn unpacks(&mut self, unpacks: Unpacks) {
        let folder = unpacks.folder.unwrap_or_else(|| Word::literal("."));
        let archive = unpacks.archive.filter(|word| word.text != "-" && !word.text.starts_with("/dev/"));
        self.writes_from(folder, How::Extracted, archive.as_ref());
    }

    fn tar(&mut self, program: &str, args: &[Word]) -> Option<Unpacks> {
        let long = &[
            "directory",
            "file",
            "to-command",
            "checkpoint-action",
            "use-compress-program",
            "info-script",
            "new-volume-script",
            "rsh-command",
            "rmt-command",
            "files-from",
            "exclude-from",
            "transform",
            "xform",
        ];
        let parsed = options::parse(&with_dashes(args), all(TAR_VALUES, long));
        let mut codes: Vec<Word> = parsed.values(&TAR_RUNS).cloned().collect();
        if program != "bsdtar" {
            codes.extend(parsed.values(&["I", "F"]).cloned());
        }
        for code in codes {
            // `checkpoint-action` does other things, too: `dot`, `echo=…`, `ttyout=…`.
            let text = match code.text.split_once('=') {
                Some(("exec", text)) => text.to_owned(),
                Some(("echo" | "ttyout" | "sleep" | "totals", _)) => continue,
                _ => code.text.clone(),
            };
            self.code_apart(&text, Reach::Wrapper(program.to_owned()), &Input::Unseen);
        }
        let file = parsed.value(&["f", "file"]).cloned();
        if parsed.has(&["x", "extract", "get"]) {
            // Members that come under other names are not those of the list.
            let renames = parsed.flags.iter().any(|(name, _)| name.starts_with("tran") || name == "xform")
                || parsed.has(&["s"]) && program == "bsdtar";
            let archive = file.filter(|_| !renames);
            return Some(Unpacks { folder: parsed.value(&["C", "directory"]).cloned(), archive });
        }
        if let Some(file) = file.filter(|_| parsed.has(&["c", "create"])) {
            self.writes(file, How::Output);
        }
        None
    }

    /// `python3 -m tarfile -e x.tar`, `python3 -m zipfile -e x.zip .`
    pub(crate) fn python_module(&mut self, module: &str, args: &[Word]) {
        if !matches!(module, "tarfile" | "zipfile") {
            return;
        }
        let Some(at) = args.iter().position(|w| matches!(w.text.as_str(), "-e" | "--extract")) else { return };
        let mut words = args.iter().skip(at + 1).take_while(|w| !w.text.starts_with('-')).cloned();
        let archive = words.next();
        self.unpacks(Unpacks { folder: words.next(), archive });
    }
}

/// `xzf a.tgz` as `-x -z -f a.tgz`: the values of letters without a dash follow them in their order.
fn with_dashes(args: &[Word]) -> Vec<Word> {
    let Some(first) = args.first().filter(|word| !word.text.starts_with('-')) else { return args.to_vec() };
    let mut rest = args.iter().skip(1).cloned();
    let mut words = Vec::new();
    for letter in first.text.chars() {
        words.push(Word { text: format!("-{letter}"), certainty: first.certainty });
        if TAR_VALUES.contains(letter) {
            words.extend(rest.next());
        }
    }
    words.extend(rest);
    words
}

fn unzip(args: &[Word]) -> Option<Unpacks> {
    let parsed = options::parse(args, all("dxP", &[]));
    let looks = parsed.has(&["l", "p", "t", "Z", "v", "c", "z"]);
    // It fills patterns in itself.
    let as_pattern = |word: &Word| match word.certainty {
        Certainty::Literal if word.text.contains(['*', '?', '[']) => {
            Word { certainty: Certainty::Glob, ..word.clone() }
        }
        _ => word.clone(),
    };
    let archive = parsed.operands.first().map(as_pattern);
    (!looks).then(|| Unpacks { folder: parsed.value(&["d"]).cloned(), archive })
}

/// `cpio -idD folder -F x.cpio`; with `-p` what lies elsewhere is copied to a folder.
fn cpio(args: &[Word]) -> Option<Unpacks> {
    let long = &["directory", "file", "format", "owner", "pattern-file"];
    let parsed = options::parse(args, all("CDEFHIMOR", long));
    if parsed.has(&["p", "pass-through"]) {
        return Some(Unpacks { folder: parsed.operands.first().cloned(), archive: None });
    }
    let extracts = parsed.has(&["i", "extract"]) && !parsed.has(&["t", "list"]);
    extracts.then(|| Unpacks {
        folder: parsed.value(&["D", "directory"]).cloned(),
        archive: parsed.value(&["F", "I", "file"]).cloned(),
    })
}

/// `pax -r -f x.tar`; `pax -rw . folder` copies.
fn pax(args: &[Word]) -> Option<Unpacks> {
    let parsed: Parsed = options::parse(args, all("fsxbopBEGTUN", &[]));
    let archive = parsed.value(&["f"]).cloned().filter(|_| !parsed.has(&["s"]));
    match (parsed.has(&["r"]), parsed.has(&["w"])) {
        (true, true) => Some(Unpacks { folder: parsed.operands.last().cloned(), archive: None }),
        (true, false) => Some(Unpacks { folder: None, archive }),
        _ => None,
    }
}

/// `7z x a.7z -oout`, `jar xf a.jar`, `unrar x a.rar out/`, `ar x a.a`, `unar -o out a.zip`
fn by_verb(program: &str, args: &[Word]) -> Option<Unpacks> {
    let attached = |word: &Word| {
        let text = word.text.strip_prefix("-o").filter(|rest| !rest.is_empty())?;
        Some(Word { text: text.to_owned(), certainty: word.certainty })
    };
    let operands: Vec<&Word> = args.iter().filter(|w| !w.text.starts_with('-')).collect();
    let verb = args.first().map(|w| w.text.trim_start_matches('-')).unwrap_or_default();
    match program {
        "unar" => {
            let parsed = options::parse(args, all("oepDk", &["output-directory"]));
            let folder = parsed.value(&["o", "output-directory"]).cloned();
            Some(Unpacks { folder, archive: parsed.operands.first().cloned() })
        }
        "jar" | "ar" if verb.contains('x') => {
            let archive = operands.iter().skip(usize::from(!args.first()?.text.starts_with('-'))).copied().next();
            Some(Unpacks { folder: None, archive: archive.cloned() })
        }
        "jar" | "ar" => None,
        _ if matches!(verb, "x" | "e") => {
            let into = operands.last().filter(|w| w.text.ends_with('/')).map(|w| (*w).clone());
            let folder = args.iter().find_map(attached).or(into);
            Some(Unpacks { folder, archive: operands.get(1).map(|w| (*w).clone()) })
        }
        _ => None,
    }
}

impl Reader<'_, '_, '_> {
    /// `tarfile.open('x.tar').extractall()`, `shutil.unpack_archive('x.zip', '.')`; false when it is no such call.
    pub(crate) fn unpacking_call(&mut self, at: usize, name: &str) -> bool {
        const ABOUT: [&str; 9] =
            ["tarfile", "zipfile", "ZipFile", "TarFile", "adm-zip", "AdmZip", "ZipArchive", "PharData", "Phar"];
        let args = self.arguments(at + 1);
        let is_one_member = name == "extract";
        let (archive, folder) = match name {
            "unpack_archive" => (self.argument(&args, 0, "filename"), self.argument(&args, 1, "extract_dir")),
            "extractall" | "extract" | "extractAllTo" | "extractTo" if self.mentions(&ABOUT) => {
                (self.opened_archive(), self.argument(&args, usize::from(is_one_member), "path"))
            }
            _ => return false,
        };
        self.walker.unpacks(Unpacks { folder, archive });
        true
    }

    /// An argument by its place or its name.
    fn argument(&self, args: &[Vec<Token>], place: usize, name: &str) -> Option<Word> {
        let named = |arg: &[Token]| match arg {
            [Token::Name(found), Token::Mark('='), value @ ..] => Some((found == name, value.to_vec())),
            _ => None,
        };
        let by_name = args.iter().filter_map(|arg| named(arg)).find(|(is_it, _)| *is_it).map(|(_, value)| value);
        let by_place = || args.get(place).filter(|arg| named(arg).is_none()).cloned();
        Some(self.word(&by_name.or_else(by_place)?))
    }

    /// The only archive that the code opens.
    fn opened_archive(&self) -> Option<Word> {
        const OPENS: [&str; 7] = ["open", "ZipFile", "TarFile", "AdmZip", "PharData", "Phar", "taropen"];
        let is_opening = |(at, token): &(usize, &Token)| {
            let is_called = self.tokens.get(at + 1) == Some(&Token::Mark('('));
            is_called && matches!(token, Token::Name(name) if OPENS.contains(&name.as_str()))
        };
        let mut openings = self.tokens.iter().enumerate().filter(is_opening).map(|(at, _)| at);
        let (at, None) = (openings.next()?, openings.next()) else { return None };
        self.argument(&self.arguments(at + 1), 0, "name").filter(Word::is_literal)
    }
}
