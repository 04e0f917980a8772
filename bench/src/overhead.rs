//! A whole run through the real binary against a shell script with the same git commands.
//!
//! Both edit one file of the same repository and leave a commit on a pushed branch. Each side has its own clone and
//! its own bare origin on the same disk, and keeps the worktrees it makes. The daemon runs and its pool is full, as
//! in normal use; a third clone without a pool shows what the slot is worth.

use std::fs::File;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_git::{Git, Pool, Repository};
use serde_json::Value;

use crate::Size;
use crate::bed::Bed;
use crate::report::{Bound, Figure, Measured};
use crate::repository::{Shape, clone, file_name, make_bare};
use crate::samples::{Samples, shown};
use crate::timeline::{Timeline, kind_of};
use crate::trouble::Trouble;

const SCRIPT: &str = r#"set -e
cd "$1"
git fetch --quiet origin
git worktree add --quiet --no-track -b "$2" "$3" origin/main
cd "$3"
printf 'edited\n' >> "$4"
git add -A
git diff --cached > "$5"
git commit --quiet -m 'feat: edit one file'
git push --quiet origin "HEAD:refs/heads/$2"
"#;

pub(crate) fn measure(size: Size, dandori: &Utf8Path) -> Result<Vec<Figure>, Trouble> {
    let shape = Shape { files: size.pick(100, 1_000), bytes_each: 4_000, commits: 3 };
    let bed = Bed::new(dandori)?;
    for name in ["script", "pooled", "cold"] {
        make_bare(&bed, &bed.path(&format!("{name}.git")), shape)?;
        clone(&bed, &bed.path(&format!("{name}.git")), &bed.path(name))?;
    }
    leave_no_pool(&bed, &bed.path("cold"))?;
    std::fs::create_dir_all(bed.path("trees"))?;

    let (mut script, mut pooled, mut cold) = (Samples::default(), Samples::default(), Samples::default());
    let mut timeline = Timeline::default();
    // The daemon starts, the pool is filled for the first time: not what is measured.
    for name in ["pooled", "cold"] {
        run(&bed, name, &mut Samples::default())?;
    }
    run_script(&bed, "warm-up", &mut Samples::default())?;
    for round in 0..size.pick(2, 21) {
        // Each goes first as often as the other. What one has written is not waited for by the next.
        let script_first = round % 2 == 0;
        wait_for_slot(&bed, "pooled")?;
        rustix::fs::sync();
        if script_first {
            run_script(&bed, &format!("round-{round}"), &mut script)?;
            rustix::fs::sync();
        }
        let began = dandori_host::now();
        let events = run(&bed, "pooled", &mut pooled)?;
        let ended = began + Duration::from_secs_f64(pooled.last());
        if !from_pool(&events) {
            return Err(Trouble::wrong("a run did not get the slot that was ready"));
        }
        timeline.add(began, &events, ended)?;
        rustix::fs::sync();
        if !script_first {
            run_script(&bed, &format!("round-{round}"), &mut script)?;
        }
        wait_for_slot(&bed, "pooled")?;
        rustix::fs::sync();
        run(&bed, "cold", &mut cold)?;
    }
    bed.dandori(&bed.path("pooled"), &["daemon", "stop"])?;
    let what = format!("a run that edits one file of {} ÷ the same git commands in a shell script", shape.files);
    let baseline = Measured::seconds(script.median(), format!("shell script, {}", script.spread()));
    let figure = Measured::seconds(pooled.median(), format!("dandori run, {}", pooled.spread()));
    Ok(vec![
        Figure::ratio("overhead", what, (figure, baseline), Bound::AtMost(1.3))
            .detail(format!(
                "without a warm slot: {} ({}), ratio {:.2}",
                shown(cold.median()),
                cold.spread(),
                cold.median() / script.median()
            ))
            .detail(format!("medians: {}", timeline.told())),
    ])
}

/// One run, timed from the command's start to its end; its events.
fn run(bed: &Bed, name: &str, samples: &mut Samples) -> Result<Vec<Value>, Trouble> {
    let agent = format!("exec:printf 'edited\\n' >> {}", file_name(0));
    let args = ["run", "edit one file", "--agent", &agent, "--json"];
    let told = samples.time(|| bed.dandori_json(&bed.path(name), &args))?;
    let state = told.pointer("/runs/0/state").and_then(Value::as_str);
    if state != Some("SUCCEEDED") || told.pointer("/runs/0/commit").is_none_or(Value::is_null) {
        return Err(Trouble::wrong(format!("the run did not succeed: {told}")));
    }
    let task = told.get("task").and_then(Value::as_str).unwrap_or_default();
    bed.api().events(task, |events| events.iter().any(|event| kind_of(event) == "settled"))
}

fn run_script(bed: &Bed, name: &str, samples: &mut Samples) -> Result<(), Trouble> {
    let (tree, patch) = (bed.path(&format!("trees/{name}")), bed.path(&format!("trees/{name}.diff")));
    let (repository, branch, file) = (bed.path("script"), format!("script/{name}"), file_name(0));
    let args = ["-c", SCRIPT, "sh", repository.as_str(), &branch, tree.as_str(), &file, patch.as_str()];
    samples.time(|| bed.cmd("sh", &repository, &args).run())?;
    Ok(())
}

/// This repository's runs make their worktrees themselves. Committed, so that the checkout stays clean.
fn leave_no_pool(bed: &Bed, clone: &Utf8Path) -> Result<(), Trouble> {
    let file = clone.join("dandori.toml");
    dandori_host::replace_file(&file, b"[worktrees]\npool = 0\n", 0o644).map_err(Trouble::io(&file))?;
    bed.git(clone, &["add", "-A"])?;
    bed.git(clone, &["commit", "--quiet", "-m", "no pool"])?;
    bed.git(clone, &["push", "--quiet", "origin", "main"])?;
    Ok(())
}

fn from_pool(events: &[Value]) -> bool {
    let ready = events.iter().find(|event| kind_of(event) == "worktree_ready");
    ready.and_then(|event| event.pointer("/body/from_pool")?.as_bool()).unwrap_or(false)
}

/// A slot that is whole and that nobody is at work on any more.
pub(crate) fn wait_for_slot(bed: &Bed, name: &str) -> Result<(), Trouble> {
    let root = bed.path(name);
    let repository = Repository::open(&Git::new(bed.env(), "bench"), &root, &root.join(".git"));
    let repos = bed.path("state/repos");
    bed.wait_until("a warm slot", || {
        let folders = repos.read_dir_utf8().map_err(Trouble::io(&repos))?;
        for folder in folders.flatten() {
            let pool = Pool::new(&repository, &folder.path().join("pool"), &folder.path().join("trash"));
            let slots = pool.list()?;
            if slots.iter().any(|slot| is_free(&slot.path.with_extension("lock"))) {
                return Ok(true);
            }
        }
        Ok(false)
    })
}

fn is_free(lock: &Utf8PathBuf) -> bool {
    File::open(lock).is_ok_and(|file| file.try_lock().is_ok())
}
