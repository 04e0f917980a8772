use crate::judge::{Judgement, Outcome};
use crate::rules::Active;
use crate::stage::Stage;
use crate::world::{Effect, Mark};
use crate::{ErrorPolicy, Level};

use super::*;

#[test]
fn a_makefile_s_recipes_are_read_with_its_own_variables() {
    let text = "CMD = git push\nall: build\n\t@$(CMD) -f\n\techo $$HOME $(CC) $@\nx: ; rm -rf ~\n";
    assert_eq!(recipes(text).unwrap(), "git push -f\necho $HOME CC x\nrm -rf ~\n");
    assert_eq!(recipes("\t$(if $(X),a) b").unwrap(), "ifXa b\n");
    assert_eq!(recipes("X := $(shell git push -f)\nY != rm -rf ~\n").unwrap(), "git push -f\nrm -rf ~\n");
    assert_eq!(recipes(".RECIPEPREFIX = >\nx:\n>git push\ndefine z\nrm a\nendef\n").unwrap(), "git push\nrm a\n");
}

#[test]
fn variables_of_variables_end_somewhere() {
    let times = |name: &str| format!("$({name})").repeat(200);
    let text = format!("A={}\nB={}\nC={}\nD=xxxxxxxx\nx:\n\t$(A)\n", times("B"), times("C"), times("D"));
    assert_eq!(recipes(&text), None);
}

#[test]
fn a_package_manager_runs_the_scripts_before_and_after_too() {
    assert_eq!(scripts_of(&["run", "build"]), ["prebuild", "build", "postbuild"]);
    assert_eq!(scripts_of(&["test"]), ["pretest", "test", "posttest"]);
    assert!(scripts_of(&["ci"]).contains(&"postinstall".to_owned()));
}

/// With a file this session wrote, and the guards that judge what it runs.
fn judged(path: &str, text: &str, line: &str) -> Judgement {
    let mut stage =
        Stage::only("opaque", Level::Block).file(path, text).mark(Mark::Wrote(format!("/repo/{path}").into()));
    stage.rules.order.push(Active { name: "bash".into(), level: Level::Block, on_error: ErrorPolicy::Closed });
    stage.bash(line)
}

#[test]
fn what_a_task_runner_would_run_is_judged_when_this_session_wrote_it() {
    for (path, text, line) in [
        ("justfile", "test:\n    git push -f\n", "just test"),
        ("justfile", "test:\n    @git push -f\n", "just"),
        (".justfile", "cmd := 'git push'\ntest *args:\n  {{cmd}} -f {{args}}\n", "just test x"),
        ("Justfile", "test: build\n  true\nbuild:\n  rm -rf ~\n", "just test"),
        ("justfile", "alias t := test\nall:\n  true\ntest:\n  git push -f\n", "just t"),
        ("justfile", "x := `git push -f`\nall:\n  true\n", "just"),
        ("justfile", "all:\n  just other\nother:\n  git push -f\n", "just all"),
        ("justfile", "all:\n  #!/usr/bin/env python3\n  import os\n  os.system('git push -f')\n", "just all"),
        ("x.just", "all:\n  git push -f\n", "just -f x.just"),
        ("justfile", "all:\n  git push -f\n", "cd src && just"),
        ("Taskfile.yml", "version: '3'\ntasks:\n  test:\n    cmds:\n      - git push -f\n", "task test"),
        ("Taskfile.yaml", "tasks:\n  default:\n    deps: [a]\n  a:\n    cmd: 'git push -f'\n", "task"),
        ("Taskfile.yml", "tasks:\n  a: git push -f\n", "task a"),
        ("Taskfile.yml", "tasks:\n  a:\n    - task: b\n  b:\n    - cmd: git push -f\n", "task a"),
        ("Taskfile.yml", "vars:\n  P: git push\ntasks:\n  a:\n    cmds:\n    - \"{{.P}} -f\"\n", "task a"),
        ("Taskfile.yml", "tasks:\n  a:\n    cmds:\n      - |\n        cd src\n        git push -f\n", "task a"),
        ("Taskfile.yml", "vars:\n  X:\n    sh: git push -f\ntasks:\n  a: 'true'\n", "task a"),
        ("deno.json", r#"{"tasks": {"a": "git push -f"}}"#, "deno task a"),
        ("deno.jsonc", "{ // x\n \"tasks\": {\"a\": {\"command\": \"git push -f\",}, /* y */ }, }", "deno task a"),
        ("deno.json", r#"{"tasks": {"a": {"dependencies": ["b"]}, "b": "git push -f"}}"#, "deno task a"),
        ("composer.json", r#"{"scripts": {"test": "git push -f"}}"#, "composer test"),
        ("composer.json", r#"{"scripts": {"test": ["@a"], "a": ["git push -f"]}}"#, "composer run-script test"),
        ("composer.json", r#"{"scripts": {"post-install-cmd": ["git push -f"]}}"#, "composer install"),
        ("Rakefile", "task :test do\n  sh 'git push -f'\nend\n", "rake test"),
        ("Rakefile", "task(:test) { sh(\"git push -f\") }\nsh('ls')\n", "rake"),
        ("Rakefile", "task :test do\n  system('git', 'push', '-f')\nend\n", "bundle exec rake test"),
        ("package.json", r#"{"scripts": {"test": "git push -f"}}"#, "cd src && npm test"),
    ] {
        let judged = judged(path, text, line);
        assert_eq!(judged.outcome(), Outcome::Ask, "{line}: {text}: {}", judged.said());
    }
}

#[test]
fn harmless_recipes_and_those_that_are_not_run_pass() {
    for (path, text, line) in [
        (
            "justfile",
            "set shell := ['bash', '-c']\nversion := `git describe`\n# x: y\n[private]\ntest *args: build\n    \
             cargo test {{args}} --features {{ if x == 'y' { 'a' } else { 'b' } }}\nbuild target='debug':\n    \
             @echo \"{{target}} {{version}}\"\n    cargo build --profile {{target}}\n",
            "just test",
        ),
        ("justfile", "test:\n  cargo test\nrelease:\n  git push -f\n", "just test"),
        ("justfile", "test:\n  cargo test\nrelease:\n  git push -f\n", "just"),
        (
            "Taskfile.yml",
            "version: '3'\nvars:\n  OUT: '{{.ROOT_DIR}}/dist'\ntasks:\n  test:\n    desc: \"Run: all of git push -f\"\n    \
             sources:\n      - '**/*.go'\n    cmds:\n      - go test {{.CLI_ARGS}} ./...\n      - task: lint\n      \
             - for: [a, b]\n        cmd: echo {{.ITEM}} > {{.OUT}}/x\n  lint:\n    cmds: [golangci-lint run]\n  \
             release:\n    cmds:\n      - git push -f\n",
            "task test",
        ),
        ("deno.jsonc", "{\"tasks\": {\"a\": \"deno run -A x.ts // git push -f\"}}", "deno task b"),
        ("deno.json", r#"{"tasks": {"a": "deno run -A main.ts", "b": "git push -f"}}"#, "deno task a"),
        (
            "composer.json",
            r#"{"scripts": {"test": ["@php vendor/bin/phpunit", "Acme\\Build::run"], "x": "git push -f"}}"#,
            "composer test",
        ),
        ("Rakefile", "require 'rake/testtask'\ntask(:test) { sh 'bundle exec rspec' }\ndesc 'git push -f'\n", "rake"),
    ] {
        let judged = judged(path, text, line);
        assert_eq!(judged.outcome(), Outcome::Pass, "{line}: {text}: {}", judged.said());
    }
}

#[test]
fn a_script_that_a_line_sets_is_judged_where_it_is_run() {
    let stage = || {
        let mut stage = Stage::only("opaque", Level::Block);
        stage.rules.order.push(Active { name: "bash".into(), level: Level::Block, on_error: ErrorPolicy::Closed });
        stage
    };
    for (line, outcome) in [
        ("npm pkg set scripts.test='git push -f' && npm test", Outcome::Block),
        ("npm set-script go 'git push -f' && npm run go", Outcome::Block),
        ("npm pkg set scripts.go=\"$CODE\" && npm run go", Outcome::Ask),
        ("npm pkg set scripts.release='git push -f' && npm test", Outcome::Pass),
        ("npm pkg set scripts.test='vitest run' && npm test", Outcome::Pass),
        ("npm pkg set scripts.a='npm run a' && npm run a", Outcome::Pass),
    ] {
        let judged = stage().bash(line);
        assert_eq!(judged.outcome(), outcome, "{line}: {}", judged.said());
        let wrote = Effect::Set(Mark::Wrote("/repo/package.json".into()), String::new());
        assert!(judged.effects.contains(&wrote) || outcome == Outcome::Block, "{line}: the next line knows it");
    }
}
