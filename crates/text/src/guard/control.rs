//! What keeps the guards themselves in place.

use crate::Lang;
use crate::lang::say;

/// A folder is changed with everything in it, and some of that is the guards'.
pub fn holds(lang: Lang, folder: &str, path: &str) -> String {
    say!(
        lang,
        "this would change all that is in {folder}, and with it {path}, which belongs to the guards. Name the files and folders that you mean instead",
        "{folder} の中身をすべて変更すると、ガードの一部である {path} も変わります。対象のファイルやフォルダーを名指ししてください"
    )
}

/// What is in the archive cannot be looked at before.
pub fn unpacks(lang: Lang, folder: &str) -> String {
    say!(
        lang,
        "what this unpacks into {folder} may lie over the settings of the guards there. Unpack it into a folder of its own (`tar -C`, `unzip -d`), or save the archive first, so that it can be looked into",
        "{folder} に展開すると、そこにあるガードの設定が上書きされるおそれがあります。専用のフォルダーに展開するか (`tar -C`、`unzip -d`)、先にアーカイブを保存してください (中身を確認できます)"
    )
}

/// Which file of a client's folder is only known when the line runs.
pub fn may_write(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "{file} may turn out to be the settings that call the guards: which file it is shows only when this runs. Name the file instead",
        "{file} がどのファイルになるかは実行するまで分からず、ガードを呼び出す設定ファイルを変更するおそれがあります。ファイルを名指ししてください"
    )
}

pub fn writes(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "{file} belongs to the guards (settings, configuration, state or the program itself), and agents do not change it. Ask the user to do it",
        "{file} はガードの一部 (設定、状態、プログラム本体) のため、エージェントからは変更できません。ユーザーに依頼してください"
    )
}

pub fn too_many(lang: Lang, most: usize) -> String {
    say!(
        lang,
        "the call names more than {most} files or texts, which is more than can be checked. Do it in several calls",
        "一度の呼び出しに含まれるファイルやテキストが {most} 個を超えており、確認しきれません。複数回に分けてください"
    )
}

pub fn puts_away(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "git would put away or take out {file}, which arms the guards and is not for agents to change. Leave it where it is (`git stash push -- . ':!{file}'`), or ask the user to commit it",
        "git が {file} の変更を退避または削除してしまいます。このファイルはガードを有効にしているため、エージェントからは変更できません。対象から外す (`git stash push -- . ':!{file}'`) か、ユーザーにコミットを依頼してください"
    )
}

pub fn git_folder(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "{file} is git's own file and is changed by git alone: `git config`, `git branch`, `git switch`. Hooks are the user's: ask them",
        "{file} は git の内部ファイルのため、直接は変更できません。git のコマンド (`git config`、`git branch`、`git switch`) を使ってください。フックの変更はユーザーに依頼してください"
    )
}

/// What will stand in it cannot be told.
pub fn settings(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "{file} decides whether the guards are asked, and what would stand in it afterwards cannot be told. Harmless keys can be changed with the editing tool; for anything else ask the user",
        "{file} はガードの呼び出しを左右しますが、変更後の内容を確認できません。影響のないキーは編集ツールで変更できます。それ以外はユーザーに依頼してください"
    )
}

pub fn settings_key(lang: Lang, file: &str, key: &str) -> String {
    say!(
        lang,
        "`{key}` in {file} decides about the guards, or has the client run something by itself. Agents do not change it: ask the user",
        "{file} の `{key}` はガードに影響するか、クライアントに何かを自動実行させます。エージェントからは変更できません。ユーザーに依頼してください"
    )
}

pub fn unknown_key(lang: Lang, file: &str, key: &str) -> String {
    say!(
        lang,
        "`{key}` in {file} is not known to be harmless: it may decide about the guards, or have the client run something by itself",
        "{file} の `{key}` は影響がないと確認できていません。ガードに影響したり、クライアントに何かを自動実行させたりするおそれがあります"
    )
}

/// Programs that a client starts by itself are named in it.
pub fn names_programs(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "{file} names programs that the client starts by itself, past the guards",
        "{file} に書かれたプログラムは、ガードを通らずにクライアントが自動で起動します"
    )
}

pub fn plants(lang: Lang, file: &str, name: &str) -> String {
    say!(
        lang,
        "{file} would set {name} for every client that is started from now on, and with it decide about its guards. Ask the user",
        "{file} で {name} を設定すると、今後起動するすべてのクライアントのガードに影響します。ユーザーに依頼してください"
    )
}

pub fn lets_in(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "{file} decides who may log in as the user. Agents do not change it: ask the user",
        "{file} はユーザーとしてログインできる人を決めるファイルのため、エージェントからは変更できません。ユーザーに依頼してください"
    )
}

pub fn starts_later(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "what {file} says is run by itself later, outside of this session and past the guards",
        "{file} の内容は、後でこのセッションの外で、ガードを通らずに自動実行されます"
    )
}

pub fn schedules_line(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` has something run by itself later, outside of this session and past the guards",
        "`{line}` は、後でこのセッションの外で、ガードを通らずに何かを自動実行させます"
    )
}

pub fn replaces(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` would replace or remove dandori itself, which the guards are. Ask the user",
        "`{line}` はガードの本体である dandori を置き換えるか削除します。ユーザーに依頼してください"
    )
}

pub fn adds(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` has the client start programs by itself from then on, past the guards",
        "`{line}` を実行すると、以後クライアントがガードを通らずにプログラムを自動で起動します"
    )
}

pub fn verb(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` is for the user alone, in their own terminal. Say what you need it for and ask them",
        "`{line}` はユーザー専用です (ユーザー自身の端末で実行します)。必要な理由を説明して依頼してください"
    )
}

pub fn unguarded(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` would start an agent without its guards. Start it plainly in the repository's top folder, without switches or variables that turn settings off",
        "`{line}` はガードなしでエージェントを起動します。リポジトリの最上位フォルダーで、設定を無効にするオプションや環境変数なしで起動してください"
    )
}

pub fn takes_up(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` would go on with a session that is there and speak in it as its user. Start a new session instead (without --resume, --continue or `resume`)",
        "`{line}` は既存のセッションをユーザーの立場で続けることになります。新しいセッションを開始してください (--resume、--continue、`resume` は使えません)"
    )
}

pub fn unknown_option(lang: Lang, line: &str, option: &str) -> String {
    say!(
        lang,
        "`{line}` would start an agent with {option}, and nobody knows whether it still asks its guards then. Leave {option} away, or ask the user",
        "`{line}` は {option} を付けてエージェントを起動しますが、その場合にガードが呼ばれるか分かりません。{option} を外すか、ユーザーに相談してください"
    )
}

/// Into a terminal that is not the agent's own.
pub fn types(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` types into a terminal, where it counts as the user's own word. For programs of your own start a tmux server of your own (`tmux -L agent new-session -d -s work`, then `tmux -L agent send-keys -t work …`), or ask the user",
        "`{line}` は端末に文字を入力するため、ユーザー自身の入力と見なされてしまいます。自分で動かすプログラムには専用の tmux サーバーを使う (`tmux -L agent new-session -d -s work`、続けて `tmux -L agent send-keys -t work …`) か、ユーザーに依頼してください"
    )
}

pub fn types_on_screen(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` types on the user's screen, and may answer in their place",
        "`{line}` はユーザーの画面にキー入力を送るため、ユーザーの代わりに答えてしまうおそれがあります"
    )
}

/// Through the client's door for other sessions, or the terminal's own input.
pub fn speaks(lang: Lang) -> String {
    say!(
        lang,
        "this would speak to the client as if the user did. Only the user answers for the user: say what you need and wait",
        "クライアントに対してユーザーになりすまして発言することになります。必要なことを説明し、ユーザーの返答を待ってください"
    )
}

pub fn schedules(lang: Lang, tool: &str) -> String {
    say!(
        lang,
        "{tool} would bring a yes that the user has not given. Schedule what is to be done, not an answer",
        "{tool} で予約すると、ユーザーが出していない承認が送られます。承認ではなく、行う作業を予約してください"
    )
}

pub fn stops(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` would stop dandori itself. Ask the user",
        "`{line}` は dandori 自体を停止させます。ユーザーに依頼してください"
    )
}

pub fn disarms(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "{file} changed so that the guards would no longer be asked; the change is not taken over in this session. If it is meant, restart the client; `dandori init` puts the guards back",
        "{file} の変更によりガードが呼ばれなくなるため、このセッションには適用しません。意図した変更ならクライアントを再起動してください。`dandori init` でガードを元に戻せます"
    )
}

pub fn denied_before(lang: Lang, file: &str, guard: &str) -> String {
    say!(
        lang,
        "writing {file} was refused a moment ago ({guard}), and another way to it is refused as well. Follow the reason given there, or ask the user",
        "{file} への書き込みは先ほど拒否されています ({guard})。別の方法でも拒否されます。その理由に従うか、ユーザーに相談してください"
    )
}
