//! `doctor --sandbox`: the ways out of the fence, tried for real from inside it.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::cause::with_causes;
use dandori_domain::run::SandboxMode;
use dandori_domain::sandbox::Door;
use dandori_host::fenced::{self, Outside};
use dandori_host::sandbox::SandboxPolicy;
use dandori_text::doctor::{Check, Remedy};
use dandori_text::sandbox;

use super::{Finding, Grade, own_program};
use crate::cli::Context;

pub(super) fn all(context: &Context) -> Vec<Finding> {
    let folder = context.layout.root().join(format!("doors-{}", std::process::id()));
    let tried = set_up(&folder).and_then(|set| try_all(&set));
    let _ = std::fs::remove_dir_all(&folder);
    let lang = context.out.lang;
    match tried {
        Ok(tried) => tried.into_iter().map(|(door, is_open)| told(context, door, is_open)).collect(),
        Err(reason) => vec![Finding::bad(lang, Check::Sandbox, reason, Remedy::Landlock)],
    }
}

fn told(context: &Context, door: Door, is_open: bool) -> Finding {
    let lang = context.out.lang;
    let held = Finding {
        code: Some(door.code().into()),
        ..Finding::good(Check::Door(door), sandbox::door_holds(lang).to_owned())
    };
    if !is_open {
        return held;
    }
    // What a missing layer leaves open is known and listed; anything else is a fault.
    let remedy = door.gap().map(|gap| sandbox::gap(lang, gap).to_owned());
    Finding { grade: Grade::Bad, remedy, detail: sandbox::door_is_open(lang).to_owned(), ..held }
}

/// What an agent might get at, and those who would notice.
struct Set {
    outside: Outside,
    _listeners: [UnixListener; 2],
}

fn set_up(folder: &Utf8Path) -> Result<Set, String> {
    let io = |e: std::io::Error| e.to_string();
    let (outside, inside) = (folder.join("outside"), folder.join("inside"));
    for folder in [&outside, &inside] {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io)?;
    }
    for name in ["secret", "file"] {
        dandori_host::put_file(&outside.join(name), b"secret", 0o600).map_err(io)?;
    }
    let token = format!("dandori-doors-{:x}", dandori_host::random());
    let by_path = UnixListener::bind(outside.join("socket")).map_err(io)?;
    let address = SocketAddr::from_abstract_name(&token).map_err(io)?;
    let listeners = [by_path, UnixListener::bind_addr(&address).map_err(io)?];
    let terminal = std::fs::read_link("/proc/self/fd/0").ok().and_then(|path| Utf8PathBuf::from_path_buf(path).ok());
    let terminal = terminal.filter(|path| path.starts_with("/dev/pts"));
    let pid = std::process::id();
    let outside = Outside { folder: outside, inside, abstract_name: token.clone(), pid, terminal, token };
    Ok(Set { outside, _listeners: listeners })
}

fn try_all(set: &Set) -> Result<Vec<(Door, bool)>, String> {
    let program = own_program().ok_or("cannot find this program")?;
    let outside = &set.outside;
    let mut policy = SandboxPolicy::new(SandboxMode::Auto);
    policy.write = vec![outside.inside.clone()];
    policy.read = vec![outside.folder.clone(), program.clone()];
    policy.hide = vec![outside.folder.join("secret")];
    policy.tmp = Some(outside.inside.clone());
    fenced::try_doors(&program, outside, &policy).map_err(|e| with_causes(&e))
}
