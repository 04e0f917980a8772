//! Commits made of a tree, a parent and a message, the same however often they are asked for.

use dandori_domain::Oid;
use dandori_domain::wording::TRAILER;
use dandori_host::CmdError;
use jiff::Timestamp;
use std::time::Duration;

use crate::error::GitError;
use crate::refs::head_ref;
use crate::repository::Repository;
use crate::tree::Tree;

/// A key that asks for a passphrase nobody can give must not hold a run for ever.
const SIGNING_DEADLINE: Duration = Duration::from_mins(2);

impl Tree {
    /// Commits `tree` on the first of `parents`, merging the others, and moves the branch there. When the branch already
    /// stands on that very commit (tree, parents and `Dandori-Run` trailer), it is the answer; when it stands elsewhere, it
    /// stays there.
    pub fn commit(
        &self,
        tree: &Oid,
        parents: &[Oid],
        message: &str,
        at: Timestamp,
        branch: &str,
    ) -> Result<Oid, GitError> {
        let Some(parent) = parents.first() else { return Err(GitError::unexpected("a commit on nothing".to_owned())) };
        let user = Signature::of_user(git_date(at));
        let oid = self.repository.make_commit(&Draft {
            tree,
            parents,
            message: message.as_bytes(),
            author: &user,
            committer: &user,
        })?;
        // Moved first and looked at only when that fails: nearly every commit is made once.
        match self.repository.move_branch(branch, &oid, parent, "dandori: commit") {
            Ok(()) => Ok(oid),
            Err(GitError::RefMoved { reference, expected, found }) => {
                let found = Oid::new(found);
                let there = self.repository.commit_object(&found)?;
                // A signature, or a clock between two tries, makes another commit of the same.
                let is_ours = there.tree == *tree && there.parents == parents && there.has_trailer_of(message);
                let found = found.as_str().to_owned();
                if is_ours { Ok(Oid::new(found)) } else { Err(GitError::RefMoved { reference, expected, found }) }
            }
            Err(error) => Err(error),
        }
    }
}

pub(crate) struct Draft<'a> {
    pub(crate) tree: &'a Oid,
    pub(crate) parents: &'a [Oid],
    pub(crate) message: &'a [u8],
    pub(crate) author: &'a Signature,
    pub(crate) committer: &'a Signature,
}

/// Who and when; `None` is the user as git knows him.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Signature {
    pub(crate) name: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) date: String,
}

impl Signature {
    pub(crate) fn of_user(date: String) -> Self {
        Self { name: None, email: None, date }
    }
}

pub(crate) fn git_date(at: Timestamp) -> String {
    format!("@{} +0000", at.as_second())
}

fn moved(reference: &str, expected: &Oid, found: &Oid) -> GitError {
    GitError::RefMoved {
        reference: reference.to_owned(),
        expected: expected.as_str().to_owned(),
        found: found.as_str().to_owned(),
    }
}

impl Repository {
    /// Signed when the user signs his commits.
    pub(crate) fn make_commit(&self, draft: &Draft<'_>) -> Result<Oid, GitError> {
        // `commit-tree` does not look at it by itself.
        let signs = self.cmd().reading().args(["config", "--type=bool", "--get", "commit.gpgSign"]).answer()?;
        self.run_commit_tree(draft, if signs.as_deref() == Some("true") { &["-S"] } else { &[] })
    }

    /// Whether a commit could be made in the user's name: asked of git, as the commit itself asks.
    pub fn require_identity(&self) -> Result<(), GitError> {
        for who in ["GIT_COMMITTER_IDENT", "GIT_AUTHOR_IDENT"] {
            self.cmd().reading().args(["var", who]).run().map_err(or_no_identity)?;
        }
        Ok(())
    }

    /// By dandori itself: neither the user's name nor his key is needed.
    pub(crate) fn make_unsigned_commit(&self, draft: &Draft<'_>) -> Result<Oid, GitError> {
        self.run_commit_tree(draft, &["--no-gpg-sign"])
    }

    fn run_commit_tree(&self, draft: &Draft<'_>, signing: &[&str]) -> Result<Oid, GitError> {
        let mut call = self.cmd().deadline(SIGNING_DEADLINE);
        for (role, who) in [("AUTHOR", draft.author), ("COMMITTER", draft.committer)] {
            call = call.env(&format!("GIT_{role}_DATE"), &who.date);
            if let Some(name) = &who.name {
                call = call.env(&format!("GIT_{role}_NAME"), name);
            }
            if let Some(email) = &who.email {
                call = call.env(&format!("GIT_{role}_EMAIL"), email);
            }
        }
        call = call.arg("commit-tree").args(signing).arg(draft.tree.as_str());
        for parent in draft.parents {
            call = call.args(["-p", parent.as_str()]);
        }
        let output = call.stdin(draft.message).run().map_err(or_no_identity)?;
        Ok(Oid::new(output.text()))
    }

    /// Moves a branch from one commit to another, or not at all.
    pub(crate) fn move_branch(&self, branch: &str, to: &Oid, from: &Oid, why: &str) -> Result<(), GitError> {
        let reference = head_ref(branch);
        let call = self.cmd().args(["update-ref", "-m", why, &reference, to.as_str(), from.as_str()]);
        let Err(error) = call.run_patiently() else { return Ok(()) };
        match self.branch_oid(branch)? {
            Some(found) if found == *to => Ok(()),
            Some(found) if found != *from => Err(moved(&reference, from, &found)),
            Some(_) => Err(error.into()),
            None => Err(GitError::NoSuchRef { reference }),
        }
    }

    pub(crate) fn commit_object(&self, oid: &Oid) -> Result<CommitObject, GitError> {
        let output = self.cmd().reading().args(["cat-file", "commit", oid.as_str()]).run()?;
        CommitObject::parse(&output.stdout)
            .ok_or_else(|| GitError::unexpected(format!("the commit {} cannot be read", oid.short())))
    }
}

fn or_no_identity(error: CmdError) -> GitError {
    const WORDS: [&str; 3] = ["Please tell me who you are", "auto-detection is disabled", "empty ident name"];
    if WORDS.iter().any(|words| error.stderr().contains(words)) { GitError::NoIdentity } else { error.into() }
}

/// A commit as git stores it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CommitObject {
    pub(crate) tree: Oid,
    pub(crate) parents: Vec<Oid>,
    pub(crate) author: Signature,
    pub(crate) committer_date: String,
    pub(crate) message: Vec<u8>,
}

impl CommitObject {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(2).position(|w| w == b"\n\n")?;
        let header = String::from_utf8_lossy(bytes.get(..end)?).into_owned();
        let value = |key: &str| header.lines().find_map(|l| l.strip_prefix(key)).map(str::to_owned);
        Some(Self {
            tree: Oid::new(value("tree ")?),
            parents: header.lines().filter_map(|l| l.strip_prefix("parent ")).map(Oid::new).collect(),
            author: parse_signature(&value("author ")?)?,
            committer_date: parse_signature(&value("committer ")?)?.date,
            message: bytes.get(end + 2..)?.to_owned(),
        })
    }

    /// The value of a trailer, by its line.
    pub(crate) fn trailer(&self, name: &str) -> Option<String> {
        trailer_in(&String::from_utf8_lossy(&self.message), name)
    }

    fn has_trailer_of(&self, message: &str) -> bool {
        self.trailer(TRAILER) == trailer_in(message, TRAILER)
    }
}

fn trailer_in(message: &str, name: &str) -> Option<String> {
    message.lines().rev().find_map(|l| Some(l.strip_prefix(name)?.strip_prefix(": ")?.trim().to_owned()))
}

/// `Name <e@mail> 1700000000 +0900`.
fn parse_signature(text: &str) -> Option<Signature> {
    let (who, date) = text.rsplit_once("> ")?;
    let (name, email) = who.split_once('<')?;
    Some(Signature { name: Some(name.trim_end().to_owned()), email: Some(email.to_owned()), date: format!("@{date}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_read_with_signature_and_several_parents() {
        let raw =
            b"tree t\nparent p1\nparent p2\nauthor \xe5\xa4\xaa\xe9\x83\x8e <t@x> 5 +0900\ncommitter C <c@x> 6 +0000\n\
            gpgsig -----BEGIN\n tree fake\n -----END\n\nfeat: x\n\nDandori-Run: run_1\n";
        let commit = CommitObject::parse(raw).unwrap();
        assert_eq!((commit.tree.as_str(), commit.parents.len()), ("t", 2));
        assert_eq!(commit.author.name.as_deref(), Some("太郎"));
        assert_eq!(commit.author.date, "@5 +0900");
        assert_eq!(commit.committer_date, "@6 +0000");
        assert_eq!(commit.trailer("Dandori-Run").as_deref(), Some("run_1"));
        assert_eq!(commit.message, b"feat: x\n\nDandori-Run: run_1\n");
    }
}
