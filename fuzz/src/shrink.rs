//! A smaller input with the same finding.

use crate::case::Case;

/// Takes parts away as long as `is_same` says that it is still the same finding.
pub(crate) fn shrunk(case: &Case, mut is_same: impl FnMut(&Case) -> bool) -> Case {
    let mut best = case.clone();
    let mut part = best.input.len() / 2;
    while part > 0 {
        let mut at = 0;
        while at < best.input.len() {
            let mut smaller = best.clone();
            let end = (at + part).min(smaller.input.len());
            drop(smaller.input.drain(at..end));
            if is_same(&smaller) {
                best = smaller;
            } else {
                at += part;
            }
        }
        part /= 2;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Target;

    #[test]
    fn only_what_is_needed_is_left() {
        let case = Case {
            target: Target::Shell,
            choice: 0,
            form: None,
            input: b"some long (text) with a [bracket] in it".to_vec(),
        };
        let smaller = shrunk(&case, |case| case.input.contains(&b'[') && case.input.contains(&b')'));
        assert_eq!(smaller.input, b")[");
    }
}
