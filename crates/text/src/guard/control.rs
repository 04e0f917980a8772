//! What keeps the guards themselves in place.

use crate::Lang;
use crate::lang::say;

/// A folder is changed with everything in it, and some of that is the guards'.
pub fn holds(lang: Lang, folder: &str, path: &str) -> String {
    say!(
        lang,
        "this would change everything in {folder}, including {path}, which belongs to the guards. Name the files and folders to change instead",
        "{folder} の中身をすべて変更すると、ガードの一部である {path} も変わります。対象のファイルやフォルダーを明示してください"
    )
}

/// What is in the archive cannot be looked at before.
pub fn unpacks(lang: Lang, folder: &str) -> String {
    say!(
        lang,
        "unpacking into {folder} may overwrite the settings of the guards there. Unpack into a separate folder (`tar -C`, `unzip -d`), or save the archive first so that its contents can be checked",
        "{folder} に展開すると、そこにあるガードの設定が上書きされるおそれがあります。別のフォルダーに展開するか (`tar -C`、`unzip -d`)、中身を確認できるように先にアーカイブを保存してください"
    )
}

/// Which file of a client's folder is only known when the line runs.
pub fn may_write(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "{file} may be the settings file that calls the guards: the actual file is not known until this runs. Name the file explicitly",
        "{file} が実際にどのファイルかは実行するまで分からず、ガードを呼び出す設定ファイルを変更するおそれがあります。ファイルを明示してください"
    )
}

pub fn writes(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "{file} belongs to the guards (settings, configuration, state or the program itself), and agents must not change it. Ask the user to do it",
        "{file} はガードの一部 (設定、状態、プログラム本体) のため、エージェントからは変更できません。ユーザーに依頼してください"
    )
}

pub fn too_many(lang: Lang, most: usize) -> String {
    say!(
        lang,
        "the call names more than {most} files or texts, too many to check. Split it into several calls",
        "一度の呼び出しに含まれるファイルやテキストが {most} 個を超えているため、確認できません。複数回に分けてください"
    )
}

pub fn puts_away(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "git would stash or remove {file}, which activates the guards; agents must not change it. Exclude it (`git stash push -- . ':!{file}'`), or ask the user to commit it",
        "git が {file} の変更を退避または削除してしまいます。このファイルはガードを有効にしているため、エージェントからは変更できません。対象から除外する (`git stash push -- . ':!{file}'`) か、ユーザーにコミットを依頼してください"
    )
}

pub fn git_folder(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "{file} is an internal file of git; change it only with git commands: `git config`, `git branch`, `git switch`. For hooks, ask the user",
        "{file} は git の内部ファイルのため、直接は変更できません。git のコマンド (`git config`、`git branch`、`git switch`) を使ってください。フックの変更はユーザーに依頼してください"
    )
}

/// What will stand in it cannot be told.
pub fn settings(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "{file} controls whether the guards are called, and its contents after this change cannot be determined. Change harmless keys with the editing tool; for anything else, ask the user",
        "{file} はガードの呼び出しを左右しますが、変更後の内容を確認できません。影響のないキーは編集ツールで変更できます。それ以外はユーザーに依頼してください"
    )
}

pub fn settings_key(lang: Lang, file: &str, key: &str) -> String {
    say!(
        lang,
        "`{key}` in {file} affects the guards or makes the client run something automatically. Agents must not change it: ask the user",
        "{file} の `{key}` はガードに影響するか、クライアントに何かを自動実行させます。エージェントからは変更できません。ユーザーに依頼してください"
    )
}

pub fn unknown_key(lang: Lang, file: &str, key: &str) -> String {
    say!(
        lang,
        "`{key}` in {file} is not known to be harmless: it may affect the guards or make the client run something automatically",
        "{file} の `{key}` は安全と確認されていません。ガードに影響したり、クライアントに何かを自動実行させたりするおそれがあります"
    )
}

/// Programs that a client starts by itself are named in it.
pub fn names_programs(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "{file} names programs that the client starts automatically, bypassing the guards",
        "{file} に書かれたプログラムは、ガードを通らずにクライアントが自動で起動します"
    )
}

pub fn plants(lang: Lang, file: &str, name: &str) -> String {
    say!(
        lang,
        "{file} would set {name} for every client started from now on, which affects its guards. Ask the user",
        "{file} で {name} を設定すると、今後起動するすべてのクライアントのガードに影響します。ユーザーに依頼してください"
    )
}

pub fn lets_in(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "{file} controls who can log in as the user. Agents must not change it: ask the user",
        "{file} は誰がユーザーとしてログインできるかを決めるファイルのため、エージェントからは変更できません。ユーザーに依頼してください"
    )
}

pub fn starts_later(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "the contents of {file} run automatically later, outside this session and bypassing the guards",
        "{file} の内容は、後でこのセッションの外で、ガードを通らずに自動実行されます"
    )
}

pub fn schedules_line(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` makes something run automatically later, outside this session and bypassing the guards",
        "`{line}` は、後でこのセッションの外で、ガードを通らずに何かを自動実行させます"
    )
}

pub fn replaces(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` would replace or remove dandori, which runs the guards. Ask the user",
        "`{line}` はガードを実行する dandori を置き換えるか削除します。ユーザーに依頼してください"
    )
}

pub fn adds(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` makes the client start programs automatically from then on, bypassing the guards",
        "`{line}` を実行すると、以後クライアントがガードを通らずにプログラムを自動で起動します"
    )
}

pub fn verb(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "only the user can run `{line}`, in their own terminal. Explain why you need it and ask them",
        "`{line}` を実行できるのは、自分の端末を使うユーザー本人だけです。必要な理由を説明して依頼してください"
    )
}

pub fn unguarded(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` would start an agent without its guards. Start it in the repository's top folder, without options or variables that disable settings",
        "`{line}` はガードなしでエージェントを起動します。リポジトリの最上位フォルダーで、設定を無効にするオプションや環境変数なしで起動してください"
    )
}

pub fn takes_up(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` would continue an existing session and speak as its user. Start a new session instead (without --resume, --continue or `resume`)",
        "`{line}` は既存のセッションをユーザーとして続行することになります。新しいセッションを開始してください (--resume、--continue、`resume` は使えません)"
    )
}

pub fn unknown_option(lang: Lang, line: &str, option: &str) -> String {
    say!(
        lang,
        "`{line}` would start an agent with {option}, and it is unknown whether it still calls its guards then. Remove {option}, or ask the user",
        "`{line}` は {option} を付けてエージェントを起動しますが、その場合にガードが呼び出されるか分かりません。{option} を外すか、ユーザーに相談してください"
    )
}

/// Into a terminal that is not the agent's own.
pub fn types(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` types into a terminal, where it counts as the user's input. For your own programs, start a separate tmux server (`tmux -L agent new-session -d -s work`, then `tmux -L agent send-keys -t work …`), or ask the user",
        "`{line}` は端末に文字を入力するため、ユーザー本人の入力として扱われます。自分で動かすプログラムには専用の tmux サーバーを使う (`tmux -L agent new-session -d -s work`、続けて `tmux -L agent send-keys -t work …`) か、ユーザーに依頼してください"
    )
}

pub fn types_on_screen(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` types on the user's screen and may answer on their behalf",
        "`{line}` はユーザーの画面にキー入力を送るため、ユーザーの代わりに答えてしまうおそれがあります"
    )
}

/// Through the client's door for other sessions, or the terminal's own input.
pub fn speaks(lang: Lang) -> String {
    say!(
        lang,
        "this would speak to the client as the user. Only the user can answer for the user: explain what you need and wait",
        "クライアントに対してユーザーになりすますことになります。必要なことを説明し、ユーザーの返答を待ってください"
    )
}

pub fn schedules(lang: Lang, tool: &str) -> String {
    say!(
        lang,
        "{tool} would send an approval that the user has not given. Schedule the work to do, not an answer",
        "{tool} で予約すると、ユーザーが与えていない承認が送信されます。承認ではなく、行う作業を予約してください"
    )
}

pub fn stops(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` would stop dandori. Ask the user",
        "`{line}` は dandori を停止させます。ユーザーに依頼してください"
    )
}

pub fn disarms(lang: Lang, file: &str) -> String {
    say!(
        lang,
        "{file} was changed so that the guards would no longer be called; the change does not take effect in this session. If it is intended, restart the client; `dandori init` reinstalls the guards",
        "{file} の変更によりガードが呼び出されなくなるため、このセッションには適用しません。意図した変更ならクライアントを再起動してください。`dandori init` でガードを再度組み込めます"
    )
}

pub fn denied_before(lang: Lang, file: &str, guard: &str) -> String {
    say!(
        lang,
        "writing {file} was blocked a moment ago ({guard}), and so are other ways to write it. Follow the reason given there, or ask the user",
        "{file} への書き込みは先ほどブロックされました ({guard})。別の方法でも書き込めません。その理由に従うか、ユーザーに相談してください"
    )
}
