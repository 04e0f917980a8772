use dandori_testkit::model::*;
use crate::stage::Stage;
#[test]
fn hand() {
    for agent in ["claude", "codex", "gemini"] {
        let write = Call::Write { path: "greeting.txt".to_owned(), content: "hello\n".to_owned() };
        let script = Script::default()
            .when("Talk", [
            Turn::say("I will write a greeting. It takes:\n\n- a file\n- a word").thinking("A file is wanted.\nOr two.").and_call(write),
            Turn::shell("echo one; echo two; echo three; ls -la"),
            Turn::shell("echo broken >&2; exit 3"),
            Turn::shell("cat nosuch"),
            Turn::say("The greeting is written.\nSecond line."),
            ])
            .when("401", [Turn::status(401)])
            .when("529", [Turn::status(529)])
            .when("cut", [Turn::fault(Fault::Cut)])
            .when("429", [Turn::status(429)]);
        let stage = Stage::new(agent, script);
        if agent == "claude" {
            println!("{}", stage.env.dandori(["doctor"]).stdout);
            println!("{}", stage.env.dandori(["doctor", "--lang", "ja"]).stdout);
            println!("{}", stage.env.dandori(["doctor", "--json"]).stdout);
        }
        let r = stage.env.dandori(["run", "Talk a little", "--agent", agent]);
        println!("== {agent}\n--- stdout\n{}--- stderr\n{}", r.stdout, r.stderr);
        println!("--- log\n{}", stage.env.dandori(["task", "log", "1"]).stdout);
        println!("--- log --json\n{}", stage.env.dandori(["task", "log", "1", "--json"]).stdout);
        println!("--- show\n{}", stage.env.dandori(["task", "show", "1"]).stdout);
        for case in ["401", "529", "cut", "429"] {
            let t = std::time::Instant::now();
            let r = stage.env.dandori(["run", case, "--agent", agent]);
            println!("== {agent} {case} in {:?}\n--- stdout\n{}--- stderr\n{}", t.elapsed(), r.stdout, r.stderr);
            println!("--- log\n{}", stage.env.dandori(["task", "log", "T-2"]).stdout);
        }
    }
    for agent in ["claude", "codex", "gemini"] {
        let stage = Stage::with(agent, ModelServer::refusing);
        let t = std::time::Instant::now();
        let r = stage.env.dandori(["run", "refused", "--agent", agent]);
        println!("== {agent} refused in {:?}\n--- stdout\n{}--- stderr\n{}", t.elapsed(), r.stdout, r.stderr);
        println!("--- log\n{}", stage.env.dandori(["task", "log", "1"]).stdout);
    }
}
