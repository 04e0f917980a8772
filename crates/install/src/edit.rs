//! One thing put into brackets, or taken out of them, and nothing else moved.
//!
//! The two are each other's inverse. What is put in goes behind the last thing there and behind the comments on its
//! line: with a comma before it, or, where a trailing comma stands, one behind it. By that comma the way out knows
//! which one to take along. Only what was empty cannot be told from its filled form; there the way out is told
//! ([`Before::Empty`]).

use std::ops::Range;

use crate::memory::Before;
use crate::tree::{Mark, MarkKind, Tree, Value};
use crate::wanted::Style;

/// A text with its tree.
pub(crate) struct Document<'t> {
    pub(crate) text: &'t str,
    pub(crate) tree: &'t Tree,
}

impl<'t> Document<'t> {
    /// `item` appended to what is in the brackets of `into`, which stands in `parent`.
    pub(crate) fn with(&self, into: &Value, parent: Option<&Value>, item: impl Fn(&Style) -> String) -> String {
        match into.items().last() {
            Some(last) => self.with_behind(into, last, item),
            None => self.with_first(into, parent, item),
        }
    }

    fn with_behind(&self, into: &Value, last: &Range<usize>, item: impl Fn(&Style) -> String) -> String {
        let inner = inner(into);
        let behind = || self.marks(last.end..inner.end);
        let comma = behind().find(|m| m.kind == MarkKind::Comma);
        let mut at = comma.map_or(last.end, |c| c.range.end);
        let mut after_line_comment = false;
        for mark in behind() {
            if mark.range.start < at {
                continue;
            }
            if has_newline(self.slice(at..mark.range.end)) {
                break;
            }
            at = mark.range.end;
            after_line_comment = mark.kind == MarkKind::LineComment;
        }
        let style = if self.is_spread(into) {
            self.lines(indent_at(self.text, last.start).to_owned())
        } else if after_line_comment {
            self.lines(format!("{}{}", indent_at(self.text, into.range.start), self.unit()))
        } else {
            self.inline()
        };
        let (before, behind) = if comma.is_some() { ("", ",") } else { (",", "") };
        [
            self.slice(0..last.end),
            before,
            self.slice(last.end..at),
            &separator(&style),
            &item(&style),
            behind,
            self.slice(at..self.text.len()),
        ]
        .concat()
    }

    fn with_first(&self, into: &Value, parent: Option<&Value>, item: impl Fn(&Style) -> String) -> String {
        let inner = inner(into);
        let head = self.marks(inner.clone()).last().map_or(inner.start, |m| m.range.end);
        let tail = self.slice(head..inner.end);
        let is_inline = parent.is_some_and(|p| !self.is_spread(p)) && !has_newline(self.slice(inner.clone()));
        let filled = if is_inline && head == inner.start {
            item(&self.inline())
        } else {
            let indent = indent_at(self.text, into.range.start);
            let style = self.lines(format!("{indent}{}", self.unit()));
            let tail = if has_newline(tail) { tail.to_owned() } else { format!("{}{indent}", self.newline()) };
            [self.slice(inner.start..head), &separator(&style), &item(&style), &tail].concat()
        };
        self.replaced(inner, &filled)
    }

    /// Without the thing at `index` in `from`. When it was the only one, what is between the brackets is again what it
    /// was before.
    pub(crate) fn without(&self, from: &Value, index: usize, before: &Before) -> String {
        let items = from.items();
        let Some(item) = items.get(index) else { return self.text.to_owned() };
        let inner = inner(from);
        let previous = self.marks(0..item.start).last();
        let start = previous.map_or(inner.start, |m| m.range.end).max(inner.start);
        let comma = self.marks(item.end..inner.end).find(|m| !m.is_comment()).map(|m| m.range.clone());
        let until = comma.as_ref().filter(|c| c.start == item.end).map_or(item.end, |c| c.end);
        // Behind a line comment the rest of the line would become part of it.
        let rest = self.slice(until..self.text.len());
        let is_open = previous.is_some_and(|m| m.kind == MarkKind::LineComment) && !starts_with_newline(rest);
        let start = if is_open { item.start } else { start };
        if items.len() == 1 {
            let behind = match comma {
                Some(comma) => [self.slice(item.end..comma.start), self.slice(comma.end..inner.end)].concat(),
                None => self.slice(item.end..inner.end).to_owned(),
            };
            let left = [self.slice(inner.start..start), &behind].concat();
            return self.replaced(inner, &emptied(left, before));
        }
        let second = match comma {
            Some(comma) => comma,
            None => {
                let before = self.marks(0..item.start).rfind(|m| m.kind == MarkKind::Comma);
                before.map_or(item.start..item.start, |m| m.range.clone())
            }
        };
        let (a, b) = if second.start < start { (second, start..item.end) } else { (start..item.end, second) };
        [self.slice(0..a.start), self.slice(a.end..b.start), self.slice(b.end..self.text.len())].concat()
    }

    pub(crate) fn replaced(&self, range: Range<usize>, by: &str) -> String {
        [self.slice(0..range.start), by, self.slice(range.end..self.text.len())].concat()
    }

    /// The style of something that stands there already.
    pub(crate) fn style_of(&self, value: &Value) -> Style {
        if has_newline(self.slice(value.range.clone())) {
            self.lines(indent_at(self.text, value.range.start).to_owned())
        } else {
            self.inline()
        }
    }

    /// What is between the brackets, when there is nothing in them.
    pub(crate) fn state(&self, value: &Value) -> Before {
        if value.items().is_empty() { Before::Empty(self.slice(inner(value)).to_owned()) } else { Before::Filled }
    }

    /// Neither a thing nor a comment between the brackets.
    pub(crate) fn is_bare(&self, value: &Value) -> bool {
        value.items().is_empty() && self.slice(inner(value)).trim().is_empty()
    }

    fn marks(&self, within: Range<usize>) -> impl DoubleEndedIterator<Item = &'t Mark> {
        self.tree.tokens.iter().filter(move |m| m.range.start >= within.start && m.range.end <= within.end)
    }

    fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    /// Its first thing begins on a line of its own.
    fn is_spread(&self, value: &Value) -> bool {
        value.items().first().is_some_and(|first| has_newline(self.slice(inner(value).start..first.start)))
    }

    fn lines(&self, indent: String) -> Style {
        Style::Lines { newline: self.newline(), unit: self.unit(), indent }
    }

    fn inline(&self) -> Style {
        let first = self.tree.root.as_ref().and_then(|root| root.properties().first());
        let is_tight = first.is_some_and(|p| self.slice(p.range.start..p.value.range.start).ends_with(':'));
        Style::Inline { gap: if is_tight { "" } else { " " } }
    }

    fn newline(&self) -> &'static str {
        match self.text.find(['\r', '\n']) {
            Some(at) if self.text.get(at..).is_some_and(|t| t.starts_with("\r\n")) => "\r\n",
            _ => "\n",
        }
    }

    /// One level of indentation, as the outermost things have it.
    fn unit(&self) -> String {
        let root = self.tree.root.as_ref().filter(|root| self.is_spread(root));
        let indents = root.and_then(|root| {
            let first = root.items().first()?.start;
            Some((indent_at(self.text, root.range.start), indent_at(self.text, first)))
        });
        let indent = indents.map_or("", |(outer, inner)| inner.strip_prefix(outer).unwrap_or(inner));
        if indent.is_empty() { "  ".to_owned() } else { indent.to_owned() }
    }
}

fn inner(value: &Value) -> Range<usize> {
    value.range.start + 1..value.range.end.saturating_sub(1)
}

fn separator(style: &Style) -> String {
    match style {
        Style::Inline { gap } => (*gap).to_owned(),
        Style::Lines { newline, indent, .. } => format!("{newline}{indent}"),
    }
}

/// Comments that came since then stay, whatever was there before.
fn emptied(left: String, before: &Before) -> String {
    let solid = |text: &str| text.split_whitespace().collect::<String>();
    match before {
        Before::Empty(inner) if solid(inner) == solid(&left) => inner.clone(),
        _ if left.trim().is_empty() => String::new(),
        _ => left,
    }
}

fn has_newline(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

fn starts_with_newline(text: &str) -> bool {
    text.trim_start_matches([' ', '\t']).starts_with(['\n', '\r'])
}

/// The white space the line of this place begins with.
fn indent_at(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rfind(['\n', '\r']).map_or(0, |n| n + 1);
    let line = text.get(line..).unwrap_or_default();
    let end = line.find(|c| c != ' ' && c != '\t').unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}
