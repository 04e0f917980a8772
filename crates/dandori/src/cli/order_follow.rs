//! An order as it goes on: its plan when there is one, every state of its tasks, what came back, its pull request. Ctrl-C ends
//! the following, not the work.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use dandori_api::formation::{ChangeOrder, CommandStage, OrderChanged, OrderView, TaskStage};
use dandori_domain::{Problem, ResultId, TaskId};
use dandori_formation::command::Review as Wanted;
use dandori_text::formation::{asked as text, graph};

use super::{Context, formation};
use crate::client::Client;
use crate::out::{Failed, dim, terminal_width};
use crate::person;

/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Who approves a plan that waits for review.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Review {
    /// Whoever sits at this terminal is asked.
    AskHere,
    Elsewhere,
}

pub(crate) async fn look(client: &Client, order: &str) -> Result<OrderView, Problem> {
    client.get(&formation::order_at(order)).await
}

pub(crate) async fn follow(
    client: &Client,
    order: &str,
    review: Review,
    context: &Context,
) -> Result<ExitCode, Failed> {
    let mut follower = Follower { context, review, ..Follower::new(context) };
    let mut number = None;
    let ended = tokio::select! {
        ended = follower.until_the_end(client, order, &mut number) => ended?,
        _ = tokio::signal::ctrl_c() => None,
    };
    let out = &context.out;
    let Some(view) = ended else {
        if let Some(number) = number {
            out.say(text::detached(out.lang, number));
        }
        return Err(Failed::Quiet(130));
    };
    let command = &view.plan.command;
    out.object(&view);
    out.line("");
    out.prose(0, text::ended(out.lang, command.number, command.state.as_str(), command.counts));
    if let Some(summary) = &view.summary {
        out.prose(2, text::summary(summary));
    }
    if let Some(pr) = &command.pr {
        out.prose(0, text::pull(out.lang, pr.number, &pr.url));
        out.next(&[format!("dandori pr show {}", pr.number), format!("dandori pr merge {}", pr.number)]);
    }
    Ok(ExitCode::from(u8::from(command.state != CommandStage::Completed)))
}

struct Follower<'c> {
    context: &'c Context,
    review: Review,
    has_plan: bool,
    is_waiting_told: bool,
    is_review_told: bool,
    tasks: BTreeMap<TaskId, TaskStage>,
    results: Vec<ResultId>,
}

impl<'c> Follower<'c> {
    fn new(context: &'c Context) -> Self {
        Self {
            context,
            review: Review::Elsewhere,
            has_plan: false,
            is_waiting_told: false,
            is_review_told: false,
            tasks: BTreeMap::new(),
            results: Vec::new(),
        }
    }

    /// `None`: whoever was asked wants to leave.
    async fn until_the_end(
        &mut self,
        client: &Client,
        order: &str,
        number: &mut Option<u32>,
    ) -> Result<Option<OrderView>, Failed> {
        loop {
            let view = look(client, order).await?;
            *number = Some(view.plan.command.number);
            self.tell(&view);
            if wants_approval(&view) && !self.ask(client, order, &view).await? {
                return Ok(None);
            }
            let stage = view.plan.command.state;
            let is_over = !matches!(stage, CommandStage::Queued | CommandStage::Sealed);
            if is_over && !view.awaits_pull {
                return Ok(Some(view));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn tell(&mut self, view: &OrderView) {
        let out = &self.context.out;
        let command = &view.plan.command;
        if command.state == CommandStage::Queued && !self.is_waiting_told {
            self.is_waiting_told = true;
            out.say(dim(&text::awaits_planner(out.lang)));
        }
        let is_planned = !view.plan.tasks.is_empty() || !command.phases.is_empty();
        if is_planned && !self.has_plan {
            self.has_plan = true;
            for line in graph::plan(out.lang, &view.plan, terminal_width()) {
                out.line(line);
            }
            out.line("");
            // The plan says how they stand now.
            self.tasks = view.plan.tasks.iter().map(|task| (task.id, task.state)).collect();
        }
        for task in &view.plan.tasks {
            if self.tasks.insert(task.id, task.state) != Some(task.state) {
                let who = task.worker.map_or_else(|| "dandori".to_owned(), |worker| worker.to_string());
                out.line(text::task_line(out.lang, &task.name, task.state, &who));
            }
        }
        for result in view.results.iter().filter(|result| result.task.is_some() && result.applied) {
            if !self.results.contains(&result.id) {
                self.results.push(result.id);
                out.prose(4, dim(&text::summary(&result.summary)));
            }
        }
    }

    /// `false`: it is not approved, at least not now.
    async fn ask(&mut self, client: &Client, order: &str, view: &OrderView) -> Result<bool, Failed> {
        let out = &self.context.out;
        if self.review == Review::Elsewhere || !out.is_watched() {
            if !self.is_review_told {
                self.is_review_told = true;
                out.say(text::awaits_approval(out.lang, view.plan.command.number));
            }
            return Ok(true);
        }
        let number = view.plan.command.number;
        match person::agree(self.context, &text::may_approve(out.lang), &format!("dandori order approve {number}")) {
            Ok(()) => {
                let path = formation::order_at(order);
                let _: OrderChanged = client.post(&format!("{path}/approve"), &ChangeOrder::default()).await?;
                Ok(true)
            }
            Err(Failed::Refused(_)) => {
                out.say(text::awaits_approval(out.lang, number));
                Ok(false)
            }
            Err(other) => Err(other),
        }
    }
}

fn wants_approval(view: &OrderView) -> bool {
    view.plan.command.review == Wanted::Wanted && view.plan.command.state == CommandStage::Sealed
}
