//! Which commands of git move the main branch, here or on a remote. Each rule was tried with git itself.

use dandori_shell::{GitCall, Word};

use super::git_context::GitContext;
use super::refspec::{Refspec, short};

pub(super) enum Moves {
    Branch(String),
    /// Which branches comes from the input, where nobody looks.
    FromInput,
}

pub(super) fn main_moved_by(place: &GitContext, call: &GitCall) -> Option<Moves> {
    let has = |long| call.has_option(long, None);
    let branch = match call.subcommand.text.as_str() {
        "update-ref" | "fetch" | "send-pack" if has("stdin") => return Some(Moves::FromInput),
        "fast-import" => return Some(Moves::FromInput),
        "switch" | "checkout" => {
            let options = call.own_options();
            options.value(&["B", "C", "force-create"]).map(|w| w.text.clone()).filter(|b| place.is_main(b))
        }
        "worktree" => {
            call.options("bB", &["reason"]).value(&["B"]).map(|w| w.text.clone()).filter(|b| place.is_main(b))
        }
        "commit" | "cherry-pick" | "revert" | "am" if !only_looks(call) => on_main(place),
        "merge" if !only_looks(call) => merge(place, call),
        "rebase" if !only_looks(call) => rebase(place, call),
        "reset" => reset(place, call),
        "pull" => pull(place, call),
        "fetch" => fetch(place, call),
        "push" | "send-pack" | "http-push" => push(place, call),
        "subtree" => subtree(place, call),
        "branch" => branch(place, call),
        "update-ref" => update_ref(place, call),
        "symbolic-ref" => symbolic_ref(place, call),
        "filter-branch" | "filter-repo" => {
            let named = call.args.iter().find(|w| place.is_main(short(&w.text))).map(|w| short(&w.text).to_owned());
            named.or_else(|| on_main(place))
        }
        _ => None,
    };
    branch.map(Moves::Branch)
}

fn on_main(place: &GitContext) -> Option<String> {
    place.on_main().map(str::to_owned)
}

/// It commits nothing: it asks, or gives up what was begun.
pub(super) fn only_looks(call: &GitCall) -> bool {
    let asks: &[&str] = match call.subcommand.text.as_str() {
        "commit" => &["dry-run"],
        "merge" | "cherry-pick" | "revert" => &["abort", "quit"],
        "rebase" | "am" => &["abort", "quit", "show-current-patch"],
        _ => &[],
    };
    asks.iter().any(|option| call.has_option(option, None))
}

/// Anything but what main's own remote has of it.
pub(super) fn merge(place: &GitContext, call: &GitCall) -> Option<String> {
    on_main(place).filter(|main| !place.is_catching_up(call, main))
}

/// `git rebase <onto> <branch>` goes to the branch first.
fn rebase(place: &GitContext, call: &GitCall) -> Option<String> {
    let options = call.options("xsXC", &["onto", "exec", "strategy", "strategy-option", "whitespace", "empty"]);
    let at = usize::from(!call.has_option("root", None));
    match options.operands.get(at) {
        Some(named) => Some(short(&named.text).to_owned()).filter(|branch| place.is_main(branch)),
        None => on_main(place),
    }
}

/// With files it only changes the index.
fn reset(place: &GitContext, call: &GitCall) -> Option<String> {
    let main = place.on_main()?;
    let options = call.options("U", &["pathspec-from-file", "unified", "inter-hunk-context"]);
    if options.has(&["p", "patch", "pathspec-from-file"]) {
        return None;
    }
    let to = match (options.operands.as_slice(), options.dashes) {
        ([to], Some(1)) => to,
        ([to], None) if !place.is_file(to) => to,
        _ => return None,
    };
    let name = to.text.as_str();
    let stays = matches!(name, "HEAD" | "@" | "HEAD~0" | "HEAD^0" | "@~0" | "@^0") || short(name) == main;
    (!stays && !place.is_upstream(call, name, main)).then(|| main.to_owned())
}

/// A fetch into branches, and a merge into the one that is checked out.
fn pull(place: &GitContext, call: &GitCall) -> Option<String> {
    if let Some(main) = fetch(place, call) {
        return Some(main);
    }
    let main = place.on_main().filter(|_| !call.has_option("dry-run", None))?;
    let operands = call.own_options().operands;
    let is_catching_up = match operands.split_first() {
        None => place.follows_own(call, main),
        Some((remote, specs)) => {
            let is_here = matches!(remote.text.as_str(), "." | "./");
            let is_own = |spec: &Word| {
                let from = Refspec::read(&spec.text).from;
                from == main || from == "HEAD" && !is_here
            };
            (is_here || place.is_own_remote(call, &remote.text))
                && specs.iter().all(is_own)
                && (is_here || !specs.is_empty() || place.follows_main(call, main))
        }
    };
    (!is_catching_up).then(|| main.to_owned())
}

/// `git fetch . work:main`; from main's own remote `main:main` is catching up.
fn fetch(place: &GitContext, call: &GitCall) -> Option<String> {
    if call.has_option("dry-run", None) {
        return None;
    }
    let options = call.own_options();
    let operands = &options.operands;
    let of_branch = || place.setting(call, &format!("branch.{}.remote", place.branch?));
    let named = operands.first().map(|remote| remote.text.clone());
    let remote = named.or_else(of_branch).unwrap_or_else(|| "origin".to_owned());
    let configured = || place.values(call, &format!("remote.{remote}.fetch"));
    let read = |specs: Vec<String>| specs.iter().map(|spec| Refspec::read(spec)).collect::<Vec<_>>();
    let specs = match operands.get(1..) {
        Some(specs @ [_, ..]) => {
            // A map that nobody needs for his own branches: which of them it is for is not looked at.
            let mapped: Vec<&str> = options.values(&["refmap", "refma", "refm"]).map(|map| map.text.as_str()).collect();
            let into_main = mapped.iter().find_map(|map| written_main(place, &Refspec::read(map)));
            if into_main.is_some() {
                return into_main;
            }
            let specs = read(specs.iter().map(|spec| spec.text.clone()).collect());
            // What is fetched by its name goes where the configuration says, too.
            let maps = if mapped.is_empty() { read(configured()) } else { Vec::new() };
            let through = specs.iter().flat_map(|spec| maps.iter().filter_map(|map| spec.through(map)));
            let through: Vec<Refspec> = through.filter(|spec| !spec.is_tracking()).collect();
            specs.into_iter().chain(through).collect()
        }
        _ => read(configured()),
    };
    specs.into_iter().filter(|spec| spec.has_both).find_map(|spec| {
        let main = written_main(place, &spec)?;
        let is_own = spec.from == spec.to || spec.is_tracking();
        (!is_own || !place.is_own_remote(call, &remote)).then_some(main)
    })
}

/// The main branch a refspec writes to, or what a remote is said to have of it.
fn written_main(place: &GitContext, spec: &Refspec) -> Option<String> {
    let tracked = spec.to.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/')).map(|(_, branch)| branch);
    let to = tracked.filter(|to| !to.contains('*')).unwrap_or(&spec.to);
    if place.is_main(to) {
        return Some(to.to_owned());
    }
    place.context.rules.main.branches.iter().find(|main| spec.writes(main)).cloned()
}

fn push(place: &GitContext, call: &GitCall) -> Option<String> {
    if call.has_option("dry-run", Some('n')) {
        return None;
    }
    let first = || place.context.rules.main.branches.first().cloned();
    if ["all", "mirror", "branches"].iter().any(|option| call.has_option(option, None)) {
        return first();
    }
    let operands = call.options("o", &["push-option", "repo", "receive-pack", "exec"]).operands;
    if operands.first().is_some_and(|remote| place.is_made_here(remote)) {
        return None;
    }
    let specs = operands.get(1..).unwrap_or_default();
    if !specs.is_empty() {
        return specs.iter().find_map(|word| pushed(place, word));
    }
    if call.subcommand.text != "push" {
        return first();
    }
    // Tags alone, whatever is checked out.
    if call.has_option("tags", None) {
        return None;
    }
    pushed_by_settings(place, call, operands.first()).or_else(|| on_main(place))
}

/// Where a push without a refspec goes by git's settings.
fn pushed_by_settings(place: &GitContext, call: &GitCall, remote: Option<&Word>) -> Option<String> {
    let first = || place.context.rules.main.branches.first().cloned();
    let of_branch = |name: &str| place.setting(call, &format!("branch.{}.{name}", place.branch?));
    let remote = remote
        .map(|remote| remote.text.clone())
        .or_else(|| of_branch("pushRemote"))
        .or_else(|| place.setting(call, "remote.pushDefault"))
        .or_else(|| of_branch("remote"))
        .unwrap_or_else(|| "origin".to_owned());
    if place.setting(call, &format!("remote.{remote}.mirror")).is_some_and(|mirror| is_true(&mirror)) {
        return first();
    }
    let specs = place.values(call, &format!("remote.{remote}.push"));
    if !specs.is_empty() {
        return specs.into_iter().find_map(|spec| pushed(place, &Word::literal(spec)));
    }
    match place.setting(call, "push.default").as_deref() {
        Some("matching") => first(),
        Some("upstream" | "tracking") => {
            let upstream = of_branch("merge")?;
            Some(short(&upstream).to_owned()).filter(|branch| place.is_main(branch))
        }
        _ => None,
    }
}

/// As git reads a setting that is on or off.
fn is_true(value: &str) -> bool {
    !matches!(value.to_ascii_lowercase().as_str(), "" | "false" | "no" | "off" | "0")
}

/// The main branch one refspec of a push goes to.
fn pushed(place: &GitContext, word: &Word) -> Option<String> {
    let spec = Refspec::read(&word.text);
    if spec.is_matching() {
        return place.context.rules.main.branches.first().cloned();
    }
    let asks_where = ["--show-current", "--abbrev-ref", "symbolic-ref"].iter().any(|asks| spec.to.contains(asks));
    if matches!(spec.to.as_str(), "HEAD" | "@") || word.is_computed() && asks_where {
        return on_main(place);
    }
    written_main(place, &spec)
}

fn subtree(place: &GitContext, call: &GitCall) -> Option<String> {
    let options = call.options("Pbm", &["prefix", "branch", "message", "onto", "annotate"]);
    match options.operands.split_first() {
        Some((verb, rest)) if verb.text == "push" => rest.get(1..)?.iter().find_map(|word| pushed(place, word)),
        Some((verb, _)) if verb.text == "split" => {
            options.value(&["b", "branch"]).map(|w| w.text.clone()).filter(|branch| place.is_main(branch))
        }
        Some(_) => on_main(place),
        None => None,
    }
}

fn branch(place: &GitContext, call: &GitCall) -> Option<String> {
    let options = call.options("u", &["set-upstream-to", "sort", "contains", "points-at", "merged", "no-merged"]);
    let has = |long, letters: [&str; 2]| call.has_option(long, None) || options.has(&letters);
    let named: Vec<&str> = options.operands.iter().map(|w| w.text.as_str()).collect();
    let main = |name: &&&str| place.is_main(name);
    if let Some(upstream) = options.value(&["u", "set-upstream-to"]) {
        // The next `git pull` brings whatever it is.
        let of = named.first().copied().or(place.branch).filter(|of| place.is_main(of))?;
        return (!place.is_upstream(call, &upstream.text, of)).then(|| of.to_owned());
    }
    let found = if has("delete", ["d", "D"]) {
        named.iter().find(main)
    } else if has("move", ["m", "M"]) {
        let renames_this = named.len() == 1;
        return named
            .iter()
            .find(main)
            .map(|name| (*name).to_owned())
            .or_else(|| on_main(place).filter(|_| renames_this));
    } else if has("copy", ["c", "C"]) {
        named.last().filter(main)
    } else if has("force", ["f", "f"]) {
        named.first().filter(main)
    } else {
        None
    };
    found.map(|name| (*name).to_owned())
}

fn update_ref(place: &GitContext, call: &GitCall) -> Option<String> {
    let operands = call.options("m", &[]).operands;
    let name = operands.first()?.text.as_str();
    if name == "HEAD" {
        return on_main(place).filter(|_| !call.has_option("no-deref", None));
    }
    let spec = Refspec::read(name);
    if name.starts_with("refs/") { written_main(place, &spec) } else { None }
}

/// `git symbolic-ref refs/heads/main refs/heads/work`: main is what work is.
fn symbolic_ref(place: &GitContext, call: &GitCall) -> Option<String> {
    let operands = call.options("m", &[]).operands;
    let name = operands.first()?.text.as_str();
    let changes = operands.len() > 1 || call.has_option("delete", Some('d'));
    if changes && name.starts_with("refs/") { written_main(place, &Refspec::read(name)) } else { None }
}
