//! Time and memory of one case, as the kernel counts them.

use std::fs::File;
use std::io::{Read, Write};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use rustix::time::{ClockId, clock_gettime};

/// What a guard may need, in bytes.
pub(crate) const MEMORY_LIMIT: u64 = 50_000_000;

/// What one case may cost. Time of the processor, because the machine may have other work to do; a build without
/// optimisation is many times slower.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 15 } else { 1 });

/// How much of the processor this thread has had.
pub(crate) fn cpu_time() -> Duration {
    let spec = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(spec.tv_sec).unwrap_or_default(), u32::try_from(spec.tv_nsec).unwrap_or_default())
}

/// The most memory any child had that has ended, in bytes.
pub(crate) fn children_peak() -> u64 {
    let kilobytes = getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, |usage| usage.max_rss());
    u64::try_from(kilobytes).unwrap_or_default() * 1024
}

/// The highest memory of this process between two points.
pub(crate) struct Memory {
    reset: Option<File>,
    baseline: u64,
}

impl Memory {
    /// From what the process needs by now.
    pub(crate) fn from_now() -> Self {
        let reset = File::options().write(true).open("/proc/self/clear_refs").ok();
        Self { reset, baseline: status("VmRSS:") }
    }

    pub(crate) fn begin(&mut self) {
        if let Some(file) = &mut self.reset {
            let _ = file.write_all(b"5");
        }
    }

    /// The highest since `begin`, above the baseline.
    pub(crate) fn peak(&self) -> u64 {
        status("VmHWM:").saturating_sub(self.baseline)
    }
}

fn status(key: &str) -> u64 {
    let mut text = String::with_capacity(2048);
    let _ = File::open("/proc/self/status").and_then(|mut file| file.read_to_string(&mut text));
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()).and_then(|word| word.parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_came_and_went_is_seen_once() {
        let mut memory = Memory::from_now();
        memory.begin();
        let large = std::hint::black_box(vec![1_u8; 64 << 20]);
        drop(large);
        assert!(memory.peak() > 60 << 20, "{}", memory.peak());
        memory.begin();
        assert!(memory.peak() < 40 << 20, "{}", memory.peak());
    }
}
