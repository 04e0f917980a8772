//! What `find` chooses: the folders it starts from, and for each thing it does whether its conditions single files out.

use crate::reading::{Certainty, Word};

/// A call of `find`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    pub roots: Vec<Word>,
    pub deeds: Vec<Deed>,
    /// `-maxdepth 1`: only what lies in the folders themselves.
    pub is_flat: bool,
}

/// Something `find` does with what it finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    pub act: Act,
    /// A condition before it singles files out, by a name or a fact. `! -name x` does not: it leaves all but one.
    pub is_choosy: bool,
    /// The names that are looked for; none when something else chooses, or nothing.
    pub names: Vec<Word>,
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
const VALUED: &[&str] = &["-type", "-xtype", "-maxdepth", "-mindepth", "-regextype", "-fstype", "-context"];

impl Search {
    /// Reads the words after `find`.
    pub fn of(args: &[Word]) -> Self {
        let options = args.iter().take_while(|w| matches!(w.text.as_str(), "-H" | "-L" | "-P")).count();
        let args = args.get(options..).unwrap_or_default();
        let roots = args.iter().take_while(|w| !w.text.starts_with(['-', '(', '!', ','])).count();
        let (found, expression) = args.split_at(roots.min(args.len()));
        let mut reader = Reader { words: expression, at: 0, deeds: Vec::new(), depth: 0 };
        let start = State::default();
        let whole = reader.alternatives(&start);
        let mut deeds = reader.deeds;
        if deeds.is_empty() {
            deeds.push(Deed { act: Act::Print, is_choosy: whole.is_choosy, names: whole.names });
        }
        let roots = if found.is_empty() { vec![Word::literal(".")] } else { found.to_vec() };
        let is_flat = expression
            .windows(2)
            .any(|w| matches!(w, [a, b] if a.text == "-maxdepth" && matches!(b.text.as_str(), "0" | "1")));
        Self { roots, deeds, is_flat }
    }

    /// What a deed is done to, as one word for each folder and name; none when those are too many.
    pub(crate) fn found(&self, deed: &Deed) -> Option<Vec<Word>> {
        if self.roots.len().saturating_mul(deed.names.len().max(1)) > MAX_FOUND {
            return None;
        }
        let named = |root: &Word, name: &Word| {
            let is_path = name.text.contains('/');
            let text = if is_path { name.text.clone() } else { format!("{}/{}", root.text, name.text) };
            Word { text, certainty: Certainty::Glob }
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

#[derive(Clone, Default)]
struct State {
    is_choosy: bool,
    names: Vec<Word>,
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
                "-prune" => now.names.clear(),
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
                    let pattern = self.next();
                    if let Some(pattern) = pattern.filter(|_| !is_negated) {
                        // A pattern of nothing but marks is everything.
                        now.is_choosy |= pattern.text.contains(|c: char| !matches!(c, '*' | '.' | '/' | '?'));
                        if text != "-regex" && text != "-iregex" {
                            now.names = vec![pattern];
                        }
                    }
                }
                _ if BY_PLAIN_FACT.contains(&text) => now.is_choosy |= !is_negated,
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
        self.deeds.push(Deed { act, is_choosy: state.is_choosy, names: state.names.clone() });
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
    State { is_choosy: one.is_choosy && other.is_choosy, names }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(line: &str) -> (bool, Vec<String>) {
        let words: Vec<Word> = line.split(' ').map(Word::literal).collect();
        let deed = Search::of(&words).deeds.pop().unwrap();
        (deed.is_choosy, deed.names.into_iter().map(|w| w.text).collect())
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
