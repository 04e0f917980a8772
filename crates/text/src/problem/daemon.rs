//! The daemon and its API.

use dandori_domain::run::Role;
use dandori_domain::version::Version;

use crate::lang::say;
use crate::{Lang, Said};

pub(super) fn daemon_unreachable(lang: Lang, socket: &str, reason: &str) -> Said {
    Said::what(say!(lang, "the daemon does not respond at {socket}", "デーモンが {socket} で応答しません"))
        .why(reason)
        .hint(say!(
            lang,
            "see `dandori daemon status` and `dandori daemon logs`",
            "詳細は `dandori daemon status` と `dandori daemon logs` で確認できます"
        ))
}

pub(super) fn daemon_starting(lang: Lang, log: &str, reason: &str) -> Said {
    Said::what(say!(lang, "the daemon did not start", "デーモンが起動しませんでした")).why(reason).hint(say!(
        lang,
        "see its log: {log}",
        "ログを確認してください: {log}"
    ))
}

pub(super) fn daemon_version(lang: Lang, daemon: &str, cli: &str) -> Said {
    if is_older(daemon, cli) {
        return Said::what(say!(
            lang,
            "the running daemon is dandori {daemon}, older than this dandori {cli}",
            "動作中のデーモン (dandori {daemon}) は、この dandori {cli} より古いバージョンです"
        ))
        .hint(say!(
            lang,
            "`dandori daemon start` replaces it; runs continue",
            "`dandori daemon start` で置き換えられます。実行は中断されません"
        ));
    }
    Said::what(say!(
        lang,
        "the running daemon is dandori {daemon}, newer than this dandori {cli}",
        "動作中のデーモン (dandori {daemon}) は、この dandori {cli} より新しいバージョンです"
    ))
    .why(say!(
        lang,
        "an older program cannot replace a newer daemon, because it cannot read its data",
        "古いバージョンは新しいデーモンのデータを読めないため、置き換えられません"
    ))
    .hint(say!(
        lang,
        "use dandori {daemon}, or update this one to {daemon}",
        "バージョン {daemon} の dandori を使うか、この dandori を更新してください"
    ))
}

fn is_older(one: &str, other: &str) -> bool {
    matches!((one.parse::<Version>(), other.parse::<Version>()), (Ok(one), Ok(other)) if one < other)
}

pub(super) fn daemon_listens_elsewhere(lang: Lang, asked: &str, listens: Option<&str>) -> Said {
    let said = Said::what(say!(
        lang,
        "the daemon is already running and does not listen on {asked}",
        "デーモンは既に動作中で、{asked} では待ち受けていません"
    ));
    let said = match listens {
        Some(address) => said.why(say!(lang, "it listens on {address}", "待ち受け先は {address} です")),
        None => said.why(say!(lang, "it listens only on its socket", "ソケットだけで待ち受けています")),
    };
    said.hint(say!(
                lang,
                "run `dandori daemon stop`, then `dandori daemon start --listen {asked}`; runs continue in the meantime",
                "`dandori daemon stop` のあと `dandori daemon start --listen {asked}` を実行してください。その間も実行は続きます"
            ))
}

pub(super) fn cannot_listen(lang: Lang, address: &str, reason: &str) -> Said {
    Said::what(say!(lang, "the daemon cannot listen on {address}", "デーモンは {address} で待ち受けできません"))
        .why(reason)
        .hint(say!(
            lang,
            "use a free loopback address, such as 127.0.0.1:0 for any free port",
            "空いているループバックアドレスを指定してください (例: 空きポートを自動で選ぶ 127.0.0.1:0)"
        ))
}

pub(super) fn foreign_state_root(lang: Lang, path: &str) -> Said {
    Said::what(say!(lang, "{path} belongs to another user", "{path} の所有者は別のユーザーです"))
        .why(say!(
            lang,
            "that user could read the token in it and impersonate the daemon",
            "そのユーザーがトークンを読んだり、デーモンになりすましたりするおそれがあるためです"
        ))
        .hint(say!(
            lang,
            "delete it, change its owner, or set DANDORI_STATE_DIR to another folder",
            "削除するか、所有者を変更するか、DANDORI_STATE_DIR で別のフォルダーを指定してください"
        ))
}

pub(super) fn foreign_daemon(lang: Lang, socket: &str) -> Said {
    Said::what(say!(lang, "another user is listening on {socket}", "{socket} で別のユーザーが待ち受けています"))
        .why(say!(
            lang,
            "nothing was sent to it: neither the token nor your environment",
            "トークンも環境変数も送信していません"
        ))
        .hint(say!(
            lang,
            "find out who created {socket} and remove it, then try again",
            "{socket} を作成したユーザーを確認し、削除してからもう一度実行してください"
        ))
}

pub(super) fn too_many_connections(lang: Lang, limit: usize) -> Said {
    Said::what(say!(
        lang,
        "the daemon is already serving {limit} streams",
        "デーモンは既に {limit} 本のストリームを配信しています"
    ))
    .hint(say!(
        lang,
        "close some of the connected programs, or try again later",
        "接続中のプログラムをいくつか終了するか、しばらく待ってからもう一度実行してください"
    ))
}

pub(super) fn socket_path_too_long(lang: Lang, path: &str) -> Said {
    Said::what(say!(lang, "the socket path is too long: {path}", "ソケットのパスが長すぎます: {path}")).hint(say!(
        lang,
        "set DANDORI_STATE_DIR to a shorter path",
        "DANDORI_STATE_DIR を短いパスにしてください"
    ))
}

pub(super) fn stop_under_way(lang: Lang) -> Said {
    Said::what(say!(
        lang,
        "the daemon is shutting down and accepts no new requests",
        "デーモンは停止処理中のため、新しい要求を受け付けません"
    ))
    .hint(say!(lang, "try again in a moment", "少し待ってから、もう一度実行してください"))
}

pub(super) fn no_such_path(lang: Lang, method: &str, path: &str) -> Said {
    Said::what(say!(
        lang,
        "the API has no endpoint {method} {path}",
        "API に {method} {path} というエンドポイントはありません"
    ))
    .hint(say!(
        lang,
        "see /v1/openapi.json for all endpoints",
        "エンドポイントの一覧は /v1/openapi.json にあります"
    ))
}

pub(super) fn not_for_role(lang: Lang, agent: &str, role: Role, may: &[String]) -> Said {
    let (one, roles) = match role {
        Role::Orchestrator => ("an orchestrator", "オーケストレーター"),
        Role::Planner => ("a planner", "プランナー"),
        Role::Worker => ("a worker", "ワーカー"),
    };
    let may: Vec<String> = may.iter().map(|verb| format!("`{}`", ["dandori", verb].join(" "))).collect();
    let listed = may.join(if lang == Lang::Ja { "、" } else { ", " });
    Said::what(say!(lang, "{agent} is not allowed to do this", "{agent} にこの操作は許可されていません")).hint(say!(
        lang,
        "{one} can use {listed}; everything else is done by people",
        "{roles}が使えるのは {listed} です。それ以外の操作は人が行います"
    ))
}

pub(super) fn unauthorized(lang: Lang, reason: &str) -> Said {
    Said::what(say!(lang, "the daemon rejected the request", "デーモンが要求を拒否しました")).why(reason).hint(say!(
        lang,
        "every request must carry the token from private/token in the state folder",
        "すべての要求に、状態フォルダーの private/token にあるトークンが必要です"
    ))
}

pub(super) fn bad_request(lang: Lang, reason: &str) -> Said {
    Said::what(say!(lang, "invalid request", "要求を解釈できません")).why(reason).hint(say!(
        lang,
        "if the daemon is another version, stop it with `dandori daemon stop` and try again",
        "デーモンのバージョンが異なる場合は、`dandori daemon stop` で停止してから、もう一度実行してください"
    ))
}

pub(super) fn internal(lang: Lang, reason: &str) -> Said {
    Said::what(say!(lang, "internal error in dandori", "dandori の内部エラーです")).why(reason).hint(say!(
        lang,
        "please report it, with the output of `dandori daemon logs`",
        "`dandori daemon logs` の出力を添えて報告してください"
    ))
}
