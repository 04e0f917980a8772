//! Whether a client's settings still have it ask the guards: every tool, at once, with time to answer, and the program
//! that is installed.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::client::{Hooks, Off};
use dandori_text::guard::control as text;
use serde_json::Value;

use super::{is_listed_settings, is_settings, nested};
use crate::context::Context;
use crate::voice::{Trouble, Voice};

/// The client is about to take over a change of its settings.
pub(super) fn config_changed(context: &Context, path: &Utf8Path, voice: &mut Voice) -> Result<(), Trouble> {
    let now = context.text(path)?.unwrap_or_else(|| "{}".to_owned());
    let is_off = match serde_json::from_str::<Value>(&now) {
        Ok(settings) => {
            let hooks = context.event.agent.hooks();
            hooks.is_some_and(|hooks| is_switched_off(hooks, &settings) || opens_the_door(hooks, &settings))
                || moves_the_guards(&settings)
        }
        // One fault in the file, and the client drops every hook in it.
        Err(_) => true,
    };
    let is_run = context.rules.constraints.is_some();
    if is_off || !is_run && !is_called_somewhere(context, path)? {
        voice.block(text::disarms(context.lang, path.as_str()));
    }
    Ok(())
}

/// Variables from the settings are the hooks' too: with others the guards would look for their state elsewhere.
fn moves_the_guards(settings: &Value) -> bool {
    let names = settings.get("env").and_then(Value::as_object).into_iter().flat_map(|env| env.keys());
    names.into_iter().any(|name| nested::decides_about_guards(name) || name.starts_with("LD_"))
}

/// Whatever a switch says but the opposite of off: what the client makes of it is not known.
fn is_switched_off(hooks: &Hooks, settings: &Value) -> bool {
    hooks.switches.iter().filter(|switch| !switch.is_machines).any(|switch| {
        let said = switch.keys.iter().try_fold(settings, |value, key| value.get(key));
        match switch.off {
            Off::Word(off) => said.is_some_and(|said| *said != Value::Bool(off != "true")),
            Off::Listed => said.is_some(),
        }
    })
}

/// What has to stand says otherwise: what other sessions send would count as the user's word again.
fn opens_the_door(hooks: &Hooks, settings: &Value) -> bool {
    hooks.requires.iter().any(|required| {
        let said = settings.get(required.key);
        said.is_some_and(|word| !word.as_str().is_some_and(|word| required.words.contains(&word)))
    })
}

/// Whether one of the client's settings files still calls the guards.
fn is_called_somewhere(context: &Context, changed: &Utf8Path) -> Result<bool, Trouble> {
    let Some(hooks) = context.event.agent.hooks() else { return Ok(false) };
    let beside = [hooks.local_file, Some(hooks.file)].into_iter().flatten().map(|file| changed.with_file_name(file));
    let beside: Vec<Utf8PathBuf> = beside.collect();
    let known = context.rules.control.iter().filter(|path| is_settings(path) || is_listed_settings(context, path));
    for path in beside.iter().chain(known) {
        if context.text(path)?.is_some_and(|text| calls_us(context, hooks, &text)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Before every tool, and when settings change: without the second the first is gone with the next change.
pub(super) fn calls_us(context: &Context, hooks: &Hooks, text: &str) -> bool {
    let Ok(settings) = serde_json::from_str::<Value>(text) else { return false };
    hooks.essential().all(|event| has_ours(context, &settings, event))
}

fn has_ours(context: &Context, settings: &Value, event: &str) -> bool {
    let groups = settings.get("hooks").and_then(|hooks| hooks.get(event)).and_then(Value::as_array);
    let hears_all = |group: &&Value| match group.get("matcher") {
        None => true,
        Some(matcher) => matcher.as_str().is_some_and(|m| m.is_empty() || m == "*"),
    };
    let handlers = groups.into_iter().flatten().filter(hears_all).filter_map(|group| group.get("hooks")?.as_array());
    handlers.flatten().any(|handler| is_ours(context, handler))
}

/// Nothing beside what `init` writes: `async`, `if` or `once` would let tools run without an answer.
fn is_ours(context: &Context, handler: &Value) -> bool {
    const KEYS: [&str; 7] = ["type", "name", "command", "args", "timeout", "statusMessage", "onFailure"];
    /// The shortest that `init` gives, in seconds.
    const TIME: f64 = 3.0;
    let Some(keys) = handler.as_object() else { return false };
    let command = handler.get("command").and_then(Value::as_str).unwrap_or_default();
    let words: Vec<String> = match handler.get("args").and_then(Value::as_array) {
        Some(args) => {
            std::iter::once(command).chain(args.iter().filter_map(Value::as_str)).map(str::to_owned).collect()
        }
        None => match dandori_shell::read(command).commands.as_slice() {
            [only] => only.argv.iter().map(|word| word.text.clone()).collect(),
            _ => return false,
        },
    };
    let [program, verb, _, places @ ..] = words.as_slice() else { return false };
    keys.keys().all(|key| KEYS.contains(&key.as_str()))
        && handler.get("timeout").is_none_or(|time| time.as_f64().is_some_and(|time| time >= TIME))
        // A word that the client does not know has it drop the hooks.
        && handler.get("onFailure").is_none_or(|word| word == "block")
        && verb == "hook"
        && places.chunks(2).all(|place| is_our_place(context, place))
        && is_program(context, program)
}

/// The guards' own files are where they were: elsewhere there may be other rules, or none.
fn is_our_place(context: &Context, place: &[String]) -> bool {
    match place {
        [option, path] if option == "--home" => context.world.home().is_some_and(|home| home == *path),
        [option, path] if matches!(option.as_str(), "--state" | "--config" | "--run") => {
            context.rules.control.iter().any(|known| known == path)
        }
        _ => false,
    }
}

/// The program that is installed, by whatever name: another that is called the same is not it.
fn is_program(context: &Context, program: &str) -> bool {
    let path = Utf8PathBuf::from(program);
    let real = context.world.real(&path);
    [&path, &real].into_iter().any(|path| context.rules.control.contains(path))
}
