//! A client in a pane of tmux: the pane's process is a shim, and the client goes with it.

use std::time::Duration;

use crate::bed::{self, Bed, eventually, sh};
use dandori_host::shim::{self, Probe, Started, Why};
use dandori_host::tmux::{Pane, PaneId, PaneProgram, Place};
use dandori_host::{Env, Tmux};

struct Window {
    tmux: Tmux,
    pane: PaneId,
}

impl Window {
    fn with(bed: &Bed, script: &str) -> Self {
        let tmux = Tmux::at(&bed.path("tmux"), &Env::from_pairs([("PATH", bed::PATH)]));
        let argv = shim::in_pane(&bed.run_dir, &bed.order(&sh(script)), bed.program()).unwrap();
        let program = PaneProgram { agent_id: "w", role: "worker", model: "m", folder: bed.worktree.clone(), argv };
        let pane = tmux.open(Place { index: 0, name: "w" }, &program).unwrap();
        Self { tmux, pane }
    }

    fn until(&self, what: &str, is_so: impl Fn(&Pane) -> bool) {
        eventually(what, || self.tmux.pane(&self.pane).is_ok_and(|pane| is_so(&pane)));
    }

    fn title(&self, title: &str) {
        self.until(title, |pane| pane.title == title);
    }

    fn press(&self, key: &str) {
        self.tmux.writer(&self.pane).unwrap().press(&[(key, 1)]).unwrap();
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.tmux.kill();
    }
}

fn alive(bed: &Bed) -> Started {
    match shim::probe(&bed.run_dir).unwrap() {
        Probe::Alive(started) => started,
        other => panic!("it should be alive: {other:?}"),
    }
}

const SAY: &str = "say() { printf '\\033]2;%s\\033\\\\' \"$1\"; }; ";

#[test]
fn it_has_the_panes_terminal_for_itself_and_its_end_is_the_panes() {
    for bed in Bed::both() {
        let script = format!(
            "{SAY} test -t 0 && test -t 1 && test -n \"$TERM\" && say ready; read -r line; say \"$line\"; read -r x; exit 7"
        );
        let window = Window::with(&bed, &script);
        window.title("ready");
        window.tmux.writer(&window.pane).unwrap().paste("指示").unwrap();
        window.press("Enter");
        window.title("指示");
        assert!(window.tmux.pane(&window.pane).unwrap().pid == Some(alive(&bed).shim.pid));
        window.press("Enter");
        window.until("the pane is dead", |pane| pane.is_dead);
        assert_eq!((bed.ended().code, bed.ended().why), (Some(7), Why::Ended));
        let again = shim::in_pane(&bed.run_dir, &bed.order(&sh("true")), bed.program());
        assert!(again.is_err(), "a folder sees one launch");
    }
}

#[test]
fn nothing_is_left_when_tmux_is_killed() {
    for bed in Bed::both() {
        // It does not mind the hang-up, nor does what it leaves behind in a session of its own.
        let nap = bed.nap();
        let script =
            format!("{SAY} trap '' HUP INT; setsid sleep {nap} & sleep {nap} & say up; sleep {nap}; sleep {nap}");
        let window = Window::with(&bed, &script);
        window.title("up");
        eventually("all are asleep", || bed.nappers() == 3);
        bed::kill_9(&bed::parent_of(&alive(&bed).shim));
        eventually("nothing is left", || bed.nappers() == 0);
        assert!(matches!(bed.ended().why, Why::Stopped { .. }), "{:?}", bed.ended());
    }
}

#[test]
fn one_that_is_suspended_goes_on_because_nobody_could_resume_it() {
    for bed in Bed::both() {
        let script = format!("{SAY} trap 'say resumed' CONT; say up; while :; do sleep 0.05; done");
        let window = Window::with(&bed, &script);
        window.title("up");
        window.press("C-z");
        window.title("resumed");
    }
}

#[test]
fn it_is_stopped_as_a_run_is() {
    let bed = Bed::new();
    let window = Window::with(&bed, &format!("{SAY} say up; exec sleep {}", bed.nap()));
    window.title("up");
    let probe = shim::stop(&bed.run_dir, "the formation goes down", Duration::from_secs(2)).unwrap();
    assert!(matches!(probe, Probe::Ended(_)), "{probe:?}");
    assert_eq!(bed.nappers(), 0);
    window.until("the pane is dead", |pane| pane.is_dead);
}
