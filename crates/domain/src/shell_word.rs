//! One word for a shell: the one place where text is put into a command line.

/// Words that begin something in a shell when they stand first and bare.
const RESERVED: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then",
    "time", "until", "while",
];

/// The text as one word that a shell reads as exactly this, wherever it stands in the line; bare where that is the same.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) && !RESERVED.contains(&text) && !is_assignment(text) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// `NAME=value` and `NAME+=value`: in front of a command they set a variable.
fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_not_take_as_it_is_stands_in_quotes() {
        for bare in ["/usr/bin/dandori", "--level=block", "user@host:path", "+x", "a,b", "100%", "/a=b/c", "-"] {
            assert_eq!(shell_word(bare), bare);
        }
        for quoted in
            ["", "/my tools/x", "$HOME", "*.rs", "~", "a;b", "`x`", "A=1", "PATH+=x", "if", "time", "日本", "a\nb"]
        {
            assert_eq!(shell_word(quoted), format!("'{quoted}'"));
        }
        assert_eq!(shell_word("/it's/$HOME"), r"'/it'\''s/$HOME'");
    }
}
