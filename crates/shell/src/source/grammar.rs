//! The parser behind a fence: limits before it, no panic out of it, and no word lost in it.

use std::collections::HashMap;

use brush_parser::ast::{
    AndOr, Assignment, AssignmentName, AssignmentValue, Command, CommandPrefixOrSuffixItem, CompoundCommand,
    CompoundList, ExtendedTestExpr, IoFileRedirectTarget, IoRedirect, Program, RedirectList, SimpleCommand, Word,
};
use brush_parser::{ParserOptions, SourceSpan, Token};

use crate::reading::Why;
use crate::source::scan;
use crate::source::subscripts;
use crate::{MAX_BYTES, MAX_NESTING};

/// Parse a source, or say why not.
pub(crate) fn parse(source: &str) -> Result<Program, Why> {
    if source.len() > MAX_BYTES || scan::nesting(source) > MAX_NESTING {
        return Err(Why::TooLarge);
    }
    // The parser unwraps here and there; a panic in it must read as "not understood", not end the guard.
    let parsed = std::panic::catch_unwind(|| {
        let options = ParserOptions::default();
        let mut tokens = brush_parser::uncached_tokenize_str(source, &options.tokenizer_options())
            .map_err(|_| Why::NotUnderstood)?;
        as_written(source, &mut tokens);
        if tokens.iter().any(|token| matches!(token, Token::Word(text, _) if subscripts::are_too_deep(text))) {
            return Err(Why::TooLarge);
        }
        let program = brush_parser::parse_tokens(&tokens, &options).map_err(|_| Why::NotUnderstood)?;
        Ok((tokens, program))
    });
    let (tokens, program) = parsed.unwrap_or(Err(Why::NotUnderstood))?;
    if nothing_lost(&tokens, &program) { Ok(program) } else { Err(Why::NotUnderstood) }
}

/// The tokenizer rewrites the code inside a word: it drops its comments, or joins lines that a comment ends. Such words
/// are taken as they stand in the source.
fn as_written(source: &str, tokens: &mut [Token]) {
    if !source.contains("\\\n") && !source.contains('#') {
        return;
    }
    let chars: Vec<char> = source.chars().collect();
    // The end mark of a here-document has no place of its own, and stands behind the document.
    let is_document = |next: Option<&Token>| matches!(next, Some(Token::Word(_, at)) if at.start.index == at.end.index);
    for at in 0..tokens.len() {
        if is_document(tokens.get(at + 1)) {
            continue;
        }
        let Some(Token::Word(text, span)) = tokens.get_mut(at) else { continue };
        if ["$(", "`", "<(", ">("].iter().any(|code| text.contains(code))
            && let Some(written) = chars.get(span.start.index..span.end.index)
        {
            let written: String = written.iter().collect();
            without_lead(&written).clone_into(text);
        }
    }
}

/// Blanks and joined lines before a word count as its place, too.
fn without_lead(written: &str) -> &str {
    let bare = written.trim_start();
    bare.strip_prefix("\\\n").map_or(bare, without_lead)
}

/// Whether this is `((…))` for bash too. The parser takes `( (git push) )` for arithmetic; bash runs it.
pub(crate) fn is_arithmetic(source: &str, span: &SourceSpan, expression: &str) -> bool {
    let mut start = source.chars().skip(span.start.index);
    let end: String = source.chars().skip(span.end.index.saturating_sub(2)).take(2).collect();
    let words: Vec<&str> = expression.split_whitespace().collect();
    let reads_like_commands = words.windows(2).any(|pair| {
        let plain = |w: &str| w.starts_with(|c: char| c.is_alphabetic()) && w.chars().all(char::is_alphanumeric);
        matches!(pair, [a, b] if plain(a) && (plain(b) || b.starts_with("--")))
    });
    start.next() == Some('(') && start.next() == Some('(') && end == "))" && !reads_like_commands
}

/// What stands between the outer brackets of a place in the source.
pub(crate) fn within_brackets(source: &str, span: &SourceSpan) -> Option<String> {
    let length = span.end.index.checked_sub(span.start.index)?;
    let text: String = source.chars().skip(span.start.index).take(length).collect();
    text.strip_prefix('(')?.strip_suffix(')').map(str::to_owned)
}

/// Every word of the source must turn up somewhere in the tree: what the parser drops, a guard never sees.
fn nothing_lost(tokens: &[Token], program: &Program) -> bool {
    let mut found = Found::default();
    for list in &program.complete_commands {
        found.list(list);
    }
    tokens.iter().all(|token| match token {
        Token::Operator(..) => true,
        Token::Word(text, _) => found.take(text),
    })
}

#[derive(Default)]
struct Found {
    words: HashMap<String, usize>,
    /// Texts that hold several words of the source: arithmetic, assignments of lists.
    texts: Vec<String>,
}

const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "{", "}", "!",
    "[[", "]]", "function", "time", "-p", "coproc", "select", "&&", "||", "(", ")", "",
];

impl Found {
    fn take(&mut self, text: &str) -> bool {
        if let Some(left) = self.words.get_mut(text)
            && *left > 0
        {
            *left -= 1;
            return true;
        }
        RESERVED.contains(&text) || is_test_operator(text) || self.texts.iter().any(|t| t.contains(text))
    }

    fn put(&mut self, text: &str) {
        *self.words.entry(text.to_owned()).or_default() += 1;
    }

    fn word(&mut self, word: &Word) {
        self.put(&word.value);
    }

    fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            self.commands(&item.0.first.seq);
            for next in &item.0.additional {
                let (AndOr::And(pipeline) | AndOr::Or(pipeline)) = next;
                self.commands(&pipeline.seq);
            }
        }
    }

    fn commands(&mut self, commands: &[Command]) {
        for command in commands {
            match command {
                Command::Simple(simple) => self.simple(simple),
                Command::Compound(compound, redirects) => {
                    self.compound(compound);
                    self.redirects(redirects.as_ref());
                }
                Command::Function(function) => {
                    self.word(&function.fname);
                    self.compound(&function.body.0);
                    self.redirects(function.body.1.as_ref());
                }
                Command::ExtendedTest(test, redirects) => {
                    self.test(&test.expr);
                    self.redirects(redirects.as_ref());
                }
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        let prefix = simple.prefix.iter().flat_map(|p| &p.0);
        let suffix = simple.suffix.iter().flat_map(|s| &s.0);
        if let Some(word) = &simple.word_or_name {
            self.word(word);
        }
        for item in prefix.chain(suffix) {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect),
                CommandPrefixOrSuffixItem::Word(word) => self.word(word),
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                    self.word(word);
                    self.assignment(assignment);
                }
                CommandPrefixOrSuffixItem::ProcessSubstitution(_, shell) => self.list(&shell.list),
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        let plus = if assignment.append { "+" } else { "" };
        let name = match &assignment.name {
            AssignmentName::VariableName(name) => name.clone(),
            AssignmentName::ArrayElementName(name, index) => format!("{name}[{index}]"),
        };
        if let AssignmentValue::Array(elements) = &assignment.value {
            self.texts.push(format!("{name}{plus}="));
            for (key, value) in elements {
                match key {
                    Some(key) => self.put(&format!("[{}]={}", key.value, value.value)),
                    None => self.word(value),
                }
            }
        }
    }

    fn redirects(&mut self, redirects: Option<&RedirectList>) {
        for redirect in redirects.iter().flat_map(|r| &r.0) {
            self.redirect(redirect);
        }
    }

    fn redirect(&mut self, redirect: &IoRedirect) {
        match redirect {
            IoRedirect::File(fd, _, target) => {
                self.fd(*fd);
                match target {
                    IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => self.word(word),
                    IoFileRedirectTarget::Fd(fd) => self.put(&fd.to_string()),
                    IoFileRedirectTarget::ProcessSubstitution(_, shell) => self.list(&shell.list),
                }
            }
            IoRedirect::HereDocument(fd, doc) => {
                self.fd(*fd);
                self.word(&doc.here_end);
                self.word(&doc.doc);
                // The closing mark is a token of its own, without its quotes.
                self.put(&brush_parser::unquote_str(&doc.here_end.value));
            }
            IoRedirect::HereString(fd, word) => {
                self.fd(*fd);
                self.word(word);
            }
            IoRedirect::OutputAndError(word, _) => self.word(word),
        }
    }

    fn fd(&mut self, fd: Option<i32>) {
        if let Some(fd) = fd {
            self.put(&fd.to_string());
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => self.texts.push(arithmetic.expr.value.clone()),
            CompoundCommand::ArithmeticForClause(clause) => {
                for expr in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
                    self.texts.push(expr.value.clone());
                }
                self.list(&clause.body.list);
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(shell) => self.list(&shell.list),
            CompoundCommand::ForClause(clause) => {
                self.put(&clause.variable_name);
                for word in clause.values.iter().flatten() {
                    self.word(word);
                }
                self.list(&clause.body.list);
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value);
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.word(pattern);
                    }
                    if let Some(list) = &case.cmd {
                        self.list(list);
                    }
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for other in clause.elses.iter().flatten() {
                    if let Some(list) = &other.condition {
                        self.list(list);
                    }
                    self.list(&other.body);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            CompoundCommand::Coprocess(coprocess) => {
                if let Some(name) = &coprocess.name {
                    self.word(name);
                }
                self.commands(std::slice::from_ref(&coprocess.body));
            }
        }
    }

    fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(a, b) | ExtendedTestExpr::Or(a, b) => {
                self.test(a);
                self.test(b);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(_, word) => self.word(word),
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.word(left);
                self.word(right);
                // A regular expression may be several tokens of the source.
                self.texts.push(right.value.clone());
            }
        }
    }
}

fn is_test_operator(text: &str) -> bool {
    const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";
    match text.strip_prefix('-') {
        Some(name) if name.len() == 1 => UNARY.contains(name),
        Some(name) => matches!(name, "ef" | "nt" | "ot" | "eq" | "ne" | "lt" | "le" | "gt" | "ge"),
        None => matches!(text, "=" | "==" | "!=" | "=~" | "<" | ">"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_the_tree_does_not_hold_is_noticed() {
        let options = ParserOptions::default();
        let tokens = |s: &str| brush_parser::uncached_tokenize_str(s, &options.tokenizer_options()).unwrap();
        let program = brush_parser::parse_tokens(&tokens("ls a b"), &options).unwrap();
        assert!(nothing_lost(&tokens("ls a b"), &program));
        assert!(!nothing_lost(&tokens("ls a b; git push"), &program));
        assert!(!nothing_lost(&tokens("ls a a b"), &program));
    }

    #[test]
    fn too_deep_or_too_long_is_refused_before_the_parser_sees_it() {
        assert_eq!(parse(&"(".repeat(9000)).err(), Some(Why::TooLarge));
        assert_eq!(parse(&"$(".repeat(9000)).err(), Some(Why::TooLarge));
        assert_eq!(parse(&"a ".repeat(40_000)).err(), Some(Why::TooLarge));
        assert_eq!(parse("if true; then").err(), Some(Why::NotUnderstood));
    }
}
