//! The floor below every process: what it costs to start and end one that does nothing.

fn main() {}
