//! What each key takes, for somebody who has given something else.

use crate::Lang;

/// `None`: a name or a shell line, which can be anything, or a key of the guards.
pub fn expected(lang: Lang, key: &str) -> Option<&'static str> {
    let (en, ja) = match key {
        "agent" => (
            "claude, codex, gemini, exec:<command>, or a name from [agents]",
            "claude、codex、gemini、exec:<コマンド>、[agents] の名前のいずれか",
        ),
        "pr" | "notify.desktop" | "notify.bell" => ("true or false", "true か false"),
        "forge" => ("auto, github or local", "auto、github、local のいずれか"),
        "cleanup" => ("merged, pr, push or never", "merged、pr、push、never のいずれか"),
        "language" => ("en or ja", "en か ja"),
        "sandbox.mode" => ("auto, require or off", "auto、require、off のいずれか"),
        "store" => ("an address such as postgres://user@host/dandori", "postgres://user@host/dandori のようなアドレス"),
        "limits.start" | "limits.silence" | "limits.run" | "limits.grace" => {
            ("a duration such as 90s, 15m or 2h", "90s、15m、2h のような時間")
        }
        "runs.min_free_memory" | "runs.min_free_disk" | "sandbox.memory" => {
            ("a size such as 512MiB or 2GiB", "512MiB、2GiB のような容量")
        }
        "runs.max_parallel" => ("a whole number of at least 1", "1 以上の整数"),
        "worktrees.pool" => ("a whole number from 0 to 64", "0 から 64 までの整数"),
        "limits.api_retries" | "push.retries" | "worktrees.keep_days" | "sandbox.processes" | "sandbox.open_files" => {
            ("a whole number, such as 20", "0 以上の整数 (例: 20)")
        }
        "limits.budget" => ("an amount in US dollars above 0, such as 2.50", "0 より大きい米ドル額 (例: 2.50)"),
        "commit.template" => (
            "a text made of {type} {subject} {summary} {instruction} {task} {agent} {run}",
            "{type} {subject} {summary} {instruction} {task} {agent} {run} からなる文",
        ),
        "worktrees.set_up" => (
            r#"a list of commands such as ["make deps"], or false"#,
            r#"["make deps"] のようなコマンドのリスト、または false"#,
        ),
        "sandbox.write" | "sandbox.hide" | "sandbox.read" | "sandbox.pass_env" | "forbidden.paths" => {
            (r#"a list such as ["a", "b"]"#, r#"["a", "b"] のようなリスト"#)
        }
        "notify.webhook" | "github.api" => {
            ("an address such as https://example.com/hook", "https://example.com/hook のようなアドレス")
        }
        "github.host" => ("a host such as github.example.com", "github.example.com のようなホスト名"),
        _ => return None,
    };
    Some(match lang {
        Lang::En => en,
        Lang::Ja => ja,
    })
}
