//! How a pull request ends: closed, opened again, merged, with a remark. Each looks first, so that it may be asked for again
//! after anything; a change whose answer was lost is looked for.

use dandori_domain::Oid;
use dandori_domain::pull::PullState;
use reqwest::Method;
use serde_json::json;

use super::pulls::{CommentJson, PullEdit, PullOpenness, PullSummary};
use super::{GitHub, MAX_FOUND, PER_PAGE};
use crate::ForgeError;

impl GitHub {
    /// Closes it, or opens it again. One that is merged stays so, and is answered as it is.
    pub async fn make_pull(&self, number: u64, wanted: PullOpenness) -> Result<PullSummary, ForgeError> {
        let there = self.pull(number).await?;
        if there.state == wanted.state() || there.merged() {
            return Ok(there);
        }
        let edit = PullEdit { state: Some(wanted), ..PullEdit::default() };
        match self.update_pull(number, &edit).await {
            Err(lost) if lost.may_have_happened() => match self.pull(number).await {
                Ok(now) if now.state == wanted.state() => Ok(now),
                _ => Err(lost),
            },
            outcome => outcome,
        }
    }

    /// Merges it with a merge commit, if its head is still this one.
    pub async fn merge_pull(
        &self,
        number: u64,
        head: &Oid,
        title: &str,
        message: &str,
    ) -> Result<PullSummary, ForgeError> {
        let there = self.pull(number).await?;
        if there.state != PullState::Open {
            return Ok(there);
        }
        let body = json!({
            "sha": head.as_str(), "merge_method": "merge", "commit_title": title, "commit_message": message,
        });
        let url = self.url(&["pulls", &number.to_string(), "merge"], &[])?;
        let sent = self.wire.change(&Method::PUT, url, &body).await.map_err(|e| self.named(e, Some(number)));
        let now = self.pull(number).await;
        match (sent, now) {
            (_, Ok(now)) if now.merged() => Ok(now),
            // It says that it has, and does not show it yet.
            (Ok(_), Ok(now)) => Ok(PullSummary { state: PullState::Merged, ..now }),
            (Ok(_), Err(error)) | (Err(error), _) => Err(error),
        }
    }

    /// Closes an open one of another branch, with a remark: a pull request keeps its head.
    pub async fn close_unless_of(&self, number: u64, head: &str, why: &str) -> Result<(), ForgeError> {
        let there = self.pull(number).await?;
        if there.head == head || there.state != PullState::Open {
            return Ok(());
        }
        self.remark(number, why).await?;
        self.make_pull(number, PullOpenness::Closed).await.map(drop)
    }

    /// Leaves a remark, once.
    pub async fn remark(&self, number: u64, text: &str) -> Result<(), ForgeError> {
        let place = ["issues", &number.to_string(), "comments"];
        let mut next = Some(self.url(&place, &[("per_page", PER_PAGE)])?);
        let mut seen = 0;
        while let Some(url) = next.filter(|_| seen < MAX_FOUND) {
            let answer = self.wire.read(url).await.map_err(|e| self.named(e, Some(number)))?;
            let page: Vec<CommentJson> = self.wire.parse(&answer)?;
            if page.iter().any(|comment| comment.body.as_deref().is_some_and(|body| body.trim() == text.trim())) {
                return Ok(());
            }
            seen += page.len();
            next = answer.next.filter(|_| !page.is_empty());
        }
        let url = self.url(&place, &[])?;
        let sent = self.wire.change(&Method::POST, url, &json!({ "body": text })).await;
        sent.map(drop).map_err(|e| self.named(e, Some(number)))
    }
}
