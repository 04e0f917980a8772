//! The only place that reads the clock or makes randomness; everybody else is handed what they need.

use jiff::Timestamp;

#[expect(clippy::disallowed_methods, reason = "this is the edge")]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// 128 random bits from the kernel.
pub fn random() -> u128 {
    let mut bytes = [0u8; 16];
    // The kernel's generator fails only before it is seeded at boot, and then it waits.
    if getrandom::fill(&mut bytes).is_err() {
        let mix = u128::from(std::process::id()) << 64;
        return mix ^ u128::try_from(now().as_nanosecond()).unwrap_or(1);
    }
    u128::from_be_bytes(bytes)
}
