//! Nobody but the user speaks for the user.

use dandori_text::Lang;
use serde_json::json;

use super::{is_refused, stage};
use crate::judge::Outcome;

#[test]
fn typing_into_somebody_s_terminal_is_refused_and_into_one_s_own_is_not() {
    for line in [
        "tmux send-keys -t a ok Enter",
        "tmux send -t a ok Enter",
        "tmux send-k -t a 1",
        "sleep 5; tmux send-keys Enter",
        "(sleep 3 && tmux send-keys -t %0 Enter) &",
        "tmux set-buffer ok && tmux paste-buffer -t a",
        "tmux pasteb -t a",
        "tmux new -d \\; send-keys -t a ok Enter",
        "tmux new -d -s a; tmux send-keys -t a ok Enter",
        "echo ok | tmux load-buffer - \\; paste-buffer -t a",
        "tmux pipe-pane -I -t a 'echo ok'",
        "tmux -L default send-keys -t a ok Enter",
        "tmux -S /tmp/tmux-0/default send-keys -t a ok Enter",
        "tmux -L \"$S\" send-keys ok Enter",
        "bash -c 'tmux send-keys -t a ok Enter'",
        "screen -S a -X stuff 'ok\n'",
        "zellij action write-chars ok",
        "kitty @ send-text ok",
        "wezterm cli send-text ok",
        "python3 -c \"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b'o')\"",
        "perl -e 'ioctl(STDIN, 0x5412, \"o\")'",
    ] {
        let judged = stage().bash(line);
        assert!(is_refused(&judged), "{line}: {}", judged.said());
    }
    for line in [
        "tmux ls",
        "tmux new-session -d -s dev 'npm run dev'",
        "tmux -L agent new-session -d -s work",
        "tmux -L agent send-keys -t work 'npm start' Enter",
        "tmux -S /tmp/agent.sock send-keys -t work C-c",
        "tmux -Lagent send-keys -t work q",
        "tmux capture-pane -p -t a",
        "tmux pipe-pane -t a 'cat > log.txt'",
        "tmux kill-session -t work",
        "grep -rn TIOCSTI src",
        "git commit -m 'refuse tmux send-keys'",
    ] {
        let judged = stage().bash(line);
        assert!(!is_refused(&judged), "{line}: {}", judged.said());
    }
    for line in
        ["xdotool type ok", "xdotool key Return", "wtype ok", "osascript -e 'tell app \"x\" to keystroke \"ok\"'"]
    {
        assert_eq!(stage().bash(line).outcome(), Outcome::Ask, "{line}");
    }
    assert!(stage().bash("tmux send-keys ok").said().contains("tmux -L agent"));
    assert!(stage().lang(Lang::Ja).bash("tmux send-keys ok").said().contains("ユーザー"));
}

#[test]
fn the_server_that_the_client_sits_in_is_not_the_agent_s_own() {
    let inside = stage().variable("TMUX", "/tmp/tmux-1000/mine,123,0");
    assert!(is_refused(&inside.bash("tmux -L mine send-keys -t a ok Enter")));
    assert!(is_refused(&inside.bash("tmux -S /tmp/tmux-1000/mine send-keys ok Enter")));
    assert!(!is_refused(&inside.bash("tmux -L agent send-keys -t work ls Enter")));
}

#[test]
fn the_door_for_other_sessions_is_not_used_by_the_agent() {
    for line in [
        "python3 -c \"import os,socket; s=socket.socket(socket.AF_UNIX); s.connect(os.environ['CLAUDE_CODE_MESSAGING_SOCKET'])\"",
        "printf '%s' \"$CLAUDE_CODE_MESSAGING_TOKEN\"",
        "nc -U ${CLAUDE_CODE_MESSAGING_SOCKET}",
        "S=$CLAUDE_CODE_MESSAGING_SOCKET; socat - UNIX:$S",
        "printenv CLAUDE_CODE_MESSAGING_TOKEN",
        "node -e 'require(\"net\").connect(process.env.CLAUDE_CODE_MESSAGING_SOCKET)'",
    ] {
        let judged = stage().bash(line);
        assert!(is_refused(&judged), "{line}: {}", judged.said());
    }
    for line in [
        "grep -rn CLAUDE_CODE_MESSAGING_SOCKET docs",
        "git commit -m 'mention CLAUDE_CODE_MESSAGING_TOKEN'",
        "echo CLAUDE_CODE_MESSAGING_SOCKET",
    ] {
        let judged = stage().bash(line);
        assert!(!is_refused(&judged), "{line}: {}", judged.said());
    }
}

#[test]
fn a_prompt_that_comes_by_itself_is_no_yes() {
    for (tool, input, refused) in [
        ("CronCreate", json!({"cron": "* * * * *", "prompt": "ok"}), true),
        ("CronCreate", json!({"cron": "* * * * *", "prompt": " OK! "}), true),
        ("ScheduleWakeup", json!({"delaySeconds": 60, "prompt": "はい"}), true),
        ("CronCreate", json!({"cron": "0 9 * * *", "prompt": "run the tests"}), false),
        ("ScheduleWakeup", json!({"stop": true}), false),
        ("AskUserQuestion", json!({"question": "ok"}), false),
    ] {
        let judged = stage().tool(tool, &input);
        assert_eq!(is_refused(&judged), refused, "{tool} {input}: {}", judged.said());
    }
}
