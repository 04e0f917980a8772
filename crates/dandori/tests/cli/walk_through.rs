//! The README's way from nothing to a merged pull request, typed into a terminal line by line.
//!
//! Run are the `sh` blocks below `<!-- walk-through -->`, in order; the `text` block behind one is what it prints, but for ids,
//! commits and seconds. `UPDATE=1 cargo test -p dandori --test cli walk_through` writes what it prints now.

use dandori_testkit::env::TestEnv;
use dandori_testkit::tmux::Tmux;

const MARK: &str = "<!-- walk-through -->";
/// The shell prints it between a line that was typed and what comes of it.
const HERE: &str = ">>>";

#[test]
fn the_english_readme_leads_to_a_merged_pull_request() {
    walk("README.md", "C.UTF-8");
}

#[test]
fn the_japanese_readme_leads_to_a_merged_pull_request() {
    walk("README.ja.md", "ja_JP.UTF-8");
}

fn walk(name: &str, lang: &str) {
    let path = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(&path).unwrap();
    let steps = steps(&readme);
    assert!(steps.len() >= 4, "{name} has lost its walk-through: {steps:?}");
    let env = TestEnv::without_repository(env!("CARGO_BIN_EXE_dandori"));
    std::fs::create_dir_all(env.repo()).unwrap();
    let terminal = Tmux::start(&env, 80, 60, &[("LANG", lang), ("LESSCHARSET", "utf-8")]);
    let _ = terminal.line(&format!("PS0='{HERE}\\n'"));
    let (mut updated, mut differs) = (readme.clone(), Vec::new());
    for step in &steps {
        let printed: Vec<String> = step.commands.iter().flat_map(|command| typed(&env, &terminal, command)).collect();
        let Some(output) = &step.output else { continue };
        let told: Vec<&str> = output.lines().collect();
        if told.len() != printed.len() || !told.iter().zip(&printed).all(|(told, printed)| is_like(told, printed)) {
            differs.push(format!("{}\nprints\n{}", step.commands.join("\n"), printed.join("\n")));
        }
        // All of them: the ids of one stand in another.
        let block = |output: &str| format!("{}```\n```text\n{output}```", step.source);
        updated = updated.replace(&block(output), &block(&(printed.join("\n") + "\n")));
    }
    let merged = env.git_in(&env.repo().join("hello"), ["show", "main:greet.sh"]);
    assert!(merged.contains("Hello"), "{merged}");
    assert_eq!(
        terminal.line("dandori pr list --state merged --json | grep -c '\"state\":\"merged\"'").lines().last(),
        Some("1")
    );
    if std::env::var_os("UPDATE").is_some() && !differs.is_empty() {
        std::fs::write(&path, updated).unwrap();
    } else {
        assert!(differs.is_empty(), "{name} shows something else (UPDATE=1 writes it)\n{}", differs.join("\n\n"));
    }
}

/// What the line prints. It must end well.
fn typed(env: &TestEnv, terminal: &Tmux, command: &str) -> Vec<String> {
    terminal.begin(command);
    // The README says what to answer.
    if command.starts_with("dandori pr merge") {
        terminal.wait_for("[y/N]");
        terminal.answer("y");
    }
    let all = terminal.end();
    let code = terminal.line("echo code=$?");
    assert!(code.ends_with("code=0"), "`{command}` fails\n{all}");
    let state = env.state().to_string();
    let home = env.repo().to_string();
    let shown = all
        .lines()
        .skip_while(|line| *line != HERE)
        .skip(1)
        .map(|line| line.replace(&state, "~/.local/state/dandori").replace(&home, "~"));
    shown.map(|line| line.trim_end().to_owned()).collect()
}

#[derive(Debug)]
struct Step {
    /// The block as it stands there.
    source: String,
    commands: Vec<String>,
    output: Option<String>,
}

fn steps(readme: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in readme.split(MARK).skip(1) {
        let (source, rest) = part.trim_start().strip_prefix("```sh\n").and_then(|p| p.split_once("```\n")).unwrap();
        let commands = source
            .replace("\\\n", "")
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        let output =
            rest.trim_start().strip_prefix("```text\n").and_then(|r| r.split_once("```")).map(|(o, _)| o.to_owned());
        steps.push(Step { source: source.to_owned(), commands, output });
    }
    steps
}

/// The same words; what is different in every run (ids, commits, seconds) may be.
fn is_like(told: &str, printed: &str) -> bool {
    let words = |line: &str| -> Vec<String> {
        let line = line.replace("just now", "0s ago").replace("たった今", "0秒前");
        line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let seconds = |word: &str| {
        word.strip_suffix('s')
            .or(word.strip_suffix('秒'))
            .or(word.strip_suffix("秒前"))
            .unwrap_or("x")
            .parse::<u64>()
            .is_ok()
    };
    let is_id = |word: &str| {
        matches!(word.len(), 7 | 8 | 26) && word.chars().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase())
    };
    let alike = |told: &String, printed: &String| {
        told == printed
            || (seconds(told) && seconds(printed))
            || (is_id(told)
                && told.contains(|c: char| c.is_ascii_digit())
                && is_id(printed)
                && told.len() == printed.len())
    };
    let (told, printed) = (words(told), words(printed));
    told.len() == printed.len() && told.iter().zip(&printed).all(|(told, printed)| alike(told, printed))
}
