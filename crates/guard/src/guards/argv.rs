//! Words of a command as options and operands, as far as the guards ask: `-rf`, `--recursive`, `--`.

use dandori_shell::Word;

/// An option by its letter, bundled or not, or by one of its long names, with or without a value.
pub(super) fn has(args: &[Word], letters: &str, long: &[&str]) -> bool {
    args.iter().take_while(|w| w.text != "--").any(|word| match word.text.strip_prefix("--") {
        Some(name) => long.contains(&name.split('=').next().unwrap_or_default()),
        None => word
            .text
            .strip_prefix('-')
            .is_some_and(|bundle| bundle.chars().take_while(char::is_ascii_alphabetic).any(|c| letters.contains(c))),
    })
}

/// What is no option. An option's value that stands as a word of its own is among them, unless its name is in `valued`.
pub(super) fn operands<'w>(args: &'w [Word], valued: &[&str]) -> Vec<&'w Word> {
    let mut found = Vec::new();
    let mut words = args.iter();
    let mut only_operands = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if only_operands || !text.starts_with('-') || text == "-" {
            found.push(word);
        } else if text == "--" {
            only_operands = true;
        } else if valued.contains(&text) {
            words.next();
        }
    }
    found
}

/// The value of an option: `-c x`, `--command x`, `--command=x`, and `-cx` for a letter.
pub(super) fn values<'w>(args: &'w [Word], names: &[&str]) -> Vec<&'w str> {
    let mut found = Vec::new();
    let mut words = args.iter().peekable();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        for name in names {
            let is_long = name.starts_with("--");
            match text.strip_prefix(name) {
                Some("") => found.extend(words.peek().map(|w| w.text.as_str())),
                Some(rest) if is_long => found.extend(rest.strip_prefix('=')),
                Some(rest) => found.push(rest),
                None => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Word> {
        line.split(' ').map(Word::literal).collect()
    }

    #[test]
    fn options_are_found_bundled_long_and_not_behind_dashes() {
        assert!(has(&words("-vrf x"), "r", &["recursive"]) && has(&words("--recursive x"), "r", &["recursive"]));
        assert!(!has(&words("-- -r"), "r", &["recursive"]) && !has(&words("r --rec"), "r", &["recursive"]));
    }

    #[test]
    fn operands_leave_options_and_named_values_away() {
        let args = words("-b new --force path -- -x");
        let found: Vec<&str> = operands(&args, &["-b"]).into_iter().map(|w| w.text.as_str()).collect();
        assert_eq!(found, ["path", "-x"]);
    }

    #[test]
    fn values_are_read_in_every_form() {
        assert_eq!(values(&words("-c a --command b --command=d -ce"), &["-c", "--command"]), ["a", "b", "d", "e"]);
    }
}
