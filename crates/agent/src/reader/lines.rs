//! Lines out of a stream of bytes that breaks wherever it likes.

/// Longer than any event worth reading; a tool's output of this size is in the raw log.
const MAX_LINE: usize = 8 * 1024 * 1024;

#[derive(Debug)]
pub(super) enum Line {
    Whole(Vec<u8>),
    TooLong,
}

#[derive(Debug, Default)]
pub(super) struct Lines {
    partial: Vec<u8>,
    is_too_long: bool,
}

impl Lines {
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|b| *b == b'\n') {
            let (line, after) = rest.split_at(at);
            self.add(line);
            lines.push(self.take());
            rest = after.get(1..).unwrap_or_default();
        }
        self.add(rest);
        lines
    }

    /// What stands after the last newline, if anything.
    pub(super) fn rest(&mut self) -> Option<Line> {
        (self.is_too_long || !self.partial.is_empty()).then(|| self.take())
    }

    fn add(&mut self, bytes: &[u8]) {
        if self.partial.len() + bytes.len() > MAX_LINE {
            self.is_too_long = true;
            self.partial = Vec::new();
        }
        if !self.is_too_long {
            self.partial.extend_from_slice(bytes);
        }
    }

    fn take(&mut self) -> Line {
        let line = std::mem::take(&mut self.partial);
        if std::mem::take(&mut self.is_too_long) { Line::TooLong } else { Line::Whole(line) }
    }
}
