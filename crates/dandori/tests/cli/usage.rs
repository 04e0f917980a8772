//! Help and usage errors: in the reader's language, with what to do next.

use dandori_testkit::env::{Ran, TestEnv};

/// Nothing here needs a repository, and no daemon may be started for it.
fn shell() -> TestEnv {
    TestEnv::without_repository(env!("CARGO_BIN_EXE_dandori"))
}

/// What a wrong command line answers, in both languages.
fn refused(env: &TestEnv, words: &[&str]) -> (String, String) {
    let said = |lang: &str| {
        let ran = env.dandori(words.iter().copied().chain(["--lang", lang]));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{words:?}: {}", ran.stderr);
        ran.stderr
    };
    let (en, ja) = (said("en"), said("ja"));
    assert!(en.starts_with("error: ") && en.contains("\nhint: "), "{words:?}: {en}");
    assert!(ja.starts_with("エラー: ") && ja.contains("\nヒント: "), "{words:?}: {ja}");
    assert!(env.daemon_pid().is_none());
    (en, ja)
}

#[test]
fn help_is_in_the_readers_language() {
    let mut env = shell();
    let help = env.dandori(["run", "--help"]).ok();
    assert!(help.contains("Usage: dandori run [OPTIONS] [INSTRUCTION]") && help.contains("--base <BASE>"), "{help}");
    let asked = env.dandori(["run", "--help", "--lang", "ja"]).ok();
    assert!(asked.contains("使い方: dandori run [オプション] [指示]") && asked.contains("--base <ベース>"), "{asked}");
    env.var("LANG", "ja_JP.UTF-8");
    assert_eq!(env.dandori(["run", "-h"]).ok(), asked);
    assert_eq!(env.dandori(["run", "-h", "--lang", "en"]).ok(), help);
    let all = env.dandori(["--help"]).ok();
    assert!(all.contains("\nコマンド:\n  run  ") && all.contains("\n終了コード:\n    0  完了"), "{all}");
    assert!(env.dandori(["--version"]).ok().starts_with("dandori "));
}

#[test]
fn half_a_command_shows_the_other_half() {
    let env = shell();
    let Ran { code, stdout, stderr } = env.dandori(["task"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("Usage: dandori task") && stderr.contains("follow-up"), "{stderr}");
    let (en, ja) = refused(&env, &["worktree"]);
    assert!(en.contains("`dandori worktree` needs a command") && en.contains("add, list, path, remove"), "{en}");
    assert!(ja.contains("`dandori worktree` にはコマンドが必要です"), "{ja}");
}

#[test]
fn an_unknown_option_or_command_is_told_with_the_nearest() {
    let env = shell();
    let (en, ja) = refused(&env, &["run", "x", "--agnt", "claude"]);
    assert_eq!(en, "error: unknown option `--agnt`\nhint: did you mean `--agent`?\n");
    assert_eq!(ja, "エラー: オプション `--agnt` はありません\nヒント: もしかして: `--agent`\n");
    let (en, ja) = refused(&env, &["task", "show", "T-1", "--zzz"]);
    assert!(en.contains("`dandori task show --help` for the options"), "{en}");
    assert!(ja.contains("`dandori task show --help`"), "{ja}");
    let (en, ja) = refused(&env, &["task", "shwo", "T-1"]);
    assert_eq!(en, "error: unknown command `shwo`\nhint: did you mean `dandori task show`?\n");
    assert_eq!(ja, "エラー: コマンド `shwo` はありません\nヒント: もしかして: `dandori task show`\n");
    let (en, _) = refused(&env, &["taks", "list"]);
    assert!(en.contains("did you mean `dandori task`"), "{en}");
    let (en, ja) = refused(&env, &["fix the bug"]);
    assert!(en.contains("`dandori run \"…\"`") && ja.contains("`dandori run \"…\"`"), "{en}{ja}");
}

#[test]
fn what_is_missing_or_too_much_is_named_with_the_usage() {
    let env = shell();
    let (en, ja) = refused(&env, &["task", "pick", "T-1"]);
    assert!(en.contains("`dandori task pick` needs <RUN>\n  usage: dandori task pick <TASK> <RUN>"), "{en}");
    assert!(ja.contains("`dandori task pick` には <実行> が必要です\n  使い方: dandori task pick"), "{ja}");
    let (en, ja) = refused(&env, &["run", "add", "a", "test"]);
    assert!(en.contains("unexpected argument `a`") && en.contains("quote text"), "{en}");
    assert!(ja.contains("引数 `a` は不要です") && ja.contains("引用符"), "{ja}");
}

#[test]
fn a_wrong_value_is_told_with_what_is_right() {
    let env = shell();
    for (words, en_says, ja_says) in [
        (&["run", "x", "--budget", "-1"][..], "such as 2.50", "米ドル額を指定してください"),
        (&["task", "list", "--limit", "many"], "a whole number", "整数を指定してください"),
        (&["daemon", "start", "--listen", "here"], "such as 127.0.0.1:4100", "アドレスとポート"),
        (&["completions", "csh"], "use one of: bash", "次のいずれかを指定してください: bash"),
        (&["run", "x", "--json=yes"], "takes no value", "値 `yes` は指定できません"),
        (&["run", "x", "--agent", "a", "--agents", "b"], "use only one of them", "どちらか一方だけ"),
        (&["run", "x", "--base", "a", "--base", "b"], "more than once", "複数回指定されています"),
        (&["run", "x", "--base"], "`--base <BASE>` needs a value", "`--base <ベース>` には値が必要です"),
    ] {
        let (en, ja) = refused(&env, words);
        assert!(en.contains(en_says), "{en}");
        assert!(ja.contains(ja_says), "{ja}");
    }
}

#[test]
fn an_empty_name_is_told_before_anything_is_asked() {
    let env = shell();
    for (words, argument) in [
        (&["task", "show", ""][..], "TASK"),
        (&["task", "log", ""], "RUN"),
        (&["task", "cancel", "T-1", ""], "TASK"),
        (&["pr", "show", ""], "PR"),
        (&["pr", "merge", ""], "PR"),
        (&["worktree", "path", ""], "WORKTREE"),
        (&["worktree", "restore", ""], "FROM"),
        (&["inbox", "show", ""], "ID"),
        (&["inbox", "dismiss", ""], "ID"),
        (&["run", "x", "--base="], "--base <BASE>"),
        (&["run", "x", "--agent", ""], "--agent <AGENT>"),
    ] {
        let (en, ja) = refused(&env, words);
        assert!(en.contains("` is empty") && en.contains(argument), "{words:?}: {en}");
        assert!(ja.contains("が空です"), "{words:?}: {ja}");
    }
}

#[test]
fn a_wrong_language_is_answered_in_that_of_the_locale() {
    let mut env = shell();
    let said = env.dandori(["task", "list", "--lang", "fr"]).fails(2);
    assert_eq!(said, "error: invalid value `fr` for `--lang <LANG>`\nhint: use one of: en, ja\n");
    env.var("LANG", "ja_JP.UTF-8");
    let said = env.dandori(["task", "list", "--lang", "fr"]).fails(2);
    assert_eq!(
        said,
        "エラー: `--lang <言語>` に `fr` は指定できません\nヒント: 次のいずれかを指定してください: en, ja\n"
    );
}

#[test]
fn a_usage_error_is_json_for_those_who_parse_it() {
    let ran = shell().dandori(["run", "--json", "--agnt"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (2, &"usage".into()));
}
