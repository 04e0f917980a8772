//! The time on the wall, for the logs.

use camino::Utf8Path;
use jiff::Timestamp;
use jiff::Zoned;
use jiff::tz::TimeZone;

const ZONES: &str = "/usr/share/zoneinfo";

/// `at` where the user is; `zone` is `TZ`. The one file is read that tells: the library's own way lists all zones first,
/// which takes milliseconds and is more than a hook has.
pub fn local_time(at: Timestamp, zone: Option<&str>) -> Zoned {
    at.to_zoned(time_zone(zone))
}

fn time_zone(zone: Option<&str>) -> TimeZone {
    let Some(zone) = zone else { return of_file(Utf8Path::new("/etc/localtime")).unwrap_or(TimeZone::UTC) };
    let zone = zone.strip_prefix(':').unwrap_or(zone);
    // An absolute path takes the folder's place.
    of_file(&Utf8Path::new(ZONES).join(zone)).or_else(|| TimeZone::posix(zone).ok()).unwrap_or(TimeZone::UTC)
}

fn of_file(path: &Utf8Path) -> Option<TimeZone> {
    TimeZone::tzif("local", &std::fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_that_of_the_zone_in_each_of_its_forms() {
        let at = Timestamp::UNIX_EPOCH;
        let hour = |zone| local_time(at, Some(zone)).hour();
        assert_eq!(hour("JST-9"), 9);
        assert_eq!(hour("no such zone"), 0);
        assert_eq!(hour(""), 0);
        // Not every machine has the zones.
        if Utf8Path::new(ZONES).join("Asia/Tokyo").exists() {
            assert_eq!((hour("Asia/Tokyo"), hour(":Asia/Tokyo"), hour("/usr/share/zoneinfo/Asia/Tokyo")), (9, 9, 9));
        }
        assert_eq!(local_time(at, None).datetime(), TimeZone::system().to_datetime(at));
    }
}
