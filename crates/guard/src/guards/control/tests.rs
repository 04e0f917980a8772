use dandori_domain::guard::Level;
use dandori_text::Lang;
use serde_json::json;

use crate::judge::Outcome;
use crate::stage::Stage;
use crate::world::{About, Exception, Head};
use crate::{Client, Judgement};

mod found;
mod keys;
mod later;
mod speaks;

const OURS: &str = r#"{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"/usr/bin/dandori","args":["hook","claude"],"timeout":15}]}],"ConfigChange":[{"hooks":[{"type":"command","command":"/usr/bin/dandori","args":["hook","claude"]}]}]},"model":"a"}"#;

fn stage() -> Stage {
    let mut stage = Stage::only("control", Level::Block).file(".claude/settings.json", OURS);
    stage.rules.control = vec!["/state".into(), "/usr/bin/dandori".into(), "/home/user/.claude/settings.json".into()];
    stage.rules.worktrees = vec!["/state/repos".into()];
    stage
}

fn is_refused(judged: &Judgement) -> bool {
    judged.outcome() == Outcome::Block
}

#[test]
fn what_arms_the_guards_is_not_edited_and_the_rest_of_the_settings_is() {
    for (text, refused) in [
        (r#"{"hooks":{}}"#.to_owned(), true),
        (r#"{"disableAllHooks":true}"#.to_owned(), true),
        (OURS.replace("\"model\"", "\"env\":{\"A\":\"b\"},\"model\""), true),
        (OURS.replace('*', "Bash"), true),
        ("{ not json".to_owned(), true),
        ("[]".to_owned(), true),
        (OURS.replace("\"a\"", "\"b\""), false),
        (OURS.replace("}]}]}", "}]}]},\"permissions\":{\"allow\":[\"Bash(ls)\"]}"), false),
    ] {
        assert_eq!(is_refused(&stage().write(".claude/settings.json", &text)), refused, "{text}");
    }
    assert!(!is_refused(&stage().edit(".claude/settings.json", "\"a\"", "\"b\"")));
    assert!(is_refused(&stage().edit(".claude/settings.json", "PreToolUse", "Other")));
    assert!(is_refused(&stage().write(".claude/settings.local.json", r#"{"disableAllHooks":true}"#)));
    assert!(!is_refused(&stage().write(".claude/settings.local.json", r#"{"permissions":{}}"#)));
    assert!(
        is_refused(&stage().write("sub/.claude/settings.json", r#"{"hooks":{}}"#)),
        "where a client may start, too"
    );
    assert!(is_refused(&stage().write(".codex/config.toml", "")));
    assert!(is_refused(&stage().link("x.json", ".claude/settings.json").write("x.json", "{}")), "through a link");
}

#[test]
fn no_shell_line_reaches_settings_state_program_or_configuration() {
    for (line, refused) in [
        ("echo '{}' > .claude/settings.json", true),
        ("rm .claude/settings.json", true),
        ("rm -rf .claude", true),
        ("mv .claude .claude.bak", true),
        ("sed -i /dandori/d ~/.claude/settings.json", true),
        ("cp /tmp/x .claude/settings.local.json", true),
        ("chmod -x /usr/bin/dandori", true),
        ("cp /bin/true /usr/bin/dandori", true),
        ("ln -sf /bin/true /usr/bin/dandori", true),
        ("rm -rf /state", true),
        ("rm -rf /state/guards", true),
        ("echo x >> /state/guards/repo/allow.json", true),
        ("echo 'x' > dandori.toml", true),
        ("git checkout -- .claude/settings.json", true),
        ("python3 -c \"open('.claude/settings.json','w').write('{}')\"", true),
        ("echo x > /state/repos/r/worktrees/run_1/a.rs", false),
        ("cat .claude/settings.json", false),
        ("ls /state", false),
        ("echo dandori.toml", false),
        ("echo x > .claude/notes.md", false),
    ] {
        assert_eq!(is_refused(&stage().file(".claude/settings.local.json", "{}").bash(line)), refused, "{line}");
    }
}

#[test]
fn what_is_only_known_when_it_runs_is_known_by_what_is_written_of_it() {
    for line in [
        "echo '{}' > \"$CLAUDE_PROJECT_DIR/.claude/settings.json\"",
        "echo '{}' > \"$(git rev-parse --show-toplevel)/.claude/settings.json\"",
        "cd \"$(git rev-parse --show-toplevel)\" && echo '{}' > .claude/settings.json",
        "cd \"$X\" && echo '{}' > .claude/settings.json",
        "pushd /tmp; popd; echo '{}' > .claude/settings.json",
        "cd /tmp && cd - && echo '{}' > .claude/settings.json",
        "rm -rf \"$CLAUDE_PROJECT_DIR/.claude\"",
        "rm \"$XDG_STATE_HOME/dandori/guards.db\"",
        "cd /state/guards/*/ && echo > x.json",
        "echo > .cl*/settings.json",
        "echo x | tee .cl*/settings.json",
        "sed -i s/a/b/ .cl?ude/settings.json",
        "echo > .[c]laude/settings.json",
        "ln -s .claude c && echo > c/settings.json",
        "ln -s .claude/settings.json s && echo x > s",
        "ln .claude/settings.json h",
        "cp -l .claude/settings.json h",
        "link .claude/settings.json h",
        "find . -name settings.json -exec sed -i s/a/b/ {} +",
        "find . -path '*claude*' -exec rm {} +",
        "ls .claude/settings.json | xargs rm",
        "python3 -m json.tool in.json .claude/settings.json",
        "xxd -r -p h .claude/settings.json",
        "git bundle create .claude/settings.json HEAD",
        "go build -o .claude/settings.json .",
        "grep -rl dandori .claude | xargs rm",
        "git ls-files -o .claude | xargs rm",
        "find . -name '*.json' -exec sh -c 'echo > {}' \\;",
        "find . -name '*.json' -exec bash -c 'for f; do echo > \"$f\"; done' _ {} +",
        "find . -name '*.json' | xargs -I{} sh -c 'echo > {}'",
        "find . -mtime -10000 -delete",
        "find . -type f -size +0 -delete",
        "upx /usr/bin/dandori",
        "strip -o /usr/bin/dandori /bin/true",
        "mount --bind /tmp/empty .claude",
        "mkdir t && mount --bind .claude t && echo > t/settings.json",
        "git apply evil.patch",
        "patch -p1 < evil.patch",
        "patch -p1 -i evil.patch",
        "cat evil.patch | git apply",
        "git apply <<'E'\ndiff --git a/.claude/settings.json b/.claude/settings.json\ndeleted file mode 100644\nE",
        "git apply own.patch",
        "patch -p1 < quoted.patch",
    ] {
        let patch = "--- a/.claude/settings.json\n+++ b/.claude/settings.json\n@@ -1 +1 @@\n-a\n+b\n";
        let stage = stage()
            .file("evil.patch", patch)
            .file("own.patch", "--- a/dandori.toml\n+++ b/dandori.toml\n@@ -1 +1 @@\n-a\n+b\n")
            .file("quoted.patch", &patch.replace("b/.claude/settings.json", "\"b/.claude/settings.json\""))
            .file("/usr/bin/dandori", "");
        assert!(is_refused(&stage.bash(line)), "{line}");
    }
    for line in [
        "python3 -m json.tool .claude/settings.json",
        "jq .hooks .claude/settings.json",
        "git add .claude/settings.json",
        "find . -name '*.json' | head",
        "find . -name '*.rs' -exec sed -i s/a/b/ {} +",
        "find . -name package.json | xargs sed -i s/a/b/",
        "cd \"$X\" && echo x > a.txt",
        "echo x > \"$OUT/settings.json\"",
        "ln -s ../a.txt b.txt && echo x > b.txt",
        "for f in src/*.rs; do sed -i s/a/b/ \"$f\"; done",
        "find . -type d -empty -delete",
        "find src -name '*.json' -exec sh -c 'jq . \"$1\" > \"$1.t\" && mv \"$1.t\" \"$1\"' _ {} \\;",
        "find . -name '*.json' | xargs -I{} sh -c 'jq . {} > {}.new'",
        "find src -name '*.json' -exec sh -c 'echo > {}' \\;",
        "find . -name '*.json' -exec sh -c 'jq . \"$1\" >/dev/null || echo bad \"$1\"' _ {} \\;",
        "ls .claude | head",
        "grep -rl x src | xargs sed -i s/x/y/",
        "git apply good.patch",
        "mount | grep tmp",
        "ls -la /usr/bin/dandori",
    ] {
        let patch = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-a\n+b\n";
        let judged = stage().file("a.txt", "").file("good.patch", patch).file("/usr/bin/dandori", "").bash(line);
        assert!(!is_refused(&judged), "{line}: {}", judged.said());
    }
}

#[test]
fn more_files_than_can_be_looked_at_are_refused() {
    let call = |files: usize| {
        let paths: Vec<String> = (0..files).map(|at| format!("src/{at}.rs")).collect();
        stage().tool("mcp__files__write_files", &json!({ "paths": paths }))
    };
    assert!(!is_refused(&call(10_000)));
    assert!(is_refused(&call(10_001)));
    // A move names two.
    let moves: String =
        (0..6_000).map(|at| format!("*** Update File: a{at}\n*** Move to: b{at}\n")).collect::<Vec<_>>().concat();
    let patch = format!("*** Begin Patch\n{moves}*** End Patch");
    let mut codex = stage();
    codex.agent = Client::Codex;
    assert!(is_refused(&codex.tool("apply_patch", &json!({ "command": patch }))));
}

#[test]
fn a_whole_folder_is_changed_when_what_is_the_guards_stays() {
    let index = |names: &str| format!("DIRC\0\0\0\u{2}{names}");
    let untracked = || stage().file(".git/index", &index("src/a.rs"));
    let tracked = || stage().file(".git/index", &index(".claude/settings.json"));
    for line in ["git reset --hard", "git restore .", "git checkout -- ."] {
        assert!(!is_refused(&untracked().bash(line)), "{line} leaves alone what git does not have");
        assert!(is_refused(&tracked().bash(line)), "{line}");
    }
    for line in
        ["git clean -fd", "git clean -fdx", "git stash -u", "git stash push --all", "git stash push -u -- .claude"]
    {
        assert!(is_refused(&untracked().bash(line)), "{line}");
        assert!(!is_refused(&tracked().answers(0, "", "").bash(line)), "{line}");
    }
    for line in
        ["git clean -fd src/gen", "git clean -fdX build/", "git stash", "git stash push -u -- src", "git stash pop"]
    {
        assert!(!is_refused(&untracked().file("src/gen/a", "").file("build/a", "").bash(line)), "{line}");
    }
    for (line, refused) in [
        ("git stash", true),
        ("git stash -u", true),
        ("git stash push -m 'wip'", true),
        ("git stash save wip", true),
        ("git stash -- .claude", true),
        ("git stash push .claude/settings.json", true),
        ("cd src && git stash push -- ../.claude", true),
        ("cd src && git stash push -- ':/'", true),
        ("git stash push -- '*.json'", true),
        ("git checkout -f", true),
        ("git checkout -f main", true),
        ("git switch --discard-changes main", true),
        ("git stash push -- src", false),
        ("git stash push -m .claude -- src", false),
        ("git stash push -- . ':!.claude/settings.json'", false),
        ("git stash -- . ':(exclude).claude'", false),
        ("git stash list", false),
        ("git stash pop", false),
        ("git stash show -p", false),
        ("git checkout main", false),
        ("git switch main", false),
        ("git checkout -b fix", false),
        ("git checkout -f -- src/a.rs", false),
    ] {
        let src = || tracked().file("src/a.rs", "");
        let changed = src().answers(1, "", "").bash(line);
        assert_eq!(is_refused(&changed), refused, "{line}: {}", changed.said());
        assert!(!is_refused(&src().answers(0, "", "").bash(line)), "{line}, where they are committed");
        assert_eq!(is_refused(&src().bash(line)), refused, "{line}, where git cannot be asked");
    }
    let again = tracked().answers(0, "", "").bash("git stash; git stash pop; git stash");
    assert!(!is_refused(&again), "git is asked once: {}", again.said());
    for (line, refused) in [
        ("git sparse-checkout set src", true),
        ("git sparse-checkout init --cone", true),
        ("git sparse-checkout set src .claude", false),
        ("git sparse-checkout list", false),
        ("git sparse-checkout disable", false),
    ] {
        assert_eq!(is_refused(&tracked().bash(line)), refused, "{line}");
        assert!(!is_refused(&untracked().bash(line)), "{line}");
    }
    let ignored = || untracked().file(".gitignore", "/target\n.claude/\n");
    assert!(!is_refused(&ignored().bash("git stash -u")), "what is ignored stays");
    assert!(!is_refused(&ignored().bash("git clean -fd")));
    assert!(is_refused(&ignored().bash("git stash -a")));
    assert!(is_refused(&ignored().bash("git clean -fdx")));
    let copying = || stage().file("templates/a.txt", "").file("evil/.claude/settings.json", "{}");
    for (line, refused) in [
        ("cp templates/* .", false),
        ("cp -r templates/. .", false),
        ("mv templates/* .", false),
        ("rsync -a templates/ .", false),
        ("cp -r evil/. .", true),
        ("cp -r evil/.claude .", true),
        ("rsync -a evil/ .", true),
        ("mkdir -p templates/.claude && cp x templates/.claude/settings.json && cp -r templates/. .", true),
        ("chmod -R u+w .", false),
        ("chmod -R 755 .", false),
        ("chmod -R 000 .", true),
        ("chmod -R a-r .", true),
        ("chown -R $USER .", false),
        ("chown -R \"$USER:$USER\" .", false),
        ("chown -R ${USER}:staff .claude", false),
        ("sudo chown -R \"$(id -u):$(id -g)\" .", false),
        ("sudo chown -R $(whoami) .", false),
        ("chown -R user:user .", false),
        ("chown -R :staff .", false),
        ("chgrp -R staff .", false),
        ("chown -R nobody .claude", true),
        ("chown -R nobody:$USER .", true),
        ("sudo chown -R root .", true),
        ("chown -R --reference=/etc/passwd .", true),
        ("chgrp -R --reference=/etc/passwd .", true),
        ("USER=nobody; chown -R $USER .", true),
        ("read USER <<< nobody; chown -R $USER .", true),
        ("chown -R \"$OWNER\" .", true),
    ] {
        assert_eq!(is_refused(&copying().bash(line)), refused, "{line}: {}", copying().bash(line).said());
    }
}

#[test]
fn an_archive_is_looked_into_before_it_is_unpacked_over_the_settings() {
    let lists = |names: &str| stage().file("x.tgz", "").file("x.zip", "").answers(0, names, "");
    for line in [
        "tar xzf x.tgz",
        "tar -xzf x.tgz",
        "tar -x -f x.tgz --strip-components=1",
        "unzip x.zip",
        "unzip -o x.zip -d .",
        "unzip x",
        "tar xfC x.tgz .",
        "python3 -m tarfile -e x.tgz",
        "python3 -m tarfile -v -e x.tgz .",
        "python3 -mzipfile --extract x.zip .",
        "python3 -c \"import tarfile; tarfile.open('x.tgz').extractall()\"",
        "python3 -c \"import tarfile; tarfile.open('x.tgz').extract('a/.claude/settings.json')\"",
        "python3 - <<'E'\nimport zipfile\nwith zipfile.ZipFile('x.zip') as z:\n    z.extractall(path='.')\nE",
        "python3 -c \"import shutil; shutil.unpack_archive('x.zip', '.')\"",
        "python3 -c \"import shutil; shutil.unpack_archive('x.zip', extract_dir='.')\"",
        "node -e \"const AdmZip = require('adm-zip'); new AdmZip('x.zip').extractAllTo('.', true)\"",
        "jar xf x.zip",
        "for f in *.tgz; do tar xf \"$f\"; done",
        "unzip -o '*.zip'",
    ] {
        assert!(!is_refused(&lists("a/\na/b.txt\n").bash(line)), "{line}");
        assert!(is_refused(&lists("a/\na/.claude/settings.json\n").bash(line)), "{line}");
    }
    for line in [
        "curl -s https://example.com/x | tar xz",
        "curl -LO https://example.com/y.zip && unzip y.zip",
        "cpio -idD .claude < x.cpio",
        "cpio -idu < x.cpio",
        "cd /tmp/x && find . | cpio -pdu /repo",
        "pax -r < x.pax",
        "pax -rw . /repo/.claude",
        "python3 -c \"import io, zipfile; zipfile.ZipFile(io.BytesIO(b)).extractall('.claude')\"",
    ] {
        assert_eq!(stage().bash(line).outcome(), Outcome::Ask, "nobody can look into it: {line}");
    }
    let unread = stage().file("x.tgz", "").bash("tar xzf x.tgz");
    assert_eq!(unread.outcome(), Outcome::Ask, "and nobody did");
    assert_eq!(stage().bash("tar xzf none.tgz").outcome(), Outcome::Pass, "there is nothing to unpack");
    let renamed = lists("a\n").bash("tar xf x.tgz --transform 's,^a$,.claude/settings.json,'");
    assert_eq!(renamed.outcome(), Outcome::Ask, "its members come under other names");
    let many = (0..10).fold(lists("a\n"), |stage, n| stage.file(&format!("{n}.tgz"), ""));
    many.bash(&(0..10).map(|n| format!("tar xzf {n}.tgz")).collect::<Vec<_>>().join("; "));
    assert!(many.calls.borrow().is_empty(), "so many are not looked into");
    let once = lists("a\n");
    once.bash("tar xzf x.tgz");
    assert_eq!(once.calls.borrow().len(), 1, "one is, once");
    for line in [
        "tar xzf x.tgz -C sub",
        "cpio -idD sub < x.cpio",
        "cpio -it < x.cpio",
        "python3 -m tarfile -e x.tgz sub",
        "python3 -m zipfile -l x.zip",
        "python3 -m tarfile -c x.tar src",
        "python3 -c \"import zipfile; zipfile.ZipFile('x.zip').extractall('sub')\"",
        "python3 -c \"import zipfile; print(zipfile.ZipFile('x.zip').namelist())\"",
        "python3 -c \"import re; print(re.search('a', 'b').extract('x'))\"",
    ] {
        let judged = stage().file("sub/a", "").file("x.zip", "").bash(line);
        assert_eq!(judged.outcome(), Outcome::Pass, "{line}: {}", judged.said());
    }
}

#[test]
fn words_for_the_user_alone_are_refused_however_they_are_reached() {
    for (line, refused) in [
        ("dandori guard allow playbook", true),
        ("/usr/bin/dandori guard allow playbook", true),
        ("env -u CLAUDECODE dandori consent", true),
        ("bash -c 'dandori --lang ja trust'", true),
        ("x=allow; dandori guard $x playbook", true),
        ("dandori guard $(echo allow) playbook", true),
        ("setsid dandori consent", true),
        ("dandori pr merge 3 --yes", true),
        ("dandori pr show 3", false),
        ("nohup dandori init --uninstall &", true),
        ("dandori daemon stop", true),
        ("pkill -f 'dandori hook'", true),
        ("pkill -9 -f 'hook claude'", true),
        ("while :; do for p in $(pgrep -f 'hook codex'); do kill -9 $p; done; done &", true),
        ("ps aux | grep '[d]andori' | awk '{print $2}' | xargs kill -9", true),
        ("cargo test -p dandori & p=$!; sleep 5; kill $p", false),
        ("for p in /proc/[0-9]*; do grep -q hook $p/cmdline && kill -9 ${p#/proc/}; done", true),
        ("pgrep -af dandori", false),
        ("pkill -f webpack-hook-server", false),
        ("dandori init --dry-run", false),
        ("dandori guard list", false),
        ("dandori guard explain 'dandori consent'", false),
        ("dandori playbook show", false),
        ("dandori state set goal.phase p2", false),
        ("dandori consent --help", false),
        ("echo 'ask the user to run dandori consent'", false),
        ("git commit -m 'dandori guard allow'", false),
        ("kill 4242", false),
    ] {
        assert_eq!(is_refused(&stage().bash(line)), refused, "{line}");
    }
}

#[test]
fn another_agent_is_not_started_without_its_guards() {
    for (line, refused) in [
        ("claude -p 'x'", false),
        ("claude -c -p ok", true),
        ("claude -cp ok", true),
        ("claude --continue -p ok", true),
        ("claude --resume s1 -p ok", true),
        ("claude --resume=s1 -p ok", true),
        ("claude -r s1 -p ok", true),
        ("claude --session-id s1 -p ok", true),
        ("codex exec resume --last ok", true),
        ("codex resume", true),
        ("codex exec -c model=x 'go on with the resume'", false),
        ("gemini -r latest -p ok", true),
        ("gemini --resume -p ok", true),
        ("claude --model x -p 'resume the work'", false),
        ("claude --bare -p 'x'", true),
        ("claude --restricted -p x", true),
        ("claude -p x --restricted --tools Bash --allowedTools Bash", true),
        ("CLAUDE_CODE_SIMPLE=1 claude -p x", true),
        ("claude --settings '{\"disableAllHooks\":true}' -p x", true),
        ("claude --setting-sources=user -p x", true),
        ("env HOME=/tmp/h claude -p x", true),
        ("DANDORI_RUN=run_1 claude -p x", true),
        ("CODEX_HOME=/tmp codex exec x", true),
        ("codex exec -c features.hooks=false x", true),
        ("codex exec x", false),
        ("gemini -p x", false),
        ("export CLAUDE_CODE_SIMPLE=1; claude -p x", true),
        ("declare -x DANDORI_CONFIG=/tmp/x && codex exec x", true),
        ("export RUST_LOG=debug; claude -p x", false),
        ("cd sub && claude -p x", true),
        ("cd \"$somewhere\" && claude -p x", true),
        ("(cd / && claude -p x)", true),
        ("cd sub; cd ..; claude -p x", false),
        ("cd sub && claude --version", false),
        ("cd sub && codex exec x", false),
        // Untrusted ones run as well: those of the guards among them.
        ("codex exec --dangerously-bypass-hook-trust x", false),
        ("npx @anthropic-ai/claude-code --settings '{\"disableAllHooks\":true}' -p x", true),
        ("npx -y @anthropic-ai/claude-code@latest --bare -p x", true),
        ("npx --yes -- @anthropic-ai/claude-code@2 -c -p x", true),
        ("npm exec -- @anthropic-ai/claude-code --bare -p x", true),
        ("npx -y @openai/codex exec --ignore-user-config x", true),
        ("bunx @openai/codex@0.50.0 exec -c features.hooks=false x", true),
        ("bun x @openai/codex resume --last", true),
        ("pnpm dlx @google/gemini-cli -r latest -p x", true),
        ("yarn dlx @google/gemini-cli@nightly --resume -p x", true),
        ("CODEX_HOME=/tmp npx @openai/codex exec x", true),
        ("HOME=/tmp/h npx -y @anthropic-ai/claude-code -p x", true),
        ("npx @anthropic-ai/claude-code -p x", false),
        ("npx -y @openai/codex@latest exec x", false),
        ("pnpm dlx @google/gemini-cli -p x", false),
        ("npx @openai/codex --version", false),
        ("HOME=/tmp/h npx cowsay x", false),
        ("HOME=/tmp/h timeout 60 claude -p x", true),
        ("HOME=/tmp/h bash -c 'claude -p x'", true),
        ("HOME=/tmp/h cargo test && npx @openai/codex exec x", false),
    ] {
        assert_eq!(is_refused(&stage().bash(line)), refused, "{line}");
    }
}

#[test]
fn an_option_nobody_knows_is_asked_about_before_a_client_starts_with_it() {
    for (line, outcome) in [
        ("claude -p x --leave-hooks-alone", Outcome::Ask),
        ("codex exec --next-years-switch x", Outcome::Ask),
        ("gemini --unheard-of=1 -p x", Outcome::Ask),
        ("npx @anthropic-ai/claude-code --new-mode -p x", Outcome::Ask),
        ("claude -p x --output-format json --max-turns 3 --model haiku", Outcome::Pass),
        ("codex exec --json --sandbox read-only -m gpt-5 'do it'", Outcome::Pass),
        ("gemini --approval-mode=yolo -p 'x' -o json", Outcome::Pass),
        ("claude -p -- '--what is this'", Outcome::Pass),
    ] {
        let judged = stage().bash(line);
        assert_eq!(judged.outcome(), outcome, "{line}: {}", judged.said());
    }
}

#[test]
fn a_client_elsewhere_is_guarded_by_settings_there_or_by_the_user_s_own() {
    let there = stage().file("sub/.claude/settings.json", OURS);
    assert!(!is_refused(&there.bash("cd sub && claude -p x")));
    let of_user = stage().file("/home/user/.claude/settings.json", OURS);
    assert!(!is_refused(&of_user.bash("cd / && claude -p x")));
    let mut other = Stage::only("control", Level::Block);
    other.rules.control = vec!["/usr/bin/dandori".into()];
    assert!(!is_refused(&other.bash("cd sub && claude -p x")), "it is not guarded here either");
}

#[test]
fn the_program_is_not_written_to_by_asking_where_it_lies() {
    for (line, refused) in [
        ("rm \"$(command -v dandori)\"", true),
        ("x=$(which dandori); cp /bin/true $x", true),
        ("cat /bin/true > \"$(readlink -f \"$(command -v dandori)\")\"", true),
        ("command -v dandori", false),
        ("command -v dandori > /dev/null && echo there", false),
        ("which dandori > where.txt", false),
        ("rm \"$(command -v other)\"", false),
    ] {
        assert_eq!(is_refused(&stage().bash(line)), refused, "{line}");
    }
}

#[test]
fn a_change_of_settings_that_disarms_the_guards_is_not_taken_over() {
    let change = |stage: &Stage, file: &str| {
        stage
            .event("ConfigChange", &json!({"source": "project_settings", "file_path": format!("/repo/.claude/{file}")}))
    };
    assert!(!is_refused(&change(&stage(), "settings.json")), "still armed");
    assert!(is_refused(&change(&stage().file(".claude/settings.json", "{}"), "settings.json")));
    assert!(is_refused(&change(&stage().file(".claude/settings.json", "{ broken"), "settings.json")));
    for disarmed in [
        OURS.replace("/usr/bin/dandori", "/repo/fake/dandori"),
        OURS.replace("\"*\"", "\"Nothing\""),
        OURS.replace(":15", ":0.001"),
        OURS.replace(":15", ":15,\"async\":true"),
        OURS.replace("ConfigChange", "PreCompact"),
        OURS.replace("\"hook\"", "\"--version\""),
    ] {
        assert!(is_refused(&change(&stage().file(".claude/settings.json", &disarmed), "settings.json")), "{disarmed}");
    }
    let placed = |places: &str| OURS.replace("\"claude\"", &format!("\"claude\",{places}"));
    let whole = r#""--state","/state","--config","/home/user/.config/dandori/config.toml","--home","/home/user""#;
    let mut with_config = stage().file(".claude/settings.json", &placed(whole));
    with_config.rules.control.push("/home/user/.config/dandori/config.toml".into());
    assert!(!is_refused(&change(&with_config, "settings.json")), "the places it was installed with");
    for disarmed in [
        placed(r#""--state","/tmp/elsewhere""#),
        placed(r#""--config","/repo/evil.toml""#),
        placed(r#""--home","/tmp""#),
        placed(r#""--state""#),
        placed(r#""--run","/repo/run""#),
        OURS.replace(":15", ":15,\"onFailure\":\"bogus\""),
        OURS.replace(":15", ":15,\"onFailure\":\"continue\""),
        OURS.replace("\"model\"", "\"crossSessionInbound\":\"accept\",\"model\""),
    ] {
        assert!(is_refused(&change(&stage().file(".claude/settings.json", &disarmed), "settings.json")), "{disarmed}");
    }
    for armed in [
        OURS.replace(":15", ":15,\"onFailure\":\"block\""),
        OURS.replace("\"model\"", "\"crossSessionInbound\":\"refuse\",\"model\""),
    ] {
        assert!(!is_refused(&change(&stage().file(".claude/settings.json", &armed), "settings.json")), "{armed}");
    }
    let linked = OURS.replace("/usr/bin/dandori", "/repo/bin/dandori");
    let linked = stage().link("bin/dandori", "/usr/bin/dandori").file(".claude/settings.json", &linked);
    assert!(!is_refused(&change(&linked, "settings.json")), "the same program by another name");
    for (env, refused) in [("DANDORI_STATE_DIR", true), ("HOME", true), ("LD_PRELOAD", true), ("RUST_LOG", false)] {
        let local = stage().file(".claude/settings.local.json", &format!("{{\"env\":{{\"{env}\":\"x\"}}}}"));
        assert_eq!(is_refused(&change(&local, "settings.local.json")), refused, "{env}");
    }
    let local = stage().file(".claude/settings.local.json", r#"{"disableAllHooks":true}"#);
    assert!(is_refused(&change(&local, "settings.local.json")));
    let elsewhere = stage().file(".claude/settings.json", "{}").file("/home/user/.claude/settings.json", OURS);
    assert!(!is_refused(&change(&elsewhere, "settings.json")), "the user-wide settings still call them");
    let mut run = stage().file(".claude/settings.json", "{}");
    run.rules.constraints = Some(crate::rules::Constraints::default());
    assert!(!is_refused(&change(&run, "settings.json")), "in a run they are called from elsewhere");
}

#[test]
fn in_a_run_its_own_guards_are_out_of_reach_and_where_it_works_is_not() {
    let run = || {
        let mut stage = stage().file("/state/repos/r/agents/t/claude/settings.json", r#"{"disableAllHooks":true}"#);
        let paths = ["/state/repos/r/runs/k", "/state/repos/r/runs/k/tmp/guards"];
        stage.rules.control.extend(paths.map(Into::into));
        stage.rules.control.push("/state/repos/r/agents/t/claude/settings.json".into());
        let work = ["/state/repos/r/worktrees/w", "/state/repos/r/runs/k/tmp", "/state/repos/r/agents/t/claude"];
        stage.rules.worktrees = work.map(Into::into).to_vec();
        stage.rules.constraints = Some(crate::rules::Constraints::default());
        stage
    };
    for (path, refused) in [
        ("runs/k/rules.json", true),
        ("runs/k/agent-settings.json", true),
        ("runs/k/tmp/guards/allow.json", true),
        ("runs/k/tmp/x", false),
        ("runs/other/tmp/x", true),
        ("worktrees/w/src/a.rs", false),
        ("worktrees/other/src/a.rs", true),
        ("agents/t/claude/settings.json", true),
        ("agents/t/claude/plans/a.md", false),
    ] {
        let input = json!({"file_path": format!("/state/repos/r/{path}"), "content": "x"});
        assert_eq!(is_refused(&run().tool("Write", &input)), refused, "{path}");
    }
    let path = "/state/repos/r/agents/t/claude/settings.json";
    assert!(is_refused(&run().event("ConfigChange", &json!({"source": "user_settings", "file_path": path}))));
}

#[test]
fn in_a_linked_worktree_dandori_s_configuration_is_only_a_file() {
    let stage = stage().worktree("/wt", Some("/repo"), Head::Branch("x".to_owned()));
    assert!(!is_refused(&stage.tool("Write", &json!({"file_path": "/wt/dandori.toml", "content": ""}))));
    assert!(is_refused(&stage.write("dandori.toml", "")));
}

#[test]
fn no_exception_lifts_it() {
    let exception = Exception { id: "e1".to_owned(), guard: "control".to_owned(), about: About::All };
    assert!(is_refused(&stage().exception(exception).bash("rm -rf .claude")));
}

#[test]
fn codex_and_gemini_are_held_alike() {
    let mut codex = stage();
    codex.agent = Client::Codex;
    let patch = "*** Begin Patch\n*** Delete File: .claude/settings.json\n*** End Patch";
    assert!(is_refused(&codex.tool("apply_patch", &json!({"command": patch}))));
    assert!(is_refused(&codex.bash(&format!("apply_patch <<'EOF'\n{patch}\nEOF"))));
    let mut gemini = stage();
    gemini.agent = Client::Gemini;
    let input = json!({"file_path": ".gemini/settings.json", "content": "{\"hooks\":{}}"});
    assert!(is_refused(&gemini.event("BeforeTool", &json!({"tool_name": "write_file", "tool_input": input}))));
}

#[test]
fn the_way_out_is_said_in_both_languages() {
    assert!(stage().bash("rm .claude/settings.local.json").said().contains("ask the user"));
    assert!(stage().bash("rm -rf .claude").said().contains("Name the files"));
    assert!(stage().lang(Lang::Ja).bash("rm -rf .").said().contains("明示"));
    assert!(stage().lang(Lang::Ja).bash("rm .claude/settings.json").said().contains("ユーザーに依頼"));
}

#[test]
fn git_s_own_files_are_changed_by_git_alone() {
    let stage = || {
        let names = ["hooks/pre-commit", "config", "HEAD", "refs/heads/main", "packed-refs", "index.lock", "MERGE_MSG"];
        let stage = names.iter().fold(stage(), |stage, name| stage.file(&format!(".git/{name}"), ""));
        stage.worktree("/wt", Some("/repo"), Head::Branch("topic".to_owned())).worktree("/tmp/t", None, Head::Detached)
    };
    for (line, refused) in [
        ("echo x > .git/hooks/post-checkout", true),
        ("cp hook.sh .git/hooks/pre-push", true),
        ("ln -s ../../hook.sh .git/hooks/pre-push", true),
        ("chmod -x .git/hooks/pre-commit", true),
        ("rm .git/hooks/pre-commit", true),
        ("rm .git/hooks/*", true),
        ("mv .git/hooks /tmp/h", true),
        ("cd .git/hooks && cat > pre-push < /tmp/x", true),
        ("printf '[alias]\\npp = push -f\\n' >> .git/config", true),
        ("sed -i s,topic,main, .git/HEAD", true),
        ("git rev-parse work > .git/refs/heads/main", true),
        ("cp .git/refs/heads/work .git/refs/heads/main", true),
        ("echo x > .git/packed-refs", true),
        ("echo 'ref: refs/heads/main' > .git/worktrees/w/HEAD", true),
        ("echo 'gitdir: /tmp/x' > /wt/.git", true),
        ("mv .git /tmp/gone", true),
        ("cp -r /tmp/t/.git .", true),
        ("python3 -c \"open('.git/HEAD','w').write('x')\"", true),
        ("echo x > \"$(git rev-parse --git-dir)/hooks/pre-commit\"", true),
        ("echo x > $(git rev-parse --git-path hooks)/pre-commit", true),
        ("echo x > $(git rev-parse --show-toplevel)/.git/config", true),
        ("echo x > $GIT_DIR/HEAD", true),
        ("printf \"x\\t\\tbranch 'main' of /srv/o\" > .git/FETCH_HEAD", true),
        ("echo x > .git/worktrees/w/FETCH_HEAD", true),
        ("echo x > $(git rev-parse --git-dir)/FETCH_HEAD", true),
        ("echo refs/heads/main > .git/rebase-merge/head-name", true),
        ("echo refs/heads/main > .git/rebase-apply/head-name", true),
        ("rm -fr .git/rebase-merge", false),
        ("rm -f .git/FETCH_HEAD", false),
        ("cat .git/FETCH_HEAD", false),
        ("echo '*.log' >> .git/info/exclude", false),
        ("echo '*.log' >> \"$(git rev-parse --git-dir)/info/exclude\"", false),
        ("echo wip > .git/COMMIT_EDITMSG", false),
        ("rm -f .git/index.lock .git/MERGE_MSG .git/refs/heads/main.lock", false),
        ("mkdir -p .git/hooks", false),
        ("cat .git/config .git/HEAD", false),
        ("cp .git/config /tmp/kept", false),
        ("git config user.name x", false),
        ("git config --local pull.rebase true", false),
        ("git branch topic", false),
        ("echo x > .husky/pre-commit", false),
        ("echo x > .gitignore", false),
        ("echo x > .github/config", false),
        ("echo x > /tmp/t/.git/config", false),
        ("find . -name '*.rs' -not -path './.git/*'", false),
        ("d=$(mktemp -d); git init $d && echo x > $d/.git/description", false),
    ] {
        let judged = stage().bash(line);
        assert_eq!(is_refused(&judged), refused, "{line}: {}", judged.said());
    }
    assert!(is_refused(&stage().write(".git/hooks/pre-commit", "#!/bin/sh")));
    assert!(is_refused(&stage().edit(".git/config", "a", "b")));
    assert!(is_refused(&stage().link("x", ".git/config").write("x", "")), "through a link");
    assert!(!is_refused(&stage().write(".git/info/exclude", "target")));
    let said = |lang| stage().lang(lang).write(".git/HEAD", "").said();
    assert!(said(Lang::En).contains("`git switch`") && said(Lang::Ja).contains("ユーザーに依頼"), "{}", said(Lang::Ja));
}
