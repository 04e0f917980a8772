//! Command lines in the input of a tool that nobody knows: `Monitor {"command": …}`, `{"steps": [{"cmd": …}]}`.

use dandori_domain::shell_word;
use serde_json::{Map, Value};

/// The names that tools have for one.
const LINES: [&str; 8] =
    ["command", "cmd", "commandLine", "command_line", "shellCommand", "shell_command", "bash_command", "commands"];
/// How deep they are looked for.
const DEPTH: usize = 4;

/// Takes every command line out, in the order they stand there.
pub(super) fn take_from(input: &mut Value, found: &mut Vec<String>) {
    take(input, DEPTH, found);
}

fn take(value: &mut Value, depth: usize, found: &mut Vec<String>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| take(item, depth, found)),
        Value::Object(fields) => {
            for name in LINES {
                let lines = fields.get(name).map(|value| lines(name, value)).unwrap_or_default();
                if lines.is_empty() {
                    continue;
                }
                fields.remove(name);
                let args = take_args(fields);
                let is_one = lines.len() == 1;
                found.extend(lines.into_iter().map(|line| match &args {
                    Some(args) if is_one => format!("{line} {args}"),
                    _ => line,
                }));
            }
            fields.values_mut().for_each(|value| take(value, depth, found));
        }
        _ => {}
    }
}

/// A list is the words of one line, unless its name says that there are several.
fn lines(name: &str, value: &Value) -> Vec<String> {
    match value {
        Value::String(line) => vec![line.clone()],
        Value::Array(items) if name == "commands" => {
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        }
        Value::Array(words) => shell_line(words).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn take_args(fields: &mut Map<String, Value>) -> Option<String> {
    let args = fields.get("args").and_then(Value::as_array).and_then(|words| shell_line(words))?;
    fields.remove("args");
    Some(args)
}

/// A command given as a list of words, as a line that means the same.
pub(super) fn shell_line(words: &[Value]) -> Option<String> {
    let quoted: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(shell_word)).collect();
    quoted.filter(|words| !words.is_empty()).map(|words| words.join(" "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_are_read_back_as_they_were(
            words in prop::collection::vec("if|time|do|A=1|--a=b|it's|\\$HOME|`x`|[a-z =$();|&<>'\"\\\\*?~#!{}%日]{0,8}", 1..5)
        ) {
            let given: Vec<Value> = words.iter().cloned().map(Value::from).collect();
            // A first word of a program that looks at its own words is another matter.
            let line = shell_line(&[vec![Value::from("echo")], given].concat()).unwrap();
            let reading = dandori_shell::read(&line);
            let read: Vec<&str> = reading.commands[0].argv.iter().map(|word| word.text.as_str()).collect();
            prop_assert_eq!(&read[1..], &words, "{}", line);
            prop_assert_eq!(reading.commands.len(), 1);
        }
    }

    #[test]
    fn a_first_word_is_a_program_whatever_its_name() {
        for name in ["A=1", "if", "time", "my tool", "it's"] {
            let reading = dandori_shell::read(&shell_line(&[name.into(), "x".into()]).unwrap());
            assert_eq!(reading.commands[0].argv[0].text, name);
        }
    }
}
