//! What could not be understood in a paper. Its words are for whoever shows it.

/// One thing that was passed over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Odd {
    /// A state.md without front matter or a yaml block.
    NoKeys,
    /// A value of state.md, in the file's own words.
    Value { key: String, found: String, wanted: Wanted },
    /// A playbook whose `reviewed` is neither true nor false.
    Reviewed,
    /// A status nobody knows.
    Status { phase: String, found: String },
}

/// What is understood in its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// `true` or `false`
    Flag,
    /// `normal` or `admin`
    Security,
    /// `A`, `B` or `C`
    Toolstack,
}
