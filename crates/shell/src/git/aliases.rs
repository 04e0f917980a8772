//! Subcommands that git and gh do not have themselves: aliases, from the line or from the configuration.

use std::rc::Rc;

use crate::git::GitCall;
use crate::reading::{Foreign, Reach, Word};
use crate::walk::Walker;
use crate::walk::scope::{Input, Output};

/// An alias cannot take the place of one of these.
const GIT: &str = " add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore \
check-mailmap check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph \
commit-tree config count-objects credential credential-cache credential-store describe diagnose diff diff-files \
diff-index diff-tree difftool fast-export fast-import fetch fetch-pack fmt-merge-msg for-each-ref for-each-repo \
format-patch fsck fsck-objects gc get-tar-commit-id grep hash-object help hook index-pack init init-db \
interpret-trailers log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file \
merge-index merge-ours merge-recursive merge-subtree merge-tree mktag mktree multi-pack-index mv name-rev notes \
pack-objects pack-redundant pack-refs patch-id prune prune-packed pull push range-diff read-tree rebase receive-pack \
reflog refs remote repack replace replay rerere reset restore rev-list rev-parse revert rm send-pack shortlog show \
show-branch show-index show-ref sparse-checkout stage stash status stripspace switch symbolic-ref tag unpack-file \
unpack-objects update-index update-ref update-server-info upload-archive upload-pack var verify-commit verify-pack \
verify-tag version whatchanged worktree write-tree submodule ";

const GH: &str = " agent-task alias api attestation auth browse cache codespace completion config copilot cs ext extension \
extensions gist gpg-key help issue label licenses org pr preview project release repo rs ruleset run search secret \
ssh-key status variable version workflow ";

fn holds(names: &str, name: &str) -> bool {
    names.contains(&format!(" {name} "))
}

impl Walker<'_> {
    pub(crate) fn git_alias(&mut self, call: &GitCall) {
        let name = call.subcommand.text.to_ascii_lowercase();
        if name.is_empty() || holds(GIT, &name) {
            return;
        }
        let Some(text) = self.scope.git_aliases.remove(&name) else { return self.foreign("git", &name) };
        self.expansion("git", &name, &text, &call.args);
        self.scope.git_aliases.insert(name, text);
    }

    pub(crate) fn gh(&mut self, args: &[Word]) {
        let at = args.iter().position(|w| !w.text.starts_with('-')).unwrap_or(args.len());
        let (Some(verb), rest) = (args.get(at), args.get(at + 1..).unwrap_or_default()) else { return };
        let name = verb.text.clone();
        if verb.text == "alias" {
            return self.gh_alias_set(rest);
        }
        if holds(GH, &name) || verb.is_computed() {
            return;
        }
        let Some(text) = self.scope.gh_aliases.remove(&name) else { return self.foreign("gh", &name) };
        self.expansion("gh", &name, &text, rest);
        self.scope.gh_aliases.insert(name, text);
    }

    /// `gh alias set x 'pr merge --admin'`, `gh alias set -s x 'rm -rf /'`.
    fn gh_alias_set(&mut self, args: &[Word]) {
        let operands: Vec<&Word> = args.iter().filter(|w| !w.text.starts_with('-')).collect();
        if let [verb, name, text] = operands.as_slice()
            && verb.text == "set"
        {
            let is_shell = args.iter().any(|w| matches!(w.text.as_str(), "-s" | "--shell"));
            let mark = if is_shell && !text.text.starts_with('!') { "!" } else { "" };
            self.scope.gh_aliases.insert(name.text.clone(), format!("{mark}{}", text.text));
        }
    }

    fn foreign(&mut self, program: &'static str, name: &str) {
        let foreign = Foreign { program, name: name.to_owned(), cwd: self.scope.cwd.clone() };
        if !self.reading.foreign.contains(&foreign) {
            self.reading.foreign.push(foreign);
        }
    }

    /// With `!` the text is shell code, which gets the words as its arguments; else they come after its own.
    fn expansion(&mut self, program: &'static str, name: &str, text: &str, args: &[Word]) {
        let reach = Reach::Setting(format!("{program} alias.{name}"));
        if let Some(code) = text.strip_prefix('!') {
            let code = if program == "git" { format!("{code} \"$@\"") } else { code.to_owned() };
            let args = args.to_vec();
            self.apart(reach, |walker| {
                walker.scope.positional = Some(Rc::new(args));
                walker.code(&code, &Input::Inherited)
            });
            return;
        }
        let mut argv = vec![Word::literal(program)];
        let mut rest = args.to_vec();
        for word in words(text) {
            // gh fills `$1` in, and adds only what is left.
            let at = word.strip_prefix('$').filter(|_| program == "gh").and_then(|n| n.parse::<usize>().ok());
            match at.and_then(|at| args.get(at.checked_sub(1)?)) {
                Some(given) => {
                    rest.retain(|w| w != given);
                    argv.push(given.clone());
                }
                None => argv.push(Word::literal(word)),
            }
        }
        argv.extend(rest);
        self.within(reach, |walker| -> Output { walker.run(&argv, Vec::new(), &Input::Inherited) });
    }
}

/// An alias in words: quotes and backslashes count, variables do not.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn an_alias_is_split_as_git_splits_it() {
        assert_eq!(words("push '-f'  \"a b\" c\\ d ''"), ["push", "-f", "a b", "c d", ""]);
    }
}
