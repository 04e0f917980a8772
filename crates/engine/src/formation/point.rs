//! The steps the keeper takes by itself. After each an engine may die before it has done what follows: the next look finds it.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Point {
    Scanned,
    Claimed,
    Accepted,
    Progress,
    Heartbeat,
    Expired,
    Released,
    Interrupted,
    Delivered,
    Reported,
    Verified,
    Committed,
}

impl Point {
    const ALL: [Self; 12] = [
        Self::Scanned,
        Self::Claimed,
        Self::Accepted,
        Self::Progress,
        Self::Heartbeat,
        Self::Expired,
        Self::Released,
        Self::Interrupted,
        Self::Delivered,
        Self::Reported,
        Self::Verified,
        Self::Committed,
    ];

    pub(super) fn name(self) -> String {
        format!("formation:recorded:{self:?}").to_lowercase()
    }
}

/// Every one of them, by the name it is reached under.
pub(crate) fn points() -> impl Iterator<Item = String> {
    Point::ALL.into_iter().map(Point::name)
}
