//! `fs/read_text_file` and `fs/write_text_file`, within limits.
//!
//! The guards have been asked before; the fence holds what they let through. Here is what neither looks at: paths that are
//! not absolute, files that are no files, sizes.

use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use crate::rpc::{INTERNAL, INVALID_PARAMS, NOT_FOUND, REFUSED, RpcError};

/// Of one file; more would not fit into a conversation either.
const MOST_BYTES: u64 = 16 << 20;

/// The path a request is about: absolute, with nothing left to resolve by name.
pub(crate) fn path_of(params: &Value) -> Result<Utf8PathBuf, RpcError> {
    let text = params.get("path").and_then(Value::as_str).unwrap_or_default();
    if !text.starts_with('/') || text.contains('\0') {
        return Err(RpcError::new(INVALID_PARAMS, "path must be absolute"));
    }
    Ok(dandori_guard::change::resolve(None, text))
}

/// `line` is where to begin, from 1; `limit` is how many lines.
pub(crate) fn read(path: &Utf8Path, params: &Value) -> Result<Value, RpcError> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => RpcError::new(NOT_FOUND, format!("{path} does not exist")),
        _ => RpcError::new(INTERNAL, format!("cannot read {path}: {error}")),
    };
    // A pipe without a writer must not keep us waiting.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    if !about.is_file() {
        return Err(RpcError::new(REFUSED, format!("{path} is not a file")));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(RpcError::new(REFUSED, format!("{path} is larger than {} MiB", MOST_BYTES >> 20)));
    }
    let text = String::from_utf8_lossy(&bytes);
    let number = |field: &str| params.get(field).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let content = match (number("line"), number("limit")) {
        (None, None) => text.into_owned(),
        (line, limit) => {
            let skipped = line.unwrap_or(1).saturating_sub(1);
            text.split_inclusive('\n').skip(skipped).take(limit.unwrap_or(usize::MAX)).collect()
        }
    };
    Ok(json!({ "content": content }))
}

/// Where a path in one of these folders really is: a link in the worktree is no way out of it.
pub(crate) fn inside(path: &Utf8Path, roots: &[&Utf8Path]) -> Option<Utf8PathBuf> {
    let real = dandori_host::layout::real(path);
    let is_inside = |root: &&Utf8Path| real.starts_with(root) || real.starts_with(dandori_host::layout::real(root));
    roots.iter().any(is_inside).then_some(real)
}

pub(crate) fn outside(path: &Utf8Path) -> String {
    format!("{path} is outside the worktree")
}

/// Whole or not at all; a file that is there keeps its mode. `roots` are the folders that may be written.
pub(crate) fn write(path: &Utf8Path, params: &Value, roots: &[&Utf8Path]) -> Result<Value, RpcError> {
    let Some(content) = params.get("content").and_then(Value::as_str) else {
        return Err(RpcError::new(INVALID_PARAMS, "content is missing"));
    };
    if content.len() as u64 > MOST_BYTES {
        return Err(RpcError::new(REFUSED, format!("more than {} MiB at once", MOST_BYTES >> 20)));
    }
    let real = inside(path, roots).ok_or_else(|| RpcError::new(REFUSED, outside(path)))?;
    let failed = |error: std::io::Error| RpcError::new(INTERNAL, format!("cannot write {path}: {error}"));
    let mode = match real.symlink_metadata() {
        Ok(about) if about.is_file() => about.permissions().mode() & 0o7777,
        Ok(_) => return Err(RpcError::new(REFUSED, format!("{path} is not a file"))),
        Err(_) => 0o666,
    };
    if let Some(folder) = real.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    dandori_host::put_file(&real, content.as_bytes(), mode).map_err(failed)?;
    Ok(json!({}))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test's own files")]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(dir.path().canonicalize().unwrap()).unwrap();
        (dir, path)
    }

    #[test]
    fn lines_are_counted_from_one_and_limited() {
        let (_dir, root) = folder();
        let file = root.join("a.txt");
        std::fs::write(&file, "one\ntwo\nthree").unwrap();
        let read = |params: Value| read(&file, &params).unwrap()["content"].as_str().unwrap().to_owned();
        assert_eq!(read(json!({})), "one\ntwo\nthree");
        assert_eq!(read(json!({ "line": 2 })), "two\nthree");
        assert_eq!(read(json!({ "line": 2, "limit": 1 })), "two\n");
        assert_eq!(read(json!({ "limit": 2 })), "one\ntwo\n");
        assert_eq!(read(json!({ "line": 9 })), "");
    }

    #[test]
    fn what_is_no_file_is_not_read_and_not_waited_for() {
        let (_dir, root) = folder();
        let pipe = root.join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            pipe.as_std_path(),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert_eq!(read(&pipe, &json!({})).unwrap_err().code, REFUSED);
        assert_eq!(read(&root, &json!({})).unwrap_err().code, REFUSED);
        assert_eq!(read(&root.join("none"), &json!({})).unwrap_err().code, NOT_FOUND);
        assert_eq!(path_of(&json!({ "path": "a.txt" })).unwrap_err().code, INVALID_PARAMS);
        assert_eq!(path_of(&json!({})).unwrap_err().code, INVALID_PARAMS);
        assert_eq!(path_of(&json!({ "path": "/a/../b" })).unwrap(), "/b");
    }

    #[test]
    fn a_file_is_written_with_its_mode_and_no_link_leads_out() {
        let (_dir, root) = folder();
        let (inside, outside) = (root.join("tree"), root.join("outside"));
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        let roots = [inside.as_path()];
        let script = inside.join("run.sh");
        std::fs::write(&script, "old").unwrap();
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
        write(&script, &json!({ "content": "new" }), &roots).unwrap();
        assert_eq!(std::fs::read_to_string(&script).unwrap(), "new");
        assert_eq!(script.metadata().unwrap().permissions().mode() & 0o777, 0o755);
        write(&inside.join("deep/er/x"), &json!({ "content": "" }), &roots).unwrap();

        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        for path in [inside.join("link/x"), outside.join("x"), root.join("tree-2/x"), "/etc/x".into()] {
            assert_eq!(write(&path, &json!({ "content": "x" }), &roots).unwrap_err().code, REFUSED, "{path}");
        }
        assert_eq!(write(&inside.join("deep"), &json!({ "content": "" }), &roots).unwrap_err().code, REFUSED);
        assert_eq!(outside.read_dir_utf8().unwrap().count(), 0);
    }
}
