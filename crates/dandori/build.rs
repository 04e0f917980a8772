//! A hook is a process of its own for every event. As a position-independent program, most of its start would go into
//! fixing twenty thousand addresses up and copying the pages they stand in, before the first line runs.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_CFG_TARGET_OS").is_some_and(|os| os == "linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
