//! What an order asks for, one by one, so that a plan can say what it covers and nothing is left out in silence.

/// An order is not read as more than this: a longer list is a document, and its reader decides.
pub const MOST: usize = 50;

/// The items of its list, where it has one; otherwise its sentences.
pub fn demands(order: &str) -> Vec<String> {
    let items: Vec<String> = order.lines().filter_map(item).map(str::to_owned).collect();
    let mut found = if items.len() >= 2 { items } else { sentences(order) };
    found.truncate(MOST);
    found
}

/// `- a`, `* a`, `・a`, `1. a`, `2) a`, `3．a`
fn item(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or_else(|| line.strip_prefix('・'))
    {
        return Some(rest.trim()).filter(|text| !text.is_empty());
    }
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let rest = line.get(digits..).filter(|_| (1..=2).contains(&digits))?;
    let rest =
        rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")).or_else(|| rest.strip_prefix(['．', '、']))?;
    Some(rest.trim()).filter(|text| !text.is_empty())
}

fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut sentence = String::new();
    let mut end = |sentence: &mut String| {
        let whole = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
        if whole.chars().any(char::is_alphanumeric) {
            found.push(whole);
        }
        sentence.clear();
    };
    let mut chars = text.chars().peekable();
    let mut is_after_break = false;
    while let Some(c) = chars.next() {
        if c == '\n' && is_after_break {
            end(&mut sentence);
        }
        is_after_break = c == '\n' || (is_after_break && c.is_whitespace());
        sentence.push(c);
        let is_end = match c {
            '。' | '！' | '？' => true,
            // A point within a name or a number is followed by more of it.
            '.' | '!' | '?' => chars.peek().is_none_or(|next| next.is_whitespace()),
            _ => false,
        };
        if is_end {
            end(&mut sentence);
        }
    }
    end(&mut sentence);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_by_its_items_and_prose_by_its_sentences() {
        assert_eq!(demands("Please:\n- add a login form\n- test it\n\nThanks."), ["add a login form", "test it"]);
        assert_eq!(demands("1. a form\n2) a test\n10. docs"), ["a form", "a test", "docs"]);
        assert_eq!(demands("Update v1.2.3 of foo.rs. Then test it!"), ["Update v1.2.3 of foo.rs.", "Then test it!"]);
        assert_eq!(demands("認証機能を実装して。テストも書いて"), ["認証機能を実装して。", "テストも書いて"]);
        assert_eq!(demands("・ログイン\n・テスト"), ["ログイン", "テスト"]);
        assert_eq!(demands("one thing\nover two lines"), ["one thing over two lines"]);
        assert_eq!(demands("a title\n\nand a text"), ["a title", "and a text"]);
        assert_eq!(demands("- only one item"), ["- only one item"]);
        assert!(demands("  \n ").is_empty());
        assert_eq!(demands(&"- x\n".repeat(100)).len(), MOST);
    }
}
