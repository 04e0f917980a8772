use super::*;
use proptest::prelude::*;

const PACE: Pace = Pace {
    settle: Duration::from_millis(600),
    turn: Duration::from_secs(4),
    gap: Duration::from_millis(300),
    answer: Duration::from_secs(5),
    tries: 3,
    patience: Duration::from_mins(1),
};

/// A pane that is looked at every hundred milliseconds.
struct Play {
    typing: Typing,
    seen: Seen,
    acts: Vec<Act>,
}

impl Play {
    fn new() -> Self {
        let now = Timestamp::UNIX_EPOCH;
        let seen =
            Seen { is_dead: false, activity: Some(Activity::Idle), last_event: None, answer: None, damaged: 0, now };
        Self { typing: Typing::begin(PACE, now), seen, acts: Vec::new() }
    }

    fn run(&mut self, seconds: u64) -> &mut Self {
        for _ in 0..seconds * 10 {
            let act = self.typing.next(&self.seen);
            let is_over = matches!(act, Act::Accepted | Act::GiveUp(_));
            if act != Act::Wait {
                self.acts.push(act);
            }
            if is_over {
                break;
            }
            self.seen.now += Duration::from_millis(100);
        }
        self
    }

    fn acts(&mut self) -> Vec<Act> {
        std::mem::take(&mut self.acts)
    }
}

#[test]
fn the_box_is_emptied_the_line_pasted_and_entered_and_the_event_ends_it() {
    let mut play = Play::new();
    assert_eq!(play.run(2).acts(), [Act::Clear, Act::Paste, Act::Enter]);
    play.seen.activity = Some(Activity::Busy);
    assert_eq!(play.run(2).acts(), []);
    play.seen.answer = Some(Answer::Accepted);
    assert_eq!(play.run(1).acts(), [Act::Accepted]);
}

#[test]
fn without_an_event_enter_is_pressed_again_then_all_is_typed_again_then_it_is_given_up() {
    let mut play = Play::new();
    let acts = play.run(60).acts();
    let once = [Act::Clear, Act::Paste, Act::Enter, Act::Enter];
    let mut want = [once.clone(), once.clone(), once].concat();
    want.push(Act::GiveUp(Undelivered::NotSubmitted { tries: 3 }));
    assert_eq!(acts, want);
}

#[test]
fn a_damaged_one_is_typed_again_without_waiting_for_an_event() {
    let mut play = Play::new();
    play.run(2).acts();
    play.seen.damaged = 1;
    assert_eq!(play.run(2).acts(), [Act::Clear, Act::Paste, Act::Enter]);
}

#[test]
fn nothing_is_typed_while_the_client_is_not_known_to_be_free() {
    for (activity, last_event, why) in [
        (None, None, Hindrance::Unknown),
        (None, Some(LastEvent::Other), Hindrance::Unknown),
        (Some(Activity::Busy), Some(LastEvent::Start), Hindrance::Busy),
        (Some(Activity::Busy), None, Hindrance::Busy),
        (Some(Activity::Waiting), None, Hindrance::Asking),
        (Some(Activity::Idle), Some(LastEvent::BeforeTool), Hindrance::Asking),
    ] {
        let mut play = Play::new();
        (play.seen.activity, play.seen.last_event) = (activity, last_event);
        assert_eq!(play.run(70).acts(), [Act::GiveUp(Undelivered::NotReady(why))]);
    }
}

#[test]
fn a_conversation_that_has_begun_waits_for_a_prompt_whatever_its_title_is() {
    let mut play = Play::new();
    (play.seen.activity, play.seen.last_event) = (None, Some(LastEvent::Start));
    assert_eq!(play.run(2).acts(), [Act::Clear, Act::Paste, Act::Enter]);
}

#[test]
fn a_title_that_does_not_show_a_turn_yet_is_not_believed_until_the_turn_has_ended_or_for_long_enough() {
    let mut play = Play::new();
    play.seen.last_event = Some(LastEvent::Turn { at: play.seen.now });
    assert_eq!(play.run(3).acts(), []);
    play.seen.last_event = Some(LastEvent::Other);
    assert_eq!(play.run(2).acts(), [Act::Clear, Act::Paste, Act::Enter]);
    let mut play = Play::new();
    play.seen.last_event = Some(LastEvent::Turn { at: play.seen.now });
    assert_eq!(play.run(6).acts(), [Act::Clear, Act::Paste, Act::Enter], "nobody tells that a turn was broken off");
}

#[test]
fn a_turn_that_begins_while_it_is_typed_is_waited_for_and_the_box_emptied_again() {
    let mut play = Play::new();
    assert_eq!(play.run(1).acts(), [Act::Clear, Act::Paste]);
    play.seen.activity = Some(Activity::Busy);
    assert_eq!(play.run(20).acts(), [], "Enter would send it into that turn");
    play.seen.activity = Some(Activity::Idle);
    assert_eq!(play.run(2).acts(), [Act::Clear, Act::Paste, Act::Enter]);
}

#[test]
fn a_client_that_ends_or_refuses_ends_it() {
    let mut play = Play::new();
    play.seen.is_dead = true;
    assert_eq!(play.run(1).acts(), [Act::GiveUp(Undelivered::PaneDied)]);
    let mut play = Play::new();
    play.seen.answer = Some(Answer::Refused { guard: "rule".to_owned() });
    assert_eq!(play.run(1).acts(), [Act::GiveUp(Undelivered::Refused { guard: "rule".to_owned() })]);
}

proptest! {
    /// Whatever is seen and however the clock goes: no key goes to a client that is not free, each paste goes into a box that was
    /// emptied just before, each Enter follows a paste, and the line is typed so many times at most.
    #[test]
    fn any_course_of_events_keeps_the_order_of_keys(
        course in prop::collection::vec((0..4usize, any::<bool>(), -500i64..3_000, 0..40u32), 1..400),
    ) {
        let activities = [None, Some(Activity::Busy), Some(Activity::Waiting), Some(Activity::Idle)];
        let mut now = Timestamp::UNIX_EPOCH;
        let mut typing = Typing::begin(PACE, now);
        let (mut last, mut pastes, mut damaged) = (Act::Wait, 0, 0);
        for (activity, before_tool, millis, hit) in course {
            now += jiff::SignedDuration::from_millis(millis);
            damaged += u32::from(hit == 0);
            let last_event = if before_tool && hit < 10 { LastEvent::BeforeTool } else { LastEvent::Other };
            let seen = Seen {
                is_dead: false, activity: activities[activity], last_event: Some(last_event), answer: None, damaged, now,
            };
            let act = typing.next(&seen);
            let is_free = hindrance(&seen, &PACE).is_none();
            match act {
                Act::Wait => continue,
                Act::Clear => {}
                Act::Paste => {
                    prop_assert_eq!(&last, &Act::Clear);
                    pastes += 1;
                }
                Act::Enter => prop_assert!(matches!(last, Act::Paste | Act::Enter)),
                Act::Accepted => prop_assert!(false, "there was no event"),
                Act::GiveUp(_) => return Ok(()),
            }
            prop_assert!(is_free && pastes <= PACE.tries);
            last = act;
        }
    }
}
