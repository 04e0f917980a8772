use super::*;
use std::time::Instant;

/// A session whose panes run what they are told, in a folder that goes with it.
struct Stage {
    dir: tempfile::TempDir,
    tmux: Tmux,
}

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::of_process().filtered(|name| name == "PATH");
        let socket = Utf8Path::from_path(dir.path()).unwrap().join("tmux");
        Self { tmux: Tmux::at(&socket, &env), dir }
    }

    fn folder(&self) -> Utf8PathBuf {
        Utf8Path::from_path(self.dir.path()).unwrap().to_owned()
    }

    fn program(&self, agent_id: &'static str, role: &'static str, script: &str) -> PaneProgram<'static> {
        let argv = ["sh", "-c", script, "sh", "a;", "b c"].map(str::to_owned).into();
        PaneProgram { agent_id, role, model: "sonnet", folder: self.folder(), argv }
    }

    fn until(&self, id: &PaneId, is_so: impl Fn(&Pane) -> bool) -> Pane {
        let end = Instant::now() + Duration::from_mins(1);
        loop {
            let pane = self.tmux.pane(id).unwrap();
            if is_so(&pane) {
                return pane;
            }
            assert!(Instant::now() < end, "{pane:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.tmux.kill();
    }
}

const FIRST: Place = Place { index: 0, name: "first" };
const TITLED: &str = r#"printf '\033]2;✳ %s|%s\033\\' "$1" "$2$TMUX$TMUX_PANE"; exec cat"#;

#[test]
fn a_formation_has_its_windows_and_its_panes_say_whose_they_are() {
    let stage = Stage::new();
    assert!(!stage.tmux.is_running());
    let orchestrator = stage.tmux.open(FIRST, &stage.program("orchestrator", "orchestrator", TITLED)).unwrap();
    assert!(stage.tmux.is_running());
    let planner =
        stage.tmux.open(Place { index: 1, name: "planner" }, &stage.program("planner", "planner", "exec cat")).unwrap();
    let names = ["worker1", "worker2", "worker3", "worker4", "worker5", "worker6", "worker7", "worker8"];
    let place = Place { index: 2, name: "workers" };
    let workers = names.map(|name| stage.tmux.open(place, &stage.program(name, "worker", TITLED)).unwrap());
    stage.tmux.set_status(&planner, "busy").unwrap();

    let pane = stage.until(&orchestrator, |pane| !pane.title.is_empty());
    assert_eq!(pane.title, "✳ a;|b c", "words arrive as they are, and so does a title");
    let panes = stage.tmux.panes().unwrap();
    let whose: Vec<_> = panes.iter().map(|p| (p.window, p.role.as_str(), p.agent_id.as_str())).collect();
    assert_eq!(whose[..3], [(0, "orchestrator", "orchestrator"), (1, "planner", "planner"), (2, "worker", "worker1")]);
    let grid: Vec<_> = panes[2..].iter().map(|pane| pane.agent_id.as_str()).collect();
    assert_eq!((grid.as_slice(), workers.len()), (names.as_slice(), 8), "in their order");
    let planner = panes.iter().find(|pane| pane.id == planner).unwrap();
    assert_eq!((planner.title.as_str(), planner.status.as_str(), planner.model.as_str()), ("", "busy", "sonnet"));
    assert!(planner.pid.is_some() && !planner.is_dead);
    stage.tmux.kill().unwrap();
    assert!(!stage.tmux.is_running());
}

#[test]
fn a_pane_whose_program_ended_stays_says_so_and_is_made_again_without_its_title() {
    let stage = Stage::new();
    let script = "printf '\\033]2;✳ idle\\033\\\\'; exit 7";
    let id = stage.tmux.open(FIRST, &stage.program("planner", "planner", script)).unwrap();
    let dead = stage.until(&id, |pane| pane.is_dead && !pane.title.is_empty());
    assert_eq!((dead.exit, dead.title.as_str()), (Some(7), "✳ idle"));
    // The server outlives both, see the comment of the module.
    let writer = stage.tmux.writer(&id).unwrap();
    assert!(matches!(writer.paste("text"), Err(TmuxError::PaneDead(_))));
    assert!(matches!(writer.press(&[("Enter", 1)]), Err(TmuxError::PaneDead(_))));
    assert!(stage.tmux.is_running());

    let argv = ["cat"].map(str::to_owned);
    stage.tmux.respawn(&id, &stage.folder(), &argv).unwrap();
    let alive = stage.until(&id, |pane| pane.title.is_empty());
    assert_eq!((alive.is_dead, alive.agent_id.as_str()), (false, "planner"));
    assert!(stage.tmux.respawn(&id, &stage.folder(), &argv).is_err(), "one that runs is left alone");
}

#[test]
fn a_paste_arrives_in_one_piece_and_keys_after_it() {
    let stage = Stage::new();
    // Bracketed paste is asked for, as clients do; `stty` so that nothing is changed on the way.
    let script = "stty raw -echo; printf '\\033[?2004h\\033]2;ready\\033\\\\'; head -c 43 > got; printf '\\033]2;done\\033\\\\'; cat";
    let id = stage.tmux.open(FIRST, &stage.program("w", "worker", script)).unwrap();
    stage.until(&id, |pane| pane.title == "ready");
    let writer = stage.tmux.writer(&id).unwrap();
    assert!(matches!(stage.tmux.writer(&id), Err(TmuxError::Taken(_))), "one at a time");
    writer.paste(" ! line; 指示 #{pane_id} ").unwrap();
    writer.press(&[("Enter", 1), ("C-u", 3)]).unwrap();
    stage.until(&id, |pane| pane.title == "done");
    let got = std::fs::read_to_string(stage.folder().join("got")).unwrap();
    assert_eq!(got, "\u{1b}[200~ ! line; 指示 #{pane_id} \u{1b}[201~\r\u{15}\u{15}\u{15}");
}

#[test]
fn what_would_break_a_listing_is_refused() {
    let stage = Stage::new();
    for bad in ["a|b", "#{pane_id}", "a\nb"] {
        let program = PaneProgram { model: bad, ..stage.program("w", "worker", "cat") };
        assert!(matches!(stage.tmux.open(FIRST, &program), Err(TmuxError::BadValue { name: "model", .. })), "{bad}");
    }
    assert!(!stage.tmux.is_running());
}
