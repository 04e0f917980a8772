//! `dandori guard list`

use std::process::ExitCode;

use dandori_api::{ExceptionView, GuardList, ListedGuard};
use dandori_domain::guard::{ErrorPolicy, Level};
use dandori_guard::guards::{self, ALL};
use dandori_guard::world::About;
use dandori_journal::{Exceptions, Given};
use dandori_policy::{Compiled, Origin};
use dandori_text::guard::verbs;
use dandori_text::ui::{Head, head};
use dandori_text::{Table, policy};

use super::Context;
use crate::guarded::Guarded;
use crate::out::{Failed, bad, dim, good};

pub(crate) fn run(context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    // From the sources, not from the snapshot: whose word a level is stands in no snapshot.
    let guarded = Guarded::here(context)?;
    let compiled = dandori_policy::read(&guarded.rules);
    let now = dandori_host::now();
    let exceptions = Exceptions::new(&guarded.folder).list(now).map_err(|e| guarded.io(&std::io::Error::other(e)))?;
    let rows = rows(&compiled);
    out.object(&GuardList {
        profile: compiled.rules.profile.as_str().to_owned(),
        guards: rows.iter().map(Row::told).collect(),
        total: rows.len(),
        exceptions: exceptions.iter().map(exception).collect(),
        notes: compiled.notes.iter().filter_map(|note| serde_json::to_value(note).ok()).collect(),
    });
    out.line(policy::profile(out.lang, compiled.rules.profile));
    let columns = [Head::Guard, Head::Level, Head::Source, Head::OnError, Head::Events];
    let mut table = Table::new(columns.map(|h| head(out.lang, h)));
    for row in &rows {
        let whose = match row.origin {
            Origin::Default => policy::Whose::Default,
            Origin::User => policy::Whose::User,
            Origin::Repository => policy::Whose::Repository,
        };
        let level = match row.level {
            Level::Off => dim(row.level.as_str()),
            Level::Block => bad(row.level.as_str()),
            Level::Ask | Level::Warn | Level::Info => good(row.level.as_str()),
        };
        let on_error = row.on_error.map(|on_error| policy::on_error(out.lang, on_error)).unwrap_or_default();
        table.row([row.name.clone(), level, policy::whose(out.lang, &whose), on_error, row.events.join(", ")]);
    }
    out.table(&table);
    for given in &exceptions {
        let about = match &given.about {
            About::All => verbs::about_all(out.lang).to_owned(),
            About::Command(command) => format!("`{command}`"),
            About::Path(path) => path.clone(),
        };
        let until = given.until.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string();
        let until = verbs::until(out.lang, &until, given.uses_left);
        out.line(verbs::exception(out.lang, &given.guard, &about, &until, &given.id));
    }
    for note in &compiled.notes {
        out.note(policy::note(out.lang, note));
    }
    Ok(ExitCode::SUCCESS)
}

struct Row {
    name: String,
    level: Level,
    origin: Origin,
    on_error: Option<ErrorPolicy>,
    events: Vec<String>,
    is_own: bool,
}

impl Row {
    fn told(&self) -> ListedGuard {
        ListedGuard {
            guard: self.name.clone(),
            level: self.level.as_str().to_owned(),
            source: self.origin.as_str().to_owned(),
            on_error: self.on_error.and_then(|policy| word_of(&policy)),
            events: self.events.clone(),
            own: self.is_own,
        }
    }
}

fn word_of(value: &impl serde::Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

pub(super) fn exception(given: &Given) -> ExceptionView {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let (path, command) = match &given.about {
        About::All => (None, None),
        About::Path(path) => (Some(path.clone()), None),
        About::Command(command) => (None, Some(command.clone())),
    };
    ExceptionView {
        id: given.id.clone(),
        guard: given.guard.clone(),
        path,
        command,
        expires_at: given.until.to_string(),
        uses_left: given.uses_left,
        given_by: known(&given.given_by),
        reason: known(&given.reason),
        given_at: given.given_at.to_string(),
    }
}

/// Those at work in the order they are asked, then those that are off.
fn rows(compiled: &Compiled) -> Vec<Row> {
    let rules = &compiled.rules;
    let origin = |name: &str| compiled.origins.get(name).copied().unwrap_or(Origin::Default);
    let events = |name: &str| -> Vec<String> {
        if let Some(guard) = guards::find(name) {
            return guard.on.iter().flat_map(|on| on.names()).map(ToString::to_string).collect();
        }
        let own = rules.custom.iter().find(|rule| rule.name == name).map(|rule| rule.events.clone());
        own.filter(|events| !events.is_empty()).unwrap_or_else(|| vec!["PreToolUse".to_owned()])
    };
    let row = |name: &str, level, on_error| Row {
        level,
        origin: origin(name),
        on_error,
        events: events(name),
        is_own: guards::find(name).is_none(),
        name: name.to_owned(),
    };
    let at_work = rules.order.iter().map(|active| row(&active.name, active.level, Some(active.on_error)));
    let names = ALL.iter().map(|guard| guard.name).chain(rules.custom.iter().map(|rule| rule.name.as_str()));
    let off = names.filter(|name| rules.active(name).is_none()).map(|name| row(name, Level::Off, None));
    at_work.chain(off).collect()
}
