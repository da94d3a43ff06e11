//! The sample: a complete `.autodev` folder that works as it is, and is what `autodev init` writes; and the
//! help, which has an example for every command.

use crate::run_sandbox::assert_quiet;
use crate::sandbox::{Ran, Repo, Sandbox, repository_with_a_commit};
use serde_json::Value;
use std::path::Path;

const FILES: [&str; 3] = [".gitignore", "config.toml", "memory.md"];

fn sample(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".autodev-sample").join(name)).unwrap()
}

/// A repository with the sample as its `.autodev`.
fn repository_with_the_sample() -> Repo {
    let repo = repository_with_a_commit();
    for name in FILES {
        repo.write(format!(".autodev/{name}"), sample(name));
    }
    repo
}

/// Returns the names of the commands that the help lists.
fn commands(repo: &Repo) -> Vec<String> {
    let help = repo.autodev(["--help"]).ok().stdout;
    let behind = help.split_once("Commands:\n").unwrap().1;
    let lines = behind.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    names.map(|line| line.split(' ').next().unwrap().to_owned()).filter(|name| name != "help").collect()
}

#[test]
fn every_command_works_with_the_sample() {
    let repo = repository_with_the_sample();
    assert_eq!(repo.status(), "", "git does not see the folder");
    for (arguments, code) in [
        (vec!["status"], 0),
        (vec!["status", "--json"], 0),
        (vec!["restore"], 0),
        (vec!["checkpoint", "-m", "first"], 0),
        (vec!["restore", "c1"], 0),
        (vec!["restore", "c1", "--dry-run"], 0),
        (vec!["post", "hello"], 0),
        (vec!["stop"], 0),
        (vec!["init"], 0),
        (vec!["init", "--schema"], 0),
        (vec!["run", "do it"], 2),
    ] {
        repo.autodev(&arguments).fails(code);
    }
    for name in FILES {
        assert_eq!(repo.text(format!(".autodev/{name}")), sample(name), "{name} is as it was");
    }
    assert_quiet(&repo);
}

#[test]
fn a_participant_behind_the_sample_works() {
    let repo = repository_with_the_sample();
    let script = "touch done; autodev post --work-done done";
    let builder = format!("\n[[participants]]\nname = \"builder\"\ncommand = [\"sh\", \"-c\", \"{script}\"]\n");
    repo.write(".autodev/config.toml", sample("config.toml") + &builder);
    repo.autodev(["run", "do it"]).ok();
    assert_eq!(repo.list().len(), 1);
    assert_quiet(&repo);
}

#[test]
fn the_sample_with_every_key_uncommented_works() {
    let repo = repository_with_the_sample();
    let uncommented = |line: &str| match line.strip_prefix('#') {
        Some(key) if !key.is_empty() && !key.starts_with(' ') => format!("{key}\n"),
        _ => format!("{line}\n"),
    };
    repo.write(".autodev/config.toml", sample("config.toml").lines().map(uncommented).collect::<String>());
    repo.write("agent.sh", "read -r prompt; touch done; autodev post --work-done done\n");
    repo.autodev(["run", "do it"]).ok();
    assert_eq!(repo.list().len(), 2, "a baseline and a task");
    assert_quiet(&repo);
}

#[test]
fn init_writes_the_sample_once_and_leaves_what_is_there() {
    for repo in [repository_with_a_commit(), Sandbox::new().folder("plain")] {
        repo.write(".autodev/memory.md", "- mine\n");
        let ran = repo.autodev(["init"]).ok();
        assert!(ran.stdout.starts_with("Wrote ") && ran.stdout.contains("config.toml"), "{}", ran.stdout);
        assert_eq!(repo.text(".autodev/config.toml"), sample("config.toml"));
        assert_eq!(repo.text(".autodev/.gitignore"), sample(".gitignore"));
        assert_eq!(repo.text(".autodev/memory.md"), "- mine\n");
        let complete = format!("{} is complete already", repo.path(".autodev").display());
        repo.autodev(["init"]).ok().says(&complete);
        if repo.has(".git") {
            assert_eq!(repo.status(), "");
            repo.judge();
        }
    }
    let repo = repository_with_a_commit();
    repo.autodev(["init"]).ok();
    for name in FILES {
        assert_eq!(repo.text(format!(".autodev/{name}")), sample(name));
    }
}

#[test]
fn init_from_a_folder_inside_writes_at_the_root() {
    let repo = repository_with_a_commit();
    let mut command = repo.program();
    command.current_dir(repo.path("src")).arg("init");
    Ran::of(command).ok();
    assert!(repo.has(".autodev/config.toml") && !repo.has("src/.autodev"));
    assert_eq!(repo.status(), "");
}

#[test]
fn init_says_what_is_in_the_way() {
    let repo = repository_with_a_commit();
    repo.write(".autodev", "a file\n");
    let ran = repo.autodev(["init"]).fails(2);
    assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(".autodev"), "{}", ran.stderr);
    assert_eq!(repo.text(".autodev"), "a file\n");
    repo.judge();
}

#[test]
fn the_schema_is_json_and_has_every_key_of_the_sample() {
    let folder = Sandbox::new().folder("anywhere");
    let schema: Value = serde_json::from_str(&folder.autodev(["init", "--schema"]).ok().stdout).unwrap();
    let text = sample("config.toml");
    let (top, participant) = text.split_once("#[[participants]]").unwrap();
    let keys = |text: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix('#')).filter(|line| !line.starts_with(' '));
        lines.filter_map(|line| Some(line.split_once(" = ")?.0.to_owned())).collect()
    };
    assert_eq!((keys(top).len(), keys(participant).len()), (13, 7), "the sample is read rightly here");
    for key in keys(top) {
        assert!(schema["properties"][&key]["description"].is_string(), "{key}");
    }
    for key in keys(participant) {
        assert!(schema["$defs"]["Participant"]["properties"][&key]["description"].is_string(), "{key}");
    }
    assert!(!folder.has(".autodev"), "it writes nothing");
}

#[test]
fn every_command_has_a_help_with_an_example() {
    let folder = Sandbox::new().folder("anywhere");
    let commands = commands(&folder);
    assert!(commands.len() >= 8 && commands.contains(&"restore".to_owned()), "{commands:?}");
    assert!(!commands.contains(&"fake-agent".to_owned()));
    for command in commands {
        let help = folder.autodev([&command, "--help"]).ok().stdout;
        let (_, examples) = help.split_once("Example").unwrap_or_else(|| panic!("{command}: {help}"));
        assert!(examples.contains(&format!("\n  autodev {command}")), "{command}: {help}");
        assert_eq!(folder.autodev(["help", &command]).ok().stdout, help);
        folder.autodev([&command, "--no-such-option"]).fails(2);
    }
}
