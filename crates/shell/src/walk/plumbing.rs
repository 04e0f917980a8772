//! Redirections: what a command gets, where what it prints goes.

use brush_parser::ast::{
    CompoundList, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, ProcessSubstitutionKind, RedirectList,
};

use crate::reading::{How, Reach, Word};
use crate::walk::Walker;
use crate::walk::scope::{Input, Output};

/// What a command's redirections do to it.
#[derive(Default)]
pub(crate) struct Plumbing {
    pub(crate) input: Option<Input>,
    /// Where standard output goes, and whether it is added to what is there.
    pub(crate) output: Option<(String, bool)>,
}

impl Walker<'_> {
    pub(crate) fn redirects(&mut self, redirects: Option<&RedirectList>) -> Plumbing {
        let mut plumbing = Plumbing::default();
        for redirect in redirects.iter().flat_map(|r| &r.0) {
            self.redirect(redirect, &mut plumbing);
        }
        plumbing
    }

    pub(crate) fn redirect(&mut self, redirect: &IoRedirect, plumbing: &mut Plumbing) {
        match redirect {
            IoRedirect::File(fd, kind, target) => match target {
                IoFileRedirectTarget::Filename(word) => {
                    let path = self.expand_one(&word.value);
                    match kind {
                        IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput => {
                            self.read_from(*fd, path, plumbing);
                        }
                        _ => self.write_to(*fd, path, matches!(kind, IoFileRedirectKind::Append), plumbing),
                    }
                }
                IoFileRedirectTarget::Duplicate(word) => {
                    let to = self.expand_one(&word.value);
                    // `>&file` writes a file, `>&2` and `>&-` do not.
                    let is_fd = to.text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit());
                    match kind {
                        IoFileRedirectKind::DuplicateOutput if !is_fd => self.write_to(*fd, to, false, plumbing),
                        IoFileRedirectKind::DuplicateInput if fd.unwrap_or(0) == 0 => {
                            plumbing.input = Some(Input::Unseen);
                        }
                        _ => {}
                    }
                }
                IoFileRedirectTarget::Fd(_) => {
                    if matches!(kind, IoFileRedirectKind::DuplicateInput) && fd.unwrap_or(0) == 0 {
                        plumbing.input = Some(Input::Unseen);
                    }
                }
                IoFileRedirectTarget::ProcessSubstitution(kind, shell) => {
                    let output = self.process(kind, &shell.list);
                    if matches!(kind, ProcessSubstitutionKind::Read) {
                        plumbing.input = Some(output.into_input());
                    } else {
                        plumbing.output = Some((String::new(), false));
                    }
                }
            },
            IoRedirect::HereDocument(fd, doc) => {
                let mut text = doc.doc.value.clone();
                if doc.remove_tabs {
                    text = text.split('\n').map(|l| l.trim_start_matches('\t')).collect::<Vec<_>>().join("\n");
                }
                let text = if doc.requires_expansion { self.expand_document(&text) } else { Word::literal(text) };
                if fd.unwrap_or(0) == 0 {
                    // The shape of the code is known even where a value in it is not.
                    plumbing.input = Some(Input::Text(text.text));
                }
            }
            IoRedirect::HereString(fd, word) => {
                let text = self.expand_one(&word.value);
                if fd.unwrap_or(0) == 0 {
                    plumbing.input =
                        Some(if text.is_computed() { Input::Unseen } else { Input::Text(text.text + "\n") });
                }
            }
            IoRedirect::OutputAndError(word, append) => {
                let path = self.expand_one(&word.value);
                self.write_to(None, path, *append, plumbing);
            }
        }
    }

    fn read_from(&mut self, fd: Option<i32>, path: Word, plumbing: &mut Plumbing) {
        if fd.unwrap_or(0) == 0 {
            plumbing.input = Some(self.fresh_text(&path.text).map_or(Input::Unseen, Output::into_input));
        }
        if !path.text.starts_with("/dev/") {
            self.reads(path, "<");
        }
    }

    fn write_to(&mut self, fd: Option<i32>, path: Word, append: bool, plumbing: &mut Plumbing) {
        if fd.unwrap_or(1) == 1 {
            plumbing.output = Some((path.text.clone(), append));
        }
        self.writes(path, How::Redirect);
    }

    /// `<(…)` and `>(…)`.
    pub(crate) fn process(&mut self, kind: &ProcessSubstitutionKind, list: &CompoundList) -> Output {
        let input = match kind {
            ProcessSubstitutionKind::Read => Input::Inherited,
            ProcessSubstitutionKind::Write => Input::Unseen,
        };
        self.apart(Reach::Substitution, |walker| walker.list(list, &input))
    }

    /// Let what a command prints go where its redirections say.
    pub(crate) fn pour(&mut self, output: Output, plumbing: Plumbing) -> Output {
        let Some((path, append)) = plumbing.output else { return output };
        if !path.starts_with("/dev/") && !path.is_empty() {
            self.note_fresh(&path, output, append);
        }
        Output::nothing()
    }
}
