//! What finders choose: the folders it starts from, and for each thing it does whether its conditions single files out.

use crate::programs::patterns::{By, Pattern};
use crate::reading::{Certainty, Command, Word};

/// A call of `find` or `fd`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    pub roots: Vec<Word>,
    pub deeds: Vec<Deed>,
    /// `-maxdepth 1`: only what lies in the folders themselves.
    pub(crate) depth: Option<usize>,
    /// fd passes over what begins with a dot.
    pub(crate) skips_hidden: bool,
}

/// Something a finder does with what it finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    pub act: Act,
    /// A condition before it singles files out, by a name or a fact. `! -name x` does not: it leaves all but one.
    pub is_choosy: bool,
    /// What is looked for, one or the other; none when something else chooses, or nothing.
    pub names: Vec<Pattern>,
    /// What else must hold of it.
    pub also: Vec<Pattern>,
    /// Files with something in them may be among what is found: not with `-type d`, not with `-empty`.
    pub takes_files: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    Delete,
    /// The words of a command, `{}` as it stands.
    Run(Vec<Word>),
    /// Names are printed, one after another.
    Print,
    /// Written into this file.
    PrintTo(Word),
    /// Anything else that is printed.
    Report,
}

/// More names than these are not told apart: which files they choose only the run tells.
const MAX_NAMES: usize = 64;
/// Folders times names that are gone through one by one.
const MAX_FOUND: usize = 256;

const BY_PATTERN: &[&str] =
    &["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname", "-ilname"];
/// Facts without a value.
const BY_PLAIN_FACT: &[&str] = &["-empty", "-nouser", "-nogroup"];
/// Options and facts with a value that single nothing out.
const VALUED: &[&str] = &["-maxdepth", "-mindepth", "-regextype", "-fstype", "-context"];

impl Search {
    /// Reads the words after `find`.
    pub fn of(args: &[Word]) -> Self {
        let options = args.iter().take_while(|w| matches!(w.text.as_str(), "-H" | "-L" | "-P")).count();
        let args = args.get(options..).unwrap_or_default();
        let roots = args.iter().take_while(|w| !w.text.starts_with(['-', '(', '!', ','])).count();
        let (found, expression) = args.split_at(roots.min(args.len()));
        let mut reader = Reader { words: expression, at: 0, deeds: Vec::new(), depth: 0 };
        let start = State { is_choosy: false, names: Vec::new(), also: Vec::new(), takes_files: true };
        let whole = reader.alternatives(&start);
        if reader.deeds.is_empty() {
            reader.deed(Act::Print, &whole);
        }
        let deeds = reader.deeds;
        let roots = if found.is_empty() { vec![Word::literal(".")] } else { found.to_vec() };
        let depths = expression.windows(2).filter(|w| matches!(w, [a, _] if a.text == "-maxdepth"));
        let depth = depths.filter_map(|w| w.get(1)?.text.parse().ok()).next_back();
        Self { roots, deeds, depth, skips_hidden: false }
    }

    /// The search of a command that is one.
    pub fn by(command: &Command) -> Option<Self> {
        match command.program.as_str() {
            "find" | "gfind" => Some(Self::of(command.args())),
            "fd" | "fdfind" => Some(Self::of_fd(command.args())),
            _ => None,
        }
    }

    /// Whether a deed may be done to what lies in one of the folders, as far as names decide it.
    pub fn may_find(&self, deed: &Deed, root: &Word, inside: &str) -> bool {
        self.depth.is_none_or(|depth| inside.split('/').count() <= depth)
            && !(self.skips_hidden && inside.split('/').any(|part| part.starts_with('.')))
            && deed.also.iter().all(|pattern| pattern.holds(&root.text, inside))
            && (deed.names.is_empty() || deed.names.iter().any(|pattern| pattern.holds(&root.text, inside)))
    }

    /// The patterns of the names that a deed prints: `**` takes in what lies deeper. None when only the run tells.
    pub fn listed(&self, deed: &Deed) -> Option<Vec<Word>> {
        let is_flat = self.depth.is_some_and(|depth| depth <= 1);
        let is_unclear = self.skips_hidden && deed.is_choosy || self.roots.iter().any(Word::is_computed);
        if is_unclear || self.roots.len().saturating_mul(deed.names.len().max(1)) > MAX_FOUND {
            return None;
        }
        let deep = if is_flat { "" } else { "**/" };
        let mut names = Vec::new();
        for root in &self.roots {
            let root = &root.text;
            match deed.names.as_slice() {
                // Of a size or an age: some of them.
                [] if deed.is_choosy => names.push(Word::names(format!("{root}/{deep}*"))),
                [] => names.push(Word::names(format!("{root}/{}", if is_flat { "*" } else { "**" }))),
                patterns => {
                    for pattern in patterns {
                        let glob = pattern.as_glob()?;
                        let text = if glob.contains('/') { glob } else { format!("{root}/{deep}{glob}") };
                        names.push(Word::names(text));
                    }
                }
            }
        }
        Some(names)
    }

    /// What a deed is done to, as one word for each folder and name; none when those are too many.
    pub fn found(&self, deed: &Deed) -> Option<Vec<Word>> {
        if self.roots.len().saturating_mul(deed.names.len().max(1)) > MAX_FOUND {
            return None;
        }
        let named = |root: &Word, name: &Pattern| match name.as_glob().filter(|_| !name.is_regex()) {
            Some(path) if name.by == By::Path && path.contains('/') => Word { text: path, certainty: Certainty::Glob },
            Some(glob) => Word { text: format!("{}/{glob}", root.text), certainty: Certainty::Glob },
            None => Word::computed(format!("{}/$FOUND", root.text)),
        };
        let at = |root: &Word| match deed.names.as_slice() {
            // Files of a size or an age: which they are only the run tells.
            [] if deed.is_choosy => vec![Word::computed(format!("{}/$FOUND", root.text))],
            [] => vec![Word { text: format!("{}/*", root.text), certainty: root.certainty.max(Certainty::Glob) }],
            names => names.iter().map(|name| named(root, name)).collect(),
        };
        Some(self.roots.iter().flat_map(at).collect())
    }
}

#[derive(Clone)]
struct State {
    is_choosy: bool,
    names: Vec<Pattern>,
    also: Vec<Pattern>,
    takes_files: bool,
}

impl State {
    /// Another pattern that must hold.
    fn narrow(&mut self, pattern: Pattern) {
        if pattern.is_negated {
            self.also.push(pattern);
            return;
        }
        // A pattern of nothing but marks is everything.
        self.is_choosy |= pattern.word.text.contains(|c: char| !matches!(c, '*' | '.' | '/' | '?'));
        if let [only] = self.names.as_slice() {
            self.also.push(only.clone());
        }
        self.names = vec![pattern];
    }
}

struct Reader<'w> {
    words: &'w [Word],
    at: usize,
    deeds: Vec<Deed>,
    depth: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<Word> {
        let word = self.words.get(self.at).cloned();
        self.at += 1;
        word
    }

    /// `a -o b`, up to a bracket that closes: choosy when every way through it is.
    fn alternatives(&mut self, outer: &State) -> State {
        let mut now = outer.clone();
        let mut all: Option<State> = None;
        let mut is_negated = false;
        while let Some(word) = self.next() {
            let text = word.text.as_str();
            match text {
                ")" => break,
                "-o" | "-or" | "," => {
                    all = Some(either(all, std::mem::replace(&mut now, outer.clone())));
                    continue;
                }
                "!" | "-not" => {
                    is_negated = !is_negated;
                    continue;
                }
                "(" if self.depth < 32 => {
                    self.depth += 1;
                    let inner = self.alternatives(&now);
                    self.depth -= 1;
                    if !is_negated {
                        now = inner;
                    }
                }
                // What is left out is not what is looked for.
                "-prune" => {
                    now.names.clear();
                    now.also.clear();
                }
                "-delete" => self.deed(Act::Delete, &now),
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let rest = self.words.get(self.at..).unwrap_or_default();
                    let len = rest.iter().position(|w| w.text == ";" || w.text == "+").unwrap_or(rest.len());
                    let command = rest.get(..len).unwrap_or_default().to_vec();
                    self.at += len + 1;
                    self.deed(Act::Run(command), &now);
                }
                "-print" | "-print0" => self.deed(Act::Print, &now),
                "-ls" => self.deed(Act::Report, &now),
                "-printf" => {
                    self.next();
                    self.deed(Act::Report, &now);
                }
                "-fprint" | "-fprintf" | "-fls" | "-fprint0" => {
                    if let Some(file) = self.next() {
                        self.deed(Act::PrintTo(file), &now);
                    }
                    if text == "-fprintf" {
                        self.next();
                    }
                }
                _ if BY_PATTERN.contains(&text) => {
                    let word = self.next();
                    match word.and_then(|word| Pattern::of_find(text, word, is_negated)) {
                        Some(pattern) => now.narrow(pattern),
                        None => now.is_choosy |= !is_negated,
                    }
                }
                _ if BY_PLAIN_FACT.contains(&text) => {
                    now.is_choosy |= !is_negated;
                    now.takes_files &= is_negated || text != "-empty";
                }
                "-type" | "-xtype" => {
                    let is_of_files = self.next().is_none_or(|kind| kind.text.contains('f') != is_negated);
                    now.takes_files &= is_of_files;
                }
                _ if VALUED.contains(&text) => drop(self.next()),
                _ if is_valued_fact(text) => {
                    self.next();
                    now.is_choosy = true;
                }
                _ => {}
            }
            is_negated = false;
        }
        either(all, now)
    }

    fn deed(&mut self, act: Act, state: &State) {
        let State { is_choosy, names, also, takes_files } = state.clone();
        self.deeds.push(Deed { act, is_choosy, names, also, takes_files });
    }
}

fn is_valued_fact(text: &str) -> bool {
    const FACTS: &[&str] =
        &["-size", "-user", "-group", "-uid", "-gid", "-perm", "-inum", "-links", "-samefile", "-used", "-since"];
    const TIMES: &[&str] = &["-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin"];
    FACTS.contains(&text) || TIMES.contains(&text) || text.starts_with("-newer") || text == "-anewer"
}

fn either(one: Option<State>, other: State) -> State {
    let Some(one) = one else { return other };
    let is_told = !one.names.is_empty() && !other.names.is_empty();
    let mut names = one.names;
    if is_told && names.len() + other.names.len() <= MAX_NAMES {
        names.extend(other.names);
    } else {
        names.clear();
    }
    let also = one.also.into_iter().filter(|pattern| other.also.contains(pattern)).collect();
    State {
        is_choosy: one.is_choosy && other.is_choosy,
        names,
        also,
        takes_files: one.takes_files || other.takes_files,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(line: &str) -> (bool, Vec<String>) {
        let words: Vec<Word> = line.split(' ').map(Word::literal).collect();
        let deed = Search::of(&words).deeds.pop().unwrap();
        (deed.is_choosy, deed.names.into_iter().map(|p| p.word.text).collect())
    }

    #[test]
    fn only_what_stands_before_a_deed_and_is_not_negated_singles_out() {
        for line in [
            ". -name *.o -delete",
            ". ( -name a -o -name b ) -delete",
            ". -name x -prune -o -name *.js -delete",
            ". -type f -mtime +7 -delete",
            ". ! -newer x -delete",
            ". -type d -empty -delete",
            ". ! -path ./.git/* -name *.tmp",
        ] {
            assert!(last(line).0, "{line}");
        }
        for line in [
            ". -delete",
            ". -delete -name x",
            ". ! -name keep -delete",
            ". -not -name keep -exec rm {} ;",
            ". -name x -o -delete",
            ". ( -name a -o -type f ) -delete",
            ". ! ( -name a -o -name b ) -delete",
            ". -path ./.git -prune -o -type f -delete",
            ". -name * -delete",
            ". ! -empty -delete",
            "-type f",
        ] {
            assert!(!last(line).0, "{line}");
        }
        assert_eq!(last(". ! -name keep -name *.o -print").1, ["*.o"]);
        assert_eq!(last(". ( -name a -o -name b ) -print").1, ["a", "b"]);
        assert!(last(". ( -name a -o -mtime +7 ) -print").1.is_empty());
        assert!(last(". -path ./.git -prune -o -name *.rs").1.is_empty());
    }
}
