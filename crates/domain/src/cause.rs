//! Errors as one line of text.

use std::error::Error;

/// An error with its causes behind it: some keep what matters ("connection refused") in there.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let texts: Vec<String> = chain(error).map(ToString::to_string).collect();
    texts.join(": ")
}

/// The innermost cause alone, where the outer ones only say that something failed.
pub fn root_cause(error: &(dyn Error + 'static)) -> String {
    chain(error).last().unwrap_or(error).to_string()
}

fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Layer {
        text: &'static str,
        source: Option<Box<Layer>>,
    }

    #[test]
    fn causes_follow_from_the_outside_in() {
        let inner = Layer { text: "connection refused", source: None };
        let outer = Layer { text: "no answer", source: Some(Box::new(inner)) };
        assert_eq!(with_causes(&outer), "no answer: connection refused");
        assert_eq!(root_cause(&outer), "connection refused");
        let alone = Layer { text: "alone", source: None };
        assert_eq!((with_causes(&alone), root_cause(&alone)), ("alone".to_owned(), "alone".to_owned()));
    }
}
