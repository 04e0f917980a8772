//! The form of a client's description. What a client has not is `None` or an empty list here, never a case of its own at
//! those who read it.

use std::ops::RangeInclusive;

/// Everything that is particular to one client and can be said as data.
#[derive(Debug)]
pub struct Description {
    /// On our command line, in files and in `--json`.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// Other words that mean it in a playbook: in lower case, without `_`, `-` and blanks.
    pub also_called: &'static [&'static str],
    pub program: Program,
    pub settings: Settings,
    /// `None`: it does not ask us about what it does.
    pub hooks: Option<Hooks>,
    pub environment: Environment,
    pub command_line: CommandLine,
    pub titles: Titles,
    /// What is typed to begin a new conversation, if its event for that comes at once. Only then it can be a worker in a pane.
    pub clear: Option<&'static str>,
    /// The file that its users write for it: it is read before any work.
    pub reads_first: &'static str,
    /// Whether it says what its work has cost.
    pub tells_cost: bool,
}

#[derive(Debug)]
pub struct Program {
    /// Looked for on the PATH.
    pub name: &'static str,
    /// In npm's registry.
    pub package: &'static str,
    /// Its program lies in a package per platform, and this one would put it in place by a script at its installation:
    /// `<package>-linux-x64/<name>`.
    pub is_per_platform: bool,
    /// Versions that all tests have passed with, the newest last.
    pub known_to_work: &'static [&'static str],
    /// How its processes are called, and the scripts that an interpreter runs for it.
    pub processes: &'static [&'static str],
}

impl Program {
    /// The newest that is known to work.
    pub fn newest(&self) -> &'static str {
        self.known_to_work.last().copied().unwrap_or_default()
    }

    /// How a user gets it.
    pub fn install_command(&self) -> String {
        format!("npm install -g {}", self.package)
    }
}

/// Where it keeps what, and what an edit of it means.
#[derive(Debug)]
pub struct Settings {
    /// In a project and in the user's home.
    pub folder: &'static str,
    pub moved_by: MovedBy,
    /// The files in that folder that decide about its hooks.
    pub files: &'static [SettingsFile],
    /// The login, in the user's folder.
    pub login: &'static str,
    /// Files and folders beside it in the user's folder that are nobody else's business: accounts, conversations.
    pub private: &'static [&'static str],
    /// The machine's own settings, taken over as they are.
    pub machine_folders: &'static [&'static str],
    /// The file in which they are looked at.
    pub machine_file: Option<&'static str>,
    /// What was installed into it, and runs with it.
    pub installed: &'static [&'static str],
    /// Files elsewhere that name programs it starts.
    pub beside: &'static [Beside],
    /// Papers with a head that may name programs.
    pub papers: Option<Papers>,
}

/// The user's variable that moves the folder.
#[derive(Debug)]
pub enum MovedBy {
    /// It names the folder itself.
    Folder(&'static str),
    /// It names the folder that holds it, as a home does.
    Home(&'static str),
}

impl MovedBy {
    pub const fn variable(&self) -> &'static str {
        match self {
            Self::Folder(name) | Self::Home(name) => name,
        }
    }
}

impl Settings {
    /// The folder's name below what the variable names: empty when that is the folder itself.
    pub const fn below_variable(&self) -> &'static str {
        match self.moved_by {
            MovedBy::Folder(_) => "",
            MovedBy::Home(_) => self.folder,
        }
    }
}

#[derive(Debug)]
pub struct SettingsFile {
    pub name: &'static str,
    /// How an edit of it is judged; `None`: no edit passes.
    pub keys: Option<&'static Keys>,
}

/// The keys of one kind of file, by their dotted names; a name stands for all below it. Any other is asked about.
#[derive(Debug)]
pub struct Keys {
    pub harmless: &'static [&'static str],
    /// They decide about the guards, or run something at the client's next start without a question.
    pub refused: &'static [&'static str],
}

#[derive(Debug)]
pub struct Beside {
    pub place: Place,
    pub keys: &'static Keys,
}

#[derive(Debug)]
pub enum Place {
    /// A file of this name in any folder.
    Anywhere(&'static str),
    /// A file in the user's home.
    Home(&'static str),
}

#[derive(Debug)]
pub struct Papers {
    /// Folders with Markdown files.
    pub folders: &'static [&'static str],
    pub head: &'static Keys,
}

/// How it asks us, and what may keep it from asking.
#[derive(Debug)]
pub struct Hooks {
    /// The settings' file that they are written to.
    pub file: &'static str,
    /// The option by which it takes settings that stand above all others.
    pub settings_option: Option<&'static str>,
    /// Another file of a project whose hooks and switches count as well.
    pub local_file: Option<&'static str>,
    pub events: &'static [HookEvent],
    pub time: TimeUnit,
    pub call: CallForm,
    /// Kinds of hooks it knows.
    pub kinds: &'static [&'static str],
    /// The name of an entry, where it can have one.
    pub label: Option<&'static str>,
    pub reads_byte_order_mark: bool,
    pub reads_comments: bool,
    /// A field of the wrong kind costs the hooks of the file, not that entry alone.
    pub fault_drops_file: bool,
    /// Lists of texts beside the hooks: a fault in one of them costs the hooks as well.
    pub lists_beside: Option<Lists>,
    /// Hooks may have a condition (`if`).
    pub has_conditions: bool,
    /// Hooks may be started without waiting for their answer (`async`).
    pub has_async: bool,
    /// A hook that fails can be told to count as a refusal.
    pub on_failure: Option<OnFailure>,
    pub switches: &'static [Switch],
    /// Settings beside the hooks that have to stand.
    pub requires: &'static [Required],
    pub trust: Trust,
    /// The same call in two files is made once.
    pub same_call_once: bool,
    /// It looks for a project's hooks in the folders above the one it is started in.
    pub searches_up: bool,
    /// A project's hooks were seen not to be read in a folder below: those of the local file by some versions, the others by none.
    pub only_from_root: bool,
    /// The variable in which it tells hooks where the session began.
    pub project_variable: Option<&'static str>,
    /// What it goes by when a tool is refused.
    pub refusal: Refusal,
    /// A hook can have its user asked.
    pub can_ask: bool,
}

impl Hooks {
    /// The events at which something can be refused for good; without them nothing is guarded.
    pub fn essential(&self) -> impl Iterator<Item = &'static str> {
        self.events.iter().filter(|event| event.is_essential()).map(|event| event.name)
    }

    /// Its event for a moment.
    pub fn event(&self, moment: Moment) -> Option<&'static str> {
        self.events.iter().find(|event| event.moment == moment).map(|event| event.name)
    }
}

#[derive(Debug)]
pub struct HookEvent {
    pub name: &'static str,
    pub moment: Moment,
    /// The longest an answer may take: it goes on without one after that.
    pub seconds: u32,
    /// Its groups choose by a matcher. Where none is taken, none is written.
    pub has_matcher: bool,
    /// What is asked about does not go on when the hook is killed, or takes too long.
    pub fails_closed: bool,
}

impl HookEvent {
    pub(super) const fn new(name: &'static str, moment: Moment) -> Self {
        Self { name, moment, seconds: moment.seconds(), has_matcher: false, fails_closed: false }
    }

    pub(super) const fn matched(self) -> Self {
        Self { has_matcher: true, ..self }
    }

    pub(super) const fn closed(self) -> Self {
        Self { fails_closed: true, ..self }
    }

    const fn is_essential(&self) -> bool {
        matches!(self.moment, Moment::BeforeTool | Moment::SettingsChange)
    }
}

/// When we are asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    SessionStart,
    Prompt,
    BeforeTool,
    AfterTool,
    AfterFailedTool,
    Stop,
    SubagentStart,
    SubagentStop,
    Compaction,
    SessionEnd,
    Notification,
    SettingsChange,
}

impl Moment {
    /// The hook's own limits (`dandori_hook::DEADLINE`, and what it allows to checks of the project) are below these.
    const fn seconds(self) -> u32 {
        match self {
            Self::BeforeTool | Self::AfterTool | Self::AfterFailedTool => 120,
            // Codex allows no more.
            Self::SessionEnd => 3,
            Self::SessionStart
            | Self::Prompt
            | Self::Stop
            | Self::SubagentStart
            | Self::SubagentStop
            | Self::Compaction
            | Self::Notification
            | Self::SettingsChange => 10,
        }
    }
}

/// What a number of its settings counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeUnit {
    Seconds,
    Milliseconds,
}

impl TimeUnit {
    pub const fn of_seconds(self, seconds: u32) -> u32 {
        match self {
            Self::Seconds => seconds,
            Self::Milliseconds => seconds * 1000,
        }
    }

    /// So many milliseconds is one.
    pub const fn millis(self) -> f64 {
        match self {
            Self::Seconds => 1000.0,
            Self::Milliseconds => 1.0,
        }
    }
}

/// How a refused tool is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// By the exit code, and in words besides.
    ExitCode,
    /// By a word alone. An exit code would be a failure of the hook, and its user would not see the reason.
    Word,
}

/// How a program is called from its settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallForm {
    /// Program and arguments, without a shell.
    Words,
    /// A line for a shell.
    Line,
}

#[derive(Debug)]
pub struct Lists {
    pub group: &'static str,
    pub keys: &'static [&'static str],
}

#[derive(Debug)]
pub struct OnFailure {
    pub key: &'static str,
    /// What we write.
    pub refuses: &'static str,
    /// The other word it knows. Any third one drops the hooks.
    pub goes_on: &'static str,
}

/// A setting that turns hooks off.
#[derive(Debug)]
pub struct Switch {
    /// From the top of the file.
    pub keys: &'static [&'static str],
    pub off: Off,
    /// Only in the machine's own file.
    pub is_machines: bool,
}

impl Switch {
    /// `hooksConfig.enabled`
    pub fn name(&self) -> String {
        self.keys.join(".")
    }
}

#[derive(Debug)]
pub enum Off {
    /// When it says just this.
    Word(&'static str),
    /// When our entries are among those it lists.
    Listed,
}

/// A setting that has to be one of these words; we write the first.
#[derive(Debug)]
pub struct Required {
    pub key: &'static str,
    pub words: &'static [&'static str],
}

impl Required {
    pub fn written(&self) -> &'static str {
        self.words.first().copied().unwrap_or_default()
    }
}

/// What its user has to confirm before it runs the hooks of a project.
#[derive(Debug)]
pub enum Trust {
    /// Nothing that we could look at.
    None,
    /// Each hook, by its hash in this file of the user's folder, and the project.
    Hashes { file: &'static str },
    /// The folder.
    Folder(FolderTrust),
}

#[derive(Debug)]
pub struct FolderTrust {
    /// In the user's folder: which folders are trusted.
    pub file: &'static str,
    /// The variable that moves that file.
    pub moved_by: &'static str,
    /// `true` trusts every folder, `false` none.
    pub word: &'static str,
    /// `true`: no folder is trusted.
    pub restricted: &'static str,
    /// The setting that is `false` when nobody is asked.
    pub asked_by: &'static [&'static str],
}

#[derive(Debug)]
pub struct Environment {
    /// The user's variables that it gets in a run: its login and its tuning. Names, not a prefix, where a prefix would also
    /// tell a child which session it belongs to.
    pub passed: &'static [&'static str],
    pub passed_prefix: Option<&'static str>,
    /// It sets these for what it runs.
    pub marks: &'static [&'static str],
    /// It sets this too, but so does an editor that starts it for a user.
    pub entry_mark: Option<&'static str>,
    /// Set to anything but `0` and `false`, it asks no hooks.
    pub disarms: Option<&'static str>,
    /// Further ones that decide about hooks.
    pub decides: &'static [&'static str],
    /// Set whenever we start it: no updates, nothing sent home.
    pub quiet: &'static [(&'static str, &'static str)],
}

/// What its own command line can mean, as far as guards and hooks have to know.
#[derive(Debug)]
pub struct CommandLine {
    /// Long options under which it asks its hooks as ever.
    pub harmless: &'static [&'static str],
    /// Ways to go on with a session that is there.
    pub takes_up: TakesUp,
    pub headless: Headless,
    /// Its verbs that change what it runs.
    pub verbs: &'static [Verb],
}

#[derive(Debug)]
pub struct TakesUp {
    pub options: &'static [&'static str],
    pub letters: &'static [char],
    pub verbs: &'static [&'static str],
}

/// How its prompt is given where no person sits.
#[derive(Debug)]
pub enum Headless {
    /// By this option, or `-p`.
    Option(&'static str),
    Verbs(&'static [&'static str]),
}

#[derive(Debug)]
pub struct Verb {
    pub groups: &'static [&'static str],
    pub verbs: &'static [&'static str],
    pub effect: VerbEffect,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VerbEffect {
    /// Its hooks are off from then on.
    Disarms,
    /// The same, when what it names has to do with hooks.
    DisarmsHooks,
    /// It starts something by itself from then on.
    Adds,
}

/// Signs at the beginning of its terminal's title.
#[derive(Debug)]
pub struct Titles {
    pub busy: &'static [RangeInclusive<char>],
    /// For its user's answer.
    pub waiting: &'static [RangeInclusive<char>],
    /// None: any other title.
    pub idle: &'static [RangeInclusive<char>],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    Busy,
    Waiting,
    Idle,
}
