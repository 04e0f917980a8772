//! Databases, clouds and registries: what lies elsewhere and does not come back.

use dandori_shell::{Command, Word};

use crate::context::Context;
use crate::event::Tool;
use crate::guards::argv;

use super::{Class, Danger, forge};

pub(super) fn danger(context: &Context, command: &Command) -> Option<Danger> {
    let is_rehearsed =
        argv::has(command.args(), "", &["dry-run", "dryrun", "check-only", "no-act", "preview", "whatif", "plan"]);
    if is_rehearsed {
        return None;
    }
    let class = if drops_data(context, command) {
        Class::Database
    } else if tears_down(command) || forge::tears_down(context, command) {
        Class::Cloud
    } else if publishes(command) {
        Class::Publish
    } else {
        return None;
    };
    Some(class.into())
}

fn drops_data(context: &Context, command: &Command) -> bool {
    let args = command.args();
    let has_word = |words: &[&str]| args.iter().any(|w| words.contains(&w.text.to_ascii_lowercase().as_str()));
    let said = |text: &str| args.iter().any(|w| w.text.to_ascii_lowercase().contains(text));
    match command.program.as_str() {
        "dropdb" | "dropuser" => true,
        "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlcmd" | "cockroach" | "clickhouse-client" | "duckdb" | "bq" => {
            if is_in_memory(context, command) {
                return false;
            }
            let given = args.iter().any(|w| destroys(&w.text));
            let told = argv::values(args, &["-c", "--command", "-e", "--execute", "-f", "--file", "-Q", "--query"]);
            given || told.is_empty() && piped_in(context, destroys)
        }
        "mysqladmin" => has_word(&["drop"]),
        "redis-cli" | "valkey-cli" => has_word(&["flushall", "flushdb"]) || piped_in(context, flushes),
        "mongosh" | "mongo" => said("dropdatabase(") || said(".drop(") || said("deletemany({})"),
        "rails" | "rake" => has_word(&["db:drop", "db:reset", "db:drop:all"]),
        "prisma" => has_word(&["reset"]) && has_word(&["migrate"]) || has_word(&["--force-reset"]),
        "django-admin" | "manage.py" => has_word(&["flush", "reset_db"]),
        program if program.starts_with("python") => {
            let manages = args.iter().position(|w| w.text.rsplit('/').next() == Some("manage.py"));
            let verb = manages.and_then(|at| args.get(at + 1)).map(|w| w.text.as_str());
            matches!(verb, Some("flush" | "reset_db"))
        }
        "sequelize" | "sequelize-cli" => has_word(&["db:drop"]),
        "knex" => has_word(&["migrate:rollback"]) && has_word(&["--all"]),
        "artisan" | "php" => has_word(&["migrate:fresh", "db:wipe", "migrate:reset"]),
        "mix" => has_word(&["ecto.drop", "ecto.reset"]),
        "diesel" | "sqlx" => has_word(&["database"]) && has_word(&["reset", "drop"]),
        _ => false,
    }
}

/// What was only ever in memory is nobody's, unless a file is brought in. Only the first operand names the database, and
/// only of these two: what follows it, or is told to another program, is text.
fn is_in_memory(context: &Context, command: &Command) -> bool {
    const VALUED: &[&str] = &[
        "-cmd",
        "--cmd",
        "-init",
        "--init",
        "-separator",
        "--separator",
        "-newline",
        "--newline",
        "-nullvalue",
        "--nullvalue",
        "-maxsize",
        "--maxsize",
        "-vfs",
        "--vfs",
    ];
    let more: &[&str] = match command.program.as_str() {
        "sqlite3" => &[],
        "duckdb" => &["-c", "-s", "-f"],
        _ => return false,
    };
    let operands = argv::operands(command.args(), &[VALUED, more].concat());
    let is_named = operands.first().is_some_and(|word| word.text == ":memory:");
    // Wherever the statements come from, the line itself or a word of the command.
    let line = match &context.event.tool {
        Some(Tool::Bash { command: line, .. }) => line.as_str(),
        _ => "",
    };
    let brings_in = |text: &str| {
        let text = text.to_ascii_lowercase();
        // `.open`, which may be cut short.
        text.contains("attach") || text.contains(".op")
    };
    is_named && !brings_in(line) && !command.args().iter().any(|word| brings_in(&word.text))
}

/// The text a database gets on its standard input stands in the line itself.
fn piped_in(context: &Context, is_bad: fn(&str) -> bool) -> bool {
    let Some(Tool::Bash { command: line, .. }) = &context.event.tool else { return false };
    (line.contains("<<") || line.contains('|')) && line.split(['\n', ';', '\'', '"', '|', '<']).any(is_bad)
}

/// What is fed to redis: a command by itself, or handed to `echo`.
fn flushes(part: &str) -> bool {
    let words: Vec<String> = part.split_whitespace().map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|w| *w != "echo" && *w != "printf").collect();
    matches!(words.as_slice(), ["flushall" | "flushdb", ..])
}

/// A statement that takes whole tables away.
fn destroys(sql: &str) -> bool {
    sql.split([';', '\n']).any(|statement| {
        let words: Vec<String> = statement.split_whitespace().take(64).map(str::to_ascii_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["drop", "database" | "schema" | "table" | "owned" | "keyspace" | "collection", ..] => true,
            ["truncate", ..] => words.len() > 1,
            ["delete", "from", _, rest @ ..] => !rest.contains(&"where") && !rest.contains(&"using"),
            _ => false,
        }
    })
}

fn tears_down(command: &Command) -> bool {
    let args = command.args();
    let operands: Vec<&str> =
        argv::operands(args, &["-n", "--namespace", "--context", "--project", "--profile", "--region", "-chdir"])
            .into_iter()
            .map(|w| w.text.as_str())
            .collect();
    let has = |words: &[&str]| args.iter().any(|w| words.contains(&w.text.as_str()));
    match (command.program.as_str(), operands.as_slice()) {
        ("terraform" | "tofu" | "terragrunt", ["destroy", ..]) => true,
        ("terraform" | "tofu" | "terragrunt", ["apply", ..]) => has(&["-destroy", "--destroy"]),
        ("terraform" | "tofu", ["state", "rm", ..]) => true,
        ("pulumi", ["destroy" | "down", ..]) => true,
        ("cdk" | "sls" | "serverless", ["destroy" | "remove", ..]) => true,
        ("kubectl" | "oc", ["delete", what, ..]) => {
            has(&["--all", "-A", "--all-namespaces"])
                || what.split(['/', ',']).any(|kind| {
                    matches!(
                        kind,
                        "ns" | "namespace"
                            | "namespaces"
                            | "pv"
                            | "pvc"
                            | "persistentvolume"
                            | "persistentvolumeclaim"
                            | "crd"
                            | "crds"
                            | "node"
                            | "nodes"
                    )
                })
        }
        ("kubectl" | "oc", ["drain", ..]) => true,
        ("kubectl" | "oc", ["exec", ..]) => empties_a_pod(args),
        ("helm", ["uninstall" | "delete", ..]) => true,
        ("aws", ["s3", "rb", ..]) => true,
        ("aws", ["s3", "rm", ..]) => has(&["--recursive"]),
        ("aws", ["s3", "sync", ..]) => has(&["--delete"]),
        ("aws", [_, verb, ..]) => verb.starts_with("delete-") || verb.starts_with("terminate-"),
        ("gcloud" | "az", words) => words.contains(&"delete") || words.contains(&"purge"),
        ("gsutil", words) => words.contains(&"rb") || words.contains(&"rm") && argv::has(args, "rR", &[]),
        ("docker" | "podman", ["system" | "volume" | "image", "prune", ..]) => {
            argv::has(args, "a", &["all", "volumes"]) || operands.first() == Some(&"volume")
        }
        ("docker" | "podman", ["volume", "rm" | "remove", ..]) => true,
        ("docker" | "podman", ["compose", "down", ..]) => argv::has(args, "v", &["volumes"]),
        ("docker-compose", ["down", ..]) => argv::has(args, "v", &["volumes"]),
        ("heroku", words) => words.iter().any(|w| w.ends_with(":destroy") || w.ends_with(":reset")),
        ("fly" | "flyctl", words) => words.contains(&"destroy"),
        ("vault", ["delete" | "kv", ..]) => operands.iter().any(|w| matches!(*w, "delete" | "destroy")),
        ("gh", ["repo", "delete" | "archive", ..]) => true,
        ("gh", ["release" | "secret" | "ssh-key" | "variable", "delete" | "remove", ..]) => true,
        _ => false,
    }
}

/// `kubectl exec pod -- rm -rf /data`: what lies there is seldom only the pod's.
fn empties_a_pod(args: &[Word]) -> bool {
    let Some(at) = args.iter().position(|w| w.text == "--") else { return false };
    let Some((program, rest)) = args.get(at + 1..).and_then(<[Word]>::split_first) else { return false };
    let is_top = |word: &&Word| word.text.starts_with('/') && !word.text.starts_with("/tmp/");
    program.text == "rm" && argv::has(rest, "rR", &["recursive"]) && argv::operands(rest, &[]).iter().any(is_top)
}

/// Commands that bring something out into a registry, or take it away there.
const PUBLISHING: &[&str] = &[
    "npm publish",
    "npm unpublish",
    "npm deprecate",
    "npm dist-tag add",
    "npm dist-tag rm",
    "pnpm publish",
    "bun publish",
    "lerna publish",
    "yarn publish",
    "yarn npm publish",
    "cargo publish",
    "cargo yank",
    "twine upload",
    "poetry publish",
    "uv publish",
    "flit publish",
    "hatch publish",
    "pdm publish",
    "gem push",
    "gem yank",
    "mix hex.publish",
    "vsce publish",
    "ovsx publish",
    "dart pub publish",
    "flutter pub publish",
    "dotnet nuget push",
    "dotnet nuget delete",
    "gh release create",
];

fn publishes(command: &Command) -> bool {
    // `cargo +nightly publish`
    let operands = argv::operands(command.args(), &["--registry", "-p", "--package"])
        .into_iter()
        .map(|w| w.text.as_str())
        .filter(|word| !word.starts_with('+'));
    let words: Vec<&str> = std::iter::once(command.program.as_str()).chain(operands).collect();
    PUBLISHING.iter().any(|line| {
        let wanted: Vec<&str> = line.split(' ').collect();
        words.starts_with(&wanted)
    })
}

#[cfg(test)]
mod tests {
    use crate::Level;
    use crate::judge::Outcome;
    use crate::stage::Stage;

    fn all(lines: &[&str], want: Outcome) {
        for line in lines {
            let judged = Stage::only("bash", Level::Block).bash(line);
            assert_eq!(judged.outcome(), want, "{line}: {}", judged.said());
        }
    }

    #[test]
    fn a_database_is_in_memory_when_that_is_the_one_that_is_opened() {
        all(
            &[
                "sqlite3 real.db 'drop table users' ':memory:'",
                "sqlite3 -cmd :memory: real.db 'drop table users'",
                "sqlite3 -init :memory: real.db 'drop table users'",
                "sqlite3 :MEMORY: 'drop table users'",
                "psql :memory: -c 'drop table users'",
                "mysql -e 'drop table users' :memory:",
                "duckdb -c 'drop table users' real.db :memory:",
                "echo \"attach 'real.db' as r; drop table r.t\" | sqlite3 :memory:",
                "sqlite3 :memory: '.op real.db' 'drop table users'",
            ],
            Outcome::Ask,
        );
        all(
            &[
                "sqlite3 :memory: 'create table t(a); drop table t'",
                "sqlite3 -header -cmd '.mode box' :memory: 'drop table t'",
                "duckdb :memory: -c 'drop table t'",
                "duckdb -c 'drop table t' :memory:",
                "sqlite3 real.db 'select 1'",
            ],
            Outcome::Pass,
        );
    }
}
