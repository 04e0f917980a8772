//! Orders to a formation, from the words to the pull request. The story itself is the planner: it answers for the agent that waits.

use dandori_domain::CommandId;
use dandori_domain::run::{Purpose, Role, Run, Status};
use dandori_engine::{Formation, order_task, planning_task};
use dandori_formation::command::Review;
use dandori_formation::message::DEFAULT_PRIORITY;
use dandori_formation::plan::{self, Plan};
use dandori_formation::protocol::{self, NewCommand};
use dandori_formation::result::Author;
use dandori_formation::{AgentId, Command, Ledger, Task};
use dandori_store::{Scope, StoreError};

use crate::plays::Crash;
use crate::scene::Scene;

const CONFIG: &str = "formation.workers = 2\nformation.agent = \"exec:own-file\"\nformation.planner = \"exec:waits\"\n\
     formation.orchestrator = \"exec:true\"\n";

const DIAMOND: &str = "
tasks:
  - {name: first, purpose: the first part, content: do it, acceptance_criteria: it is there, bloom_level: 2, required: true, blocked_by: []}
  - {name: left, purpose: the left part, content: do it, acceptance_criteria: it is there, bloom_level: 2, required: true, blocked_by: [first]}
  - {name: right, purpose: the right part, content: do it, acceptance_criteria: it is there, bloom_level: 2, required: true, blocked_by: [first]}
  - {name: last, purpose: the last part, content: do it, acceptance_criteria: it is there, bloom_level: 2, required: true, blocked_by: [left, right]}
";

impl Scene {
    pub(crate) async fn formation(&self) -> Formation {
        self.engine.formation_at(&self.repo_path()).await.unwrap()
    }

    /// Takes a step until it is taken. One that was taken before is refused the second time, and that is well.
    async fn took<T: Send + 'static>(
        &mut self,
        scope: Scope,
        step: impl Fn(&mut dandori_store::Book<'_>, &mut protocol::Step<'_>) -> Result<T, StoreError>
        + Send
        + Sync
        + Clone
        + 'static,
    ) -> Option<T> {
        let formation = self.formation().await;
        let step = step.clone();
        match formation.step(scope, move |book, taken| step(book, taken)).await {
            Ok(done) => Some(done.value),
            Err(StoreError::Formation(_)) => None,
            Err(other) => panic!("{other}"),
        }
    }

    async fn bring_up(&mut self) {
        self.took(Scope::Orders, |book, step| {
            let standing = dandori_formation::Standing { is_up: true, since: Some(step.now), ..Default::default() };
            book.put_standing(&standing)
        })
        .await;
    }

    async fn give(&mut self, content: &'static str) -> Command {
        let given = self
            .took(Scope::Orders, move |book, step| {
                let new = NewCommand {
                    content: content.into(),
                    demands: Vec::new(),
                    priority: DEFAULT_PRIORITY,
                    review: Review::NotWanted,
                };
                protocol::order(book, step, new)
            })
            .await;
        given.unwrap()
    }

    pub(crate) async fn command(&self, id: CommandId) -> Command {
        self.formation().await.look(move |book| book.command(id)).await.unwrap().unwrap()
    }

    async fn plan_tasks(&self, id: CommandId) -> Vec<Task> {
        self.formation().await.look(move |book| book.tasks(id)).await.unwrap()
    }

    /// The planner has got something, and waits for the story to answer.
    async fn planner_waits(&mut self, command: CommandId, turns: usize) {
        self.until("the planner is at work", async |scene| {
            let runs = scene.runs_of(planning_task(command)).await;
            runs.len() >= turns && runs.last().is_some_and(|run| run.status() == Status::Running)
        })
        .await;
    }

    async fn submit(&mut self, command: CommandId, text: &str) {
        let plan: Plan = plan::read(text).0.unwrap();
        let crew = self.formation().await.crew(false);
        self.took(Scope::Command(command), move |book, step| protocol::submit(book, step, command, &plan, &crew)).await;
    }

    async fn complete(&mut self, command: CommandId) {
        self.took(Scope::Command(command), move |book, step| {
            protocol::complete(book, step, command, "Everything is in place now", Author::Agent(AgentId::Planner))
        })
        .await;
    }
}

/// Every run that was made for the formation, by what it was for.
async fn tally(scene: &Scene) -> (usize, usize, usize) {
    let page = scene.all_tasks().await;
    let runs: Vec<&Run> = page.iter().flat_map(|task| &task.runs).collect();
    let of = |purpose: Purpose, role: Role| {
        runs.iter().filter(|r| r.spec.errand.as_ref().is_some_and(|e| e.purpose == purpose && e.role == role)).count()
    };
    (of(Purpose::Work, Role::Worker), of(Purpose::Integrate, Role::Worker), of(Purpose::Plan, Role::Planner))
}

/// A diamond of four tasks on two workers: planned, done, merged in the order of their dependencies, completed, told, and one
/// pull request with the work of all of them.
pub(crate) async fn order_to_pull_request(crash: Crash) -> Scene {
    let mut scene = Scene::new(crash, CONFIG).await;
    scene.bring_up().await;
    let command = scene.give("build the four parts").await.id;
    scene.planner_waits(command, 1).await;
    scene.submit(command, DIAMOND).await;
    scene.world.let_agents_end();
    scene.until("all tasks are over", async |scene| scene.command(command).await.tally.open == 0).await;
    scene.planner_waits(command, 2).await;
    scene.complete(command).await;
    scene.world.let_agents_end();
    scene.until("the pull request is there", async |scene| !scene.world.lock().pulls.is_empty()).await;
    scene.until("everybody is done", async |scene| scene.is_quiet().await).await;

    let states: Vec<String> = scene.plan_tasks(command).await.iter().map(|t| t.state.name().to_owned()).collect();
    assert_eq!(states, ["completed"; 4]);
    assert_eq!(tally(&scene).await, (4, 4, 2), "work, merges, turns of the planner");
    let runs = scene.runs_of(order_task(command)).await;
    let tip = runs.last().unwrap().delivered().unwrap().clone();
    let world = scene.world.lock();
    assert_eq!(world.pulls.len(), 1, "one pull request");
    let own = world.files_of(&tip).keys().filter(|name| name.len() > 8).count();
    assert_eq!(own, 4 + 1, "the work of all, and what was there: {:?}", world.files_of(&tip));
    drop(world);
    scene
}

#[test]
fn an_order_becomes_one_pull_request() {
    crate::points::in_simulated_time(async {
        let mut scene = order_to_pull_request(None).await;
        scene.assert_sound().await;
    });
}
