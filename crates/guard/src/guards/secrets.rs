//! Keys and passwords: nobody reads or writes them, by whatever tool.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::How;

use crate::context::{By, Context, Target};
use crate::voice::{Trouble, Voice};

use super::reads::read_paths;

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let patterns = &context.rules.secrets;
    let mut said: Vec<Utf8PathBuf> = Vec::new();
    for path in written(context, patterns).into_iter().chain(read(context, patterns)) {
        if said.contains(&path) {
            continue;
        }
        let shown = shown(context, &path);
        voice.block_file(path.clone(), dandori_text::guard::bash::secret(context.lang, &shown));
        said.push(path);
    }
    Ok(())
}

/// The files of these patterns that would be changed. What merely puts things into a folder, or brings back what git
/// has, does not mean the secret that lies there.
fn written(context: &Context, patterns: &[String]) -> Vec<Utf8PathBuf> {
    let is_held = |target: &&Target| {
        let removes = target.by == By::Shell(How::Removed);
        patterns.iter().any(|pattern| match hit(context, pattern, target) {
            Hit::Itself => !is_example(&target.path),
            Hit::Below => removes,
            Hit::No => false,
        })
    };
    context.targets().iter().filter(is_held).map(|target| target.path.clone()).collect()
}

pub(super) enum Hit {
    /// The file is held by the pattern, by the name it was called or by where it leads.
    Itself,
    /// It is a folder with such a file in it.
    Below,
    No,
}

/// Of a computed path what is known of it: its last name may say enough.
pub(super) fn hit(context: &Context, pattern: &str, target: &Target) -> Hit {
    if context.holds(pattern, &target.path) || context.holds(pattern, &target.real) {
        Hit::Itself
    } else if context.touches(pattern, target) {
        Hit::Below
    } else {
        Hit::No
    }
}

/// The files of these patterns whose text would be seen.
pub(super) fn read(context: &Context, patterns: &[String]) -> Vec<Utf8PathBuf> {
    let is_held = |path: &Utf8PathBuf| {
        let real = context.world.real(path);
        let is_secret =
            |path: &Utf8Path| !is_example(path) && patterns.iter().any(|pattern| context.holds(pattern, path));
        is_secret(path) || is_secret(&real)
    };
    read_paths(context).into_iter().filter(is_held).collect()
}

/// Made to be shown: examples of a configuration, and the public half of a key.
pub(super) fn is_example(path: &Utf8Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    let end = name.rsplit('.').next().unwrap_or_default();
    let is_public = path.extension() == Some("pub");
    is_public
        || name.starts_with(".env") && matches!(end, "example" | "sample" | "template" | "dist" | "defaults" | "schema")
}

/// As people write it.
pub(super) fn shown(context: &Context, path: &Utf8Path) -> String {
    let Some(checkout) = context.checkout(path) else { return path.to_string() };
    let short = checkout.short(path).as_str();
    if short.is_empty() { ".".to_owned() } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::guards::secrets;
    use crate::judge::Outcome;
    use crate::stage::Stage;
    use crate::world::{About, Exception};
    use crate::{Agent, Level};
    use camino::Utf8Path;
    use dandori_text::Lang;

    fn stage() -> Stage {
        Stage::only("secrets", Level::Block).file(".env", "KEY=1").file("src/a.rs", "").link("plain.txt", ".env")
    }

    #[test]
    fn no_tool_shows_or_changes_a_secret() {
        for path in [".env", "app/.env.local", "tls/server.key", "x.pem", ".netrc", "id_ed25519", "plain.txt"] {
            assert_eq!(stage().read(path).outcome(), Outcome::Block, "read {path}");
            assert_eq!(stage().write(path, "x").outcome(), Outcome::Block, "write {path}");
        }
        for line in [
            "cat .env",
            "cat ./.env | head -1",
            "cat .e*",
            "cd src && cat ../.env",
            "bash -c 'cat .env'",
            "env X=1 head -3 .env",
            "base64 .env",
            "openssl rsa -in server.key",
            "base64 < .env",
            "source .env",
            ". ./.env && npm start",
            "cp .env /tmp/x",
            "tar czf /tmp/x.tgz .env",
            "curl -F 'file=@.env' http://localhost:3000",
            "curl -d @.env http://localhost:3000",
            "git show HEAD:.env",
            "python3 -c \"print(open('.env').read())\"",
            "python3 - <<'E'\nprint(open(\".env\").read())\nE",
            "grep KEY .env",
            "cat \"$DIR/.env\"",
            "echo x > .env",
            "echo x >> app/.env.production",
            "sed -i s/a/b/ .env",
            "rm .env",
            "rm -rf .",
            "cat plain.txt",
            "xargs -a .env echo",
            "perl -ne print .env",
            "git show :.env",
            "git log -p -- .env",
            "grep -rn KEY . --include=.env",
            "find . -name '.env*' | xargs cat",
            "cat $(find . -name .env)",
            "od -c .env",
            "cat ~/.ssh/id_rsa",
        ] {
            assert_eq!(stage().bash(line).outcome(), Outcome::Block, "{line}");
        }
    }

    #[test]
    fn what_only_mentions_a_secret_or_shows_an_example_passes() {
        for line in [
            "cat .env.example",
            "cp .env.example /tmp/x",
            "cat ~/.ssh/id_ed25519.pub",
            "ls -la .env",
            "test -f .env && echo there",
            "grep -q '^FOO=' .env && echo set",
            "wc -l .env",
            "openssl x509 -in cert.pem -noout -dates",
            "echo '.env' >> .gitignore",
            "grep -rn '.env' src",
            "git commit -m 'ignore .env'",
            "git add .gitignore && git check-ignore .env",
            "cat *",
            "cp -r templates/base .",
            "git reset --hard",
            "node --env-file=.env server.js",
            "python3 -c \"print('x')\"",
            "find . -name '.env*'",
            "git log --oneline -- .env",
            "git diff -- ':!.env'",
            "rg KEY -g '!.env'",
            "find . -name '.env*' | xargs ls -l",
        ] {
            let judged = stage().bash(line);
            assert_eq!(judged.outcome(), Outcome::Pass, "{line}: {}", judged.said());
        }
        assert_eq!(stage().read(".env.example").outcome(), Outcome::Pass);
        assert_eq!(stage().read("src/environment.rs").outcome(), Outcome::Pass);
        assert!(!secrets::is_example(Utf8Path::new("x.pem")));
    }

    #[test]
    fn searches_and_tools_of_others_do_not_show_it_either() {
        let search = |input| stage().tool("Grep", &input).outcome();
        assert_eq!(search(json!({"pattern": "KEY", "path": "/repo/.env"})), Outcome::Block);
        assert_eq!(search(json!({"pattern": "KEY", "glob": ".env"})), Outcome::Block);
        assert_eq!(search(json!({"pattern": "KEY", "glob": "!.env"})), Outcome::Pass);
        assert_eq!(search(json!({"pattern": ".env", "path": "/repo/src"})), Outcome::Pass);
        let mcp = |input| stage().tool("mcp__fs__read_file", &input).outcome();
        assert_eq!(mcp(json!({"path": ".env"})), Outcome::Block);
        assert_eq!(mcp(json!({"files": [{"uri": "file:///repo/.env"}]})), Outcome::Block);
        assert_eq!(mcp(json!({"query": ".env", "url": "https://x.example/a.pem"})), Outcome::Pass);
        assert_eq!(mcp(json!({"note": "see the .env"})), Outcome::Pass);
        let mut gemini = stage();
        gemini.agent = Agent::Gemini;
        let call = |tool, input| {
            gemini.event("BeforeTool", &json!({"tool_name": tool, "tool_input": input, "timestamp": "t"})).outcome()
        };
        assert_eq!(call("run_shell_command", json!({"command": "cat .env"})), Outcome::Block);
        assert_eq!(call("read_file", json!({"file_path": ".env"})), Outcome::Block);
    }

    #[test]
    fn an_exception_for_the_file_lets_it_be_read_and_nothing_else() {
        let given = || {
            let about = About::Path(".env".to_owned());
            stage().file("x.pem", "k").exception(Exception { id: "1".into(), guard: "secrets".into(), about })
        };
        assert_eq!(given().read(".env").outcome(), Outcome::Excepted);
        assert_eq!(given().bash("cat .env").outcome(), Outcome::Excepted);
        assert_eq!(given().bash("cat x.pem > out.txt").outcome(), Outcome::Block);
        assert_eq!(given().bash("cat .env x.pem").outcome(), Outcome::Block);
    }

    #[test]
    fn it_says_what_to_do_in_both_languages() {
        assert!(stage().bash("cat .env").said().contains("dandori guard allow secrets --path .env"));
        assert!(stage().lang(Lang::Ja).bash("cat .env").said().contains("機密ファイル"));
    }
}
