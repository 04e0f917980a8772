//! `dandori prompt list`

use std::process::ExitCode;

use dandori_api::prompts::{PromptList, PromptView};
use dandori_text::ui::{Head, head};
use dandori_text::{Table, editor as text};

use super::Context;
use crate::templates::{self, Template};

pub(crate) fn run(context: &Context) -> ExitCode {
    let out = &context.out;
    let all = templates::all(context);
    out.object(&PromptList { prompts: all.iter().map(view).collect(), total: all.len() });
    if all.is_empty() {
        out.say(text::no_templates(out.lang));
        return ExitCode::SUCCESS;
    }
    let mut table = Table::new([Head::Name, Head::Source, Head::Title].map(|h| head(out.lang, h)));
    for template in &all {
        table.row([template.name.as_str(), text::place(out.lang, template.is_users), template.about()]);
    }
    out.table(&table);
    ExitCode::SUCCESS
}

pub(super) fn view(template: &Template) -> PromptView {
    PromptView {
        name: template.name.clone(),
        path: template.path.to_string(),
        source: if template.is_users { "user" } else { "repository" }.to_owned(),
        text: template.text.clone(),
    }
}
