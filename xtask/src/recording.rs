//! `cargo xtask recording`: the picture in the README, made from a real run of `dandori demo` in a real terminal.
//!
//! The demo plays in tmux, in a window so high that nothing scrolls away; the screen is looked at many times a second. What
//! it showed and when becomes one SVG that moves by itself ([`picture`]).

mod picture;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use self::picture::Look;

const COLUMNS: usize = 80;
/// Higher than all that the demo prints.
const ROWS: usize = 110;
const LOOK: Duration = Duration::from_millis(70);
/// Between two keys, as a person types.
const KEY: Duration = Duration::from_millis(70);
const LONGEST: Duration = Duration::from_mins(2);

pub(crate) fn make() -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let built =
        Command::new("cargo").args(["build", "--quiet", "-p", "dandori"]).status().map_err(|e| e.to_string())?;
    if !built.success() {
        return Err("dandori does not build".to_owned());
    }
    let images = root.join("docs/images");
    std::fs::create_dir_all(&images).map_err(|e| e.to_string())?;
    for (lang, locale, name) in [("en", "C.UTF-8", "demo.svg"), ("ja", "ja_JP.UTF-8", "demo.ja.svg")] {
        let folder = std::env::temp_dir().join(format!("dandori-recording-{}-{lang}", std::process::id()));
        let looks = record(&folder, &root.join("target/debug/dandori"), locale);
        let _ = std::fs::remove_dir_all(&folder);
        let drawn = picture::svg(&looks?, "dandori demo");
        let path = images.join(name);
        std::fs::write(&path, &drawn).map_err(|e| e.to_string())?;
        println!("docs/images/{name} ({} KiB)", drawn.len() / 1024);
    }
    Ok(())
}

fn record(folder: &Path, dandori: &Path, locale: &str) -> Result<Vec<Look>, String> {
    // As it is installed: by its name alone.
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).map_err(|e| e.to_string())?;
    std::fs::copy(dandori, bin.join("dandori")).map_err(|e| e.to_string())?;
    let socket = folder.join("tmux");
    let tmux = |args: &[&str]| {
        let output =
            Command::new("tmux").arg("-uS").arg(&socket).args(args).output().map_err(|e| format!("tmux: {e}"))?;
        Ok::<_, String>(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // Nobody's own settings and prompt; the prompt that comes back tells that the demo is over.
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let over = folder.join("prompt-1");
    let shell = format!(
        "env -i PATH='{path}' HOME='{home}' LANG={locale} TERM=\"$TERM\" PS1='$ ' \
         PROMPT_COMMAND='touch {home}/prompt-$((prompts++))' bash --norc --noprofile",
        home = folder.display(),
    );
    let (columns, rows) = (COLUMNS.to_string(), ROWS.to_string());
    tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, &shell])?;
    wait_for(&folder.join("prompt-0"))?;
    let started = Instant::now();
    let mut looks: Vec<Look> = Vec::new();
    let look = |looks: &mut Vec<Look>| {
        let lines: Vec<String> = tmux(&["capture-pane", "-p", "-e"])?.lines().map(str::to_owned).collect();
        if looks.last().is_none_or(|last| last.lines != lines) {
            looks.push(Look { at: started.elapsed(), lines });
        }
        Ok::<_, String>(())
    };
    look(&mut looks)?;
    for key in "dandori demo".chars() {
        std::thread::sleep(KEY);
        tmux(&["send-keys", "-l", &key.to_string()])?;
        look(&mut looks)?;
    }
    tmux(&["send-keys", "Enter"])?;
    while !over.exists() && started.elapsed() < LONGEST {
        std::thread::sleep(LOOK);
        look(&mut looks)?;
    }
    std::thread::sleep(LOOK);
    look(&mut looks)?;
    let _ = tmux(&["kill-server"]);
    let all = looks.last().map(|last| last.lines.join("\n")).unwrap_or_default();
    clean_up(&all, dandori);
    if over.exists() && looks.len() > 30 { Ok(looks) } else { Err(format!("the demo did not end well\n{all}")) }
}

fn wait_for(file: &Path) -> Result<(), String> {
    let started = Instant::now();
    while !file.exists() {
        if started.elapsed() > Duration::from_secs(10) {
            return Err("no shell in tmux: is tmux there?".to_owned());
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// What the demo leaves for its user to look at: nobody will.
fn clean_up(screen: &str, dandori: &Path) {
    let folder = screen.split_whitespace().find(|word| word.contains("/dandori-demo-") && word.ends_with("/repo"));
    if let Some(folder) = folder.and_then(|repo| Path::new(repo).parent()) {
        let _ = Command::new(dandori).args(["daemon", "stop"]).env("DANDORI_STATE_DIR", folder.join("state")).output();
        let _ = std::fs::remove_dir_all(folder);
    }
}
