use super::*;

#[test]
fn each_has_names_of_its_own_and_is_found_by_them() {
    for client in Client::ALL {
        assert_eq!(client.name().parse::<Client>(), Ok(client));
        assert_eq!(Client::of_program(client.describe().program.name), Some(client));
        for word in [client.name(), client.title(), &client.title().replace(' ', "_")] {
            assert_eq!(Client::meant_by(word), Some(client), "{word}");
        }
        let same = |other: &&Client| other.describe().settings.folder == client.describe().settings.folder;
        assert_eq!(Client::ALL.iter().filter(same).count(), 1, "{client}");
    }
    assert_eq!(Client::meant_by("user"), None);
    assert!("Claude".parse::<Client>().unwrap_err().to_string().contains(Client::ALL[0].name()));
}

#[test]
fn what_a_client_asks_about_is_whole() {
    for (client, hooks) in Client::with_hooks() {
        for moment in [Moment::SessionStart, Moment::Prompt, Moment::BeforeTool, Moment::Stop, Moment::SessionEnd] {
            assert!(hooks.event(moment).is_some(), "{client} {moment:?}");
        }
        let settings = &client.describe().settings;
        let is_settings = |name: &str| settings.files.iter().any(|file| file.name == name);
        assert!(is_settings(hooks.file) && hooks.local_file.is_none_or(is_settings), "{client}");
        let closed = hooks.events.iter().any(|event| event.fails_closed);
        assert_eq!(closed, hooks.on_failure.is_some(), "{client}");
        assert!(hooks.events.iter().all(|e| e.name != "WorktreeCreate"), "a worktree is still made by git");
        let end = hooks.events.iter().find(|event| event.moment == Moment::SessionEnd).unwrap();
        assert!(end.seconds <= 3, "{client}: no client waits longer at the end");
        assert!(hooks.requires.iter().all(|required| !required.written().is_empty()));
    }
}

#[test]
fn a_version_that_is_known_is_a_version() {
    for client in Client::ALL {
        let program = &client.describe().program;
        let number = |version: &&str| -> Vec<u32> { version.split('.').map(|part| part.parse().unwrap()).collect() };
        assert!(program.known_to_work.is_sorted_by_key(number), "{client}");
        assert_eq!(Some(&program.newest()), program.known_to_work.last());
    }
}

#[test]
fn a_title_says_what_a_client_is_doing() {
    use Activity::{Busy, Idle, Waiting};
    for (client, title, activity) in [
        (Client::Claude, "✳ Claude Code", Some(Idle)),
        (Client::Claude, "⠂ Write the greeting", Some(Busy)),
        (Client::Claude, "⠐ Write the greeting", Some(Busy)),
        (Client::Claude, "◐ Write the greeting", Some(Busy)),
        (Client::Claude, "◑ Write the greeting", Some(Busy)),
        (Client::Claude, "Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA", None),
        (Client::Claude, "build-host", None),
        (Client::Codex, "⠹ repo", Some(Busy)),
        (Client::Codex, "repo", Some(Idle)),
        (Client::Codex, "", None),
        (Client::Gemini, "◇  Ready (repo)", Some(Idle)),
        (Client::Gemini, "✦  Working… (repo)", Some(Busy)),
        (Client::Gemini, "✋  Action Required (repo)", Some(Waiting)),
    ] {
        assert_eq!(client.activity(title), activity, "{title}");
    }
}
