//! What the model says and does, turn by turn, in words that fit all three.

/// Turns of a model, by the first message of the user where it matters.
#[derive(Clone, Debug, Default)]
pub struct Script {
    routes: Vec<(String, Vec<Turn>)>,
}

impl Script {
    /// The same turns whatever was asked. After the last one the model says "done".
    pub fn turns(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::default().when("", turns)
    }

    /// These turns when the user's first message contains `words`. The first route that fits is played.
    pub fn when(mut self, words: &str, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.routes.push((words.to_owned(), turns.into_iter().collect()));
        self
    }

    pub(crate) fn route(&self, first: &str) -> (usize, &[Turn]) {
        let found = self.routes.iter().enumerate().find(|(_, (words, _))| first.contains(words.as_str()));
        found.map_or((0, &[]), |(at, (_, turns))| (at, turns.as_slice()))
    }
}

#[derive(Clone, Debug, Default)]
pub struct Turn {
    pub(crate) thought: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) fault: Option<Fault>,
    pub(crate) times: Option<u32>,
    pub(crate) then: Option<Box<Turn>>,
    pub(crate) tokens: Option<(u64, u64)>,
}

impl Turn {
    pub fn say(text: &str) -> Self {
        Self { text: Some(text.to_owned()), ..Self::default() }
    }

    pub fn call(call: Call) -> Self {
        Self { calls: vec![call], ..Self::default() }
    }

    /// A shell command, by whatever name the agent's shell goes.
    pub fn shell(command: &str) -> Self {
        Self::call(Call::Shell(command.to_owned()))
    }

    pub fn fault(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }

    /// An answer with this status and an error of the API's own shape.
    pub fn status(status: u16) -> Self {
        Self::fault(Fault::Status { status, message: format!("scripted {status}") })
    }

    pub fn and_call(mut self, call: Call) -> Self {
        self.calls.push(call);
        self
    }

    pub fn thinking(mut self, thought: &str) -> Self {
        self.thought = Some(thought.to_owned());
        self
    }

    /// Played this many times, then `then`.
    pub fn times(mut self, times: u32, then: Turn) -> Self {
        self.times = Some(times);
        self.then = Some(Box::new(then));
        self
    }

    /// Tokens in and out that the answer claims; 100 and 20 otherwise.
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        self.tokens = Some((input, output));
        self
    }

    pub(crate) fn usage(&self) -> (u64, u64) {
        self.tokens.unwrap_or((100, 20))
    }
}

#[derive(Clone, Debug)]
pub enum Call {
    Shell(String),
    /// Writes a file with the agent's own tool. An absolute path suits all of them.
    Write {
        path: String,
        content: String,
    },
    /// A tool by its name on the wire.
    Tool {
        name: String,
        input: serde_json::Value,
    },
}

#[derive(Clone, Debug)]
pub enum Fault {
    Status {
        status: u16,
        message: String,
    },
    /// Accepts, and never answers a byte.
    Hang,
    /// Begins an answer, then silence.
    HangAfterStart,
    /// Begins an answer, then closes the connection.
    Cut,
}
