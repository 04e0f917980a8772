use super::*;

#[test]
fn a_probe_tells_the_level_and_leaves_the_caller_free() {
    let level = probe();
    let dir = tempfile::tempdir().unwrap();
    let path = camino::Utf8Path::from_path(dir.path()).unwrap().join("file");
    crate::replace_file(&path, b"still free", 0o600).unwrap();
    match level {
        Sandbox::Landlock { abi } => assert!(abi >= 1),
        Sandbox::None { reason } => assert!(!reason.is_empty()),
    }
}

#[test]
fn switched_off_is_said() {
    assert!(matches!(apply(&SandboxPolicy::off()), Ok(Sandbox::None { reason }) if reason.contains("switched off")));
}
