//! Going through the parsed line in the order the shell would, with everything it might do: both sides of an `if`, every
//! case, the body of a loop.

pub(crate) mod builtins;
pub(crate) mod plumbing;
pub(crate) mod run;
pub(crate) mod scope;
pub(crate) mod scripts;
pub(crate) mod shells;
pub(crate) mod touched;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use brush_parser::ast::{
    AndOr, Command, CompoundCommand, CompoundList, ExtendedTestExpr, FunctionDefinition, Pipeline,
};

use crate::reading::{Cwd, Opaque, Reach, Read, Reading, Why, Word, Write};
use crate::source::grammar;
use crate::walk::scope::{Function, Input, Output, Scope, Variable};
use crate::{MAX_BYTES, Options};

/// Code within code within code: more is not read.
const MAX_DEPTH: usize = 20;
/// Commands looked at in one line, repetitions included.
const MAX_COMMANDS: usize = 4000;
/// Commands gone through in all, loops and their assignments included: loops in loops multiply.
const MAX_STEPS: usize = 20_000;
/// How far a command may be from the line that runs it: each wrapper keeps the words of all it wraps.
const MAX_REACH: usize = 40;
/// Bytes of text that are expanded and kept in one line: `a=$a$a` doubles with every turn.
const MAX_TEXT: usize = 8 * 1024 * 1024;
/// Code within code, all that is being read at once: each level keeps its tree.
const MAX_LIVE: usize = 4 * MAX_BYTES;
/// Ends of a chain of `&&` that are kept apart: each keeps its variables.
const MAX_ENDS: usize = 8;
/// Values of a `for` loop that are gone through one by one.
const MAX_ROUNDS: usize = 32;

pub(crate) struct Walker<'o> {
    pub(crate) options: &'o Options,
    pub(crate) scope: Scope,
    pub(crate) reading: Reading,
    pub(crate) reached: Vec<Reach>,
    source: Rc<str>,
    depth: usize,
    live: usize,
    budget: usize,
    steps: usize,
    text: usize,
    /// In arithmetic, tests and patterns: characters may stand that end a word elsewhere.
    pub(crate) loose: bool,
    /// Files this line has written, with their text as far as it is known.
    pub(crate) fresh: HashMap<String, Output>,
    /// What the reading holds already: a line may name a file thousands of times.
    pub(crate) written: HashSet<Write>,
    pub(crate) seen: HashSet<Read>,
    /// Links this line has made, and where they lead.
    pub(crate) links: Vec<(String, String)>,
    /// Programs this line has copied or linked, by their new path.
    pub(crate) renamed: HashMap<String, String>,
    /// Scripts this line has put into `package.json`, by name.
    pub(crate) set_scripts: Vec<(String, Word)>,
    calling: Vec<Rc<FunctionDefinition>>,
    called: HashSet<String>,
}

impl<'o> Walker<'o> {
    pub(crate) fn new(options: &'o Options) -> Self {
        Walker {
            options,
            scope: Scope {
                variables: Rc::new(HashMap::new()),
                functions: Rc::default(),
                aliases: options.aliases.iter().cloned().collect(),
                git_aliases: options.git_aliases.iter().cloned().collect(),
                gh_aliases: options.gh_aliases.iter().cloned().collect(),
                references: HashMap::new(),
                cwd: Cwd::Start,
                unmoved: None,
                earlier: Vec::new(),
                stops_on_failure: false,
                mounts: None,
                positional: None,
            },
            reading: Reading::default(),
            reached: Vec::new(),
            source: Rc::from(""),
            depth: 0,
            live: 0,
            budget: MAX_COMMANDS,
            steps: MAX_STEPS,
            text: MAX_TEXT,
            loose: false,
            fresh: HashMap::new(),
            written: HashSet::new(),
            seen: HashSet::new(),
            links: Vec::new(),
            renamed: HashMap::new(),
            set_scripts: Vec::new(),
            calling: Vec::new(),
            called: HashSet::new(),
        }
    }

    pub(crate) fn read_all(mut self, line: &str) -> Reading {
        if line.len() > MAX_BYTES {
            // Not even copied: it may be as long as an event.
            self.opaque(Why::TooLarge, line);
            return self.reading;
        }
        // Line ends of another system are no part of the words.
        self.code(&line.replace("\r\n", "\n"), &Input::Inherited);
        self.uncalled_functions();
        self.reading
    }

    /// A function nobody calls may still be called by what we do not see; what it does counts, what it might do with
    /// arguments it never gets does not.
    fn uncalled_functions(&mut self) {
        let functions: Vec<(String, Function)> =
            self.scope.functions.iter().map(|(n, f)| (n.clone(), f.clone())).collect();
        for (name, function) in functions {
            if !self.called.contains(&name) {
                let opaque = self.reading.opaque.len();
                self.scope.positional = None;
                self.call(&name, &function, &Input::Inherited);
                let kept = self.reading.opaque.split_off(opaque);
                self.reading.opaque.extend(kept.into_iter().filter(|o| o.why != Why::ComputedCommand));
            }
        }
    }

    pub(crate) fn opaque(&mut self, why: Why, text: &str) {
        let text: String = text.chars().take(200).collect();
        let opaque = Opaque { why, text };
        if !self.reading.opaque.contains(&opaque) {
            self.reading.opaque.push(opaque);
        }
    }

    /// One unit of work; false when there is none left.
    pub(crate) fn spend(&mut self) -> bool {
        if self.budget == 0 {
            self.opaque(Why::TooLarge, "");
            return false;
        }
        self.budget -= 1;
        true
    }

    /// Room for so much text; false when there is none left.
    pub(crate) fn afford(&mut self, bytes: usize) -> bool {
        match self.text.checked_sub(bytes) {
            Some(left) => self.text = left,
            None => {
                self.text = 0;
                self.opaque(Why::TooLarge, "");
            }
        }
        self.text > 0
    }

    /// What is expanded now can still be kept.
    pub(crate) fn has_room(&self) -> bool {
        self.text > 0
    }

    /// Too far in to go on.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.reached.len() > MAX_REACH
    }

    /// Read shell code in the present scope.
    pub(crate) fn code(&mut self, text: &str, input: &Input) -> Output {
        if text.trim().is_empty() {
            return Output::nothing();
        }
        let is_too_much = self.depth >= MAX_DEPTH || self.live + text.len() > MAX_LIVE;
        if is_too_much || !self.spend() {
            self.opaque(Why::TooLarge, text);
            return Output::Unknown;
        }
        let program = match grammar::parse(text) {
            Ok(program) => program,
            Err(why) => {
                self.opaque(why, text);
                return Output::Unknown;
            }
        };
        let outer = std::mem::replace(&mut self.source, Rc::from(text));
        let loose = std::mem::replace(&mut self.loose, false);
        self.depth += 1;
        self.live += text.len();
        let mut output = Output::nothing();
        for list in &program.complete_commands {
            output = output.then(self.list(list, input));
        }
        self.live -= text.len();
        self.depth -= 1;
        self.loose = loose;
        self.source = outer;
        output
    }

    /// Read code that runs in a process of its own.
    pub(crate) fn code_apart(&mut self, text: &str, reach: Reach, input: &Input) -> Output {
        self.apart(reach, |walker| walker.code(text, input))
    }

    pub(crate) fn apart<T>(&mut self, reach: Reach, then: impl FnOnce(&mut Self) -> T) -> T {
        let scope = self.scope.clone();
        let result = self.within(reach, then);
        self.scope = scope;
        result
    }

    pub(crate) fn within<T>(&mut self, reach: Reach, then: impl FnOnce(&mut Self) -> T) -> T {
        self.reached.push(reach);
        let result = then(self);
        self.reached.pop();
        result
    }

    pub(crate) fn substitution(&mut self, code: &str) -> Output {
        self.code_apart(code, Reach::Substitution, &Input::Inherited)
    }

    pub(crate) fn list(&mut self, list: &CompoundList, input: &Input) -> Output {
        let mut output = Output::nothing();
        for item in &list.0 {
            let start = self.scope.cwd.clone();
            output = output.then(self.pipeline(&item.0.first, input));
            let mut is_left = false;
            // Where the chain may have ended before: with `&&`, what comes next has everything before it behind it.
            let mut ends: Vec<Scope> = Vec::new();
            for next in &item.0.additional {
                let (AndOr::And(pipeline) | AndOr::Or(pipeline)) = next;
                let is_or = matches!(next, AndOr::Or(_));
                if is_or || ends.len() >= MAX_ENDS {
                    ends.drain(..).for_each(|end| self.either(&end));
                } else if self.scope.cwd != start {
                    // It only comes to this when the `cd` has worked.
                    self.scope.unmoved = None;
                }
                ends.push(self.scope.clone());
                // Only one side of `||` prints.
                let printed = self.pipeline(pipeline, input);
                output = if is_or && output != Output::nothing() { output } else { output.then(printed) };
                is_left |= is_or && leaves(pipeline);
            }
            for end in &ends {
                self.either(end);
            }
            if self.scope.cwd != start {
                let goes_on = !is_left && !self.scope.stops_on_failure && self.scope.cwd != Cwd::Unknown;
                self.scope.unmoved = goes_on.then_some(start);
            }
        }
        output
    }

    /// The present scope or the one before: what differs is not known.
    fn either(&mut self, before: &Scope) {
        let changed = !Rc::ptr_eq(&before.variables, &self.scope.variables);
        for (name, old) in before.variables.iter().filter(|_| changed) {
            match (self.scope.variables.get(name), old) {
                (Some(Variable::Words(new)), Variable::Words(old)) if new == old => {}
                (Some(_), _) => self.scope.forget(name),
                (None, _) => {
                    self.scope.put(name, old.clone());
                }
            }
        }
        if self.scope.cwd != before.cwd {
            self.scope.cwd = Cwd::Unknown;
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, input: &Input) -> Output {
        let [only] = pipeline.seq.as_slice() else {
            let mut next = input.clone();
            let mut output = Output::nothing();
            for command in &pipeline.seq {
                let scope = self.scope.clone();
                output = self.command(command, &next);
                self.scope = scope;
                next = output.clone().into_input();
            }
            return output;
        };
        self.command(only, input)
    }

    fn command(&mut self, command: &Command, input: &Input) -> Output {
        let Some(left) = self.steps.checked_sub(1).filter(|_| self.budget > 0 && self.text > 0) else {
            self.opaque(Why::TooLarge, "");
            return Output::Unknown;
        };
        self.steps = left;
        match command {
            Command::Simple(simple) => self.simple(simple, input),
            Command::Compound(compound, redirects) => {
                let plumbing = self.redirects(redirects.as_ref());
                let input = plumbing.input.clone().unwrap_or_else(|| input.clone());
                let output = self.compound(compound, &input);
                self.pour(output, plumbing)
            }
            Command::Function(function) => {
                self.define(function);
                Output::nothing()
            }
            Command::ExtendedTest(test, redirects) => {
                self.redirects(redirects.as_ref());
                self.test(&test.expr);
                Output::nothing()
            }
        }
    }

    fn define(&mut self, function: &FunctionDefinition) {
        let name = function.fname.value.clone();
        let function = Function { definition: Rc::new(function.clone()), source: self.source.clone() };
        self.called.remove(&name);
        Rc::make_mut(&mut self.scope.functions).insert(name, function);
    }

    pub(crate) fn call(&mut self, name: &str, function: &Function, input: &Input) -> Output {
        // The same function, not one of the same name: a body may define it anew.
        if self.calling.iter().any(|outer| Rc::ptr_eq(outer, &function.definition)) {
            return Output::Unknown;
        }
        if self.calling.len() >= MAX_DEPTH {
            self.opaque(Why::TooLarge, name);
            return Output::Unknown;
        }
        self.called.insert(name.to_owned());
        self.calling.push(Rc::clone(&function.definition));
        let outer = std::mem::replace(&mut self.source, function.source.clone());
        let body = &function.definition.body;
        let output = self.within(Reach::Function(name.to_owned()), |walker| {
            let plumbing = walker.redirects(body.1.as_ref());
            let output = walker.compound(&body.0, plumbing.input.as_ref().unwrap_or(input));
            walker.pour(output, plumbing)
        });
        self.source = outer;
        self.calling.pop();
        output
    }

    fn compound(&mut self, compound: &CompoundCommand, input: &Input) -> Output {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => {
                let expression = &arithmetic.expr.value;
                if grammar::is_arithmetic(&self.source, &arithmetic.loc, expression) {
                    self.evaluates(&expression.clone());
                    self.loosely(expression);
                    Output::nothing()
                } else {
                    // As it stands in the source: the tree has lost its lines, and with them its here-documents.
                    let within = grammar::within_brackets(&self.source, &arithmetic.loc);
                    match within {
                        Some(code) => self.code_apart(&code, Reach::Substitution, input),
                        None => {
                            self.opaque(Why::NotUnderstood, expression);
                            Output::Unknown
                        }
                    }
                }
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                for expression in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
                    self.loosely(&expression.value);
                }
                self.maybe(|walker| walker.list(&clause.body.list, input))
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list, input),
            CompoundCommand::Subshell(shell) => {
                let scope = self.scope.clone();
                let output = self.list(&shell.list, input);
                self.scope = scope;
                output
            }
            CompoundCommand::ForClause(clause) => {
                let raw: Vec<String> = clause.values.iter().flatten().map(|w| w.value.clone()).collect();
                let mut values: Vec<Word> = raw.iter().flat_map(|raw| self.expand(raw)).collect();
                if clause.values.is_none() {
                    values = self.lookup("@").unwrap_or_else(|| vec![Word::computed("$@")]);
                }
                self.rounds(&clause.variable_name, &values, &clause.body.list, input)
            }
            CompoundCommand::CaseClause(clause) => {
                self.expand_one(&clause.value.value);
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.loosely(&pattern.value);
                    }
                    if let Some(list) = &case.cmd {
                        self.maybe(|walker| walker.list(list, input));
                    }
                }
                Output::Unknown
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition, input);
                self.scope.unmoved = None;
                let start = self.scope.clone();
                self.maybe(|walker| walker.list(&clause.then, input));
                for other in clause.elses.iter().flatten() {
                    // Each branch starts from what held before, and what it sets meets what the others set.
                    let so_far = std::mem::replace(&mut self.scope, start.clone());
                    if let Some(condition) = &other.condition {
                        self.list(condition, input);
                    }
                    self.list(&other.body, input);
                    self.either(&so_far);
                }
                Output::Unknown
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                let inputs = match input {
                    // `while read f`: each of the names once.
                    Input::Names(names) if names.len() > 1 && names.len() <= MAX_ROUNDS => {
                        names.iter().map(|name| Input::Names(vec![name.clone()])).collect()
                    }
                    Input::Names(names) if names.len() > MAX_ROUNDS => vec![Input::Unseen],
                    _ => vec![input.clone()],
                };
                let mut output = Output::nothing();
                for input in &inputs {
                    self.list(&clause.0, input);
                    output = output.then(self.maybe(|walker| walker.list(&clause.1.list, input)));
                }
                output
            }
            CompoundCommand::Coprocess(coprocess) => {
                self.apart(Reach::Coprocess, |walker| walker.command(&coprocess.body, &Input::Unseen));
                Output::nothing()
            }
        }
    }

    fn rounds(&mut self, name: &str, values: &[Word], body: &CompoundList, input: &Input) -> Output {
        let mut distinct: Vec<&Word> = Vec::new();
        for value in values {
            if !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        let rounds = distinct.len();
        let mut output = Output::nothing();
        for value in distinct.into_iter().take(MAX_ROUNDS) {
            self.scope.put(name, Variable::Words(vec![value.clone()]));
            output = output.then(self.maybe(|walker| walker.list(body, input)));
        }
        if rounds > MAX_ROUNDS || rounds == 0 {
            self.scope.forget(name);
            self.maybe(|walker| walker.list(body, input));
            output = Output::Unknown;
        }
        output
    }

    fn maybe(&mut self, then: impl FnOnce(&mut Self) -> Output) -> Output {
        let before = self.scope.clone();
        let output = then(self);
        self.either(&before);
        output
    }

    fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(a, b) | ExtendedTestExpr::Or(a, b) => {
                self.test(a);
                self.test(b);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(_, word) => self.tested(&word.value),
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.tested(&left.value);
                self.tested(&right.value);
            }
        }
    }

    /// A word of a test: `-v` and the comparisons of numbers expand a subscript once more.
    fn tested(&mut self, text: &str) {
        let was = std::mem::replace(&mut self.loose, true);
        let word = self.expand_one(text);
        self.loose = was;
        if word.is_literal() && word.text.contains('[') {
            self.runs_within(&word.text);
        }
    }

    /// Run the substitutions in a text that is not a word.
    fn loosely(&mut self, text: &str) {
        let was = std::mem::replace(&mut self.loose, true);
        self.expand_one(text);
        self.loose = was;
    }
}

/// `|| exit`, `|| { echo no; return 1; }`: what comes after is only reached when all went well.
fn leaves(pipeline: &Pipeline) -> bool {
    let ends = |command: &Command| match command {
        Command::Simple(simple) => {
            let name = simple.word_or_name.as_ref().map(|w| w.value.as_str());
            matches!(name, Some("exit" | "return" | "die" | "fail" | "fatal" | "abort" | "continue" | "break" | "exec"))
        }
        Command::Compound(CompoundCommand::BraceGroup(group), _) => {
            group.list.0.iter().any(|item| item.0.additional.is_empty() && leaves(&item.0.first))
        }
        _ => false,
    };
    pipeline.seq.last().is_some_and(ends)
}
