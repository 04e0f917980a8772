//! Time and memory of one case.

use std::alloc::System;
use std::time::Duration;

use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};
use rustix::time::{ClockId, clock_gettime};

#[global_allocator]
static HEAP: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

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

/// From now on memory is counted anew.
pub(crate) fn begin_heap() {
    HEAP.reset_peak_memory();
}

/// The most memory that was held at once since [`begin_heap`], in bytes: exactly, whatever the allocator keeps for later.
pub(crate) fn heap_peak() -> u64 {
    u64::try_from(HEAP.get_peak_memory()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_came_and_went_is_seen_once() {
        begin_heap();
        drop(std::hint::black_box(vec![1_u8; 64 << 20]));
        assert!(heap_peak() >= 64 << 20, "{}", heap_peak());
        begin_heap();
        drop(std::hint::black_box(vec![1_u8; 1 << 20]));
        assert!(heap_peak() < 40 << 20, "{}", heap_peak());
    }
}
