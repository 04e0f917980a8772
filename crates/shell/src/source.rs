//! From the line as it was typed to words: the grammar behind its fence, and what the shell makes of each word.

pub(crate) mod braces;
pub(crate) mod expand;
pub(crate) mod grammar;
pub(crate) mod params;
pub(crate) mod scan;
pub(crate) mod subscripts;
