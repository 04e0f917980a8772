//! A prompt without an active playbook: the model is shown where work begins.

use dandori_text::guard::prompt;

use crate::context::Context;
use crate::event::Kind;
use crate::voice::{Trouble, Voice};

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let (Kind::PromptSubmit { prompt }, Some(project)) = (&context.event.kind, &context.project) else {
        return Ok(());
    };
    let has_playbook = context.documents(project)?.playbook_path.is_some();
    // A command of the user's own is on its way already.
    if has_playbook || prompt.trim_start().starts_with('/') {
        return Ok(());
    }
    let said = if is_task(prompt) { prompt::task_without_playbook } else { prompt::no_playbook };
    voice.info(said(context.lang));
    Ok(())
}

/// Whether a prompt asks for something to be made or changed. A question about it does not.
pub(super) fn is_task(prompt: &str) -> bool {
    asks_in_japanese(prompt) || sentences(prompt).any(|sentence| asks_in_english(&sentence))
}

/// Stems before 「て」.
const JAPANESE: [&str; 41] = [
    "作っ",
    "作成し",
    "実装し",
    "修正し",
    "追加し",
    "直し",
    "変え",
    "変更し",
    "書い",
    "書き換え",
    "書き直し",
    "消し",
    "削除し",
    "対応し",
    "更新し",
    "リファクタし",
    "リファクタリングし",
    "改善し",
    "導入し",
    "設定し",
    "移行し",
    "分割し",
    "統合し",
    "整理し",
    "置き換え",
    "置換し",
    "最適化し",
    "生成し",
    "開発し",
    "構築し",
    "解決し",
    "リネームし",
    "移動し",
    "外し",
    "入れ",
    "付け",
    "加え",
    "切り出し",
    "抽出し",
    "共通化し",
    "バージョンアップし",
];
/// What follows 「て」 in a request; 「ている」「てある」「ても」 are none.
const AFTER_TE: [&str; 12] = ["くだ", "下さ", "くれ", "ほし", "欲し", "もら", "いただ", "頂", "み", "お", "ね", "から"];
const JAPANESE_NOUNS: [&str; 8] = ["実装", "修正", "追加", "変更", "作成", "対応", "削除", "改善"];

fn asks_in_japanese(prompt: &str) -> bool {
    let is_end = |rest: &str| rest.chars().next().is_none_or(|c| c.is_whitespace() || "。、！!．,.）)」".contains(c));
    let by_verb = |stem: &str| {
        prompt.match_indices(stem).any(|(at, _)| {
            let rest = prompt.get(at + stem.len()..).and_then(|rest| rest.strip_prefix('て'));
            rest.is_some_and(|rest| is_end(rest) || AFTER_TE.iter().any(|after| rest.starts_with(after)))
        })
    };
    let by_noun = |noun: &str| {
        prompt.match_indices(noun).any(|(at, _)| {
            let rest = prompt.get(at + noun.len()..).unwrap_or_default();
            rest.starts_with("お願い") || rest.starts_with("をお願い") || rest.starts_with("を頼")
        })
    };
    JAPANESE.iter().any(|stem| by_verb(stem)) || JAPANESE_NOUNS.iter().any(|noun| by_noun(noun))
}

struct Sentence<'p> {
    words: Vec<&'p str>,
    is_question: bool,
}

fn sentences(prompt: &str) -> impl Iterator<Item = Sentence<'_>> {
    // A full stop within a word is a file's.
    let parts = prompt.split_inclusive(['\n', '!', '?', ';']).flat_map(|part| part.split_inclusive(". "));
    parts.map(|part| {
        let words =
            part.split_whitespace().map(|word| word.trim_matches(['"', '\'', '(', ')', ',', '.', '!', '?', '-', '*']));
        Sentence { words: words.filter(|word| !word.is_empty()).collect(), is_question: part.trim_end().ends_with('?') }
    })
}

const ENGLISH: [&str; 52] = [
    "add",
    "adjust",
    "build",
    "change",
    "clean",
    "configure",
    "convert",
    "correct",
    "create",
    "delete",
    "deploy",
    "design",
    "develop",
    "disable",
    "document",
    "drop",
    "enable",
    "extend",
    "extract",
    "fix",
    "generate",
    "handle",
    "implement",
    "improve",
    "install",
    "integrate",
    "introduce",
    "make",
    "migrate",
    "modify",
    "move",
    "optimise",
    "optimize",
    "patch",
    "port",
    "refactor",
    "remove",
    "rename",
    "reorganize",
    "repair",
    "replace",
    "resolve",
    "restructure",
    "rewrite",
    "set",
    "split",
    "support",
    "translate",
    "update",
    "upgrade",
    "wire",
    "write",
];
/// A question that is a polite order.
const ORDERS: [&str; 5] = ["can you", "could you", "would you", "will you", "can we"];
const OPENERS: [&str; 11] = [
    "please",
    "i want you to",
    "i'd like you to",
    "i need you to",
    "we need to",
    "we should",
    "you should",
    "let's",
    "now",
    "then",
    "and",
];
/// After these the verb was a noun: `Build fails on CI`, `Fix for the bug landed`.
const NOT_A_VERB: [&str; 12] =
    ["fails", "failed", "failing", "is", "was", "are", "has", "for", "of", "landed", "broke", "sense"];

fn asks_in_english(sentence: &Sentence<'_>) -> bool {
    let lower: Vec<String> = sentence.words.iter().take(12).map(|word| word.to_lowercase()).collect();
    let mut words: &[String] = &lower;
    let mut is_polite = false;
    while let Some((rest, order)) = without_opener(words) {
        is_polite |= order;
        words = rest;
    }
    if sentence.is_question && !is_polite {
        return false;
    }
    let [verb, rest @ ..] = words else { return false };
    let is_noun = rest.first().is_some_and(|next| NOT_A_VERB.contains(&next.as_str()));
    ENGLISH.contains(&verb.as_str()) && !rest.is_empty() && !is_noun
}

fn without_opener(words: &[String]) -> Option<(&[String], bool)> {
    let openers = ORDERS.iter().map(|o| (o, true)).chain(OPENERS.iter().map(|o| (o, false)));
    openers.into_iter().find_map(|(opener, is_order)| {
        let mut rest = words;
        for wanted in opener.split(' ') {
            let (first, further) = rest.split_first()?;
            if first != wanted {
                return None;
            }
            rest = further;
        }
        Some((rest, is_order))
    })
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Level;
    use dandori_text::Lang;

    use super::*;
    use crate::Client;
    use crate::judge::Outcome;
    use crate::stage::Stage;

    #[test]
    fn requests_are_told_from_questions() {
        for prompt in [
            "ログイン画面を作って",
            "バグを修正してください。",
            "このAPIを実装してくれますか？",
            "README に使い方を追加してほしい",
            "typo を直してもらえる？",
            "src/a.rsを書き換えて、テストも追加して",
            "エラー処理の実装をお願いします",
            "Implement a health endpoint",
            "please fix src/a.rs",
            "Could you add a test for this?",
            "The tests are red. Fix them please",
            "Look at a.rs\n- refactor the parser\n- rename it",
            "Let's build the new importer!",
            "I'd like you to write docs",
        ] {
            assert!(is_task(prompt), "{prompt}");
        }
        for prompt in [
            "",
            "what does fix mean?",
            "How would I implement this?",
            "Fix for the bug landed yesterday, right?",
            "Build fails on CI",
            "explain the add function",
            "Add?",
            "Fix it now or later?",
            "does this make sense",
            "この関数は何をしていますか？",
            "もう実装してありますか",
            "誰が修正しているの？",
            "追加しても大丈夫？",
            "作ってある設定を見せて",
            "修正内容を説明して",
            "進捗を教えて",
            "/playbook-init",
        ] {
            assert!(!is_task(prompt), "{prompt}");
        }
    }

    fn stage() -> Stage {
        Stage::only("task-request", Level::Info).file("state.md", "---\nplaybook:\n  active: null\n---\n")
    }

    #[test]
    fn without_a_playbook_the_way_in_is_shown() {
        let judged = stage().prompt("バグを修正して");
        assert_eq!(judged.outcome(), Outcome::Info);
        assert!(judged.said().contains("`playbook-init`") && judged.said().contains("mandatory"), "{}", judged.said());
        let said = stage().prompt("what is this?").said();
        assert!(said.contains("`playbook-init`") && !said.contains("mandatory"), "{said}");
        let said = stage().lang(Lang::Ja).prompt("fix the bug").said();
        assert!(said.contains("理解確認") && said.contains("必須") && said.contains("`playbook-init`"), "{said}");
        let bare = Stage::only("task-request", Level::Info);
        assert_eq!(bare.prompt("fix the bug").outcome(), Outcome::Info, "without state.md, too");
        for client in Client::ALL {
            assert!(stage().by(client).prompt("fix the bug").said().contains("mandatory"), "{client}");
        }
    }

    #[test]
    fn with_a_playbook_or_on_the_way_nothing_is_said() {
        assert_eq!(stage().prompt("/playbook-init fix the bug").outcome(), Outcome::Pass);
        let active = stage().file("state.md", "---\nplaybook:\n  active: plan/playbook-a.md\n---\n");
        assert_eq!(active.prompt("fix the bug").outcome(), Outcome::Pass);
        assert_eq!(stage().unreadable("state.md").prompt("fix the bug").outcome(), Outcome::Error);
        assert_eq!(stage().file("state.md", "\0prose").prompt("fix the bug").outcome(), Outcome::Info);
    }
}
