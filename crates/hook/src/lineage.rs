//! Who speaks through the client that called: a person at it, a script, or another agent.
//!
//! No client says so in its events. The hook is the client's child, or its shell's; how that client was started tells the
//! rest. Who is no client's child (a test, a person trying it out) is taken at his word.

use dandori_domain::Client;
use dandori_domain::client::Headless;
use dandori_host::ancestry::Ancestor;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lineage {
    /// Its prompt stood on the command line.
    pub(crate) headless: bool,
    /// An agent has started it.
    pub(crate) nested: bool,
}

impl Lineage {
    /// `above` is the hook's own line, the nearest first.
    pub(crate) fn of(above: impl Iterator<Item = Ancestor>) -> Self {
        let mut above = above.peekable();
        if above.peek().is_some_and(|parent| parent.client().is_none() && parent.is_shell()) {
            above.next();
        }
        let Some(caller) = above.next() else { return Self::default() };
        let Some(client) = caller.client() else { return Self::default() };
        let mut lineage = Self { headless: is_headless(client, &caller), nested: caller.is_agent_s() };
        // Behind a client stands its own launcher before anybody else.
        let mut is_launcher = true;
        for ancestor in above {
            let found = ancestor.client();
            is_launcher = is_launcher && found == Some(client);
            if is_launcher {
                lineage.headless |= is_headless(client, &ancestor);
                lineage.nested |= ancestor.is_agent_s();
            } else if found.is_some() {
                lineage.nested = true;
            }
        }
        lineage
    }
}

fn is_headless(client: Client, process: &Ancestor) -> bool {
    let words: Vec<String> = process.words().skip(1).take_while(|word| word != "--").collect();
    words.iter().any(|word| match &client.describe().command_line.headless {
        Headless::Option(long) => word.split('=').next() == Some(long) || prints(word),
        Headless::Verbs(verbs) => verbs.contains(&word.as_str()),
    })
}

/// `-p`, alone or among other letters.
fn prints(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| letters.chars().all(char::is_alphabetic) && letters.contains('p'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(processes: &[(&str, &str)]) -> Lineage {
        let process = |(command, environment): &(&str, &str)| Ancestor::new(command.replace(' ', "\0"), *environment);
        Lineage::of(processes.iter().map(process))
    }

    const PERSON: (&str, &str) = ("-zsh", "HOME=/h\0");

    #[test]
    fn a_person_s_session_is_neither_headless_nor_nested() {
        let clients = Client::ALL.iter().map(|client| format!("node /x/{} --yolo", client.name()));
        let more = ["claude", "claude --model p --resume", "codex", "codex -c x=exec resume"].map(str::to_owned);
        for client in clients.chain(more) {
            let client = client.as_str();
            assert_eq!(line(&[(client, ""), PERSON]), Lineage::default(), "{client}");
            assert_eq!(line(&[("sh -c hook", ""), (client, ""), PERSON]), Lineage::default(), "{client}");
        }
        let editor = [("claude", "CLAUDE_CODE_ENTRYPOINT=claude-vscode\0"), ("node /editor/host.js", ""), PERSON];
        assert_eq!(line(&editor), Lineage::default(), "an editor's");
        let launched = [("/lib/codex", "X=1\0"), ("node /bin/codex", "X=1\0"), PERSON];
        assert_eq!(line(&launched), Lineage::default(), "a launcher is not another agent");
    }

    #[test]
    fn a_prompt_on_the_command_line_is_no_person_s() {
        let of_client = |client: &Client| {
            let words = match &client.describe().command_line.headless {
                Headless::Option(long) => vec!["-p ok".to_owned(), "-cp ok".to_owned(), format!("{long}=ok")],
                Headless::Verbs(verbs) => verbs.iter().map(|verb| format!("{verb} ok")).collect(),
            };
            words.into_iter().map(|words| format!("node /x/{client} {words}")).collect::<Vec<_>>()
        };
        for client in Client::ALL.iter().flat_map(of_client) {
            let client = client.as_str();
            assert!(line(&[("bash -c hook", ""), (client, ""), PERSON]).headless, "{client}");
        }
        assert!(line(&[("/lib/codex", ""), ("node /bin/codex exec ok", ""), PERSON]).headless);
    }

    #[test]
    fn a_client_below_another_is_nested_also_when_it_hides_the_marks() {
        assert!(line(&[("claude", "CLAUDECODE=1\0"), ("bash -c claude", ""), ("claude", ""), PERSON]).nested);
        assert!(line(&[("claude", ""), ("bash -c claude", ""), ("claude", ""), PERSON]).nested);
        assert!(line(&[("claude", "CLAUDECODE=1\0"), ("claude", ""), PERSON]).nested, "started in place of the shell");
        assert!(line(&[("codex", ""), ("claude", ""), PERSON]).nested);
        assert!(!line(&[("cargo test", ""), ("claude -p x", ""), PERSON]).nested, "no client has called");
    }
}
