//! `dandori pr show`: a pull request as a page.

use std::borrow::Cow;
use std::process::ExitCode;

use clap::Args;
use dandori_api::{PullFile, PullPage};
use dandori_domain::plain::plain_path;
use dandori_domain::pull::PullState;
use dandori_text::{pulls as text, table, ui, watch};

use super::Context;
use crate::client::{Client, in_path, quoted};
use crate::out::{Failed, Out, added, bold, deleted, dim, good, pull_state};

/// How many files a page names.
const SHOWN_FILES: usize = 30;

#[derive(Args)]
pub(crate) struct PrShowArgs {
    /// Number (3, #3), task (T-4), run's key or branch
    #[arg(value_name = "PR")]
    pub(crate) pull: String,
}

pub(crate) async fn run(args: PrShowArgs, context: &Context) -> Result<ExitCode, Failed> {
    let page = fetch(&Client::connect(context).await?, context, &args.pull, Fresh::No).await?;
    context.out.object(&page);
    for line in lines(&context.out, &page) {
        context.out.line(line);
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the remote is asked first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fresh {
    Yes,
    No,
}

pub(crate) async fn fetch(client: &Client, context: &Context, pull: &str, fresh: Fresh) -> Result<PullPage, Failed> {
    let (path, fresh) = (in_path(&context.here()?), fresh == Fresh::Yes);
    Ok(client.get(&format!("/v1/pulls/{}?path={path}&fresh={fresh}", quoted(pull))).await?)
}

/// The page, line by line.
pub(crate) fn lines(out: &Out, page: &PullPage) -> Vec<String> {
    let mut lines = Lines { out, lines: Vec::new() };
    show(&mut lines, page);
    lines.lines
}

struct Lines<'o> {
    out: &'o Out,
    lines: Vec<String>,
}

impl Lines<'_> {
    fn line(&mut self, text: impl std::fmt::Display) {
        self.lines.push(text.to_string());
    }

    fn prose(&mut self, indent: usize, text: impl std::fmt::Display) {
        self.lines.extend(Out::prose_lines(indent, text));
    }

    fn hanging(&mut self, indent: usize, mark: &str, text: &str) {
        self.lines.extend(Out::hanging_lines(indent, mark, text));
    }
}

fn show(out: &mut Lines<'_>, page: &PullPage) {
    let (lang, pull) = (out.out.lang, &page.pull);
    out.prose(0, format!("{} {}", bold(&format!("#{}", pull.number)), bold(&pull.title)));
    out.line(format!("{}  {} → {}", pull_state(out.out, pull.state), pull.head, pull.base));
    if let (Some(task), Some(run), Some(agent)) = (&pull.task, &pull.run, &pull.agent) {
        let key = run_key(run);
        out.prose(0, dim(&text::made_by(lang, task, key, &table::fit(agent, 40))));
    }
    if !text::is_embedded(&pull.url) {
        out.line(dim(&pull.url));
    }
    if !pull.body.trim().is_empty() {
        out.line("");
        for line in pull.body.trim().lines().map(str::trim_end) {
            let mark = ["- [ ] ", "- [x] ", "- ", "* ", "> "].into_iter().find(|mark| line.starts_with(mark));
            match mark {
                _ if line.is_empty() => out.line(""),
                Some(mark) => out.hanging(2, mark, line.trim_start_matches(mark)),
                None => out.prose(2, line),
            }
        }
    }
    out.line("");
    match (&page.commits, page.commit_count, &page.files) {
        (Some(commits), Some(count), Some(files)) => {
            out.line(bold(&text::commits(lang, count)));
            for commit in commits {
                let id = commit.commit.get(..7).unwrap_or(&commit.commit);
                out.hanging(2, &format!("{} ", dim(id)), &commit.subject);
            }
            let rest = count.saturating_sub(u32::try_from(commits.len()).unwrap_or(u32::MAX));
            if rest > 0 {
                out.line(format!("  {}", text::more(lang, rest)));
            }
            stat(out, page, files);
        }
        _ => out.prose(0, text::not_fetched(lang)),
    }
    out.line("");
    match &page.checks {
        Some(checks) if checks.is_empty() => out.prose(0, text::no_checks(lang, true)),
        Some(checks) => checks.iter().for_each(|check| out.prose(0, format!("{}: {}", check.name, check.state))),
        None => out.prose(0, text::no_checks(lang, false)),
    }
    mergeable(out, page);
}

/// Its key out of a run's whole id, as people use it.
pub(crate) fn run_key(run: &str) -> &str {
    let id = run.strip_prefix("run_").unwrap_or(run);
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}

fn stat(out: &mut Lines<'_>, page: &PullPage, files: &[PullFile]) {
    if let Some(changes) = page.changes {
        out.line(bold(&ui::changes(out.out.lang, changes.files, changes.insertions, changes.deletions)));
    }
    let shown: Vec<(Cow<'_, str>, &PullFile)> =
        files.iter().take(SHOWN_FILES).map(|file| (plain_path(&file.path), file)).collect();
    let widest = shown.iter().map(|(path, _)| table::width(path)).max().unwrap_or(0);
    for (path, file) in &shown {
        let gap = " ".repeat(widest - table::width(path));
        let counts = match (file.insertions, file.deletions) {
            (Some(insertions), Some(deletions)) => {
                format!("{} {}", added(&format!("+{insertions}")), deleted(&format!("−{deletions}")))
            }
            _ => dim("binary"),
        };
        out.line(format!("  {path}{gap}  {counts}"));
    }
    if files.len() > SHOWN_FILES {
        let rest = u32::try_from(files.len() - SHOWN_FILES).unwrap_or(u32::MAX);
        out.line(format!("  {}", text::more(out.out.lang, rest)));
    }
}

fn mergeable(out: &mut Lines<'_>, page: &PullPage) {
    let (lang, number) = (out.out.lang, page.pull.number);
    if let Some(merge) = &page.merge {
        if merge.can {
            out.prose(0, good(&text::can_be_merged(lang, &merge.look)));
        } else {
            out.line(deleted(text::cannot_be_merged(lang)));
            for obstacle in &merge.obstacles {
                out.prose(2, text::obstacle(lang, obstacle));
                out.prose(2, text::remedy(lang, number, obstacle));
            }
            if merge.look.behind > 0 {
                out.prose(2, text::behind(lang, &merge.look.base, merge.look.behind));
            }
        }
        let fetched_at = page.base_fetched_at.as_deref().and_then(|at| at.parse().ok());
        if let Some(age) = fetched_at.and_then(|at| text::base_fetched(lang, &merge.look.base, at, dandori_host::now()))
        {
            out.prose(0, dim(&age));
        }
        if !merge.can {
            return;
        }
    }
    let state = page.pull.state;
    let is_ours = page.ours && (page.merge.is_some() || state != PullState::Open);
    if let Some(next) = text::next(number, state, is_ours) {
        out.prose(0, format!("{} `{next}`", watch::next(lang)));
    }
}
