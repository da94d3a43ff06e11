//! The demo: it shows what it promises, quickly, and the commands at its end can be pasted.

use crate::sandbox::{Ran, Repo, Sandbox};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Runs the demo with its folder in a folder of the sandbox.
fn demo(at: &Repo, variables: &[(&str, &str)]) -> Ran {
    let start = Instant::now();
    let ran = at.autodev_with(variables, ["demo"]).ok();
    assert!(start.elapsed() < Duration::from_secs(15), "it took {:?}", start.elapsed());
    ran
}

/// Returns the commands behind "Go on with:".
fn go_on(ran: &Ran) -> Vec<String> {
    let (_, behind) = ran.stdout.split_once("Go on with:").expect("the demo says how to go on");
    behind.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// Pastes the commands into a shell, one after the other, and has git judge the repository of the demo.
fn paste(at: &Repo, ran: &Ran, variables: &[(&str, &str)]) -> String {
    let commands = go_on(ran);
    assert!(commands.len() >= 5 && commands[0].starts_with("cd "), "{commands:?}");
    let mut shell = at.command("sh");
    shell.envs(variables.iter().copied()).args(["-euc", &format!("{}\ngit fsck --strict", commands.join("\n"))]);
    let pasted = Ran::of(shell).ok();
    assert!(pasted.stdout.contains("Restored to \"before restore to "), "{}", pasted.stdout);
    pasted.stdout
}

#[test]
fn the_demo_shows_a_run_the_list_and_a_restore() {
    let folder = Sandbox::new().folder("elsewhere");
    let ran = demo(&folder, &[]);
    for words in [
        "$ autodev run 'write a greeting and a test for it'",
        "checkpoint c1: baseline before run",
        "─ c1  baseline before run",
        "✔ c2  thread — Write a greeting",
        "✔ c3  thread — Add a test for the greeting",
        "$ autodev restore c2",
        "Restored to \"thread — Write a greeting\" (",
        "; saved on autodev/pre-restore-",
        "⤿ c4  before restore to \"thread — Write a greeting\"",
    ] {
        assert!(ran.stdout.contains(words), "{words:?} is not in {}", ran.stdout);
    }
    assert_eq!(std::fs::read_dir(&folder.root).unwrap().count(), 0, "nothing is written where it was called");
    let made: Vec<_> = std::fs::read_dir(folder.sandbox.path().join("tmp")).unwrap().flatten().collect();
    assert!(made.len() == 1 && made[0].file_name().to_string_lossy().starts_with("autodev-demo-"), "{made:?}");
    assert!(!folder.sandbox.path().join("state/autodev").exists(), "nor any state outside of the demo");
}

#[test]
fn the_commands_at_its_end_can_be_pasted() {
    let folder = Sandbox::new().folder("elsewhere");
    let ran = demo(&folder, &[]);
    let pasted = paste(&folder, &ran, &[]);
    assert!(pasted.contains("state    idle") && pasted.contains("autodev: baseline before run"), "{pasted}");
    let project = PathBuf::from(go_on(&ran)[0].trim_start_matches("cd "));
    let greeting = std::fs::read_to_string(project.join("greeting.txt")).unwrap();
    assert_eq!(greeting, "something you typed since, not committed\n");
}

#[test]
fn the_commands_can_be_pasted_from_a_folder_with_spaces_and_quotes_in_its_name() {
    let sandbox = Sandbox::new();
    let temporary = sandbox.folder("it's a \"folder\" $HOME");
    let variables = [("TMPDIR", temporary.root.to_str().unwrap())];
    let ran = demo(&temporary, &variables);
    paste(&temporary, &ran, &variables);
}

#[test]
fn the_commands_need_no_shell_that_knows_comments() {
    let ran = demo(&Sandbox::new().folder("elsewhere"), &[]);
    assert!(go_on(&ran).iter().all(|command| !command.contains('#')), "{:?}", go_on(&ran));
}

#[test]
fn the_demo_works_whatever_the_user_has_configured() {
    let folder = Sandbox::new().folder("elsewhere");
    let config = "[user]\n\tuseConfigOnly = true\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = false\n\
                  [core]\n\thooksPath = ~/hooks\n\tautocrlf = true\n[init]\n\tdefaultBranch = trunk\n";
    let home = folder.sandbox.path().join("home");
    std::fs::create_dir(home.join("hooks")).unwrap();
    std::fs::write(home.join("hooks/pre-commit"), "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::write(home.join(".gitconfig"), config).unwrap();
    folder.sh("chmod +x ~/hooks/pre-commit");
    let ran = demo(&folder, &[]);
    paste(&folder, &ran, &[]);
}

#[test]
fn the_demo_works_inside_a_turn_and_with_a_state_folder_elsewhere() {
    let sandbox = Sandbox::new();
    let folder = sandbox.folder("elsewhere");
    let state = sandbox.path().join("my-state");
    let elsewhere = [("AUTODEV_STATE_DIR", state.to_str().unwrap())];
    let ran = demo(&folder, &elsewhere);
    paste(&folder, &ran, &elsewhere);
    let turn = [
        ("AUTODEV_RUN", "r7"),
        ("AUTODEV_TURN", "t9"),
        ("AUTODEV_PARTICIPANT", "builder"),
        ("AUTODEV_STATE", "/nowhere"),
        ("GIT_DIR", "/nowhere"),
    ];
    demo(&folder, &turn);
}
