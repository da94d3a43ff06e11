//! What the scripted agent says, does and refuses.
//!
//! The steps that only make sense in a process of their own (`hang`, `ignore_term`, `orphan`) are not played
//! here: they are for whoever starts the program.

use super::*;

struct Played {
    folder: tempfile::TempDir,
    code: Result<i32, Error>,
    output: Vec<u8>,
}

impl Played {
    fn lines(&self) -> Vec<String> {
        String::from_utf8_lossy(&self.output).lines().map(str::to_owned).collect()
    }

    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join(path)).ok()
    }
}

fn played(script: &str, input: &str) -> Played {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.json");
    std::fs::write(&path, script).unwrap();
    let mut output = Vec::new();
    let code = play_in(folder.path(), &path, input.as_bytes(), &mut output);
    Played { folder, code, output }
}

#[test]
fn words_become_lines_of_the_protocol() {
    let played = played(r#"[{"say":"a"},{"post":"b"},{"claim":"c"},{"end":true},{"exit":7},{"say":"never"}]"#, "");
    assert_eq!(
        played.lines(),
        [
            r#"{"type":"say","text":"a"}"#,
            r#"{"type":"post","text":"b"}"#,
            r#"{"type":"work_done","summary":"c"}"#,
            r#"{"type":"end"}"#,
        ]
    );
    assert_eq!(played.code.unwrap(), 7);
}

#[test]
fn files_are_written_appended_to_and_deleted() {
    let script = r#"[{"write":{"path":"a/b","text":"1"}},{"append":{"path":"a/b","text":"2"}},
        {"write":{"path":"c","text":""}},{"delete":"c"},{"run":["sh","-c","echo 3 > d; exit 4"]}]"#;
    let played = played(script, "");
    assert_eq!(*played.code.as_ref().unwrap(), 0);
    assert_eq!(played.read("a/b").as_deref(), Some("12"));
    assert_eq!(played.read("c"), None);
    assert_eq!(played.read("d").as_deref(), Some("3\n"));
    assert_eq!(played.lines(), [r#"{"type":"say","text":"sh exited with 4"}"#]);
}

#[test]
fn paths_do_not_leave_the_folder() {
    for path in ["../x", "a/../../x", "/tmp/x"] {
        let played = played(&format!(r#"[{{"say":"a"}},{{"write":{{"path":"{path}","text":""}}}}]"#), "");
        let error = played.code.unwrap_err().to_string();
        assert_eq!(error, format!("step 2 of the script failed: {path} leads out of the working folder"));
    }
}

#[test]
fn the_attempt_chooses_the_steps_and_the_last_ones_repeat() {
    let script = r#"{"turns":[[{"say":"first"}],[{"say":"second"}]]}"#;
    let said = |input: &str| played(script, input).lines().join("");
    for (attempt, word) in [(1, "first"), (2, "second"), (9, "second")] {
        assert!(said(&format!("{{\"type\":\"turn\",\"attempt\":{attempt}}}\n")).contains(word), "{attempt}");
    }
    assert!(said("just do it\n").contains("first"));
}

#[test]
fn a_question_waits_for_its_own_decision() {
    let script =
        r#"[{"ask":{"call":"k2","tool":"shell","input":{"a":1},"reason":"why","irreversible":true}},{"say":"on"}]"#;
    let other = "{\"type\":\"decision\",\"call\":\"k1\",\"allow\":false}\n";
    let answers = [("true", "k2 was allowed"), ("false", "k2 was denied")];
    for (allow, said) in answers {
        let input = format!("{{}}\n{other}{{\"type\":\"decision\",\"call\":\"k2\",\"allow\":{allow}}}\n");
        let lines = played(script, &input).lines();
        assert_eq!(
            lines[0],
            r#"{"type":"ask","call":"k2","tool":"shell","input":{"a":1},"reason":"why","irreversible":true}"#
        );
        assert!(lines[1].contains(said), "{lines:?}");
        assert!(lines[2].contains("on"));
    }
    assert!(played(script, "{}\n").lines()[1].contains("nobody decided on k2"));
}

#[test]
fn garbage_and_floods_are_what_they_say() {
    let played = played(r#"[{"garbage":true},{"flood":200000}]"#, "");
    assert!(std::str::from_utf8(&played.output).is_err());
    let last = played.output.split(|byte| *byte == b'\n').rev().nth(1).unwrap();
    assert_eq!(last, vec![b'x'; 200_000]);
}

#[test]
fn a_commit_needs_no_configured_identity() {
    let script = r#"[{"run":["git","init","-q"]},{"write":{"path":"a","text":"1"}},{"commit":"made it"},
        {"run":["sh","-c","git log -1 --format='%an: %s' > log"]}]"#;
    let played = played(script, "");
    assert_eq!(*played.code.as_ref().unwrap(), 0);
    assert_eq!(played.read("log").as_deref(), Some("fake agent: made it\n"));
}

#[test]
fn a_broken_script_is_refused_before_its_first_step() {
    let error = |script: &str| {
        let played = played(script, "");
        assert!(played.output.is_empty());
        played.code.unwrap_err().to_string()
    };
    let unknown = error(r#"[{"say":"a"},{"shout":"b"}]"#);
    assert!(unknown.contains("step 2: unknown step `shout`") && unknown.contains("`ignore_term`"), "{unknown}");
    assert!(error(r#"{"turns":[[],[{"say":1}]]}"#).contains("turn 2, step 1: invalid type"));
    assert!(error(r#"[{"say":"a","post":"b"}]"#).contains("step 1: "));
    assert!(error("[").contains("EOF"));
    assert!(error("{}").contains("neither an array of steps nor an object with `turns`"));
    let missing = play(Path::new("/nonexistent/script"), io::empty(), io::sink()).unwrap_err();
    assert_eq!(missing.to_string(), "cannot read the script /nonexistent/script: No such file or directory");
}
