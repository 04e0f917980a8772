//! The files a line writes and reads, by paths from where it starts, through the links it makes itself.

use crate::files;
use crate::reading::{Cwd, How, Read, Why, Word, Write};
use crate::walk::Walker;

/// Links of one line that are followed.
const MAX_LINKS: usize = 128;
/// Names that one path has by them.
const MAX_BEHIND: usize = 32;

impl Walker<'_> {
    pub(crate) fn writes(&mut self, path: Word, how: How) {
        self.writes_from(path, how, None);
    }

    pub(crate) fn writes_from(&mut self, mut path: Word, how: How, from: Option<&Word>) {
        if files::is_device(&path.text) || !self.afford(0) {
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
            if self.written.contains(&write) {
                continue;
            }
            let folder = if let Cwd::Known(folder) = &write.cwd { folder.len() } else { 0 };
            let from = write.from.as_ref().map_or(0, |word| word.text.len());
            if !self.afford(write.path.text.len() + folder + from + size_of::<Write>()) {
                return;
            }
            self.written.insert(write.clone());
            self.reading.writes.push(write.clone());
        }
    }

    /// A second name that this line gives a file, or a folder.
    pub(crate) fn note_link(&mut self, to: &Word, link: &Word) {
        let (to, link) = (self.at(to).text, self.at(link).text);
        if self.links.iter().any(|(known, leads)| *known == link && *leads == to) {
            return;
        }
        if self.links.len() < MAX_LINKS {
            self.links.push((link, to));
        } else {
            self.opaque(Why::TooLarge, &link);
        }
    }

    /// Where a path leads by the links of this line.
    fn behind_links(&mut self, path: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut looked_at = 0;
        let mut path = path.to_owned();
        loop {
            // A link that is made anew leads elsewhere then: all of them count.
            for (link, to) in &self.links {
                let Some(rest) = path.strip_prefix(link.as_str()) else { continue };
                let behind = format!("{to}{rest}");
                if (rest.is_empty() || rest.starts_with('/')) && !found.contains(&behind) {
                    found.push(behind);
                }
            }
            if found.len() > MAX_BEHIND {
                self.opaque(Why::TooLarge, &path);
                return found;
            }
            let Some(next) = found.get(looked_at) else { return found };
            path.clone_from(next);
            looked_at += 1;
        }
    }

    pub(crate) fn reads(&mut self, mut path: Word, program: &str) {
        if !self.afford(0) {
            return;
        }
        path = self.at(&path);
        let linked = self.behind_links(&path.text);
        let mut read = Read { path, program: program.to_owned() };
        for behind in std::iter::once(None).chain(linked.into_iter().map(Some)) {
            if let Some(behind) = behind {
                read.path.text = behind;
            }
            if self.seen.contains(&read) {
                continue;
            }
            if !self.afford(read.path.text.len() + size_of::<Read>()) {
                return;
            }
            self.seen.insert(read.clone());
            self.reading.reads.push(read.clone());
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
