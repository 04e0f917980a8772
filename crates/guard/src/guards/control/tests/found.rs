use dandori_text::Lang;

use super::{OURS, is_refused, stage};
use crate::judge::Outcome;

#[test]
fn what_a_finder_finds_is_known_by_its_conditions_and_what_is_there() {
    let stage = || {
        let stage = stage().file("/state/guards/k/install.json", "{}").file("/usr/bin/dandori", "");
        stage.file("/home/user/.claude/settings.json", OURS).file("src/settings.json", "").file("sub/a.log", "")
    };
    for (line, refused) in [
        ("find .claude -type f | while read f; do rm \"$f\"; done", true),
        ("find .claude -type f -print0 | while IFS= read -r -d '' f; do rm \"$f\"; done", true),
        ("for f in $(find .claude -type f); do rm \"$f\"; done", true),
        ("while read f; do rm \"$f\"; done < <(find .claude -type f)", true),
        ("find src .claude -type f | while read f; do rm \"$f\"; done", true),
        ("find src .claude -type f | xargs -I{} rm {}", true),
        ("mapfile -t all < <(find src .claude -type f); rm \"${all[@]}\"", true),
        ("for f in $(ls .claude/*); do echo > $f; done", true),
        ("find . -name settings.json | while read f; do echo '{}' > \"$f\"; done", true),
        ("find . -name 'set*.json' | sort | while read f; do mv \"$f\" /tmp; done", true),
        ("find . -name '*.json' | while read f; do jq . \"$f\" > t && mv t \"$f\"; done", true),
        ("find . -type f -mtime -10 | while read f; do rm \"$f\"; done", true),
        ("find .claude -newer x | xargs rm", true),
        ("git ls-files .claude | while read f; do rm \"$f\"; done", true),
        ("find . -iname 'SETTINGS.json' -delete", true),
        ("find . -ipath './.CLAUDE/*' -exec rm {} +", true),
        ("find . -regex '.*/settings\\.json' -delete", true),
        ("find . -maxdepth 2 -name '*.json' -delete", true),
        ("find . -type d -name .claude | xargs rm -rf", true),
        ("fd -H settings.json -x rm", true),
        ("fd -u '^settings' -X rm", true),
        ("fd settings.json .claude -x rm", true),
        ("fd -e json . .claude -x rm", true),
        ("fd -H settings.json | while read f; do rm \"$f\"; done", true),
        ("find ~ -name install.json -delete", false),
        ("find /state -name install.json -delete", true),
        ("find / -name install.json -delete", true),
        ("find /state -type f -exec sed -i s/a/b/ {} +", true),
        ("find / -name dandori -type f -delete", true),
        ("find ~ -name settings.json -exec rm {} \\;", true),
        ("find src -type f | while read f; do rm \"$f\"; done", false),
        ("find . -name '*.log' | while read f; do rm \"$f\"; done", false),
        ("find . -name '*.json' | while read f; do jq . \"$f\" > \"$f.out\"; done", false),
        ("find . -name '*.json' -not -path './.claude/*' -exec sed -i s/a/b/ {} +", false),
        ("find ./src -name '*.json' -exec sed -i s/a/b/ {} +", false),
        ("find . -path './src/*' -name '*.json' -delete", false),
        ("find . -maxdepth 1 -name '*.json' -delete", false),
        ("find . -regex '.*\\.js' -delete", false),
        ("find . -iname '*.LOG' -delete", false),
        ("find . -name '*.json' | xargs git add", false),
        ("find . -name '*.json' -exec chmod 644 {} +", false),
        ("find . -name '*.json' -exec chmod 000 {} +", true),
        ("find . -type d -name settings.json -exec rmdir {} +", false),
        ("for f in $(ls *.json); do jq . $f > t; mv t $f; done", false),
        ("find .claude -type f | while read f; do cat \"$f\"; done", false),
        ("cat .claude/settings.json | while read f; do echo \"$f\"; done", false),
        ("find . -name '*.json' -exec cp {} /tmp/kept \\;", false),
        ("find . -name '*.json' -print0 | xargs -0 cp -t /tmp/kept", false),
        ("find . -name settings.json -exec cp evil.json {} \\;", true),
        ("find . -name settings.json | xargs cp evil.json", true),
        ("rm -f $(git ls-files .claude)", true),
        ("rm \"$(ls -t .claude/backups/*.bak | tail -1)\"", false),
        ("fd settings.json -x rm", false),
        ("fd -H -e log -x rm", false),
        ("fd -H settings.json -x cat", false),
        ("fd -H '\\.js$' -x rm", false),
    ] {
        let judged = stage().bash(line);
        assert_eq!(is_refused(&judged), refused, "{line}: {}", judged.said());
    }
    let at_home = || {
        let mut stage = stage().file("/home/user/.local/state/dandori/guards/k/install.json", "{}");
        stage.rules.control.push("/home/user/.local/state/dandori".into());
        stage
    };
    assert!(is_refused(&at_home().bash("find ~ -name install.json -delete")));
    assert!(is_refused(&at_home().bash("find ~/.local -name 'inst*' | xargs rm")));
    assert!(!is_refused(&at_home().bash("find ~ -name '*.log' -delete")));
}

#[test]
fn a_file_of_a_client_s_folder_that_only_the_run_tells_is_asked_about() {
    for (line, outcome) in [
        ("ls .claude | while read f; do rm \".claude/$f\"; done", Outcome::Ask),
        ("for f in $(ls .claude); do rm .claude/$f; done", Outcome::Block),
        ("echo x > .claude/$name.json", Outcome::Ask),
        ("echo x > \".claude/settings${local}.json\"", Outcome::Ask),
        ("cp x.toml ~/.codex/$x", Outcome::Ask),
        ("echo x > .claude/notes-$d.md", Outcome::Pass),
        ("mkdir -p .claude/$x", Outcome::Pass),
        ("echo x > .claude/commands/$x.md", Outcome::Pass),
        ("cat .claude/$f", Outcome::Pass),
    ] {
        let judged = stage().bash(line);
        assert_eq!(judged.outcome(), outcome, "{line}: {}", judged.said());
    }
    let said = |lang| stage().lang(lang).bash("rm .claude/$f").said();
    assert!(said(Lang::En).contains("Name the file") && said(Lang::Ja).contains("明示"), "{}", said(Lang::Ja));
}
