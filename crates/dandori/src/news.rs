//! News of the daemon in words: what a notice says.

use dandori_engine::{News, NewsWords, Told};
use dandori_host::Env;
use dandori_text::{Lang, inbox, ui};

/// In the language that is configured, else that of the daemon's environment.
pub(crate) fn words(env: &Env, configured: Option<&str>, news: &News) -> NewsWords {
    let lang = Lang::choose(None, configured, |name| env.text(name));
    match &news.what {
        Told::Need(need) => {
            let (title, message, command) = inbox::told(lang, need);
            NewsWords { title, message, command: Some(command) }
        }
        Told::Ended(ended) => {
            let changes = match ended.changes {
                Some(c) => ui::changes(lang, c.files, c.insertions, c.deletions),
                None => ui::no_changes(lang).to_owned(),
            };
            let command = ended.changes.map(|_| format!("dandori task diff {}", ended.task));
            let title = format!("{} {}", ended.task, ended.title);
            NewsWords { title, message: inbox::ended(lang, &changes), command }
        }
        Told::Words(words) => {
            let message = dandori_domain::plain::plain(words);
            NewsWords { title: "dandori".to_owned(), message, command: None }
        }
        Told::Test => NewsWords { title: "dandori".to_owned(), message: inbox::test_notice(lang), command: None },
    }
}
