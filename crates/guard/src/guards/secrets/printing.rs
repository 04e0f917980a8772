//! Commands that print a login: there is no file to hold, but what comes out is the same.

use dandori_shell::{Command, git_call};

use crate::guards::argv;

/// The first words of such commands, options left away.
const PRINTING: &[&str] = &[
    "gh auth token",
    "glab auth token",
    "git credential fill",
    "git credential-store get",
    "git credential-cache get",
    "git credential-osxkeychain get",
    "git credential-manager get",
    "gcloud auth print-access-token",
    "gcloud auth print-identity-token",
    "gcloud auth application-default print-access-token",
    "gcloud secrets versions access",
    "az account get-access-token",
    "az keyvault secret show",
    "aws configure export-credentials",
    "aws secretsmanager get-secret-value",
    "aws sts get-session-token",
    "aws ecr get-login-password",
    "heroku auth:token",
    "vault print token",
    "vault kv get",
    "op read",
    "pass show",
    "secret-tool lookup",
    "doctl auth token",
];

pub(super) fn prints_login(command: &Command) -> bool {
    let args = command.args();
    let has = |long: &[&str], letters: &str| argv::has(args, letters, long);
    if has(&["help"], "") {
        return false;
    }
    let mut words = vec![command.program.as_str()];
    let call = git_call(command);
    match &call {
        // `git -C x credential fill`, `git-credential fill`
        Some(call) => {
            words = vec!["git", call.subcommand.text.as_str()];
            words.extend(argv::operands(&call.args, &[]).into_iter().map(|w| w.text.as_str()));
        }
        None => words.extend(operands(command)),
    }
    let begins = |line: &&str| {
        let wanted: Vec<&str> = line.split(' ').collect();
        words.starts_with(&wanted)
    };
    if PRINTING.iter().any(begins) {
        return true;
    }
    match words.as_slice() {
        ["gh", "auth", "status", ..] => has(&["show-token"], "t"),
        ["gpg" | "gpg2", ..] => has(&["export-secret-keys", "export-secret-key", "export-secret-subkeys"], ""),
        ["aws", "configure", "get", name, ..] => name.contains("secret") || name.contains("session_token"),
        ["aws", "ssm", verb, ..] => verb.starts_with("get-parameter") && has(&["with-decryption"], ""),
        ["kubectl" | "oc", "get", what, ..] => names_secrets(what) && shows_data(command),
        ["security", verb, ..] => verb.starts_with("find-") && verb.ends_with("-password") && has(&[], "wg"),
        [program, "get", ..] => program.starts_with("docker-credential-"),
        _ => false,
    }
}

fn operands(command: &Command) -> impl Iterator<Item = &str> {
    let valued =
        ["-n", "--namespace", "--context", "--project", "--profile", "--region", "--kubeconfig", "-o", "--output"];
    argv::operands(command.args(), &valued).into_iter().map(|w| w.text.as_str())
}

/// `secret`, `secret/x`, `pods,secrets`
fn names_secrets(what: &str) -> bool {
    what.split(',').any(|kind| matches!(kind.split(['/', '.']).next(), Some("secret" | "secrets")))
}

/// In a form with the values in it; the table of names has none.
fn shows_data(command: &Command) -> bool {
    let forms = argv::values(command.args(), &["-o", "--output", "--template"]);
    let only_names =
        |form: &str| matches!(form.trim_start_matches('='), "name" | "wide") || form.contains(".metadata.");
    forms.into_iter().any(|form| !only_names(form) || form.contains(".data"))
}
