//! What we want to stand in a file, and how it is written so that it fits its surroundings.

use crate::tree::{Kind, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    Text(String),
    Number(u32),
    Flag(bool),
    List(Vec<Wanted>),
    Object(Vec<(String, Wanted)>),
}

/// How it is written.
#[derive(Debug, Clone)]
pub(crate) enum Style {
    Inline {
        /// What stands after a colon and a comma: a blank or nothing.
        gap: &'static str,
    },
    Lines {
        newline: &'static str,
        /// One level.
        unit: String,
        /// Of the line it begins on.
        indent: String,
    },
}

impl Wanted {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn object<'n>(properties: impl IntoIterator<Item = (&'n str, Self)>) -> Self {
        Self::Object(properties.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The same thing, however it is written and ordered.
    pub(crate) fn is(&self, found: &Value) -> bool {
        match (self, &found.kind) {
            (Self::Text(wanted), Kind::Text(found)) => wanted == found,
            (Self::Number(wanted), Kind::Plain(found)) => wanted.to_string() == *found,
            (Self::Flag(wanted), Kind::Plain(found)) => wanted.to_string() == *found,
            (Self::List(wanted), Kind::List(found)) => {
                wanted.len() == found.len() && wanted.iter().zip(found).all(|(w, f)| w.is(f))
            }
            (Self::Object(wanted), Kind::Object(properties)) => {
                wanted.len() == properties.len()
                    && wanted.iter().all(|(name, w)| found.property(name).is_some_and(|p| w.is(&p.value)))
            }
            _ => false,
        }
    }

    pub(crate) fn written(&self, style: &Style) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::List(items) if items.iter().all(Self::is_simple) => {
                let gap = if let Style::Inline { gap } = style { gap } else { " " };
                let items: Vec<String> = items.iter().map(|i| i.written(style)).collect();
                format!("[{}]", items.join(&format!(",{gap}")))
            }
            Self::List(items) => style.around('[', ']', items.iter().map(|i| i.written(&style.deeper()))),
            Self::Object(properties) => {
                style.around('{', '}', properties.iter().map(|(name, value)| property(name, value, &style.deeper())))
            }
        }
    }

    fn is_simple(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Number(_) | Self::Flag(_))
    }
}

/// `"name": value`
pub(crate) fn property(name: &str, value: &Wanted, style: &Style) -> String {
    let gap = if let Style::Inline { gap } = style { gap } else { " " };
    format!("{}:{gap}{}", quoted(name), value.written(style))
}

impl Style {
    fn deeper(&self) -> Self {
        match self {
            Self::Inline { gap } => Self::Inline { gap },
            Self::Lines { newline, unit, indent } => {
                Self::Lines { newline, unit: unit.clone(), indent: format!("{indent}{unit}") }
            }
        }
    }

    fn around(&self, open: char, close: char, items: impl Iterator<Item = String>) -> String {
        let items: Vec<String> = items.collect();
        match self {
            Self::Inline { gap } => format!("{open}{}{close}", items.join(&format!(",{gap}"))),
            Self::Lines { newline, unit, indent } => {
                let between = format!(",{newline}{indent}{unit}");
                format!("{open}{newline}{indent}{unit}{}{newline}{indent}{close}", items.join(&between))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
