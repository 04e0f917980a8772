//! `dandori queue write`

use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};
use dandori_api::formation::{ChangeOrder, GiveOrder, OrderChanged, OrderGiven, QueueWritten, SendWords, WordsSent};
use dandori_domain::CommandId;
use dandori_formation::AgentId;
use dandori_text::formation::asked::{self as text, Change};

use super::{Context, formation};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct QueueWriteArgs {
    /// Whose queue: planner or orchestrator
    #[arg(value_name = "AGENT", value_parser = ["planner", "orchestrator"], hide_possible_values = true)]
    agent: String,
    /// What it is: command, cancel-request, notification or message
    #[arg(long = "type", value_name = "TYPE", hide_possible_values = true)]
    kind: Kind,
    /// The text
    #[arg(long, value_name = "TEXT", conflicts_with = "content_file")]
    content: Option<String>,
    /// Read the text from a file; `-` reads stdin
    #[arg(long, value_name = "FILE")]
    content_file: Option<Utf8PathBuf>,
    /// Priority of a command: 0 is the most urgent (default: 100)
    #[arg(long, value_name = "NUMBER")]
    priority: Option<u32>,
    /// Number what a command asks for; its plan must then say what covers each demand
    #[arg(long)]
    demands: bool,
    /// The order it is about, by id or number
    #[arg(long, value_name = "ORDER")]
    command_id: Option<String>,
    /// Why an order is canceled
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Command,
    CancelRequest,
    Notification,
    Message,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::CancelRequest => "cancel-request",
            Self::Notification => "notification",
            Self::Message => "message",
        }
    }

    fn receiver(self) -> &'static str {
        match self {
            Self::Command | Self::CancelRequest => "planner",
            Self::Notification | Self::Message => "orchestrator",
        }
    }
}

pub(crate) async fn run(args: QueueWriteArgs, context: &Context) -> Result<ExitCode, Failed> {
    let (out, kind) = (&context.out, args.kind);
    if args.agent != kind.receiver() {
        return Err(Failed::Usage(text::wrong_receiver(out.lang, kind.name(), kind.receiver())));
    }
    let missing = |flag: &str| Failed::Usage(text::missing(out.lang, flag, kind.name()));
    let content = formation::given(args.content, args.content_file.as_deref())?;
    let client = Client::connect(context).await?;
    match kind {
        Kind::Command => {
            let body = GiveOrder {
                path: formation::place(context)?,
                content: content.ok_or_else(|| missing("--content"))?,
                priority: args.priority,
                review: false,
                demands: args.demands,
                up: false,
                env: Some(context.variables()),
            };
            let given: OrderGiven = client.post("/v1/formation/orders", &body).await?;
            out.object(&ordered(given.command_id, given.number));
            out.line(given.command_id);
            out.say(text::order_given(out.lang, given.number, given.demands.len(), given.is_up));
        }
        Kind::CancelRequest => {
            let order = args.command_id.ok_or_else(|| missing("--command-id"))?;
            let body = ChangeOrder { path: Some(formation::place(context)?), reason: args.reason, by: None };
            let done: OrderChanged = client.post(&format!("{}/cancel", formation::order_at(&order)), &body).await?;
            out.object(&ordered(done.order.id, done.order.number));
            out.line(done.order.id);
            out.say(text::changed(out.lang, Change::Cancel, &done));
        }
        Kind::Notification | Kind::Message => {
            let body = SendWords {
                path: formation::place(context)?,
                to: AgentId::Orchestrator,
                content: content.ok_or_else(|| missing("--content"))?,
                order: args.command_id,
            };
            let sent: WordsSent = client.post("/v1/formation/messages", &body).await?;
            out.object(&QueueWritten { command_id: None, number: None, message_id: Some(sent.message_id) });
            out.line(sent.message_id);
            out.say(text::words_sent(out.lang, &args.agent));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn ordered(command: CommandId, number: u32) -> QueueWritten {
    QueueWritten { command_id: Some(command), number: Some(number), message_id: None }
}
