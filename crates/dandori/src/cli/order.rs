//! `dandori order "…"`: gives an order and follows it to its pull request.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use dandori_api::formation::{GiveOrder, OrderGiven};
use dandori_text::editor;
use dandori_text::formation::asked as text;

use super::instruction::InstructionArgs;
use super::order_follow::{self, Review};
use super::{Context, formation};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_precedence_over_arg = true)]
pub(crate) struct OrderArgs {
    #[command(flatten)]
    instruction: InstructionArgs,
    /// Approve the plan yourself before anybody works on it
    #[arg(long)]
    review: bool,
    /// Give the order without waiting
    #[arg(long, short = 'd')]
    detach: bool,
    /// Priority: 0 is the most urgent (default: 100)
    #[arg(long, value_name = "NUMBER")]
    priority: Option<u32>,
    #[command(subcommand)]
    verb: Option<OrderVerb>,
}

#[derive(Subcommand)]
pub(crate) enum OrderVerb {
    /// List orders: open ones, then the newest
    List(super::order_list::OrderListArgs),
    /// Show an order: its plan, what came back, its pull request
    Show(super::order_show::OrderShowArgs),
    /// Give out no more work of an order; running agents finish
    Pause(super::order_change::OrderPauseArgs),
    /// Continue a paused order
    Resume(super::order_change::OrderArg),
    /// Add to an order: before work has started it is planned again, later its planner is told
    Amend(super::order_change::OrderAmendArgs),
    /// Approve the plan of an order that waits for review
    Approve(super::order_change::OrderArg),
    /// Cancel an order and preserve the work of its agents
    Cancel(super::order_change::OrderCancelArgs),
}

pub(crate) async fn run(args: OrderArgs, context: &Context) -> Result<ExitCode, Failed> {
    match args.verb {
        None => give(args, context).await,
        Some(OrderVerb::List(args)) => super::order_list::run(args, context).await,
        Some(OrderVerb::Show(args)) => super::order_show::run(args, context).await,
        Some(OrderVerb::Pause(args)) => super::order_change::pause(args, context).await,
        Some(OrderVerb::Resume(args)) => super::order_change::resume(args, context).await,
        Some(OrderVerb::Amend(args)) => super::order_change::amend(args, context).await,
        Some(OrderVerb::Approve(args)) => super::order_change::approve(args, context).await,
        Some(OrderVerb::Cancel(args)) => super::order_change::cancel(args, context).await,
    }
}

async fn give(args: OrderArgs, context: &Context) -> Result<ExitCode, Failed> {
    let here = context.here()?;
    let order = args.instruction.read(context, &editor::for_run(context.out.lang, here.as_str()), "dandori order")?;
    let body = GiveOrder {
        path: formation::place(context)?,
        content: order.text.clone(),
        priority: args.priority,
        review: args.review,
        demands: true,
        up: true,
        env: Some(context.variables()),
    };
    let client = Client::connect(context).await?;
    let given: OrderGiven = match client.post("/v1/formation/orders", &body).await {
        Ok(given) => given,
        Err(problem) => {
            order.kept(context, "dandori order");
            return Err(problem.into());
        }
    };
    order.taken();
    let out = &context.out;
    let number = given.number;
    out.say(text::order_given(out.lang, number, given.demands.len(), given.is_up));
    if args.detach {
        let found = order_follow::look(&client, &given.command_id.to_string()).await?;
        out.object(&found);
        out.line(given.command_id);
        out.next(&[format!("dandori order show {number} --follow"), format!("dandori order cancel {number}")]);
        return Ok(ExitCode::SUCCESS);
    }
    let review = if args.review { Review::AskHere } else { Review::Elsewhere };
    order_follow::follow(&client, &given.command_id.to_string(), review, context).await
}
