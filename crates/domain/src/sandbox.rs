//! What the kernel enforces around a run, layer by layer, and what it therefore does not.

use serde::{Deserialize, Serialize};

/// What the kernel really enforced.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "level", rename_all = "snake_case")]
pub enum Sandbox {
    Layers(Layers),
    /// Landlock alone, as earlier versions recorded it.
    Landlock {
        abi: u32,
    },
    None {
        reason: String,
    },
}

/// Three fences, one inside the other.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Layers {
    /// Landlock's ABI; 0 where there is none.
    pub landlock: u32,
    /// Calls that reach around the other two are refused (seccomp).
    pub calls: bool,
    /// Processes, file systems, terminals and IPC of its own.
    pub namespaces: bool,
    /// Why a layer is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// Something a missing layer leaves open. Its text is in `dandori_text`; `doctor` lists it word for word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// Sockets with a path: tmux, ssh-agent, D-Bus, docker.
    PathSockets,
    /// Terminals of the same user, through `/dev/pts`.
    Terminals,
    /// Priority and processor affinity of other processes.
    Priorities,
    /// Modes, owners and times of files outside.
    Modes,
    /// Names and command lines of other processes.
    OtherProcesses,
    /// Names, sizes and times of what is hidden.
    HiddenNames,
    /// Shared memory, semaphores and message queues.
    SharedMemory,
    /// What tools put into their shared caches reaches the user's, where they have no variable for it.
    Caches,
    /// A password in the address of a remote, in the repository's configuration.
    RemotePasswords,
    /// Signals to other processes (Landlock before ABI 6).
    Signals,
    /// Abstract sockets (Landlock before ABI 6).
    AbstractSockets,
    /// Cutting files short that may not be written (Landlock before ABI 3).
    Truncation,
    /// Limits of other processes, their memory, the kernel's keyring, io_uring.
    Calls,
    /// Files: nothing but the guards and the checks before staging.
    Files,
}

/// A way out that `doctor --sandbox` tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    Secrets,
    Writing,
    Modes,
    SharedFolder,
    PathSockets,
    AbstractSockets,
    Processes,
    Memory,
    Signals,
    Limits,
    Priorities,
    Terminals,
    Mounts,
    Survivors,
}

impl Door {
    /// Its name in `--json`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Secrets => "secrets",
            Self::Writing => "writing",
            Self::Modes => "modes",
            Self::SharedFolder => "shared_folder",
            Self::PathSockets => "path_sockets",
            Self::AbstractSockets => "abstract_sockets",
            Self::Processes => "processes",
            Self::Memory => "memory",
            Self::Signals => "signals",
            Self::Limits => "limits",
            Self::Priorities => "priorities",
            Self::Terminals => "terminals",
            Self::Mounts => "mounts",
            Self::Survivors => "survivors",
        }
    }

    /// What says beforehand that it stands open.
    pub fn gap(self) -> Option<Gap> {
        match self {
            Self::Modes => Some(Gap::Modes),
            Self::PathSockets => Some(Gap::PathSockets),
            Self::AbstractSockets => Some(Gap::AbstractSockets),
            Self::Processes => Some(Gap::OtherProcesses),
            Self::Signals => Some(Gap::Signals),
            Self::Priorities => Some(Gap::Priorities),
            Self::Terminals => Some(Gap::Terminals),
            Self::Limits | Self::Memory => Some(Gap::Calls),
            Self::Secrets | Self::Writing => Some(Gap::Files),
            Self::SharedFolder | Self::Mounts | Self::Survivors => None,
        }
    }
}

impl Sandbox {
    /// Whether a file outside of the worktree is out of the agent's reach.
    pub fn holds_files(&self) -> bool {
        match self {
            Self::Layers(layers) => layers.landlock > 0 || layers.namespaces,
            Self::Landlock { .. } => true,
            Self::None { .. } => false,
        }
    }

    /// Whether every layer holds.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Layers(layers) if layers.landlock > 0 && layers.calls && layers.namespaces)
    }

    /// The layers, also of a record of an earlier version.
    pub fn layers(&self) -> Layers {
        match self {
            Self::Layers(layers) => layers.clone(),
            Self::Landlock { abi } => Layers { landlock: *abi, ..Layers::default() },
            Self::None { reason } => Layers { missing: vec![reason.clone()], ..Layers::default() },
        }
    }

    /// What is not covered.
    pub fn gaps(&self) -> Vec<Gap> {
        let layers = self.layers();
        let mut gaps = Vec::new();
        if layers.landlock == 0 && !layers.namespaces {
            gaps.push(Gap::Files);
        }
        if !layers.namespaces {
            // From ABI 9 on Landlock knows the right to reach a socket by its path.
            if layers.landlock < 9 {
                gaps.push(Gap::PathSockets);
            }
            gaps.extend([Gap::Terminals, Gap::Modes, Gap::Priorities, Gap::OtherProcesses]);
            gaps.extend([Gap::HiddenNames, Gap::SharedMemory, Gap::Caches, Gap::RemotePasswords]);
            if layers.landlock < 6 {
                gaps.push(Gap::Signals);
            }
            if (1..3).contains(&layers.landlock) {
                gaps.push(Gap::Truncation);
            }
        }
        if layers.landlock < 6 {
            gaps.push(Gap::AbstractSockets);
        }
        if !layers.calls {
            gaps.push(Gap::Calls);
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(landlock: u32, calls: bool, namespaces: bool) -> Sandbox {
        Sandbox::Layers(Layers { landlock, calls, namespaces, missing: Vec::new() })
    }

    #[test]
    fn a_whole_fence_has_no_gap_and_each_missing_layer_opens_its_own() {
        assert!(layers(7, true, true).is_whole());
        assert_eq!(layers(7, true, true).gaps(), []);
        assert_eq!(layers(7, false, true).gaps(), [Gap::Calls]);
        assert_eq!(layers(0, true, true).gaps(), [Gap::AbstractSockets]);
        let without_namespaces = layers(7, true, false);
        assert!(without_namespaces.holds_files() && !without_namespaces.is_whole());
        assert!(without_namespaces.gaps().contains(&Gap::PathSockets));
        assert!(!layers(9, true, false).gaps().contains(&Gap::PathSockets));
        assert!(layers(2, true, false).gaps().contains(&Gap::Truncation));
        assert!(layers(0, true, false).gaps().contains(&Gap::Files));
    }

    #[test]
    fn records_of_earlier_versions_are_read() {
        let old: Sandbox = serde_json::from_str(r#"{"level":"landlock","abi":7}"#).unwrap();
        assert_eq!((old.holds_files(), old.layers().landlock), (true, 7));
        let none: Sandbox = serde_json::from_str(r#"{"level":"none","reason":"off"}"#).unwrap();
        assert!(!none.holds_files());
        let new = serde_json::to_string(&layers(7, true, true)).unwrap();
        assert_eq!(new, r#"{"level":"layers","landlock":7,"calls":true,"namespaces":true}"#);
        assert_eq!(serde_json::from_str::<Sandbox>(&new).unwrap(), layers(7, true, true));
    }
}
