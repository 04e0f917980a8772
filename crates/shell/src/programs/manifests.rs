//! Scripts that a line puts into `package.json` itself: `npm pkg set scripts.test='…' && npm test`.

use crate::options;
use crate::programs::launchers::own_options;
use crate::reading::{How, Reach, Why, Word};
use crate::walk::Walker;
use crate::walk::scope::Input;
use crate::walk::shells::is_unseen;

/// Scripts that are run around a package manager's own work.
const AROUND: &[&str] = &["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"];

impl Walker<'_> {
    /// The scripts this call sets; false when it is another call.
    pub(crate) fn sets_scripts(&mut self, program: &str, args: &[Word]) -> bool {
        let parsed = options::parse(args, own_options(program));
        let words: Vec<&str> = parsed.operands.iter().map(|w| w.text.as_str()).collect();
        let skip = match (program, words.as_slice()) {
            ("bun", ["pm", "pkg", "set", ..]) => 3,
            (_, ["pkg", "set", ..]) => 2,
            (_, ["set-script", ..]) => 1,
            _ => return false,
        };
        let given = parsed.operands.get(skip..).unwrap_or_default();
        let set: Vec<(String, Word)> = match (skip, given) {
            (1, [name, code, ..]) => vec![(name.text.clone(), code.clone())],
            _ => given.iter().filter_map(script).collect(),
        };
        let folder = parsed.value(&["prefix", "dir", "C", "cwd"]).map_or("", |w| w.text.as_str());
        let file = if folder.is_empty() { "package.json".to_owned() } else { format!("{folder}/package.json") };
        self.writes(Word::literal(file), How::InPlace);
        self.set_scripts.extend(set);
        true
    }

    /// Those of them that this call runs.
    pub(crate) fn runs_set_scripts(&mut self, args: &[Word]) {
        if self.set_scripts.is_empty() {
            return;
        }
        let words: Vec<&str> = args.iter().map(|w| w.text.as_str()).filter(|w| !w.starts_with('-')).collect();
        let installs = words.first().is_none_or(|w| matches!(*w, "install" | "i" | "ci" | "add" | "pack" | "publish"));
        let is_run = |name: &str| {
            let bare = name.strip_prefix("pre").or_else(|| name.strip_prefix("post")).unwrap_or(name);
            let is_test = |word: &&str| matches!(*word, "t" | "tst") && bare == "test";
            name == ANY
                || words.iter().any(|word| *word == name || *word == bare || is_test(word))
                || installs && AROUND.contains(&name)
        };
        // Taken away while they run: a script may call itself.
        let (run, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.set_scripts).into_iter().partition(|(name, _)| is_run(name));
        self.set_scripts = kept;
        for (name, code) in &run {
            if is_unseen(code) || name == ANY {
                self.opaque(Why::FreshScript, &code.text);
            }
            self.code_apart(&code.text, Reach::Script("package.json".to_owned()), &Input::Inherited);
        }
        self.set_scripts.extend(run);
    }
}

/// All scripts are set at once, as JSON.
const ANY: &str = "*";

/// `scripts.test=…`, `scripts[test]=…`, `scripts={…}`
fn script(word: &Word) -> Option<(String, Word)> {
    let (key, code) = word.text.split_once('=')?;
    let rest = key.strip_prefix("scripts")?;
    let name = match rest.chars().next() {
        None => ANY,
        Some('.') => rest.trim_start_matches('.'),
        Some('[') => rest.trim_matches(['[', ']', '"', '\'']),
        Some(_) => return None,
    };
    Some((name.to_owned(), Word { text: code.to_owned(), certainty: word.certainty }))
}
