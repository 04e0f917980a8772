//! When to ask again and how long to wait: deadlines, backoff, GitHub's limits. Clock and chance are handed in.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

/// What GitHub asks for when it limits without saying for how long.
const UNSTATED_LIMIT: SignedDuration = SignedDuration::from_mins(1);

/// How the client takes its time. The default is for GitHub; tests hand in shorter spans and a fixed chance.
#[derive(Clone, Copy, Debug)]
pub struct Tempo {
    /// For one request, its answer included.
    pub timeout: Duration,
    pub connect_timeout: Duration,
    /// How often reading is repeated after it failed.
    pub retries: u32,
    /// Before the first repetition; doubled for each further one.
    pub first_backoff: Duration,
    /// A limit that ends later than this is an error instead of a wait.
    pub longest_wait: Duration,
    /// Between two changes.
    pub change_gap: Duration,
    pub now: fn() -> Timestamp,
    pub random: fn() -> u128,
}

impl Default for Tempo {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
            retries: 3,
            first_backoff: Duration::from_millis(500),
            longest_wait: Duration::from_mins(1),
            change_gap: Duration::from_secs(1),
            now: dandori_host::now,
            random: dandori_host::random,
        }
    }
}

impl Tempo {
    pub(crate) async fn pause_before_retry(&self, attempt: u32) {
        tokio::time::sleep(self.backoff(attempt, (self.random)())).await;
    }

    /// Half of it certain, half of it by chance, so that clients thrown off together do not come back together.
    fn backoff(&self, attempt: u32, random: u128) -> Duration {
        let full = self.first_backoff.saturating_mul(2u32.saturating_pow(attempt)).min(self.longest_wait);
        let permille = u32::try_from(random % 1001).unwrap_or(0);
        full / 2 + full / 2 * permille / 1000
    }

    /// How long until then, when that is worth waiting for.
    pub(crate) fn wait_for(&self, until: Timestamp) -> Option<Duration> {
        let left = Duration::try_from(until.duration_since((self.now)())).unwrap_or(Duration::ZERO);
        (left <= self.longest_wait).then_some(left)
    }
}

/// Until when this answer says not to ask again. `message` is the error body's sentence.
pub(crate) fn limited_until(
    status: StatusCode,
    headers: &HeaderMap,
    message: &str,
    now: Timestamp,
) -> Option<Timestamp> {
    let number = |name| headers.get(name).and_then(|v| v.to_str().ok()).and_then(|v| v.trim().parse::<i64>().ok());
    let after = |span| now.checked_add(span).unwrap_or(Timestamp::MAX);
    let reset = || {
        let used_up = number("x-ratelimit-remaining") == Some(0);
        number("x-ratelimit-reset").filter(|_| used_up).and_then(|s| Timestamp::from_second(s).ok())
    };
    if status.is_success() || status == StatusCode::NOT_MODIFIED {
        return reset();
    }
    let refuses = status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::FORBIDDEN;
    if !refuses && status != StatusCode::SERVICE_UNAVAILABLE {
        return None;
    }
    if let Some(seconds) = number("retry-after") {
        return Some(after(SignedDuration::from_secs(seconds.max(0))));
    }
    if !refuses {
        return None;
    }
    let says_so = status == StatusCode::TOO_MANY_REQUESTS || message.to_ascii_lowercase().contains("rate limit");
    reset().or_else(|| says_so.then(|| after(UNSTATED_LIMIT)))
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn limit(status: u16, headers: &[(&'static str, &'static str)], message: &str) -> Option<i64> {
        let map = headers.iter().map(|(k, v)| (HeaderName::from_static(k), HeaderValue::from_static(v))).collect();
        limited_until(StatusCode::from_u16(status).unwrap(), &map, message, NOW).map(Timestamp::as_second)
    }

    #[test]
    fn a_limit_is_read_from_what_github_sends() {
        let used_up = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "900")];
        let some_left = [("x-ratelimit-remaining", "7"), ("x-ratelimit-reset", "900")];
        assert_eq!(limit(429, &[("retry-after", "30")], ""), Some(30));
        assert_eq!(limit(403, &[("retry-after", "30"), ("x-ratelimit-remaining", "0")], ""), Some(30));
        assert_eq!(limit(403, &used_up, "API rate limit exceeded"), Some(900));
        assert_eq!(limit(403, &some_left, "You have exceeded a secondary rate limit"), Some(60));
        assert_eq!(limit(429, &[], ""), Some(60));
        assert_eq!(limit(503, &[("retry-after", "5")], ""), Some(5));
        assert_eq!(limit(200, &used_up, ""), Some(900), "the next request would be refused");
        for nothing in [
            limit(403, &[], "Resource not accessible by personal access token"),
            limit(403, &some_left, "no"),
            limit(503, &[], ""),
            limit(200, &some_left, ""),
            limit(404, &used_up, ""),
        ] {
            assert_eq!(nothing, None);
        }
        assert_eq!(limit(429, &[("retry-after", "9223372036854775807")], ""), Some(Timestamp::MAX.as_second()));
        assert_eq!(limit(429, &[("retry-after", "soon")], ""), Some(60));
    }

    #[test]
    fn backoff_doubles_stays_capped_and_leaves_half_to_chance() {
        let tempo = Tempo { first_backoff: Duration::from_secs(2), ..Tempo::default() };
        assert_eq!(tempo.backoff(0, 0), Duration::from_secs(1));
        assert_eq!(tempo.backoff(0, 1000), Duration::from_secs(2));
        assert_eq!(tempo.backoff(2, 500), Duration::from_secs(6));
        assert_eq!(tempo.backoff(40, 1000), Duration::from_mins(1));
    }

    #[test]
    fn a_limit_is_waited_for_only_within_the_cap() {
        let tempo = Tempo { now: || NOW, ..Tempo::default() };
        let at = |s| Timestamp::from_second(s).unwrap();
        assert_eq!(tempo.wait_for(at(60)), Some(Duration::from_mins(1)));
        assert_eq!(tempo.wait_for(at(61)), None);
        assert_eq!(tempo.wait_for(at(-5)), Some(Duration::ZERO));
    }
}
