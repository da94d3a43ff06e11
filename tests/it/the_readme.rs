//! What the README says is true: its two set-up commands, its commands, its configuration, its exit codes.

use crate::sandbox::repository_with_a_commit;

const README: &str = include_str!("../../README.md");
const CI: &str = include_str!("../../.ci/run");

/// Returns the fenced blocks of a language.
fn blocks(language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    README.split(&fence).skip(1).filter_map(|rest| rest.split("\n```").next()).map(str::to_owned).collect()
}

#[test]
fn the_first_two_commands_are_all_of_the_set_up() {
    let first = &blocks("console")[0];
    let typed: Vec<&str> =
        first.lines().filter_map(|line| Some(line.strip_prefix("$ ")?.split('#').next()?.trim())).collect();
    assert_eq!(typed, ["cargo run --release -- demo", "cargo test"]);
    assert!(CI.lines().any(|line| line.trim() == "cargo test --locked"), "CI calls the second one");
}

#[test]
fn every_command_of_the_table_is_there_and_has_help_with_an_example() {
    let repo = repository_with_a_commit();
    let rows = README.lines().filter_map(|line| line.strip_prefix("| `autodev ")?.split(['`', ' ']).next());
    let mut commands: Vec<&str> = rows.collect();
    commands.dedup();
    assert_eq!(commands, ["init", "run", "stop", "status", "post", "checkpoint", "restore", "undo", "doctor", "demo"]);
    for command in commands {
        let help = repo.autodev([command, "--help"]).ok();
        assert!(help.stdout.contains("Example"), "{command} has no example:\n{}", help.stdout);
    }
}

#[test]
fn the_configuration_it_shows_is_read_without_complaint() {
    let repo = repository_with_a_commit();
    let shown = blocks("toml");
    assert_eq!(shown.len(), 1);
    repo.write(".autodev/config.toml", &shown[0]);
    repo.autodev(["status"]).ok();
}

#[test]
fn the_list_looks_as_it_is_shown() {
    let repo = repository_with_a_commit();
    repo.write("new.txt", "1\n");
    repo.checkpoint("first");
    let line = repo.autodev(["restore"]).ok().stdout;
    let words: Vec<&str> = line.split_whitespace().collect();
    let shown = blocks("console")[1].lines().find(|line| line.contains("← HEAD")).unwrap().to_owned();
    let last = |text: &str| text.trim_end().ends_with("   ← HEAD");
    assert!(last(&line) && last(&shown), "{line}{shown}");
    assert_eq!((words[0], words[1], words[2], words[3], words[4]), ("●", "c1", "first", "—", "·"), "{line}");
    assert_eq!(words[5].len(), 7, "{line}");
}
