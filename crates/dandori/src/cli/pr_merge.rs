//! `dandori pr merge`: by a person at a terminal, who is shown what will happen.

use std::process::ExitCode;

use clap::Args;
use dandori_api::{MergePull, PullDone, PullPage};
use dandori_domain::Problem;
use dandori_domain::pull::{MergeObstacle, MergeRule, PullState};
use dandori_text::pulls as text;

use super::pr_close::say_preserved;
use super::{Context, pr_show};
use crate::client::{Client, quoted};
use crate::out::{Failed, Out};
use crate::person::{self, Confirmed};

#[derive(Args)]
pub(crate) struct PrMergeArgs {
    /// Number (3, #3), task (T-4), run's key or branch
    #[arg(value_name = "PR")]
    pull: String,
    /// Merge only if it can be fast-forwarded
    #[arg(long, conflicts_with = "no_ff")]
    ff_only: bool,
    /// Always make a merge commit
    #[arg(long)]
    no_ff: bool,
    /// Do not ask for confirmation (a terminal is still required)
    #[arg(long, short = 'y')]
    yes: bool,
}

pub(crate) async fn run(args: PrMergeArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    Confirmed::said_before(context)?;
    let client = Client::connect(context).await?;
    let page = pr_show::fetch(&client, context, &args.pull, pr_show::Fresh::Yes).await?;
    let rule = match (args.ff_only, args.no_ff) {
        (true, _) => MergeRule::FastForwardOnly,
        (_, true) => MergeRule::MergeCommit,
        _ => MergeRule::Usual,
    };
    let commit = shown(&page)?;
    if !args.yes {
        say(out, &page, rule);
        let question = text::merge_question(out.lang, page.pull.number, &page.pull.base);
        person::agree(context, &question, &format!("dandori pr merge {} --yes", page.pull.number))?;
    }
    let body = MergePull { path: context.here()?.into_string(), commit, rule, env: Some(context.variables()) };
    let done: PullDone = client.post(&format!("/v1/pulls/{}/merge", quoted(&args.pull)), &body).await?;
    out.object(&done);
    let at = done.base_commit.as_deref().unwrap_or_default();
    out.prose(0, text::merged(out.lang, done.pull.number, &done.pull.base, at.get(..7).unwrap_or(at)));
    if done.base_here.as_deref() == Some("behind") {
        out.note(text::base_left(out.lang, &done.pull.base));
    }
    say_preserved(out, &done);
    Ok(ExitCode::SUCCESS)
}

/// The head that is shown, of one that can be merged as far as is known.
fn shown(page: &PullPage) -> Result<String, Failed> {
    let number = page.pull.number;
    let refused = |obstacles: Vec<MergeObstacle>| {
        Failed::Problem(Problem::CannotMerge { number, task: page.pull.task.clone(), obstacles })
    };
    if page.pull.state != PullState::Open {
        return Err(refused(vec![MergeObstacle::NotOpen { state: page.pull.state }]));
    }
    if !page.ours {
        return Err(Failed::Problem(Problem::ForeignPull { number, url: page.pull.url.clone() }));
    }
    match &page.merge {
        Some(merge) if !merge.can => Err(refused(merge.obstacles.clone())),
        _ => page.pull.commit.clone().ok_or(Failed::Problem(Problem::NoSuchPull { number })),
    }
}

fn say(out: &Out, page: &PullPage, rule: MergeRule) {
    if let Some(merge) = &page.merge {
        let by_forge = page.pull.forge == "github";
        let mut look = merge.look.clone();
        if let Some(checkout) = &mut look.checkout {
            checkout.path = out.path(checkout.path.as_str()).into();
        }
        for line in text::will_merge(out.lang, page.pull.number, &page.pull.title, &look, rule, by_forge) {
            out.say(line);
        }
    }
}
