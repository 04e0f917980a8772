//! The files a line writes and reads, by paths from where it starts, through the links it makes itself.

use crate::files;
use crate::reading::{Cwd, How, Read, Word, Write};
use crate::walk::Walker;

/// Links of one line that are followed.
const MAX_LINKS: usize = 32;

impl Walker<'_> {
    pub(crate) fn writes(&mut self, path: Word, how: How) {
        self.writes_from(path, how, None);
    }

    pub(crate) fn writes_from(&mut self, mut path: Word, how: How, from: Option<&Word>) {
        if files::is_device(&path.text) {
            return;
        }
        path = self.at(&path);
        let from = from.map(|word| self.at(word));
        let linked = self.behind_links(&path.text);
        let mut write = Write { path, how, cwd: self.scope.cwd.clone(), from };
        for behind in std::iter::once(None).chain(linked.into_iter().map(Some)) {
            if let Some(behind) = behind {
                write.path.text = behind;
            }
            if !self.reading.writes.contains(&write) {
                self.reading.writes.push(write.clone());
            }
        }
    }

    /// A second name that this line gives a file, or a folder.
    pub(crate) fn note_link(&mut self, to: &Word, link: &Word) {
        let (to, link) = (self.at(to).text, self.at(link).text);
        if self.links.len() < MAX_LINKS {
            self.links.push((link, to));
        }
    }

    /// Where a path leads by the links of this line.
    fn behind_links(&self, path: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut path = path.to_owned();
        while found.len() < MAX_LINKS {
            let behind = self.links.iter().find_map(|(link, to)| {
                let rest = path.strip_prefix(link.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
            });
            match behind {
                Some(behind) if !found.contains(&behind) => {
                    path.clone_from(&behind);
                    found.push(behind);
                }
                _ => break,
            }
        }
        found
    }

    pub(crate) fn reads(&mut self, mut path: Word, program: &str) {
        path = self.at(&path);
        let read = Read { path, program: program.to_owned() };
        if !self.reading.reads.contains(&read) {
            self.reading.reads.push(read);
        }
    }

    /// A path seen from where the line starts.
    pub(crate) fn at(&self, path: &Word) -> Word {
        let path = &self.led_back(path);
        let base = match &self.scope.cwd {
            Cwd::Start => self.options.cwd.as_deref(),
            Cwd::Known(base) => Some(base.as_str()),
            Cwd::Unknown => None,
        };
        Word { text: files::join(base, &path.text), certainty: path.certainty }
    }
}
