//! Repositories of a given size, made without writing their files one by one.

use std::fmt::Write;

use camino::Utf8Path;

use crate::bed::{Bed, PATIENCE};
use crate::trouble::Trouble;

/// What a repository to measure on looks like.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) files: usize,
    pub(crate) bytes_each: usize,
    /// Commits on top of the first, each changing [`CHANGED_BY_COMMIT`] files.
    pub(crate) commits: usize,
}

const FILES_IN_FOLDER: usize = 200;
pub(crate) const CHANGED_BY_COMMIT: usize = 20;

/// A bare repository of this shape, its branch `main`.
pub(crate) fn make_bare(bed: &Bed, folder: &Utf8Path, shape: Shape) -> Result<(), Trouble> {
    std::fs::create_dir_all(folder).map_err(Trouble::io(folder))?;
    bed.git(folder, &["init", "--quiet", "--bare", "-b", "main", "."])?;
    bed.cmd("git", folder, &["fast-import", "--quiet"]).stdin(stream(shape)).deadline(PATIENCE).run()?;
    Ok(())
}

/// A clone as a user has one: checked out, with its origin.
pub(crate) fn clone(bed: &Bed, origin: &Utf8Path, to: &Utf8Path) -> Result<(), Trouble> {
    let parent = to.parent().unwrap_or(to);
    bed.git(parent, &["clone", "--quiet", origin.as_str(), to.as_str()])?;
    Ok(())
}

pub(crate) fn file_name(number: usize) -> String {
    format!("src/part-{:03}/file-{number:05}.txt", number / FILES_IN_FOLDER)
}

fn stream(shape: Shape) -> Vec<u8> {
    let mut text = String::with_capacity(shape.files * (shape.bytes_each + 100));
    commit(&mut text, 0, shape, 0..shape.files);
    for number in 1..=shape.commits {
        // Other files every time, spread over the tree.
        let step = (shape.files / CHANGED_BY_COMMIT).max(1);
        commit(&mut text, number, shape, (0..CHANGED_BY_COMMIT).map(|i| (i * step + number) % shape.files));
    }
    text.into_bytes()
}

fn commit(text: &mut String, number: usize, shape: Shape, files: impl Iterator<Item = usize>) {
    // Writing to a string does not fail.
    let _ = write!(text, "commit refs/heads/main\nmark :{}\n", number + 1);
    let _ = writeln!(text, "committer Bench <bench@example.com> {} +0000", 1_700_000_000 + number);
    let _ = write!(text, "data 7\ncommit\n");
    if number > 0 {
        let _ = writeln!(text, "from :{number}");
    }
    for file in files {
        let content = content(file, number, shape.bytes_each);
        let _ = writeln!(text, "M 100644 inline {}\ndata {}\n{content}", file_name(file), content.len());
    }
    text.push('\n');
}

/// Lines of text that compress about as source code does, and are different in every file.
fn content(file: usize, version: usize, bytes: usize) -> String {
    let mut state = (file as u64) << 20 | version as u64 | 1;
    let mut text = String::with_capacity(bytes + 80);
    while text.len() < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let _ = writeln!(text, "let value_{} = compute({:#x}, \"{:x}\");", state >> 58, state >> 20, state >> 36);
    }
    text
}
