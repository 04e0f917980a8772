//! Lines that look as if they told nothing of a secret, each beside one that indeed tells nothing.

use crate::Level;
use crate::judge::Outcome;
use crate::stage::Stage;

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
