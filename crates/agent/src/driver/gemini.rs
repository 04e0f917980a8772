//! Gemini CLI.

mod home;
mod stream;

use camino::Utf8PathBuf;
use dandori_domain::SessionId;

use super::{Driver, Line, is_on};
use crate::{Order, constraints};

pub(super) const DRIVER: Driver = Driver {
    prompt: |order| constraints::preface(order.instruction, order.forbidden_paths),
    command: |order, line| Some(command(order, line)),
    native: |_| None,
    variables: |_| Vec::new(),
    is_login: |_, _| false,
    login_files,
    rebuild: home::rebuild,
    take_in: stream::take_in,
    with_exit: stream::with_exit,
    of_exit: stream::of_exit,
};

fn command(order: &Order<'_>, line: &mut Line) -> SessionId {
    line.add(&["-o", "stream-json", "--approval-mode", "yolo", "--skip-trust"]);
    line.option("-m", order.model);
    line.session(order)
}

fn login_files(order: &Order<'_>) -> Vec<Utf8PathBuf> {
    let mut files: Vec<Utf8PathBuf> = order.user_env.path("GOOGLE_APPLICATION_CREDENTIALS").into_iter().collect();
    if is_on(order, "GOOGLE_GENAI_USE_VERTEXAI") {
        files.extend(order.user_env.home().map(|home| home.join(".config/gcloud")));
    }
    files
}
