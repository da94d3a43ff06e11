//! Real programs, well behaved and not, run to their end.
//!
//! Each test has a state folder of its own, by which it finds whatever its program has left behind.

use super::super::processes::{find_by_state_folder, tests::Idler};
use super::super::protocol::Ask;
use super::*;
use std::sync::{PoisonError, RwLock};

/// Orphans without marks cannot be told apart, so a turn that makes some runs alone.
static TURNS: RwLock<()> = RwLock::new(());

/// Long enough never to be the reason.
const LONG: Duration = Duration::from_mins(2);
const SHORT: Duration = Duration::from_millis(200);

#[derive(Default)]
struct Heard {
    raw: Vec<(Stream, Line)>,
    events: Vec<Event>,
    warnings: Vec<String>,
    allow: Option<bool>,
    /// How many events to hear before raising the flag.
    stop_after: Option<(usize, Stop)>,
}

impl Listener for Heard {
    fn raw(&mut self, stream: Stream, line: &Line) {
        self.raw.push((stream, line.clone()));
    }

    fn event(&mut self, event: Event) -> Option<Decision> {
        self.events.push(event.clone());
        if let Some((count, stop)) = &self.stop_after
            && self.events.len() >= *count
        {
            stop.request();
        }
        match event {
            Event::Ask(Ask { call, .. }) => self.allow.map(|allow| Decision { call, allow }),
            _ => None,
        }
    }

    fn warning(&mut self, text: String) {
        self.warnings.push(text);
    }
}

impl Heard {
    fn said(&self) -> Vec<&str> {
        self.events
            .iter()
            .filter_map(|event| if let Event::Say { text } = event { Some(text.as_str()) } else { None })
            .collect()
    }
}

struct Stage {
    state: tempfile::TempDir,
    spec: TurnSpec,
    stop: Stop,
    heard: Heard,
}

impl Stage {
    fn new(script: &str) -> Self {
        let state = tempfile::tempdir().unwrap();
        let env = [
            ("PATH", std::env::var_os("PATH").unwrap()),
            ("AUTODEV_RUN", "r1".into()),
            ("AUTODEV_STATE", state.path().into()),
        ];
        let program = Program {
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            cwd: state.path().to_owned(),
            env: env.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            timeout: LONG,
            grace: SHORT,
        };
        let (form, run, turn) = (PromptForm::JsonLines, "r1".to_owned(), "t1".to_owned());
        let spec = TurnSpec { program, form, run, turn, attempt: 1, prompt: "do it".to_owned() };
        Self { state, spec, stop: Stop::new(), heard: Heard::default() }
    }

    fn turn(&mut self) -> Ended {
        let mut heard = std::mem::take(&mut self.heard);
        let ended = self.turn_with(&mut heard);
        self.heard = heard;
        ended
    }

    fn turn_with(&self, listener: &mut dyn Listener) -> Ended {
        let _among_others = TURNS.read().unwrap_or_else(PoisonError::into_inner);
        let ended = run_turn(&self.spec, &self.stop, listener).unwrap();
        assert_eq!(ended.survivors, []);
        assert_eq!(find_by_state_folder(self.state.path()).unwrap(), [], "someone was left behind");
        ended
    }
}

fn how(script: &str) -> How {
    Stage::new(script).turn().how
}

#[test]
fn the_exit_code_and_the_signal_are_told() {
    assert_eq!(how("exit 0"), How::Exited(0));
    assert_eq!(how("exit 7"), How::Exited(7));
    assert_eq!(how("kill -9 $$"), How::Signalled(9));
}

#[test]
fn the_prompt_comes_as_a_line_and_stdin_stays_open() {
    let mut stage = Stage::new("read -r line; echo \"$line\" | cat >&2; echo '{\"type\":\"end\"}'; cat");
    let ended = stage.turn();
    assert_eq!(ended.how, How::Exited(0), "cat ended once stdin was closed behind the end");
    assert!(ended.end_seen && ended.spoke_protocol);
    let prompt = stage.heard.raw.iter().find(|(stream, _)| *stream == Stream::Stderr);
    let Some((_, Line::Whole(line))) = prompt else { panic!("no prompt") };
    let line: serde_json::Value = serde_json::from_slice(line).unwrap();
    assert_eq!(line["prompt"], "do it");
    assert_eq!(line["cwd"], stage.state.path().to_str().unwrap());
    assert_eq!(stage.heard.events, [Event::End], "stderr is not understood");
}

#[test]
fn the_prompt_as_text_ends_with_stdin() {
    let mut stage = Stage::new("cat; echo; echo over");
    stage.spec.form = PromptForm::Text;
    let ended = stage.turn();
    assert_eq!(ended.how, How::Exited(0));
    assert!(!ended.spoke_protocol && !ended.end_seen);
    assert_eq!(stage.heard.said(), ["do it", "over"]);
}

#[test]
fn the_environment_is_what_was_given_and_nothing_else() {
    let mut stage = Stage::new("env");
    stage.spec.program.env.push(("ONLY".into(), "this".into()));
    stage.turn();
    assert!(stage.heard.said().contains(&"ONLY=this"));
    assert!(!stage.heard.said().iter().any(|line| line.starts_with("CARGO")), "the tests run under cargo");
}

#[test]
fn a_claim_is_heard_and_a_broken_line_warned_of() {
    let script =
        r#"echo '{"type":"work_done","summary":"parser"}'; echo '{"type":"work_done",'; printf 'no line feed'"#;
    let mut stage = Stage::new(script);
    assert!(stage.turn().spoke_protocol);
    assert_eq!(stage.heard.events[0], Event::WorkDone { summary: "parser".to_owned() });
    assert_eq!(stage.heard.said(), [r#"{"type":"work_done","#, "no line feed"]);
    assert_eq!(stage.heard.warnings.len(), 1);
    assert!(stage.heard.warnings[0].starts_with("looks like JSON but is not: "));
    assert_eq!(stage.heard.raw.len(), 3);
}

#[test]
fn a_question_gets_its_decision() {
    for (allow, expected) in [(true, "yes"), (false, "no")] {
        let script = r#"read -r prompt; echo '{"type":"ask","call":"k1","tool":"shell"}'; read -r answer
            case $answer in *'"call":"k1","allow":true'*) echo yes;; *) echo no;; esac"#;
        let mut stage = Stage::new(script);
        stage.heard.allow = Some(allow);
        assert_eq!(stage.turn().how, How::Exited(0));
        assert_eq!(stage.heard.said(), [expected]);
    }
}

#[test]
fn a_decision_that_nobody_can_read_is_warned_of() {
    let mut stage = Stage::new(r#"echo '{"type":"ask","call":"k1","tool":"shell"}'"#);
    stage.spec.form = PromptForm::Text;
    stage.heard.allow = Some(true);
    stage.turn();
    assert_eq!(stage.heard.warnings, ["nobody waits for the decision on k1: stdin is closed"]);
}

#[test]
fn a_line_of_64_mib_is_cut_and_the_next_one_read() {
    let mut stage = Stage::new("head -c 67108864 /dev/zero | tr '\\0' x; echo; echo next");
    assert!(stage.turn().too_long_line);
    let Line::TooLong { start, bytes } = &stage.heard.raw[0].1 else { panic!("it was not cut") };
    assert_eq!((start.len(), *bytes), (4096, 64 << 20));
    assert_eq!(stage.heard.said(), ["next"]);
}

#[test]
fn many_lines_all_arrive() {
    let mut stage = Stage::new("seq 20000; seq 20000 >&2");
    stage.turn();
    assert_eq!(stage.heard.said().len(), 20_000);
    assert_eq!(stage.heard.raw.len(), 40_000);
}

#[test]
fn a_prompt_that_is_never_read_holds_up_nobody() {
    for script in ["exit 3", "exec <&-; echo heard; exit 3"] {
        let mut stage = Stage::new(script);
        stage.spec.prompt = "x".repeat(1 << 20);
        assert_eq!(stage.turn().how, How::Exited(3));
    }
}

#[test]
fn who_hangs_is_timed_out() {
    let mut stage = Stage::new("echo here; exec sleep 600");
    stage.spec.program.timeout = SHORT;
    assert_eq!(stage.turn().how, How::TimedOut);
    assert_eq!(stage.heard.said(), ["here"]);
}

#[test]
fn who_goes_on_after_the_end_is_ended() {
    let mut stage = Stage::new("echo '{\"type\":\"end\"}'; exec sleep 600");
    let ended = stage.turn();
    assert_eq!(ended.how, How::Signalled(15));
    assert!(ended.end_seen);
}

#[test]
fn the_last_words_before_the_end_are_heard() {
    let mut stage = Stage::new("trap 'seq 20000; echo bye; exit 0' TERM; echo here; while :; do sleep 0.01; done");
    stage.spec.program.grace = LONG;
    stage.heard.stop_after = Some((1, stage.stop.clone()));
    assert_eq!(stage.turn().how, How::Stopped);
    assert_eq!(stage.heard.said().last(), Some(&"bye"));
}

#[test]
fn a_wish_to_stop_is_followed() {
    let mut stage = Stage::new("echo here; exec sleep 600");
    stage.heard.stop_after = Some((1, stage.stop.clone()));
    assert_eq!(stage.turn().how, How::Stopped);
    let before = stage.heard.raw.len();
    assert_eq!(stage.turn().how, How::Stopped, "and nothing starts after it");
    assert_eq!(stage.heard.raw.len(), before);
}

/// Raises the flag to haste at the first word.
struct Hurrying(Stop);
impl Listener for Hurrying {
    fn raw(&mut self, _: Stream, _: &Line) {}

    fn event(&mut self, _: Event) -> Option<Decision> {
        self.0.hurry();
        None
    }

    fn warning(&mut self, _: String) {}
}

#[test]
fn haste_ends_the_grace() {
    let mut stage = Stage::new("trap '' TERM; echo here; while :; do sleep 600; done");
    stage.spec.program.grace = LONG;
    let start = Instant::now();
    let ended = stage.turn_with(&mut Hurrying(stage.stop.clone()));
    assert_eq!(ended.how, How::Stopped);
    assert!(start.elapsed() < LONG);
}

#[test]
fn a_listener_that_fails_leaves_nobody_behind() {
    struct Failing;
    impl Listener for Failing {
        fn raw(&mut self, _: Stream, _: &Line) {
            std::panic::resume_unwind(Box::new("on purpose"));
        }

        fn event(&mut self, _: Event) -> Option<Decision> {
            None
        }

        fn warning(&mut self, _: String) {}
    }
    let stage = Stage::new("setsid --fork sleep 600; echo here; exec sleep 600");
    let turn = || run_turn(&stage.spec, &stage.stop, &mut Failing);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(turn)).is_err());
    assert_eq!(find_by_state_folder(stage.state.path()).unwrap(), []);
}

#[test]
fn an_orphan_that_holds_the_output_delays_nothing() {
    let mut stage = Stage::new("setsid --fork sleep 600; echo done; exit 0");
    let start = Instant::now();
    assert_eq!(stage.turn().how, How::Exited(0));
    assert_eq!(stage.heard.said(), ["done"]);
    assert!(start.elapsed() < Duration::from_mins(1));
}

#[test]
fn nobody_escapes() {
    // Ignored signals, own sessions, double forks, a stopped process, an environment without marks.
    let script = r#"
        trap '' TERM HUP INT
        (setsid sh -c 'echo $$; while :; do sleep 600; done' &)
        setsid --fork sh -c 'echo $$; setsid --fork sh -c "echo \$\$; sleep 600; :"; sleep 600; :'
        env -i setsid --fork sh -c 'trap "" TERM; echo $$; sleep 600; :'
        env -i sh -c '(sh -c "echo \$\$; sleep 600; :" &)'
        sh -c 'echo $$; kill -STOP $$; :' &
        echo $$
        while :; do sleep 600; done"#;
    let mut stage = Stage::new(script);
    stage.heard.stop_after = Some((7, stage.stop.clone()));
    let ended = {
        let _alone = TURNS.write().unwrap_or_else(PoisonError::into_inner);
        run_turn(&stage.spec, &stage.stop, &mut stage.heard).unwrap()
    };
    assert_eq!((ended.how, ended.survivors), (How::Stopped, vec![]));
    assert_eq!(find_by_state_folder(stage.state.path()).unwrap(), []);
    let pids: Vec<i32> = stage.heard.said().iter().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(pids.len(), 7, "all had started");
    let left: Vec<&i32> = pids.iter().filter(|pid| PathBuf::from(format!("/proc/{pid}")).exists()).collect();
    assert!(left.is_empty(), "{left:?} are still there, alive or not collected");
}

#[test]
fn who_carries_the_marks_of_the_run_is_ended_whoever_started_it() {
    let mut stage = Stage::new("exit 0");
    stage.spec.program.grace = LONG;
    let mut ours = Idler::new("r1", stage.state.path());
    let other = Idler::new("r2", stage.state.path());
    let ended = run_turn(&stage.spec, &stage.stop, &mut stage.heard);
    let left = find_by_state_folder(stage.state.path()).unwrap();
    assert_eq!(left.iter().map(|process| process.pid).collect::<Vec<_>>(), [other.pid()]);
    assert_eq!(ours.0.wait().unwrap().signal(), Some(15));
    assert_eq!(ended.unwrap().how, How::Exited(0));
}

#[test]
fn a_missing_command_says_what_is_missing() {
    let error = |command: &[&str]| {
        let mut stage = Stage::new("");
        stage.spec.program.command = command.iter().map(|part| (*part).to_owned()).collect();
        run_turn(&stage.spec, &stage.stop, &mut stage.heard).unwrap_err().to_string()
    };
    assert_eq!(error(&["nosuch", "x"]), "cannot start \"nosuch\": No such file or directory");
    assert_eq!(error(&[]), "the command is empty");
    let mut stage = Stage::new("");
    stage.spec.program.cwd = stage.state.path().join("gone");
    let error = run_turn(&stage.spec, &stage.stop, &mut stage.heard).unwrap_err().to_string();
    assert!(error.starts_with("cannot start \"sh\": ") && error.ends_with("/gone is not a folder"), "{error}");
}

#[test]
fn a_plain_command_has_no_input_and_no_protocol() {
    let stage = Stage::new("cat; echo '{\"type\":\"end\"}'; echo bad >&2; setsid --fork sleep 600; exit 9");
    let mut raw = Vec::new();
    let _among_others = TURNS.read().unwrap_or_else(PoisonError::into_inner);
    let ended =
        run_plain(&stage.spec.program, &stage.stop, &mut |stream, line| raw.push((stream, line.clone()))).unwrap();
    assert_eq!(ended.how, How::Exited(9));
    assert!(!ended.end_seen && !ended.spoke_protocol);
    raw.sort_by_key(|(stream, _)| *stream == Stream::Stderr);
    let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
    assert_eq!(raw, [(Stream::Stdout, whole("{\"type\":\"end\"}")), (Stream::Stderr, whole("bad"))]);
    assert_eq!(find_by_state_folder(stage.state.path()).unwrap(), []);
}

#[test]
fn the_time_a_person_takes_to_decide_is_not_the_participants() {
    struct Slow;
    impl Listener for Slow {
        fn raw(&mut self, _: Stream, _: &Line) {}
        fn event(&mut self, _: Event) -> Option<Decision> {
            let start = Instant::now();
            while start.elapsed() < Duration::from_secs(2) {
                std::thread::yield_now();
            }
            Some(Decision { call: "k1".to_owned(), allow: true })
        }
        fn warning(&mut self, _: String) {}
    }
    let script = r#"read -r prompt; echo '{"type":"ask","call":"k1","tool":"shell"}'; read -r answer; exit 4"#;
    let mut stage = Stage::new(script);
    stage.spec.program.timeout = Duration::from_millis(1800);
    let ended = stage.turn_with(&mut Slow);
    assert_eq!(ended.how, How::Exited(4));
}
