//! Durations and sizes as people write them: `90s`, `15m`, `1h30m`; `512MiB`, `2GB`.

/// Seconds of a duration, or `None` when it is not one.
pub fn parse_seconds(text: &str) -> Option<u64> {
    let duration: jiff::SignedDuration = text.trim().parse().ok()?;
    u64::try_from(duration.as_secs()).ok()
}

/// The same in milliseconds.
pub(crate) fn parse_millis(text: &str) -> Option<u64> {
    let duration: jiff::SignedDuration = text.trim().parse().ok()?;
    u64::try_from(duration.as_millis()).ok()
}

/// Bytes of a size, or `None` when it is not one.
pub(crate) fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1000 * 1000,
        "gb" => 1000 * 1000 * 1000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// The same as a person writes it.
pub(crate) fn seconds_text(seconds: u64) -> String {
    let parts = [(seconds / 3600, "h"), (seconds % 3600 / 60, "m"), (seconds % 60, "s")];
    let said: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    if said.is_empty() { "0s".to_owned() } else { said.join(" ") }
}

pub(crate) fn bytes_text(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let whole = units.iter().find(|(size, _)| bytes >= *size && bytes.is_multiple_of(*size));
    whole.map_or_else(|| format!("{bytes}B"), |(size, unit)| format!("{}{unit}", bytes / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_durations_and_sizes_in_many_ways() {
        assert_eq!(parse_seconds("90s"), Some(90));
        assert_eq!(parse_seconds("1h30m"), Some(5400));
        assert_eq!(parse_seconds("2 minutes"), Some(120));
        assert_eq!(parse_seconds("-5s"), None);
        assert_eq!(parse_seconds("soon"), None);
        assert_eq!(parse_millis("4s"), Some(4000));
        assert_eq!(parse_millis("250ms"), Some(250));
        assert_eq!(parse_millis("-1s"), None);
        assert_eq!(parse_bytes("2GiB"), Some(2 << 30));
        assert_eq!(parse_bytes("500 MB"), Some(500_000_000));
        assert_eq!(parse_bytes("99999999999999999999G"), None);
        assert_eq!(parse_bytes("many"), None);
    }

    #[test]
    fn what_is_shown_reads_back() {
        for seconds in [0, 1, 90, 7200, 5403] {
            assert_eq!(parse_seconds(&seconds_text(seconds)), Some(seconds), "{}", seconds_text(seconds));
        }
        for bytes in [0, 1, 1 << 30, 1_500, 3 << 20] {
            assert_eq!(parse_bytes(&bytes_text(bytes)), Some(bytes), "{}", bytes_text(bytes));
        }
    }
}
