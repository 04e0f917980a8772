//! Lines that look as if they told nothing of a secret, each beside one that indeed tells nothing.

use crate::Client;
use crate::Level;
use crate::judge::Outcome;
use crate::stage::{Deed, Stage};

fn stage() -> Stage {
    Stage::only("secrets", Level::Block)
        .file(".env", "KEY=1")
        .file("src/a.rs", "")
        .file("notes/a.md", "")
        .file("certs/a.pem", "k")
        .file("requirements.txt", "")
        .file("/home/user/.ssh/id_rsa", "k")
        .file("/home/user/.ssh/config", "")
}

fn all(lines: &[&str], want: Outcome) {
    for line in lines {
        let judged = stage().bash(line);
        assert_eq!(judged.outcome(), want, "{line}: {}", judged.said());
    }
}

#[test]
fn a_program_that_runs_a_helper_still_reads_its_own_operands() {
    all(
        &[
            "tar -I gzip -cf /tmp/x.tgz .env",
            "tar --use-compress-program=gzip -cf /tmp/x.tgz .env",
            "tar -I 'ls .env' -cf /tmp/x ls .env",
            "find . -name .env -exec tar -I gzip -cf /tmp/x {} +",
            "docker run -v .:/w img ls /w; docker cp .env c:/",
            "docker cp .env c:/; docker exec c ls /w",
            "uv run ls; uv pip install -r .env",
            "uv pip install -r .env; uv run ls",
            "sudo ls; sudo cat .env",
        ],
        Outcome::Block,
    );
}

#[test]
fn the_words_of_a_wrapped_command_are_read_once_as_its_own() {
    all(
        &[
            "sudo test -f .env",
            "env ENV_FILE=.env node server.js",
            "timeout 5 nice -n 5 ls -l .env",
            "nohup echo .env",
            "time wc -l .env",
            "uv run test -f .env",
            "npx --yes some-tool --ignore-path .env",
            "poetry run python manage.py migrate && uv pip install -r requirements.txt",
            "dotenv -e .env -- node server.js",
            "env-cmd -f .env node server.js",
            "tar -I gzip -cf /tmp/x.tgz src",
            "docker run -v .:/w img ls /w/.env",
            "bash -c 'sudo test -f .env'",
            "if sudo test -f .env; then echo there; fi",
        ],
        Outcome::Pass,
    );
}

#[test]
fn an_option_that_is_another_ones_value_or_was_taken_back_keeps_nothing_silent() {
    all(
        &[
            "rg -L . .env",
            "rg -l --json . .env",
            "rg -e -c .env",
            "grep -ec .env",
            "grep -e -c .env",
            "grep --regexp -c .env",
            "grep -A -l . .env",
            "head -n 0 -n 99 .env",
            "head -n 0 --line=99 .env",
            "head -n0 -c 10 .env",
            "head -90 .env",
            "head -n -0 .env",
            "tail -n +0 .env",
            "tail -n 0 -f .env",
            "diff -Iq .env src/a.rs",
            "cmp -n -s .env src/a.rs",
            "file -f .env",
            "file -bf .env",
            "file --files-from=.env",
            "file -f - < .env",
            "tree --fromfile .env",
            "tree --fromfile . < .env",
            "find -files0-from .env",
        ],
        Outcome::Block,
    );
    all(
        &[
            "rg -l . .env",
            "rg --files -L .env",
            "rg -c KEY .env",
            "grep -c . .env",
            "grep -qe KEY .env",
            "grep --count -e -n .env",
            "head -n 0 .env",
            "head -n 5 -n 0 .env",
            "head -0 .env",
            "tail --lines=0 .env",
            "diff -q -I x .env src/a.rs",
            "cmp -s .env src/a.rs",
            "file .env",
            "file -b -F : .env",
            "tree -a .env",
        ],
        Outcome::Pass,
    );
}

#[test]
fn a_search_is_silent_only_by_the_call_that_is_about_the_file() {
    all(
        &[
            "cd ~/.ssh && grep -r . .",
            "cd ~/.ssh && grep -r .",
            "cd ~/.ssh && grep -r . ./",
            "grep -q . a.ssh; cd ~/.ssh && grep -r . .",
            "grep -q . a.ssh; cd ~ && grep -r . .ssh/.",
            "grep -q KEY .env; grep KEY .env",
            "grep -q KEY .env; cd src && grep KEY ../.env",
        ],
        Outcome::Block,
    );
    all(
        &[
            "grep -q KEY .env && grep -rn KEY src",
            "grep -q KEY .env && cd src && grep -rn KEY .",
            "cd src && grep -q KEY ../.env",
            "cd ~/.ssh && grep -rl Host .",
            "cd \"$DIR\" && grep -q KEY .env && grep -n x src/a.rs",
        ],
        Outcome::Pass,
    );
}

#[test]
fn git_shows_lines_by_many_names_and_paths_behind_marks() {
    all(
        &[
            "git log -U3 -- .env",
            "git log --unif=3 -- .env",
            "git log --cc -- .env",
            "git log -c -- .env",
            "git log --binary -- .env",
            "git log --stat -p -- .env",
            "git log --remerge-diff -- .env",
            "git diff --stat -U3 .env",
            "git diff --stat --binary .env",
            "git diff -S --stat .env",
            "git diff --line-prefix --stat .env",
            "git show --patch-with-stat HEAD -- .env",
            "git show --stat --patch-with-raw HEAD -- .env",
            "git add -f ':(top).env'",
            "git add -f ':(top)certs'",
            "git add -f :/.env",
            "cd src && git add -f :/",
            "cd src && git add -f ':(top)certs'",
            "git diff HEAD -- ':(literal).env'",
            "git diff HEAD -- ':(icase).ENV'",
            "git diff HEAD -- ':(attr:x,top).env'",
            "git show :0:.env",
            "git commit -m x ':(top).env'",
            "git archive HEAD ':(literal).env'",
        ],
        Outcome::Block,
    );
    all(
        &[
            "git log --oneline -n 5 -- .env",
            "git log --stat -Sprefix -- .env",
            "git log --since yesterday --pretty=oneline -- .env",
            "git diff --stat .env",
            "git diff --name-only HEAD -- .env",
            "git diff --raw .env",
            "git diff -- ':!.env' ':^.env' ':(exclude).env' ':(top,exclude).env' ':/!.env'",
            "git add -f -- src ':(exclude).env'",
            "cd src && git add -f ':(top)notes'",
            "git diff -- ':(top)src'",
            "git show :0:src/a.rs",
            "git show --stat HEAD",
        ],
        Outcome::Pass,
    );
}

#[test]
fn a_search_by_a_pattern_reads_what_it_would_find() {
    use serde_json::json;
    let stage = || stage().file(".env.example", "").file("src/server.key", "k").file("notes/b.md", "");
    let grep = |input: serde_json::Value| stage().tool("Grep", &input);
    for glob in [
        ".env*",
        ".e*",
        "*nv",
        ".[e]nv",
        "**/.env*",
        ".*",
        "*.pem",
        "*.{rs,pem}",
        "{README.md,.env}",
        "*.md .env*",
        "*.md,*.key",
        "src/*.key",
        "src/server.*",
        "*.PEM",
    ] {
        let judged = grep(json!({"pattern": ".", "glob": glob, "output_mode": "content"}));
        assert_eq!(judged.outcome(), Outcome::Block, "{glob}");
    }
    for glob in
        ["*", "**/*.rs", "*.{ts,tsx}", "*.md", "!.env*", "*.json", ".env.example", ".git*", "*.example", "notes/*"]
    {
        let judged = grep(json!({"pattern": ".", "glob": glob, "output_mode": "content"}));
        assert_eq!(judged.outcome(), Outcome::Pass, "{glob}: {}", judged.said());
    }
    let there = grep(json!({"pattern": ".", "path": "/home/user", "glob": "id_rsa*"}));
    assert_eq!(there.outcome(), Outcome::Block, "wherever it looks");
    let deep = Stage::only("secrets", Level::Block).file("a/b/c/d/e/f/g/.env", "KEY=1");
    let judged = deep.tool("Grep", &json!({"pattern": ".", "glob": ".env*"}));
    assert_eq!(judged.outcome(), Outcome::Block, "deeper than is looked");
    let none = Stage::only("secrets", Level::Block).file("a.rs", "");
    assert_eq!(none.tool("Grep", &json!({"pattern": ".", "glob": ".env*"})).outcome(), Outcome::Pass, "there is none");
    for client in Client::ALL {
        let Some(judged) = stage().by(client).does(Deed::Search(".env*")) else { continue };
        assert_eq!(judged.outcome(), Outcome::Block, "{client}");
    }
    all(
        &[
            "rg -g '.env*' .",
            "rg --glob=.e* KEY",
            "rg -g'*nv' KEY",
            "rg --iglob '.ENV' KEY",
            "rg --hidden -g '.*' KEY",
            "grep -r KEY . --include='.env*'",
            "grep -rn --include '*.pem' . .",
            "grep -r --include=\\*.pem . certs",
            "git grep KEY -- '.env*'",
            "git diff HEAD -- '.e*'",
            "git show HEAD -- '*.pem'",
        ],
        Outcome::Block,
    );
    all(
        &[
            "rg -g '*.rs' KEY",
            "rg -g '!.env*' KEY",
            "rg -l -g '.env*' KEY",
            "grep -rn --include='*.md' KEY notes",
            "grep -rl --include='.env*' KEY .",
            "git grep KEY -- '*.rs'",
            "git diff HEAD -- '*.md' '*.json'",
            "git log --oneline -- '.env*'",
            "rg '.*' src",
        ],
        Outcome::Pass,
    );
}
