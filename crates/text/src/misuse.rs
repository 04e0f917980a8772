//! A command line that is not understood: what is wrong with it, and what to write instead.

use crate::lang::say;
use crate::{Lang, Said};

/// What is wrong. Arguments are named as their help shows them: `--base <BASE>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Misuse {
    UnknownOption {
        option: String,
        near: Option<String>,
    },
    TooMany {
        word: String,
        usage: String,
    },
    UnknownCommand {
        word: String,
        near: Vec<String>,
    },
    NoCommand {
        known: Vec<String>,
    },
    Missing {
        arguments: Vec<String>,
        usage: String,
    },
    NoValue {
        argument: String,
        known: Vec<String>,
    },
    /// An empty word was given for it.
    Empty {
        argument: String,
    },
    WrongValue {
        argument: String,
        value: String,
        expected: Expected,
    },
    ValueToFlag {
        argument: String,
        value: String,
    },
    Together {
        argument: String,
        others: Vec<String>,
    },
    Twice {
        argument: String,
    },
    NotUtf8,
    Other {
        reason: String,
    },
}

/// What an argument takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expected {
    OneOf(Vec<String>),
    Dollars,
    WholeNumber,
    Address,
    Text,
}

/// `command` is the one that was meant, as it is called: `dandori task show`.
pub fn misuse(lang: Lang, command: &str, misuse: &Misuse) -> Said {
    let see_help = || say!(lang, "see `{command} --help` for usage", "使い方は `{command} --help` で確認できます");
    match misuse {
        Misuse::UnknownOption { option, near } => {
            let said = Said::what(say!(lang, "unknown option `{option}`", "オプション `{option}` はありません"));
            said.hint(match near {
                Some(near) => did_you_mean(lang, near),
                None => say!(
                    lang,
                    "see `{command} --help` for the options; put text that starts with `-` after `--`",
                    "オプションの一覧は `{command} --help` で確認できます。`-` で始まる文は `--` の後に書いてください"
                ),
            })
        }
        Misuse::TooMany { word, usage } => {
            Said::what(say!(lang, "unexpected argument `{word}`", "引数 `{word}` は不要です"))
                .why(used_like(lang, usage))
                .hint(say!(
                    lang,
                    "quote text that contains spaces, or see `{command} --help`",
                    "空白を含む文は引用符で囲んでください。使い方は `{command} --help` で確認できます"
                ))
        }
        Misuse::UnknownCommand { word, near } => {
            let said = Said::what(say!(lang, "unknown command `{word}`", "コマンド `{word}` はありません"));
            said.hint(match near.as_slice() {
                _ if word.contains(char::is_whitespace) => say!(
                    lang,
                    "to give it to an agent as a task, use `dandori run \"…\"`",
                    "タスクとしてエージェントに任せるには `dandori run \"…\"` を使います"
                ),
                [] => {
                    say!(
                        lang,
                        "see `{command} --help` for the commands",
                        "コマンドの一覧は `{command} --help` で確認できます"
                    )
                }
                near => {
                    did_you_mean(lang, &near.iter().map(|n| format!("{command} {n}")).collect::<Vec<_>>().join("`, `"))
                }
            })
        }
        Misuse::NoCommand { known } => {
            let known = known.join(", ");
            Said::what(say!(lang, "`{command}` needs a command", "`{command}` にはコマンドが必要です")).why(known).hint(
                say!(
                    lang,
                    "see `{command} --help` for what each one does",
                    "それぞれの説明は `{command} --help` で確認できます"
                ),
            )
        }
        Misuse::Missing { arguments, usage } => {
            let missing = arguments.join(" ");
            Said::what(say!(lang, "`{command}` needs {missing}", "`{command}` には {missing} が必要です"))
                .why(used_like(lang, usage))
                .hint(see_help())
        }
        Misuse::NoValue { argument, known } => {
            let said = Said::what(say!(lang, "`{argument}` needs a value", "`{argument}` には値が必要です"));
            said.hint(if known.is_empty() {
                see_help()
            } else {
                expected(lang, &Expected::OneOf(known.clone()), see_help)
            })
        }
        Misuse::Empty { argument } => {
            Said::what(say!(lang, "`{argument}` is empty", "`{argument}` が空です")).hint(say!(
                lang,
                "check that the variable it comes from is set; see `{command} --help` for usage",
                "元の変数が設定されているか確認してください。使い方は `{command} --help` で確認できます"
            ))
        }
        Misuse::WrongValue { argument, value, expected: what } => Said::what(say!(
            lang,
            "invalid value `{value}` for `{argument}`",
            "`{argument}` に `{value}` は指定できません"
        ))
        .hint(expected(lang, what, see_help)),
        Misuse::ValueToFlag { argument, value } => Said::what(say!(
            lang,
            "`{argument}` takes no value, but `{value}` was given",
            "`{argument}` に値 `{value}` は指定できません"
        ))
        .hint(say!(
            lang,
            "use `{argument}` without a value",
            "値を付けずに `{argument}` だけを指定してください"
        )),
        Misuse::Together { argument, others } => {
            let others = others.join("`, `");
            Said::what(say!(
                lang,
                "`{argument}` cannot be used together with `{others}`",
                "`{argument}` は `{others}` と同時に指定できません"
            ))
            .hint(say!(lang, "use only one of them", "どちらか一方だけを指定してください"))
        }
        Misuse::Twice { argument } => {
            Said::what(say!(lang, "`{argument}` was given more than once", "`{argument}` が複数回指定されています"))
                .hint(say!(lang, "use it once", "1 回だけ指定してください"))
        }
        Misuse::NotUtf8 => Said::what(say!(lang, "an argument is not UTF-8 text", "UTF-8 ではない引数があります"))
            .hint(say!(
                lang,
                "check the terminal's encoding and the file names",
                "端末の文字コードとファイル名を確認してください"
            )),
        Misuse::Other { reason } => Said::what(say!(lang, "invalid command line", "コマンドラインを解釈できません"))
            .why(reason.clone())
            .hint(see_help()),
    }
}

pub(crate) fn did_you_mean(lang: Lang, near: &str) -> String {
    say!(lang, "did you mean `{near}`?", "もしかして: `{near}`")
}

fn used_like(lang: Lang, usage: &str) -> String {
    say!(lang, "usage: {usage}", "使い方: {usage}")
}

fn expected(lang: Lang, what: &Expected, otherwise: impl Fn() -> String) -> String {
    match what {
        Expected::OneOf(known) => {
            let known = known.join(", ");
            say!(lang, "use one of: {known}", "次のいずれかを指定してください: {known}")
        }
        Expected::Dollars => say!(
            lang,
            "use an amount in US dollars above 0, such as 2.50",
            "0 より大きい米ドル額を指定してください (例: 2.50)"
        ),
        Expected::WholeNumber => {
            say!(lang, "use a whole number, such as 20", "0 以上の整数を指定してください (例: 20)")
        }
        Expected::Address => say!(
            lang,
            "use an address and a port, such as 127.0.0.1:4100",
            "アドレスとポートを指定してください (例: 127.0.0.1:4100)"
        ),
        Expected::Text => otherwise(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_misuse_says_what_to_do_next_in_both_languages() {
        let word = || "x".to_owned();
        let all = [
            Misuse::UnknownOption { option: word(), near: None },
            Misuse::UnknownOption { option: word(), near: Some(word()) },
            Misuse::TooMany { word: word(), usage: word() },
            Misuse::UnknownCommand { word: word(), near: vec![] },
            Misuse::UnknownCommand { word: word(), near: vec![word()] },
            Misuse::UnknownCommand { word: "fix it".into(), near: vec![] },
            Misuse::NoCommand { known: vec![word()] },
            Misuse::Missing { arguments: vec![word()], usage: word() },
            Misuse::NoValue { argument: word(), known: vec![] },
            Misuse::NoValue { argument: word(), known: vec![word()] },
            Misuse::Empty { argument: word() },
            Misuse::WrongValue { argument: word(), value: word(), expected: Expected::OneOf(vec![word()]) },
            Misuse::WrongValue { argument: word(), value: word(), expected: Expected::Text },
            Misuse::ValueToFlag { argument: word(), value: word() },
            Misuse::Together { argument: word(), others: vec![word()] },
            Misuse::Twice { argument: word() },
            Misuse::NotUtf8,
            Misuse::Other { reason: word() },
        ];
        for what in &all {
            let (en, ja) = (misuse(Lang::En, "dandori run", what), misuse(Lang::Ja, "dandori run", what));
            assert!(en.hint.is_ascii() || en.hint.contains('…'), "{en:?}");
            assert!(!ja.what.is_ascii() && !ja.hint.is_ascii(), "{ja:?}");
        }
    }
}
