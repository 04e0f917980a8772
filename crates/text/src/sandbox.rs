//! The fence in words: which layers hold, and what a missing one leaves open.

use dandori_domain::run::Sandbox;
use dandori_domain::sandbox::{Door, Gap};

use crate::Lang;
use crate::lang::say;

/// `namespaces, Landlock (ABI 7), system call filter`
pub fn layers(lang: Lang, sandbox: &Sandbox) -> String {
    let layers = sandbox.layers();
    let mut holding = Vec::new();
    if layers.namespaces {
        holding.push(say!(lang, "namespaces", "名前空間"));
    }
    if layers.landlock > 0 {
        let abi = layers.landlock;
        holding.push(say!(lang, "Landlock (ABI {abi})", "Landlock (ABI {abi})"));
    }
    if layers.calls {
        holding.push(say!(lang, "system call filter", "システムコールフィルタ"));
    }
    if holding.is_empty() { say!(lang, "none", "なし") } else { holding.join(", ") }
}

/// What is not covered, as `doctor` lists it.
pub fn gap(lang: Lang, gap: Gap) -> &'static str {
    let (en, ja) = match gap {
        Gap::PathSockets => (
            "sockets in the file system are reachable: tmux, ssh-agent, D-Bus, docker, X11",
            "ファイルシステム上のソケットに接続できます: tmux、ssh-agent、D-Bus、docker、X11",
        ),
        Gap::Terminals => (
            "your other terminals can be read and written through /dev/pts",
            "/dev/pts を通じて、ほかの端末を読み書きできます",
        ),
        Gap::Priorities => (
            "the priority and CPU affinity of your other processes can be changed",
            "ほかのプロセスの優先度と CPU アフィニティを変更できます",
        ),
        Gap::Modes => (
            "the mode, owner and times of your files outside the worktree can be changed, but not their contents",
            "ワークツリーの外にあるファイルの権限、所有者、時刻を変更できます (内容は変更できません)",
        ),
        Gap::OtherProcesses => (
            "the names and command lines of your other processes are visible",
            "ほかのプロセスの名前とコマンドラインが見えます",
        ),
        Gap::HiddenNames => (
            "the names, sizes and times of hidden files are visible, but not their contents",
            "隠したファイルの名前、サイズ、時刻が見えます (内容は読み取れません)",
        ),
        Gap::SharedMemory => (
            "the shared memory, semaphores and message queues of your other processes are accessible",
            "ほかのプロセスの共有メモリ、セマフォ、メッセージキューにアクセスできます",
        ),
        Gap::Caches => (
            "tools whose cache cannot be set by a variable start without their cache",
            "環境変数でキャッシュの場所を指定できないツールは、キャッシュなしで動作します",
        ),
        Gap::RemotePasswords => (
            "a password in the URL of a git remote can be read",
            "git リモートの URL に含まれるパスワードを読み取れます",
        ),
        Gap::Signals => ("signals can be sent to your other processes", "ほかのプロセスにシグナルを送れます"),
        Gap::AbstractSockets => (
            "abstract sockets are reachable: X11, D-Bus on some systems",
            "抽象ソケットに接続できます: X11、一部のシステムの D-Bus",
        ),
        Gap::Truncation => {
            ("files outside the worktree can be emptied", "ワークツリーの外にあるファイルを空にできます")
        }
        Gap::Calls => (
            "the resource limits and memory of your other processes, the kernel keyring and io_uring are not protected",
            "ほかのプロセスのリソース制限とメモリ、カーネルのキーリング、io_uring は保護されません",
        ),
        Gap::Files => (
            "files: the agent can read and write wherever you can",
            "ファイル: エージェントはあなたと同じ範囲を読み書きできます",
        ),
    };
    match lang {
        Lang::En => en,
        Lang::Ja => ja,
    }
}

/// What `doctor --sandbox` tried.
pub fn door(lang: Lang, door: Door) -> &'static str {
    let (en, ja) = match door {
        Door::Secrets => ("read a hidden file", "隠したファイルの読み取り"),
        Door::Writing => ("write outside the worktree", "ワークツリーの外への書き込み"),
        Door::Modes => ("change the mode of a file outside", "外のファイルの権限変更"),
        Door::SharedFolder => ("write to the shared /tmp", "共有の /tmp への書き込み"),
        Door::PathSockets => ("connect to a socket in the file system", "ファイルシステム上のソケットへの接続"),
        Door::AbstractSockets => ("connect to an abstract socket", "抽象ソケットへの接続"),
        Door::Processes => ("see another process", "ほかのプロセスの参照"),
        Door::Memory => ("open the memory of another process", "ほかのプロセスのメモリの読み取り"),
        Door::Signals => ("signal another process", "ほかのプロセスへのシグナル"),
        Door::Limits => ("change the limits of another process", "ほかのプロセスのリソース制限の変更"),
        Door::Priorities => ("change the priority of another process", "ほかのプロセスの優先度の変更"),
        Door::Terminals => ("open another terminal", "ほかの端末を開く"),
        Door::Mounts => ("mount a file system", "ファイルシステムのマウント"),
        Door::Survivors => ("leave a process behind", "プロセスを残す"),
    };
    match lang {
        Lang::En => en,
        Lang::Ja => ja,
    }
}

pub fn door_holds(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "blocked",
        Lang::Ja => "ブロックされました",
    }
}

pub fn door_is_open(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "succeeded: not protected on this machine",
        Lang::Ja => "成功しました: このマシンでは保護されません",
    }
}
