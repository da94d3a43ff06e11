//! What the configuration accepts, and what it says to what it does not.
//!
//! A test a kind of mistake, with the whole sentence, since the sentence is the contract; each place where a
//! value can stand (a key, an item of an array, a key of a participant) is there with its own line.

use super::*;
use crate::ErrorKind;

fn parse(text: &str) -> Config {
    source::parse(text.as_bytes(), Path::new(FILE)).unwrap()
}

fn error(text: &str) -> String {
    source::parse(text.as_bytes(), Path::new(FILE)).unwrap_err().to_string()
}

/// A participant on lines 1 to 3, with `line` on line 4.
fn participant_error(line: &str) -> String {
    error(&format!("[[participants]]\nname = \"builder\"\ncommand = [\"sh\"]\n{line}\n"))
}

#[test]
fn an_empty_file_and_a_missing_one_are_the_defaults() {
    assert_eq!(parse(""), Config::default());
    let folder = tempfile::tempdir().unwrap();
    let config = Config::load(folder.path()).unwrap();
    assert_eq!(config, Config::default());
    assert_eq!(config.origin(), None);
}

#[test]
fn every_key_is_read() {
    let config = parse(
        r#"
        checkpoints = false
        verify = [["cargo", "test"], ["true"]]
        max_attempts = 5
        rollback_on_failure = false
        secrets = ["*.kdbx", "!*.pem"]
        max_file_bytes = 0x10
        snapshots = true
        branch_prefix = "ada/auto.dev"
        keep_turns = 1
        keep_undo = 2
        gate_expires = "1h 30m"
        snapshot_file_bytes = 3
        snapshot_total_bytes = 9_223_372_036_854_775_807
        [[participants]]
        name = "builder"
        adapter = "exec"
        command = ["sh", "agent.sh", ""]
        env = ["API_KEY", "_x1"]
        turn_timeout = "90s"
        role = "reviewer"
        prompt = "text"
        [[participants]]
        name = "Builder-2_"
        command = ["a"]
        "#,
    );
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let builder = Participant {
        name: "builder".to_owned(),
        adapter: Adapter::Exec,
        command: words(&["sh", "agent.sh", ""]),
        env: words(&["API_KEY", "_x1"]),
        turn_timeout: Duration::from_secs(90),
        role: Role::Reviewer,
        prompt: PromptFormat::Text,
    };
    let second = Participant {
        name: "Builder-2_".to_owned(),
        adapter: Adapter::Exec,
        command: words(&["a"]),
        env: Vec::new(),
        turn_timeout: Duration::from_mins(30),
        role: Role::Worker,
        prompt: PromptFormat::Json,
    };
    let expected = Config {
        checkpoints: false,
        verify: vec![words(&["cargo", "test"]), words(&["true"])],
        max_attempts: 5,
        rollback_on_failure: false,
        secrets: words(&["*.kdbx", "!*.pem"]),
        max_file_bytes: 16,
        snapshots: true,
        branch_prefix: "ada/auto.dev".to_owned(),
        keep_turns: 1,
        keep_undo: 2,
        gate_expires: Duration::from_mins(90),
        snapshot_file_bytes: 3,
        snapshot_total_bytes: u64::MAX / 2,
        participants: vec![builder, second],
        origin: None,
    };
    assert_eq!(config, expected);
}

#[test]
fn a_file_from_another_editor_is_read() {
    assert_eq!(parse("\u{feff}checkpoints = false\r\nmax_attempts = 2\r\n").max_attempts, 2);
    assert_eq!(error("checkpoints = true\r\n\r\nmax = 2\r\n").split(' ').next(), Some(".autodev/config.toml:3:"));
}

#[test]
fn a_file_is_read_with_its_origin() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    crate::fs::create_folder(path.parent().unwrap()).unwrap();
    crate::fs::replace(&path, b"keep_undo = 7\n").unwrap();
    let config = Config::load(folder.path()).unwrap();
    assert_eq!(config.keep_undo, 7);
    assert_eq!(config.origin(), Some(path.as_path()));
}

#[test]
fn what_is_no_readable_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    crate::fs::create_folder(&path).unwrap();
    let error = Config::load(folder.path()).unwrap_err();
    assert_eq!(error.to_string(), ".autodev/config.toml must be a file, and is something else");

    let second = tempfile::tempdir().unwrap();
    crate::fs::replace(&second.path().join(".autodev"), b"a file").unwrap();
    let error = crate::Error::from(Config::load(second.path()).unwrap_err());
    assert_eq!(error.to_string(), ".autodev/config.toml cannot be read");
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("Not a directory"));
    assert_eq!(error.hint(), Some("ls -ld .autodev/config.toml"));
}

#[test]
fn bytes_that_are_no_text_are_an_error_with_their_line() {
    let error = source::parse(b"checkpoints = true\n# caf\xe9\n", Path::new(FILE)).unwrap_err();
    assert_eq!(error.to_string(), ".autodev/config.toml:2: the file must be UTF-8 text, and this line is not");
}

#[test]
fn errors_are_wrong_usage_with_a_hint() {
    let error = source::parse(b"max_atempts = 3", Path::new(FILE)).unwrap_err();
    assert!(matches!(&error, Error::UnknownKey { key, .. } if key == "max_atempts"));
    let error = crate::Error::from(error);
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(error.hint(), Some("autodev init --schema"));
}

#[test]
fn text_that_is_no_toml_is_an_error_with_its_line() {
    let cases = [
        ("checkpoints = true\nverify = [[\"cargo\"]\n", "2", "unclosed array"),
        ("checkpoints = yes\n", "1", "\"checkpoints\": string values must be quoted"),
        ("keep_undo = 1\nkeep_turns = 1\nkeep_undo = 2\n", "3", "\"keep_undo\": duplicate key"),
        ("\n\nsecrets\n", "3", ""),
        ("branch_prefix = \"a\n", "1", ""),
    ];
    for (text, line, part) in cases {
        let error = error(text);
        assert!(error.starts_with(&format!(".autodev/config.toml:{line}: ")), "{error}");
        assert!(error.contains(part) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn an_unknown_key_is_named_with_the_nearest_right_one() {
    let cases = [
        ("\n\nmax_atempts = 3", "3: unknown key \"max_atempts\"; did you mean \"max_attempts\"?"),
        ("maxFileBytes = 3", "1: unknown key \"maxFileBytes\"; did you mean \"max_file_bytes\"?"),
        ("attempts = 3", "1: unknown key \"attempts\"; did you mean \"max_attempts\"?"),
        ("[checkpoint]\na = 1", "1: unknown key \"checkpoint\"; did you mean \"checkpoints\"?"),
        ("[[participant]]\nname = 1", "1: unknown key \"participant\"; did you mean \"participants\"?"),
        ("verfy.a = 1", "1: unknown key \"verfy\"; did you mean \"verify\"?"),
        ("turn_timeout = \"1m\"", "1: unknown key \"turn_timeout\"; it belongs below a [[participants]]"),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), format!(".autodev/config.toml:{expected}"));
    }
    let cases = [
        ("timeout = \"1m\"", "4: unknown key \"timeout\"; did you mean \"turn_timeout\"?"),
        (
            "enviroment = []",
            "4: unknown key \"enviroment\"; known: name, adapter, command, env, turn_timeout, role, prompt",
        ),
        ("verify = []", "4: unknown key \"verify\"; it belongs above the first [[participants]]"),
    ];
    for (line, expected) in cases {
        assert_eq!(participant_error(line), format!(".autodev/config.toml:{expected}"));
    }
}

#[test]
fn where_nothing_is_near_all_keys_are_listed() {
    let expected = ".autodev/config.toml:1: unknown key \"colour\"; known: checkpoints, verify, max_attempts, \
        rollback_on_failure, secrets, max_file_bytes, snapshots, branch_prefix, keep_turns, keep_undo, gate_expires, \
        snapshot_file_bytes, snapshot_total_bytes, participants";
    assert_eq!(error("colour = true"), expected);
}

#[test]
fn the_first_mistake_in_the_file_is_the_one_named() {
    assert!(error("verify = 1\ncheckpoints = 1\n").contains(":1: \"verify\""));
}

#[test]
fn a_wrong_type_is_named_with_what_would_be_right() {
    let cases = [
        ("checkpoints = \"yes\"", "\"checkpoints\" must be true or false, not \"yes\""),
        ("snapshots = 1", "\"snapshots\" must be true or false, not 1"),
        ("max_attempts = \"3\"", "\"max_attempts\" must be a whole number of at least 1, not \"3\""),
        ("max_attempts = 3.0", "\"max_attempts\" must be a whole number of at least 1, not 3.0"),
        (
            "branch_prefix = 2026-11-30",
            "\"branch_prefix\" must be the beginning of a branch name such as \"autodev\", not 2026-11-30",
        ),
        ("gate_expires = 24", "\"gate_expires\" must be a duration such as \"30m\", not 24"),
        (
            "verify = \"cargo test\"",
            "\"verify\" must be an array of commands such as [[\"cargo\", \"test\"]], not \"cargo test\"",
        ),
        (
            "verify = [\"cargo test\"]",
            "an item in \"verify\" must be an array of strings such as [\"sh\", \"agent.sh\"], not \"cargo test\"",
        ),
        ("verify = [[\"cargo\", 1]]", "an item in \"verify\" must be a string, not 1"),
        ("secrets = \"*.p12\"", "\"secrets\" must be an array of patterns such as [\"*.p12\"], not \"*.p12\""),
        (
            "[participants]\nname = \"a\"",
            "\"participants\" must be an array of tables, each headed [[participants]], not a table",
        ),
        ("participants = [[\"a\"]]", "an item in \"participants\" must be a table, not [\"a\"]"),
        ("[verify]\na = 1", "\"verify\" must be an array of commands such as [[\"cargo\", \"test\"]], not a table"),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), format!(".autodev/config.toml:1: {expected}"));
    }
    let cases = [
        ("turn_timeout = 5", "\"turn_timeout\" must be a duration such as \"30m\", not 5"),
        ("env = \"KEY\"", "\"env\" must be an array of names such as [\"API_KEY\"], not \"KEY\""),
        ("role = 1", "\"role\" must be \"worker\" or \"reviewer\", not 1"),
        ("role = {}", "\"role\" must be \"worker\" or \"reviewer\", not a table"),
    ];
    for (line, expected) in cases {
        assert_eq!(participant_error(line), format!(".autodev/config.toml:4: {expected}"));
    }
}

#[test]
fn a_number_out_of_range_is_refused() {
    let least = "must be a whole number of at least 1";
    for key in
        ["max_attempts", "max_file_bytes", "keep_turns", "keep_undo", "snapshot_file_bytes", "snapshot_total_bytes"]
    {
        for number in ["0", "-1", "0x0"] {
            let expected = format!(".autodev/config.toml:1: \"{key}\" {least}, not {number}");
            assert_eq!(error(&format!("{key} = {number}")), expected);
        }
    }
    assert!(error("max_attempts = 5_000_000_000").ends_with("must be a smaller whole number, not 5_000_000_000"));
    assert!(error("keep_undo = 99999999999999999999").ends_with("not 99999999999999999999"));
}

#[test]
fn a_duration_out_of_range_is_refused() {
    let cases = [
        ("0s", "a duration above zero such as \"30m\""),
        ("0", "a duration above zero such as \"30m\""),
        ("11y", "a duration of at most ten years such as \"30m\""),
        ("", "a duration such as \"30m\""),
        ("30", "a duration such as \"30m\""),
        ("-30m", "a duration such as \"30m\""),
        ("soon", "a duration such as \"30m\""),
        ("99999999999999999999s", "a duration such as \"30m\""),
        ("18446744073709551615s 1000ms", "a duration such as \"30m\""),
    ];
    for (text, expected) in cases {
        let line = format!("turn_timeout = \"{text}\"");
        let expected = format!(".autodev/config.toml:4: \"turn_timeout\" must be {expected}, not \"{text}\"");
        assert_eq!(participant_error(&line), expected);
        assert!(error(&format!("gate_expires = \"{text}\"")).contains(":1: \"gate_expires\" must be a duration"));
    }
}

#[test]
fn a_branch_prefix_is_what_git_takes_for_one() {
    let long = "a".repeat(70);
    let wrong = [
        "", "a b", "a..b", "a~", "a^", "a:b", "a?", "a*", "a[", "/a", "a/", ".a", "a.", "a.lock", "a.lock/b", "a/.b",
        "a//b", "a@{b", "-a", "a\\\\b", "a\\u0007", "a\\u007f",
    ];
    for prefix in wrong {
        assert!(error(&format!("branch_prefix = \"{prefix}\"")).contains("the beginning of a branch name"), "{prefix}");
    }
    for prefix in ["a", "autodev", "ada/bot", "a@b", "@", "a.b", "ünïcode", "a.locked", &long] {
        assert_eq!(parse(&format!("branch_prefix = \"{prefix}\"")).branch_prefix, prefix);
    }
}

#[test]
fn a_pattern_that_could_never_match_is_refused() {
    for pattern in ["", "!", "config/prod.yml", "/a", "[ab].key", "a\\\\*", "!!a", "a\\n"] {
        let error = error(&format!("secrets = [\"*.ok\",\n \"{pattern}\"]"));
        assert!(error.starts_with(".autodev/config.toml:2: an item in \"secrets\" must be a pattern"), "{error}");
    }
}

#[test]
fn a_variable_with_its_value_is_refused_without_repeating_it() {
    let expected = "an item in \"env\" must be the name of a variable such as \"API_KEY\", not a name with its value";
    assert_eq!(participant_error("env = [\"API_KEY=s3cret\"]"), format!(".autodev/config.toml:4: {expected}"));
    for name in ["", "1A", "A-B", "LC_*", "É"] {
        assert!(participant_error(&format!("env = [\"{name}\"]")).ends_with(&format!("not \"{name}\"")), "{name}");
    }
}

#[test]
fn an_empty_command_is_refused() {
    let words = "must be an array of strings such as [\"sh\", \"agent.sh\"], not";
    for command in ["[]", "[\"\"]", "\"sh agent.sh\""] {
        let text = format!("[[participants]]\nname = \"a\"\ncommand = {command}\n");
        assert_eq!(error(&text), format!(".autodev/config.toml:3: \"command\" {words} {command}"));
    }
    assert_eq!(error("verify = [[]]"), format!(".autodev/config.toml:1: an item in \"verify\" {words} []"));
    assert!(
        error("verify = [[\"a\\u0000\"]]").ends_with("an item in \"verify\" must be a string, not one with a NUL byte")
    );
}

#[test]
fn long_values_are_cut_to_fit_into_a_sentence() {
    let expected = format!("not \"{}…", "x".repeat(59));
    assert!(error(&format!("checkpoints = \"{}\"", "x".repeat(500))).ends_with(&expected));
    assert!(error("checkpoints = \"\"\"a\nb\"\"\"").ends_with("not \"\"\"a…"));
    assert!(error("checkpoints = [\n1]").ends_with("not an array"));
}

#[test]
fn a_name_that_can_not_be_used_is_refused() {
    for name in ["", "a b", "ä", "a/b", &"a".repeat(65)] {
        let error = error(&format!("[[participants]]\ncommand = [\"a\"]\nname = \"{name}\"\n"));
        assert!(error.starts_with(".autodev/config.toml:3: \"name\" must be 1 to 64 letters, digits, _ and -, not"));
    }
}

#[test]
fn a_name_given_twice_is_refused_at_the_second() {
    let first = "[[participants]]\nname = \"builder\"\ncommand = [\"a\"]\n";
    let two = &format!("{first}\n[[participants]]\ncommand = [\"b\"]\nname = 'builder'\n");
    assert_eq!(error(two), ".autodev/config.toml:7: participant \"builder\" appears twice");
    assert!(matches!(
        source::parse(two.as_bytes(), Path::new(FILE)),
        Err(Error::SameName { name, place }) if name == "builder" && place.line == 7
    ));
    let inline = "participants = [{ name = \"a\", command = [\"x\"] },\n { name = \"a\", command = [\"x\"] }]";
    assert_eq!(error(inline), ".autodev/config.toml:2: participant \"a\" appears twice");
}

#[test]
fn a_participant_without_name_or_command_is_refused_at_its_header() {
    let first = "[[participants]]\nname = \"a\"\ncommand = [\"a\"]\n\n";
    assert_eq!(
        error(&format!("{first}[[participants]]\nname = \"b\"\n")),
        ".autodev/config.toml:5: a participant needs \"command\""
    );
    assert_eq!(error(&format!("{first}[[participants]]\n")), ".autodev/config.toml:5: a participant needs \"name\"");
}

#[test]
fn an_unknown_value_is_named_with_the_nearest_right_one() {
    let cases = [
        ("role = \"Reviewr\"", "unknown value \"Reviewr\" for \"role\"; did you mean \"reviewer\"?"),
        ("role = \"boss\"", "unknown value \"boss\" for \"role\"; known: worker, reviewer"),
        ("adapter = \"exce\"", "unknown value \"exce\" for \"adapter\"; did you mean \"exec\"?"),
        ("prompt = \"txt\"", "unknown value \"txt\" for \"prompt\"; did you mean \"text\"?"),
    ];
    for (line, expected) in cases {
        assert_eq!(participant_error(line), format!(".autodev/config.toml:4: {expected}"));
    }
}
