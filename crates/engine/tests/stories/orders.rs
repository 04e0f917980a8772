//! Orders to a formation, from the words to the pull request. The story itself is the planner: it answers for the agent that waits.

use dandori_domain::CommandId;
use dandori_domain::run::{Purpose, Role, Run, Status};
use dandori_engine::{Formation, order_task, planning_task};
use dandori_formation::command::Review;
use dandori_formation::continuous::Continuous;
use dandori_formation::message::DEFAULT_PRIORITY;
use dandori_formation::plan::{self, Plan};
use dandori_formation::protocol::{self, NewCommand};
use dandori_formation::result::Author;
use dandori_formation::{AgentId, Command, Ledger, Task};
use dandori_store::{Scope, StoreError};

use crate::plays::Crash;
use crate::scene::Scene;

const CONFIG: &str = "runs.max_parallel = 4\nformation.workers = 2\nformation.agent = \"exec:own-file\"\nformation.planner = \"exec:waits\"\n\
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

    /// A formation that is up and has a planned order.
    async fn planned(&mut self, content: &'static str, plan: &str) -> CommandId {
        self.bring_up().await;
        let command = self.give(content).await.id;
        self.planner_waits(command, 1).await;
        self.submit(command, plan).await;
        command
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

const TWO: &str = "
tasks:
  - {name: one, purpose: the first part, content: do it, acceptance_criteria: it is there, bloom_level: 2, required: true, blocked_by: []}
  - {name: two, purpose: the second part, content: do it, acceptance_criteria: it is there, bloom_level: 2, required: true, blocked_by: []}
";

async fn planned(crash: Crash, config: &str, plan: &str) -> (Scene, CommandId) {
    let mut scene = Scene::new(crash, config).await;
    let command = scene.planned("build the parts", plan).await;
    (scene, command)
}

/// Two workers change the same file: the second is given both sides, mends it, and both are in.
pub(crate) async fn order_with_a_conflict(crash: Crash) -> Scene {
    let config = CONFIG.to_owned() + "formation.worker_agents = [\"exec:edits one\", \"exec:edits two\"]\n";
    let mut scene = Scene::new(crash, &config).await;
    // Continuous mode has a step of dandori's own at the end of each plan.
    scene
        .took(Scope::Orders, |book, _| book.put_continuous(&Continuous { enabled: true, ..Continuous::default() }))
        .await;
    let command = scene.planned("build the parts", TWO).await;
    scene.world.let_agents_end();
    scene.until("all tasks are over", async |scene| scene.command(command).await.tally.open == 0).await;
    scene.planner_waits(command, 2).await;
    scene.complete(command).await;
    scene.world.let_agents_end();
    scene.until("the pull request is there", async |scene| !scene.world.lock().pulls.is_empty()).await;
    scene.until("everybody is done", async |scene| scene.is_quiet().await).await;
    assert_eq!(scene.command(command).await.tally.completed, 3, "dandori's own step, too");
    assert_eq!(tally(&scene).await, (3, 3, 2), "one was given back and merged the second time");
    let repaired: Vec<u32> = scene.plan_tasks(command).await.iter().map(|task| task.repairs).collect();
    assert_eq!(repaired.iter().sum::<u32>(), 1);
    scene
}

/// A worker that fails is tried as often as the rules say, then its task has failed; the order with it, without a pull request.
pub(crate) async fn order_that_fails(crash: Crash) -> Scene {
    let config = CONFIG.to_owned()
        + "formation.rules.attempts = 2\nformation.worker_agents = [\"exec:own-file\", \"exec:fails\"]\n";
    let (mut scene, command) = planned(crash, &config, TWO).await;
    scene.world.let_agents_end();
    scene.until("all tasks are over", async |scene| scene.command(command).await.tally.open == 0).await;
    scene.planner_waits(command, 2).await;
    scene.complete(command).await;
    scene.world.let_agents_end();
    scene.until("it is over", async |scene| scene.command(command).await.is_over()).await;
    scene.until("everybody is done", async |scene| scene.is_quiet().await).await;
    let tally_of_tasks = scene.command(command).await.tally;
    assert_eq!((tally_of_tasks.completed, tally_of_tasks.failed), (1, 1));
    assert_eq!(tally(&scene).await, (1 + 2, 1, 2));
    assert!(scene.world.lock().pulls.is_empty());
    scene
}

/// Called off while agents work: they are stopped, and what they did is kept.
pub(crate) async fn order_called_off(crash: Crash) -> Scene {
    let config = CONFIG.replace("exec:own-file", "exec:waits");
    let (mut scene, command) = planned(crash, &config, TWO).await;
    scene.until("both work beside the planner", async |scene| scene.world.alive() == 3).await;
    scene
        .took(Scope::Command(command), move |book, step| protocol::cancel(book, step, command, "user", "not needed"))
        .await;
    // Nobody has to think about an order that was called off.
    scene.until("it is over", async |scene| scene.command(command).await.is_over()).await;
    scene.world.let_agents_end();
    scene.until("everybody is done", async |scene| scene.is_quiet().await).await;
    assert_eq!(scene.command(command).await.tally.cancelled, 2);
    assert_eq!(tally(&scene).await, (2, 0, 1));
    assert_eq!(scene.world.lock().preserved.len(), 2, "what they had done");
    scene
}

/// A worker that never ends is stopped when its time is over, tried again, and given up.
pub(crate) async fn order_that_hangs(crash: Crash) -> Scene {
    let config = CONFIG.to_owned()
        + "formation.worker_agents = [\"claude\", \"claude\"]\nformation.small_model = \"waits\"\nformation.rules.attempts = 2\nformation.rules.longest = \"5m\"\n\
           limits.start = \"3h\"\nlimits.silence = \"3h\"\n";
    let (mut scene, command) = planned(crash, &config, TWO).await;
    scene.until("its time is over, twice", async |scene| scene.command(command).await.tally.open == 0).await;
    // The planner waits for the story; nobody else is left.
    scene.until("they are stopped", async |scene| scene.world.alive() == 1).await;
    scene.world.let_agents_end();
    scene.planner_waits(command, 2).await;
    scene.complete(command).await;
    scene.world.let_agents_end();
    scene.until("it is over", async |scene| scene.command(command).await.is_over()).await;
    scene.world.let_agents_end();
    scene.until("everybody is done", async |scene| scene.is_quiet().await).await;
    assert_eq!(scene.command(command).await.tally.failed, 2);
    assert_eq!(tally(&scene).await, (4, 0, 2), "each twice");
    scene
}

#[test]
fn orders_come_to_their_ends() {
    for name in 0..5 {
        crate::points::in_simulated_time(async {
            let mut scene = match name {
                0 => order_to_pull_request(None).await,
                1 => order_with_a_conflict(None).await,
                2 => order_that_fails(None).await,
                3 => order_called_off(None).await,
                _ => order_that_hangs(None).await,
            };
            scene.assert_sound().await;
        });
    }
}
