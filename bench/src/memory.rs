//! The daemon's memory while many agents are at work.

use camino::Utf8Path;
use serde_json::Value;

use crate::Size;
use crate::bed::Bed;
use crate::report::{Bound, Figure, Measured, Unit};
use crate::repository::{Shape, clone, make_bare};
use crate::trouble::Trouble;

pub(crate) fn measure(size: Size, dandori: &Utf8Path) -> Result<Vec<Figure>, Trouble> {
    let live = size.pick(5, 50);
    let bed = Bed::new(dandori)?;
    bed.user_config("[runs]\nmax_parallel = 60\nmin_free_memory = \"16MiB\"\nmin_free_disk = \"16MiB\"\n")?;
    make_bare(&bed, &bed.path("origin.git"), Shape { files: 100, bytes_each: 2_000, commits: 1 })?;
    clone(&bed, &bed.path("origin.git"), &bed.path("repo"))?;
    let repo = bed.path("repo");
    for _ in 0..live {
        bed.dandori(&repo, &["run", "wait", "--agent", "exec:exec sleep 3600", "--detach", "--json"])?;
    }
    bed.wait_until("all agents are at work", || Ok(running(&bed)? == live))?;
    let pid = bed.daemon_pid()?;
    let status = Memory::of(pid)?;
    let shims = shims_of(&bed)?;
    let figure = Measured { value: status.resident, unit: Unit::Megabytes, how: format!("resident, {live} runs live") };
    let what = format!("memory of the daemon with {live} live runs");
    let figure = Figure::absolute("memory", what, figure, Bound::AtMost(100.0))
        .detail(format!(
            "proportional set size {}, highest resident so far {:.1} MB",
            status.proportional.map_or_else(|| "not told".to_owned(), |mb| format!("{mb:.1} MB")),
            status.peak
        ))
        .detail(format!(
            "{} shims beside it: {:.1} MB resident together, {:.1} MB proportional",
            shims.len(),
            shims.iter().map(|shim| shim.resident).sum::<f64>(),
            shims.iter().filter_map(|shim| shim.proportional).sum::<f64>()
        ));
    bed.dandori(&repo, &["daemon", "stop"])?;
    Ok(vec![figure])
}

/// What an agent's output leaves behind in the daemon, as much of it as one may print.
pub(crate) fn measure_output(size: Size, dandori: &Utf8Path) -> Result<Vec<Figure>, Trouble> {
    let mebibytes = size.pick(8, 511);
    let bed = Bed::new(dandori)?;
    bed.user_config("[runs]\nmin_free_memory = \"16MiB\"\nmin_free_disk = \"16MiB\"\n")?;
    make_bare(&bed, &bed.path("origin.git"), Shape { files: 100, bytes_each: 2_000, commits: 1 })?;
    clone(&bed, &bed.path("origin.git"), &bed.path("repo"))?;
    let repo = bed.path("repo");
    bed.dandori(&repo, &["daemon", "start"])?;
    let pid = bed.daemon_pid()?;
    let before = Memory::of(pid)?;
    let agent = format!("exec:yes 'a line as programs print them, not long' | head -c {mebibytes}M");
    let told = bed.dandori_json(&repo, &["run", "talk", "--agent", &agent, "--json"])?;
    if told.pointer("/runs/0/state").and_then(Value::as_str) != Some("SUCCEEDED") {
        return Err(Trouble::wrong(format!("the run did not succeed: {told}")));
    }
    let after = Memory::of(pid)?;
    bed.dandori(&repo, &["daemon", "stop"])?;
    let how = format!("resident, after {mebibytes} MiB of output");
    let figure = Measured { value: after.resident, unit: Unit::Megabytes, how };
    let what = format!("memory of the daemon after an agent printed {mebibytes} MiB");
    Ok(vec![
        Figure::absolute("output", what, figure, Bound::AtMost(60.0))
            .detail(format!("{:.1} MB before; highest {:.1} MB", before.resident, after.peak)),
    ])
}

/// Runs whose agent is at work.
pub(crate) fn running(bed: &Bed) -> Result<usize, Trouble> {
    let tasks = bed.api().get("/v1/tasks?limit=200&open=true")?;
    let runs = tasks
        .get("tasks")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|task| task.get("runs")?.as_array())
        .flatten();
    Ok(runs.filter(|run| run.get("state").and_then(Value::as_str) == Some("RUNNING")).count())
}

/// In megabytes of a million bytes.
struct Memory {
    resident: f64,
    peak: f64,
    /// Not every kernel or user may see it.
    proportional: Option<f64>,
}

impl Memory {
    fn of(pid: u32) -> Result<Self, Trouble> {
        let path = camino::Utf8PathBuf::from(format!("/proc/{pid}/status"));
        let status = std::fs::read_to_string(&path).map_err(Trouble::io(&path))?;
        let missing = || Trouble::wrong(format!("{path} does not tell"));
        let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        Ok(Self {
            resident: megabytes(&status, "VmRSS:").ok_or_else(missing)?,
            peak: megabytes(&status, "VmHWM:").ok_or_else(missing)?,
            proportional: megabytes(&rollup, "Pss:"),
        })
    }
}

fn megabytes(text: &str, key: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: u32 = line.split_whitespace().next()?.parse().ok()?;
    Some(f64::from(kibibytes) * 1024.0 / 1e6)
}

fn shims_of(bed: &Bed) -> Result<Vec<Memory>, Trouble> {
    let inside = bed.path("state");
    let is_shim = |pid: u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<String> = line.split(|b| *b == 0).map(|w| String::from_utf8_lossy(w).into_owned()).collect();
        words.get(1).is_some_and(|w| w == "shim") && words.get(2).is_some_and(|w| w.starts_with(inside.as_str()))
    };
    let pids = std::fs::read_dir("/proc")?.flatten().filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| is_shim(*pid)).map(Memory::of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_figures_are_kibibytes() {
        assert!((megabytes("VmPeak: 9 kB\nVmRSS:\t  100000 kB\n", "VmRSS:").unwrap() - 102.4).abs() < 1e-9);
        assert_eq!(megabytes("Rss: 1 kB", "Pss:"), None);
    }
}
