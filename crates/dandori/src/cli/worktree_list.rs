//! `dandori worktree list`: those at work first, then the newest. All names come ahead, so the columns are as wide as they have to
//! be; then a line for each worktree as soon as it has been looked at.

use std::process::ExitCode;

use clap::Args;
use dandori_api::{WorktreeList, WorktreeNames, WorktreeView};
use dandori_text::lists;
use dandori_text::ui::{self, Head, head};
use dandori_text::{Lang, Table};
use jiff::Timestamp;

use super::Context;
use crate::client::{Client, in_path};
use crate::out::{Failed, Out};

#[derive(Args)]
pub(crate) struct WorktreeListArgs {
    /// Also show disk usage
    #[arg(long)]
    sizes: bool,
    /// Show at most this many
    #[arg(long, short = 'n', default_value_t = 50)]
    limit: u32,
}

impl WorktreeListArgs {
    /// The same list with all there are.
    fn whole(&self, total: u64) -> String {
        format!("dandori worktree list{} -n {total}", if self.sizes { " --sizes" } else { "" })
    }
}

/// The longest state, age and size there are: a row that comes later must not be wider than the first.
const LONGEST: (&str, i64, &str) = ("unrecorded", 9999 * 86_400, "1023.9 MiB");

pub(crate) async fn run(args: WorktreeListArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let client = Client::connect(context).await?;
    let path = in_path(&context.here()?);
    let query = format!("/v1/worktrees?path={path}&sizes={}&limit={}", args.sizes, args.limit);
    let mut lines = client.lines(&query).await?;
    let ahead = lines.next::<WorktreeNames>().await?.unwrap_or(WorktreeNames { names: Vec::new(), total: 0 });
    if ahead.total == 0 {
        out.object(&WorktreeList { worktrees: Vec::new(), total: 0 });
        out.say(ui::no_worktrees(out.lang));
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = out.rows(&widest(&ahead, args.sizes, out));
    let mut worktrees: Vec<WorktreeView> = Vec::new();
    let mut advice: Vec<String> = Vec::new();
    while let Some(worktree) = lines.next::<WorktreeView>().await? {
        rows.row(&cells(out.lang, &worktree));
        advice.extend(worktree.suggestion.clone().filter(|command| !advice.contains(command)));
        if out.json {
            worktrees.push(worktree);
        }
    }
    out.object(&WorktreeList { worktrees, total: ahead.total });
    if u64::try_from(ahead.names.len()).unwrap_or(u64::MAX) < ahead.total {
        out.say(lists::more(out.lang, ahead.names.len(), ahead.total, &args.whole(ahead.total)));
    }
    for command in advice {
        out.note(lists::suggestion(out.lang, &command));
    }
    Ok(ExitCode::SUCCESS)
}

/// A table with everything that may come, as wide as it may be.
fn widest(ahead: &WorktreeNames, sizes: bool, out: &Out) -> Table {
    let columns = [
        Head::Branch,
        Head::State,
        Head::Task,
        Head::Age,
        Head::Uncommitted,
        Head::Unpushed,
        Head::Owner,
        Head::Size,
        Head::Path,
    ];
    let mut table = Table::new(columns.map(|h| head(out.lang, h)));
    let (state, age, size) = LONGEST;
    let age = ui::age(out.lang, age);
    for name in &ahead.names {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        table.row([
            text(&name.branch),
            state.to_owned(),
            text(&name.task),
            age.clone(),
            "9".to_owned(),
            "9".to_owned(),
            text(&name.owner),
            if sizes { size.to_owned() } else { String::new() },
            name.path.clone(),
        ]);
    }
    table.rank([0, 0, 2, 3, 5, 4, 6, 1, 7]).shrink(0, 16).whole()
}

fn cells(lang: Lang, worktree: &WorktreeView) -> [String; 9] {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let made: Option<Timestamp> = worktree.created_at.as_deref().and_then(|at| at.parse().ok());
    let age = made.map(|at| ui::age(lang, dandori_host::now().duration_since(at).as_secs()));
    // One that is not there has nothing that could be read.
    let unread = if worktree.state == "missing" { "" } else { "?" };
    let count = |value: Option<u32>| match value {
        None => unread.to_owned(),
        Some(0) => String::new(),
        Some(count) => count.to_string(),
    };
    [
        text(&worktree.branch),
        worktree.state.clone(),
        text(&worktree.task),
        age.unwrap_or_default(),
        count(worktree.dirty),
        count(worktree.unpushed),
        text(&worktree.owner),
        worktree.bytes.map(ui::size).unwrap_or_default(),
        worktree.path.clone(),
    ]
}
