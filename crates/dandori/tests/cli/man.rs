//! Manual pages say what `--help` says.

use crate::machine;

#[test]
fn every_command_has_a_page_in_both_languages() {
    let env = machine();
    let folder = env.root().join("man");
    let _ = env.dandori(["man", "--dir", folder.as_str()]).ok();
    let page = std::fs::read_to_string(folder.join("dandori-task-follow-up.1")).unwrap();
    assert!(page.contains("dandori task follow\\-up"), "{page}");
    let pages = std::fs::read_dir(&folder).unwrap().count();
    assert!(pages > 60, "{pages}");
    let ja = env.dandori(["--lang", "ja", "man", "task", "follow-up"]).ok();
    assert!(ja.contains("タスク"), "{ja}");
    let _ = env.dandori(["man", "no-such"]).fails(2);
}
