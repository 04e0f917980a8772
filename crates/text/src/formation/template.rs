//! `[formation]` of a new `dandori.toml`: every key that is often changed, commented out at its default.

use crate::Lang;

pub fn section(lang: Lang) -> &'static str {
    match lang {
        Lang::En => {
            "\
[formation]
# How agents are run: \"headless\", or \"tmux\" to watch them and type to them
# mode = \"headless\"
# Workers, from 1 to 8
# workers = 4
# The agent everybody runs, unless a key below says otherwise (default: `agent`)
# agent = \"claude\"
# planner = \"claude\"
# orchestrator = \"claude\"
# worker_agents = [\"claude\", \"codex\"]
# Models for simple tasks (bloom_level 1 to 3) and for hard ones (4 to 6)
# small_model = \"sonnet\"
# large_model = \"opus\"
# A command that decides whether merged work fits together
# check = \"make test\"
"
        }
        Lang::Ja => {
            "\
[formation]
# エージェントの動かし方: \"headless\"、または画面を見て入力できる \"tmux\"
# mode = \"headless\"
# ワーカーの数 (1〜8)
# workers = 4
# 全員が使うエージェント (既定: `agent`)。以下のキーで個別に変更できる
# agent = \"claude\"
# planner = \"claude\"
# orchestrator = \"claude\"
# worker_agents = [\"claude\", \"codex\"]
# 簡単なタスク (bloom_level 1〜3) と難しいタスク (4〜6) のモデル
# small_model = \"sonnet\"
# large_model = \"opus\"
# マージした作業を確認するコマンド
# check = \"make test\"
"
        }
    }
}
