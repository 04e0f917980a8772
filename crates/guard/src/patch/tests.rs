use super::*;

fn read(text: &str) -> Patch {
    Patch::read(text, Some(Utf8Path::new("/repo")))
}

#[test]
fn all_four_kinds_of_change_are_read_with_their_texts() {
    let patch = read(concat!(
        "*** Begin Patch\n*** Add File: new/a.txt\n+one\n+two\n",
        "*** Delete File: gone.txt\n",
        "*** Update File: src/lib.rs\n@@ fn main\n context\n-old\n+new\n*** End of File\n",
        "*** Update File: from.txt\n*** Move to: ../to.txt\n@@\n-x\n+y\n",
        "*** End Patch\n",
    ));
    assert!(patch.complete);
    assert_eq!(
        patch.changes,
        [
            Change::write("/repo/new/a.txt".into(), "one\ntwo\n".into()),
            Change::delete("/repo/gone.txt".into()),
            Change::edit("/repo/src/lib.rs".into(), Some("context\nold\n".into()), Some("context\nnew\n".into())),
            Change {
                path: "/repo/from.txt".into(),
                kind: ChangeKind::Rename { to: "/to.txt".into() },
                old: Some("x\n".into()),
                new: Some("y\n".into()),
            },
        ]
    );
    let touched: Vec<_> = patch.changes.iter().flat_map(Change::paths).map(Utf8Path::as_str).collect();
    assert_eq!(touched, ["/repo/new/a.txt", "/repo/gone.txt", "/repo/src/lib.rs", "/repo/from.txt", "/to.txt"]);
}

#[test]
fn every_place_of_a_file_is_a_change_of_its_own() {
    let patch = read("*** Begin Patch\n*** Update File: a\n@@ one\n-1\n+2\n@@ other\n-3\n+4\n*** End Patch\n");
    let edit = |old: &str, new: &str| Change::edit("/repo/a".into(), Some(old.into()), Some(new.into()));
    assert_eq!(patch, Patch { changes: vec![edit("1\n", "2\n"), edit("3\n", "4\n")], complete: true });
}

#[test]
fn text_that_looks_like_a_header_is_not_one() {
    let patch = read(concat!(
        "*** Begin Patch\n*** Add File: doc.md\n+*** Delete File: a\n+*** End Patch\n",
        "*** Update File: b.md\n@@\n *** Delete File: c\n+*** Add File: d\n-*** End Patch\n *** End Patch\n",
        "*** End Patch",
    ));
    assert!(patch.complete);
    let touched: Vec<_> = patch.changes.iter().map(|c| c.path.as_str()).collect();
    assert_eq!(touched, ["/repo/doc.md", "/repo/b.md"]);
}

#[test]
fn padded_headers_hide_nothing() {
    let patch = read(
        "  *** Begin Patch  \n  *** Add File: a.txt \n+x\n\t*** Delete File: .env\n*** Update File: b\n *** Move to: c\n+x\n *** End of File\n*** End Patch",
    );
    let touched: Vec<_> = patch.changes.iter().flat_map(Change::paths).map(Utf8Path::as_str).collect();
    assert_eq!(touched, ["/repo/a.txt", "/repo/.env", "/repo/b", "/repo/c"]);
}

#[test]
fn a_patch_that_is_cut_or_odd_says_so_and_keeps_what_was_read() {
    for text in [
        "",
        "*** Begin Patch\n*** Delete File: x\n",
        "*** Begin Patch\n*** Frobnicate File: x\n*** Delete File: x\n*** End Patch",
        "rm x\n*** Begin Patch\n*** Delete File: x\n*** End Patch",
    ] {
        assert!(!read(text).complete, "{text}");
    }
    assert_eq!(read("*** Begin Patch\n*** Delete File: x\n").changes, [Change::delete("/repo/x".into())]);
}

#[test]
fn patches_are_found_in_shell_lines() {
    let line = "cd sub && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: x\n+ *** End Patch\n*** End Patch\nEOF\n";
    let [patch] = patches_in_command(line)[..] else { panic!("{line}") };
    assert_eq!(
        read(patch),
        Patch { changes: vec![Change::write("/repo/x".into(), " *** End Patch\n".into())], complete: true }
    );

    let two = "apply_patch '*** Begin Patch\n*** Delete File: a\n*** End Patch'; apply_patch \"*** Begin Patch\n*** Delete File: b\n*** End Patch\"";
    assert_eq!(patches_in_command(two).len(), 2);
    assert!(patches_in_command("cat > doc.md <<E\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nE").is_empty());
    assert!(patches_in_command("echo apply_patch").is_empty());
}
