//! `dandori pr checkout`: where the branch of a pull request is, or a place for it.
//!
//! A worktree that has it is named. Else a clean main checkout the user stands in is switched, by the user's own git; else
//! a worktree is made. Uncommitted changes stay where they are.

use std::process::ExitCode;

use camino::Utf8Path;
use clap::Args;
use dandori_api::{AddWorktree, PullCheckedOut, PullLink, PullView, WorktreeDone};
use dandori_domain::Problem;
use dandori_host::Cmd;
use dandori_text::pulls as text;

use super::{Context, pr_show};
use crate::client::Client;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct PrCheckoutArgs {
    /// Number (3, #3), task (T-4), run's key or branch
    #[arg(value_name = "PR")]
    pull: String,
    /// Create a worktree instead of switching the main checkout
    #[arg(long)]
    worktree: bool,
}

/// What was done.
enum Place {
    There(String),
    Switched(String),
    Made(String),
}

pub(crate) async fn run(args: PrCheckoutArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let pull = pr_show::fetch(&client, context, &args.pull, pr_show::Fresh::No).await?.pull;
    let place = place(&client, context, &pull, args.worktree).await?;
    let (out, branch) = (&context.out, pull.head.as_str());
    let (how, path, said) = match &place {
        Place::There(path) => ("there", path, text::checked_out(out.lang, branch, path)),
        Place::Switched(path) => ("switched", path, text::switched(out.lang, branch, path)),
        Place::Made(path) => ("made", path, text::worktree_made(out.lang, branch, path)),
    };
    out.object(&PullCheckedOut {
        pr: PullLink { number: pull.number, url: pull.url.clone(), state: Some(pull.state) },
        branch: branch.to_owned(),
        worktree: path.clone(),
        outcome: how.to_owned(),
    });
    out.line(said);
    Ok(ExitCode::SUCCESS)
}

async fn place(client: &Client, context: &Context, pull: &PullView, apart: bool) -> Result<Place, Failed> {
    let here = context.here()?;
    let branch = pull.head.as_str();
    let listed = git(context, &here, &["worktree", "list", "--porcelain", "-z"])?;
    if let Some(path) = checked_out(&listed, branch) {
        return Ok(Place::There(path));
    }
    let main = listed.split('\0').find_map(|field| field.strip_prefix("worktree ")).unwrap_or(here.as_str());
    let root = git(context, &here, &["rev-parse", "--show-toplevel"])?;
    let stands_in_main = Utf8Path::new(root.trim()) == Utf8Path::new(main);
    let is_clean = || Ok::<_, Failed>(git(context, Utf8Path::new(main), &["status", "--porcelain"])?.is_empty());
    if !apart && stands_in_main && is_clean()? {
        bring(context, Utf8Path::new(main), pull)?;
        git(context, Utf8Path::new(main), &["switch", "--quiet", branch])?;
        return Ok(Place::Switched(main.to_owned()));
    }
    bring(context, Utf8Path::new(main), pull)?;
    let body = AddWorktree {
        path: here.clone().into_string(),
        branch: Some(branch.to_owned()),
        base: None,
        session: context.session(None),
        at: None,
        no_set_up: false,
        env: Some(context.variables()),
    };
    let made: WorktreeDone = client.post("/v1/worktrees", &body).await?;
    Ok(Place::Made(made.path))
}

/// The branch, made from what was pushed where this clone has none.
fn bring(context: &Context, main: &Utf8Path, pull: &PullView) -> Result<(), Failed> {
    let reference = format!("refs/heads/{}", pull.head);
    if git(context, main, &["rev-parse", "--verify", "--quiet", &reference]).is_ok() {
        return Ok(());
    }
    let remote = format!("refs/remotes/origin/{}", pull.head);
    let from = match git(context, main, &["rev-parse", "--verify", "--quiet", &remote]) {
        Ok(_) => remote,
        Err(_) => pull.commit.clone().ok_or(Problem::NoSuchPull { number: pull.number })?,
    };
    git(context, main, &["branch", "--quiet", "--no-track", "--", &pull.head, &from]).map(drop)
}

fn checked_out(listed: &str, branch: &str) -> Option<String> {
    let wanted = format!("branch refs/heads/{branch}");
    listed.split("\0\0").find_map(|record| {
        let mut fields = record.split('\0');
        let path = fields.next()?.strip_prefix("worktree ")?;
        fields.any(|field| field == wanted).then(|| path.to_owned())
    })
}

/// The user's own git, in the user's own checkout.
fn git(context: &Context, folder: &Utf8Path, args: &[&str]) -> Result<String, Failed> {
    let output = Cmd::new("git", &context.env).args(args).cwd(folder).run();
    let command = format!("git {}", args.first().copied().unwrap_or_default());
    let output = output.map_err(|e| Problem::Git { command, reason: e.stderr().trim().to_owned() })?;
    Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::checked_out;

    #[test]
    fn a_worktree_is_found_by_the_whole_name_of_its_branch() {
        let listed =
            "worktree /r\0HEAD a\0branch refs/heads/main\0\0worktree /w 1\0HEAD b\0branch refs/heads/x/y\0locked\0\0";
        assert_eq!(checked_out(listed, "x/y").as_deref(), Some("/w 1"));
        assert_eq!(checked_out(listed, "x"), None);
    }
}
