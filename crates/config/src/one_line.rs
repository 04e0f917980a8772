//! Reasons where there is room for one line.

/// What lists goes on after its colon, and the picture of a line that a parser draws is left out.
pub fn in_one_line(text: &str) -> String {
    let is_drawn = |line: &&str| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').starts_with('|');
    text.lines().map(str::trim).filter(|line| !is_drawn(line)).fold(String::new(), |all, line| {
        let between = match all.chars().last() {
            None => "",
            Some(':') => " ",
            Some(_) => "; ",
        };
        format!("{all}{between}{line}")
    })
}

#[cfg(test)]
mod tests {
    use super::in_one_line;

    #[test]
    fn a_reason_of_several_lines_fits_into_one() {
        let drawn = "TOML parse error at line 1, column 5\n  |\n1 | not toml\n  |     ^\nkey with no value";
        assert_eq!(in_one_line(drawn), "TOML parse error at line 1, column 5; key with no value");
        assert_eq!(in_one_line("it could run:\n  make\n  rm"), "it could run: make; rm");
    }
}
