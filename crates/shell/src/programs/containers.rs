//! Commands that run elsewhere: in a container, on another machine.
//!
//! What happens there is not ours, with two exceptions. A folder of this machine that is mounted in a container is
//! still a folder of this machine: such a command is read with its paths led back to where they lie here. And a
//! database is dropped wherever the client runs, so the clients of databases are kept from any such command.

use std::rc::Rc;

use crate::options::{self, Parsed, Spec};
use crate::programs::escapes::ssh_spec;
use crate::programs::wrappers::spec;
use crate::reading::{Certainty, Cwd, Reading, Remote, Why, Word};
use crate::walk::Walker;
use crate::walk::scope::{Input, Output};

/// Folder in the container, folder here.
type Mounts = Vec<(String, String)>;

/// Programs that are about a database, not about the machine they run on.
const CLIENTS: &[&str] = &[
    "psql",
    "mysql",
    "mariadb",
    "mysqladmin",
    "dropdb",
    "dropuser",
    "redis-cli",
    "valkey-cli",
    "mongosh",
    "mongo",
    "cockroach",
    "clickhouse-client",
    "rails",
    "rake",
    "prisma",
    "manage.py",
];

const RUN: Spec = Spec {
    short: "vweupalhcmkA",
    long: &[
        "volume",
        "workdir",
        "mount",
        "env",
        "env-file",
        "user",
        "name",
        "entrypoint",
        "network",
        "net",
        "publish",
        "label",
        "hostname",
        "memory",
        "cpus",
        "platform",
        "pull",
        "restart",
        "add-host",
        "cap-add",
        "cap-drop",
        "device",
        "dns",
        "gpus",
        "ipc",
        "pid",
        "security-opt",
        "shm-size",
        "tmpfs",
        "ulimit",
        "userns",
        "volumes-from",
        "log-driver",
        "stop-signal",
        "cidfile",
        "group-add",
        "annotation",
        "arch",
        "index",
    ],
    stops: true,
};

impl Walker<'_> {
    pub(crate) fn elsewhere(&mut self, program: &str, args: &[Word], input: &Input) -> Output {
        let is_remote = program == "ssh" || args.iter().any(|a| matches!(a.text.as_str(), "exec" | "run" | "ssh"));
        if is_remote {
            let text = args.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
            self.reading.remote.push(Remote { by: program.to_owned(), text });
        }
        match program {
            "ssh" => self.ssh(args, input),
            "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => self.docker(program, args, input),
            "kubectl" | "oc" => self.cluster(program, args, input),
            _ => {}
        }
        Output::Unknown
    }

    fn ssh(&mut self, args: &[Word], input: &Input) {
        let parsed = options::parse(args, ssh_spec());
        let Some((host, command)) = parsed.operands.split_first() else { return };
        let command: Vec<&str> = command.iter().map(|w| w.text.as_str()).skip_while(|w| *w == "--").collect();
        let code = command.join(" ");
        let name = host.text.trim_start_matches("ssh://").rsplit('@').next().unwrap_or_default();
        let name = name.split(':').next().unwrap_or_default();
        let is_here = matches!(name, "localhost" | "127.0.0.1" | "0.0.0.0" | "" | "[") || host.text.contains("::1");
        if is_here && !code.is_empty() {
            self.apart(crate::Reach::Wrapper("ssh".to_owned()), |walker| {
                walker.scope.cwd = walker.options.home.clone().map_or(Cwd::Unknown, Cwd::Known);
                walker.code(&code, input)
            });
        } else if !code.is_empty() {
            self.far("ssh", |walker| walker.code(&code, input));
        }
    }

    fn docker(&mut self, program: &str, args: &[Word], input: &Input) {
        let own = &["context", "host", "config", "log-level", "connection", "url", "file", "project-name", "env-file"];
        let before = options::parse(args, spec("HclfpDn", own));
        let mut words = before.operands.as_slice();
        let is_compose = program.ends_with("compose") || matches!(words.first(), Some(w) if w.text == "compose");
        let after;
        if is_compose && !program.ends_with("compose") {
            let long = &["file", "project-name", "profile", "env-file", "project-directory", "progress", "ansi"];
            after = options::parse(words.get(1..).unwrap_or_default(), spec("fp", long));
            words = after.operands.as_slice();
        } else if matches!(words.first(), Some(w) if w.text == "container") {
            words = words.get(1..).unwrap_or_default();
        }
        let Some((verb, rest)) = words.split_first() else { return };
        if !matches!(verb.text.as_str(), "run" | "exec" | "create") {
            return;
        }
        let parsed = options::parse(rest, RUN);
        let entry = parsed.value(&["entrypoint"]).cloned();
        // The image, the container or the service, then the command.
        let command: Vec<Word> = entry.into_iter().chain(parsed.operands.iter().skip(1).cloned()).collect();
        if command.is_empty() {
            return;
        }
        let mounts = if verb.text == "exec" { Mounts::new() } else { self.mounts(&parsed) };
        if mounts.is_empty() {
            self.far(program, |walker| walker.run(&command, Vec::new(), input));
            return;
        }
        let workdir = parsed.value(&["w", "workdir"]).map(|w| w.text.clone());
        let (keep, mut inside) = self.separately(program, |walker| {
            let mounts = Rc::new(mounts);
            let folder = workdir.and_then(|folder| here(&mounts, &folder));
            walker.scope.cwd = folder.map_or(Cwd::Unknown, Cwd::Known);
            walker.scope.mounts = Some(mounts);
            walker.run(&command, Vec::new(), input)
        });
        // A prompt in a container is what many want; what is typed there goes through no tool of the agent.
        inside.opaque.retain(|opaque| opaque.why != Why::Interactive);
        // Its scripts lie in the container.
        inside.scripts.clear();
        self.reading = keep;
        self.take(inside);
    }

    /// The folders of this machine that a container sees.
    fn mounts(&self, parsed: &Parsed) -> Mounts {
        let mut mounts = Mounts::new();
        for word in parsed.values(&["v", "volume"]) {
            let mut parts = word.text.split(':');
            if let (Some(from), Some(to)) = (parts.next(), parts.next()) {
                mounts.push((to.to_owned(), from.to_owned()));
            }
        }
        for word in parsed.values(&["mount"]) {
            let value = |names: &[&str]| {
                let parts = word.text.split(',').filter_map(|part| part.split_once('='));
                parts.into_iter().find(|(name, _)| names.contains(name)).map(|(_, value)| value.to_owned())
            };
            let from = value(&["src", "source"]);
            let to = value(&["dst", "target", "destination"]);
            if let (Some(from), Some(to), true) = (from, to, value(&["type"]).as_deref() != Some("volume")) {
                mounts.push((to, from));
            }
        }
        if parsed.values(&["pid"]).any(|w| w.text == "host") {
            // The processes of this machine, and through them its files.
            mounts.push(("/".to_owned(), "/".to_owned()));
        }
        // A name without a slash is a volume of docker's own.
        mounts.retain(|(_, from)| from.starts_with(['/', '.', '~', '$']));
        for (to, from) in &mut mounts {
            *from = self.at(&Word::literal(from.clone())).text;
            if to.len() > 1 {
                *to = to.trim_end_matches('/').to_owned();
            }
        }
        // The innermost first.
        mounts.sort_by_key(|(to, _)| std::cmp::Reverse(to.len()));
        mounts
    }

    fn cluster(&mut self, program: &str, args: &[Word], input: &Input) {
        let long = &["namespace", "context", "container", "kubeconfig", "cluster", "user"];
        let parsed = options::parse(args, spec("nc", long));
        if !matches!(parsed.operands.first(), Some(w) if w.text == "exec") {
            return;
        }
        let at = args.iter().position(|w| w.text == "--");
        if let Some(command) = at.and_then(|at| args.get(at + 1..)) {
            let command = command.to_vec();
            self.far(program, |walker| walker.run(&command, Vec::new(), input));
        }
    }

    /// Read what runs elsewhere, and keep of it only what is about a database.
    fn far(&mut self, by: &str, then: impl FnOnce(&mut Self) -> Output) {
        let (keep, inside) = self.separately(by, then);
        self.reading = keep;
        let mut clients = inside.commands;
        clients.retain(|command| CLIENTS.contains(&command.program.as_str()) || is_managed(command));
        for client in &mut clients {
            client.cwd = Cwd::Unknown;
        }
        self.reading.commands.extend(clients);
    }

    /// What was read before, and what is read now.
    fn separately(&mut self, by: &str, then: impl FnOnce(&mut Self) -> Output) -> (Reading, Reading) {
        let keep = std::mem::take(&mut self.reading);
        let fresh = self.fresh.clone();
        self.apart(crate::Reach::Wrapper(by.to_owned()), then);
        self.fresh = fresh;
        (keep, std::mem::take(&mut self.reading))
    }

    fn take(&mut self, inside: Reading) {
        self.reading.commands.extend(inside.commands);
        self.reading.writes.extend(inside.writes);
        self.reading.reads.extend(inside.reads);
        self.reading.opaque.extend(inside.opaque);
        self.reading.remote.extend(inside.remote);
    }

    /// A word of a command in a container, its path led back to where it lies here. Paths of the container's own become
    /// computed: they are nobody's here. What has been led back stays as it is.
    pub(crate) fn led_back(&self, word: &Word) -> Word {
        let Some(mounts) = &self.scope.mounts else { return word.clone() };
        let is_path = word.text.starts_with('/') && !word.text.contains(char::is_whitespace);
        if !is_path || word.certainty > Certainty::Glob || word.text.starts_with("/dev/") {
            return word.clone();
        }
        if let Some(text) = here(mounts, &word.text) {
            return Word { text, certainty: word.certainty };
        }
        let is_here = |from: &str| {
            word.text == from || word.text.strip_prefix(from.trim_end_matches('/')).is_some_and(|r| r.starts_with('/'))
        };
        if mounts.iter().any(|(_, from)| is_here(from)) {
            return word.clone();
        }
        Word::computed(format!("$CONTAINER{}", word.text.trim_end_matches(['/', '*'])))
    }
}

/// Where a path of the container lies here.
fn here(mounts: &Mounts, path: &str) -> Option<String> {
    mounts.iter().find_map(|(to, from)| {
        let rest = if to == "/" { Some(path.trim_start_matches('/')) } else { path.strip_prefix(to.as_str()) }?;
        match rest {
            "" => Some(from.clone()),
            _ if rest.starts_with('/') || to == "/" => {
                Some(format!("{}/{}", from.trim_end_matches('/'), rest.trim_start_matches('/')))
            }
            _ => None,
        }
    })
}

/// `python manage.py flush`
fn is_managed(command: &crate::Command) -> bool {
    command.args().first().is_some_and(|w| w.text.ends_with("manage.py"))
}
