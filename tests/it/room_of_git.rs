//! The program's git: nothing that is inherited redirects it, and nothing of the user's is started by it.

use crate::look::Look;
use crate::sandbox::{Ran, Repo, repository_with_a_commit};

/// Makes a checkpoint and goes back under inherited variables; neither may notice them.
fn there_and_back_with(repo: &Repo, variables: &[(&str, &str)]) {
    repo.write("a.txt", "there\n");
    let tree = repo.expected_tree(&[]);
    repo.autodev_with(variables, ["checkpoint", "-m", "one"]).ok().says("c1");
    assert_eq!(repo.rev("HEAD^{tree}"), tree);
    repo.write("a.txt", "and back\n");
    repo.write("new", "new\n");
    let ran = repo.autodev_with(variables, ["restore", "c1"]).ok();
    assert!(ran.stdout.starts_with("Restored to \"one\" ("), "{}", ran.stdout);
    assert_eq!(repo.text("a.txt"), "there\n");
    assert!(!repo.has("new"));
    assert_eq!(repo.status(), "");
    repo.judge();
}

/// The same, beside another repository that must not change, of which the variables may speak.
fn unmoved_by(variables: &[(&str, &str)]) {
    let repo = repository_with_a_commit();
    let other = repo.sandbox.repository("other");
    other.write("a.txt", "other\n");
    other.commit("other");
    let before = other.look();
    let objects = Look::of_path(&other.path(".git/objects"));
    let place = repo.sandbox.path().to_str().unwrap().to_owned();
    let variables: Vec<(&str, String)> =
        variables.iter().map(|(name, value)| (*name, value.replace("PLACE", &place))).collect();
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    there_and_back_with(&repo, &variables);
    before.assert_same(&other);
    objects.compare(&Look::of_path(&other.path(".git/objects")));
    assert!(!repo.has("../started"), "something was started");
}

#[test]
fn inherited_places_do_not_redirect_anything() {
    unmoved_by(&[("GIT_DIR", "PLACE/other/.git"), ("GIT_WORK_TREE", "PLACE/other")]);
    unmoved_by(&[("GIT_DIR", "/nonexistent")]);
    unmoved_by(&[("GIT_INDEX_FILE", ".git/other-index")]);
    unmoved_by(&[("GIT_OBJECT_DIRECTORY", "PLACE/other/.git/objects")]);
    unmoved_by(&[("GIT_ALTERNATE_OBJECT_DIRECTORIES", "PLACE/other/.git/objects")]);
    unmoved_by(&[("GIT_COMMON_DIR", "PLACE/other/.git"), ("GIT_NAMESPACE", "elsewhere")]);
    unmoved_by(&[("GIT_PREFIX", "src/"), ("GIT_CEILING_DIRECTORIES", "PLACE/project"), ("GIT_SHALLOW_FILE", "x")]);
}

#[test]
fn inherited_settings_change_nothing() {
    unmoved_by(&[
        ("GIT_CONFIG_COUNT", "3"),
        ("GIT_CONFIG_KEY_0", "core.excludesFile"),
        ("GIT_CONFIG_VALUE_0", "PLACE/everything"),
        ("GIT_CONFIG_KEY_1", "core.worktree"),
        ("GIT_CONFIG_VALUE_1", "PLACE/other"),
        ("GIT_CONFIG_KEY_2", "core.hooksPath"),
        ("GIT_CONFIG_VALUE_2", "PLACE/other"),
    ]);
    unmoved_by(&[("GIT_CONFIG_PARAMETERS", "'core.bare'='true' 'core.worktree'='/'")]);
    unmoved_by(&[("GIT_CONFIG", "/nonexistent"), ("GIT_ATTR_SOURCE", "HEAD~99"), ("GIT_DEFAULT_HASH", "sha256")]);
    unmoved_by(&[("GIT_LITERAL_PATHSPECS", "0"), ("GIT_GLOB_PATHSPECS", "1"), ("GIT_ICASE_PATHSPECS", "1")]);
    unmoved_by(&[("GIT_AUTHOR_NAME", "Eve"), ("GIT_COMMITTER_DATE", "nonsense"), ("GIT_REFLOG_ACTION", "eve")]);
    unmoved_by(&[("GIT_TRACE", "PLACE/started"), ("GIT_TRACE2_EVENT", "PLACE/started")]);
}

#[test]
fn inherited_programs_are_not_started() {
    let touch = "touch PLACE/started";
    unmoved_by(&[
        ("GIT_PAGER", touch),
        ("PAGER", touch),
        ("GIT_EDITOR", touch),
        ("EDITOR", touch),
        ("VISUAL", touch),
        ("GIT_SEQUENCE_EDITOR", touch),
        ("GIT_ASKPASS", touch),
        ("SSH_ASKPASS", touch),
        ("GIT_SSH_COMMAND", touch),
        ("GIT_EXTERNAL_DIFF", touch),
        ("GIT_PROXY_COMMAND", touch),
    ]);
}

#[test]
fn another_language_changes_nothing() {
    unmoved_by(&[("LC_ALL", "de_DE.UTF-8"), ("LANGUAGE", "de:fr"), ("LANG", "tr_TR.UTF-8"), ("LC_MESSAGES", "ja_JP")]);
}

#[test]
fn aliases_and_programs_of_the_configuration_are_not_started() {
    let repo = repository_with_a_commit();
    let touch = format!("touch {}", repo.path("../started").display());
    for (key, value) in [
        ("alias.status", format!("!{touch}")),
        ("alias.write-tree", format!("!{touch}")),
        ("core.pager", touch.clone()),
        ("pager.status", touch.clone()),
        ("core.editor", touch.clone()),
        ("core.fsmonitor", touch.clone()),
        ("core.askPass", touch.clone()),
        ("core.sshCommand", touch.clone()),
        ("credential.helper", format!("!{touch}")),
        ("diff.external", touch.clone()),
        ("gpg.program", touch.clone()),
        ("commit.gpgSign", "true".to_owned()),
        ("gc.auto", "1".to_owned()),
        ("maintenance.auto", "true".to_owned()),
        ("submodule.recurse", "true".to_owned()),
        ("fetch.recurseSubmodules", "true".to_owned()),
        ("help.autocorrect", "1".to_owned()),
    ] {
        repo.sh(&format!("git config {key} '{value}'"));
    }
    repo.write("a.txt", "1\n");
    repo.autodev(["checkpoint", "-m", "one"]).ok();
    repo.write("a.txt", "2\n");
    repo.autodev(["restore", "c1"]).ok();
    assert_eq!(repo.text("a.txt"), "1\n");
    assert!(!repo.has("../started"));
}

#[test]
fn the_users_own_ignore_rules_are_honoured_wherever_they_come_from() {
    let repo = repository_with_a_commit();
    repo.write("../home/ignore-a", "ignored-a\n");
    repo.write("../config/git/ignore", "ignored-b\n");
    repo.write("../my-ignore", "ignored-c\n");
    let path = |name: &str| repo.path(name).to_str().unwrap().to_owned();
    repo.write("../my-config", format!("[core]\n\texcludesFile = {}\n", path("../my-ignore")));
    for name in ["ignored-a", "ignored-b", "ignored-c"] {
        repo.write(name, "mine\n");
    }
    let kept = |variables: &[(&str, &str)]| {
        repo.write("a.txt", format!("{variables:?}\n"));
        repo.autodev_with(variables, ["checkpoint"]).ok();
        repo.git(["ls-tree", "--name-only", "HEAD"]).replace('\n', " ")
    };
    let custom = path("../my-config");
    assert_eq!(kept(&[("GIT_CONFIG_GLOBAL", &custom)]), "a.txt ignored-a ignored-b src");
    repo.git(["reset", "-q", "HEAD^"]);
    assert_eq!(kept(&[]), "a.txt ignored-a ignored-c src");
    repo.git(["reset", "-q", "HEAD^"]);
    repo.git(["config", "--global", "core.excludesFile", "~/ignore-a"]);
    assert_eq!(kept(&[]), "a.txt ignored-b ignored-c src");
}

#[test]
fn nothing_asks_and_nothing_reads_standard_input() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    let mut command = repo.program();
    command.stdin(std::process::Stdio::piped()).args(["checkpoint", "-m", "one"]);
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    // Standard input stays open and silent until the program has ended.
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
}

#[test]
fn without_the_git_program_it_says_so_and_changes_nothing() {
    let repo = repository_with_a_commit();
    repo.write("a.txt", "1\n");
    let before = repo.look();
    let mut command = repo.program();
    command.env("PATH", "/nonexistent").arg("checkpoint");
    Ran::of(command).fails(1).mentions("cannot start the program `git`").mentions("hint: ");
    before.assert_same(&repo);
}

#[test]
fn a_pager_and_colours_are_only_for_terminals() {
    let repo = repository_with_a_commit();
    repo.checkpoint("one");
    let plain = repo.autodev(["restore"]).ok().stdout;
    assert!(!plain.contains('\u{1b}'));
    let ran = repo.autodev(["restore", "nonsense", "--color", "always"]).fails(1);
    assert!(ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
    let ran = repo.autodev(["restore", "nonsense"]).fails(1);
    assert!(!ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
}
