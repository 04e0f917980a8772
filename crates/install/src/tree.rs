//! A settings text as a tree that knows where each of its parts stands, comments included.

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

/// Why a settings text is not touched. Lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("line {line}, column {column}: {reason}")]
    NotJson { line: usize, column: usize, reason: String },
    #[error("line {line}, column {column}: {} is not an object", key.as_deref().unwrap_or("the whole"))]
    NotAnObject {
        line: usize,
        column: usize,
        /// `None`: the text as a whole.
        key: Option<String>,
    },
    #[error("line {line}, column {column}: {key} is not a list")]
    NotAList { line: usize, column: usize, key: String },
}

pub(crate) const BOM: &str = "\u{feff}";

#[derive(Debug)]
pub(crate) struct Tree {
    /// `None` when the text is blank.
    pub(crate) root: Option<Value>,
    /// All but white space, in order.
    pub(crate) tokens: Vec<Mark>,
}

#[derive(Debug)]
pub(crate) struct Mark {
    pub(crate) kind: MarkKind,
    pub(crate) range: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkKind {
    Comma,
    LineComment,
    BlockComment,
    Other,
}

impl Mark {
    pub(crate) fn is_comment(&self) -> bool {
        matches!(self.kind, MarkKind::LineComment | MarkKind::BlockComment)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Value {
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Object(Vec<Property>),
    List(Vec<Value>),
    Text(String),
    /// A number, `true`, `null`: as it is written.
    Plain(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) range: Range<usize>,
    pub(crate) value: Value,
}

impl Value {
    /// Of several with one name the last counts, as for the clients.
    pub(crate) fn property(&self, name: &str) -> Option<&Property> {
        self.properties().iter().rfind(|p| p.name == name)
    }

    pub(crate) fn properties(&self) -> &[Property] {
        if let Kind::Object(properties) = &self.kind { properties } else { &[] }
    }

    pub(crate) fn elements(&self) -> &[Value] {
        if let Kind::List(elements) = &self.kind { elements } else { &[] }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Kind::Text(text) = &self.kind { Some(text) } else { None }
    }

    /// Where its parts stand.
    pub(crate) fn items(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(properties) => properties.iter().map(|p| p.range.clone()).collect(),
            Kind::List(elements) => elements.iter().map(|v| v.range.clone()).collect(),
            Kind::Text(_) | Kind::Plain(_) => Vec::new(),
        }
    }
}

/// JSON with comments and trailing commas, and nothing looser. `text` has no byte order mark.
pub(crate) fn parse(text: &str) -> Result<Tree, Trouble> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let parsed =
        parse_to_ast(text, &collect, &options(Comments::Read, TrailingCommas::Read)).map_err(|e| not_json(&e))?;
    let tokens = parsed.tokens.unwrap_or_default();
    let tokens = tokens.iter().map(|t| {
        let kind = match t.token {
            Token::Comma => MarkKind::Comma,
            Token::CommentLine(_) => MarkKind::LineComment,
            Token::CommentBlock(_) => MarkKind::BlockComment,
            _ => MarkKind::Other,
        };
        Mark { kind, range: range(t) }
    });
    Ok(Tree { root: parsed.value.as_ref().map(|v| value(v, text)), tokens: tokens.collect() })
}

/// What is beyond plain JSON, and not read by every client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looseness {
    ByteOrderMark,
    Comment,
    TrailingComma,
}

/// The first place where a text has more than plain JSON, with or without comments: line and column.
pub(crate) fn first_looseness(text: &str, comments: Comments) -> Option<(Looseness, usize, usize)> {
    let error = parse_to_ast(text, &CollectOptions::default(), &options(comments, TrailingCommas::Refuse)).err()?;
    let what = match error.kind() {
        ParseErrorKind::CommentsNotAllowed => Looseness::Comment,
        ParseErrorKind::TrailingCommasNotAllowed => Looseness::TrailingComma,
        _ => return None,
    };
    Some((what, error.line_display(), error.column_display()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    Read,
    Refuse,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TrailingCommas {
    Read,
    Refuse,
}

fn options(comments: Comments, trailing_commas: TrailingCommas) -> ParseOptions {
    ParseOptions {
        allow_comments: comments == Comments::Read,
        allow_trailing_commas: trailing_commas == TrailingCommas::Read,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Line and column of a place in the text.
pub(crate) fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

fn not_json(error: &ParseError) -> Trouble {
    let mut reason = error.kind().to_string();
    if let Some(first) = reason.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    Trouble::NotJson { line: error.line_display(), column: error.column_display(), reason }
}

fn range(of: &impl Ranged) -> Range<usize> {
    of.start()..of.end()
}

fn value(of: &ast::Value<'_>, text: &str) -> Value {
    let kind = match of {
        ast::Value::Object(object) => Kind::Object(
            object
                .properties
                .iter()
                .map(|p| Property { name: p.name.as_str().to_owned(), range: range(p), value: value(&p.value, text) })
                .collect(),
        ),
        ast::Value::Array(array) => Kind::List(array.elements.iter().map(|v| value(v, text)).collect()),
        ast::Value::StringLit(literal) => Kind::Text(literal.value.clone().into_owned()),
        plain => Kind::Plain(text.get(range(plain)).unwrap_or_default().to_owned()),
    };
    Value { range: range(of), kind }
}
