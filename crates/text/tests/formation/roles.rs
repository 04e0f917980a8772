//! The role instructions: complete in both languages, with examples that work.

use dandori_formation::assign::{Crew, Seat};
use dandori_formation::plan::{Frame, check, read};
use dandori_formation::result::{Reported, says_too_little};
use dandori_formation::{AgentId, Role, Rules};
use dandori_text::Lang;
use dandori_text::formation::roles::role;

use crate::is_japanese;

const ROLES: [Role; 3] = [Role::Orchestrator, Role::Planner, Role::Worker];

#[test]
fn both_languages_say_the_same() {
    for one in ROLES {
        let (en, ja) = (role(Lang::En, one), role(Lang::Ja, one));
        assert!(is_japanese(ja) && !is_japanese(en), "{one}");
        let of = |text: &str, start: &str| text.lines().filter(|line| line.starts_with(start)).count();
        for start in ["#", "- ", "1. ", "2. ", "3. ", "4. ", "5. ", "| "] {
            assert_eq!(of(en, start), of(ja, start), "{one}: lines that begin with {start:?}");
        }
        let quoted = |text: &str| {
            let prose: Vec<&str> = text.split("```").step_by(2).collect();
            let mut all: Vec<String> =
                prose.concat().split('`').skip(1).step_by(2).map(|quoted| quoted.replace('\n', " ")).collect();
            all.sort();
            all.dedup();
            all
        };
        assert_eq!(quoted(en), quoted(ja), "{one}: what stands in backquotes");
    }
}

#[test]
fn the_planner_is_asked_the_five_questions() {
    for lang in [Lang::En, Lang::Ja] {
        for (number, question) in (1..).zip(["What", "Who", "Order", "Risk", "Verify"]) {
            assert!(role(lang, Role::Planner).contains(&format!("\n{number}. **{question}**")), "{question}");
        }
    }
}

#[test]
fn what_a_role_is_shown_as_an_example_would_be_accepted() {
    let seat = Seat { agent: AgentId::Worker(1), client: "claude".into(), model: None, capabilities: vec![] };
    let crew = Crew { seats: vec![seat], small: None, large: None, boost: false };
    let demands = vec!["x".to_owned(); 3];
    let frame = Frame { rules: &Rules::default(), crew: &crew, demands: &demands };
    for lang in [Lang::En, Lang::Ja] {
        let planner = role(lang, Role::Planner);
        let yaml = planner.split("<<'PLAN'\n").nth(1).unwrap().split("\nPLAN\n").next().unwrap();
        let (plan, wrong) = read(yaml);
        assert!(wrong.is_empty(), "{wrong:?}");
        let wrong = check(&plan.unwrap(), frame);
        assert!(wrong.is_empty(), "{wrong:?}");

        let worker = role(lang, Role::Worker);
        let summary = worker.split("--summary \"").nth(1).unwrap().split('"').next().unwrap();
        assert!(!says_too_little(summary, Reported::Completed), "{summary}");

        let orchestrator = role(lang, Role::Orchestrator);
        let order = orchestrator.rsplit("--content \"").next().unwrap().split('"').next().unwrap();
        assert_eq!(dandori_formation::plan::demand::demands(order).len(), 3, "{order}");
    }
}
