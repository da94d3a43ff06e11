//! The words that can be typed, with their help.

use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Runs coding agents on a folder, keeps every step, and goes back to any of them.
#[derive(Debug, Parser)]
#[command(name = "autodev", version, about, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done, 1 failed, 2 wrong arguments, 10 no git repository, 11 busy (a run is on, or a \
lock is held), 12 state from a newer version, 70 a bug of autodev, 130 interrupted."
)]
pub(super) struct Args {
    /// The folder to work on; its project is found as git finds a repository.
    #[arg(long, global = true, value_name = "FOLDER", default_value = ".")]
    pub(super) project: PathBuf,
    /// Print results as JSON.
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// When to use colours.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(super) color: Color,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Init(Init),
    Run(Run),
    Stop(Stop),
    Status(Status),
    Post(Post),
    Restore(Restore),
    Checkpoint(Checkpoint),
    Undo(Step),
    #[command(about = "Takes the newest undo back", long_about = None, after_help = "Example:\n  autodev redo --yes")]
    Redo(Step),
    Doctor(Doctor),
    Demo(Demo),
    #[command(hide = true)]
    FakeAgent(FakeAgent),
}

/// Writes `.autodev/` with a commented configuration.
///
/// What is there already is left alone. Every command works without it, on defaults; a run needs participants.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  autodev init
  autodev init --schema > autodev.schema.json")]
pub(super) struct Init {
    /// Print a JSON Schema of the configuration instead.
    #[arg(long)]
    pub(super) schema: bool,
}

/// Lets the configured participants work on a task, and keeps what is credited.
///
/// A changed tree is kept as a baseline first. A participant that says `work_done` is checked (something changed,
/// every `verify` command succeeds), then its work becomes a checkpoint. Work that fails goes back to the newest
/// checkpoint of this run, as `autodev restore` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  autodev run 'add a parser for dates'
  autodev run --participant builder 'fix the failing test'
  autodev run                        with the thread alone as the task")]
pub(super) struct Run {
    /// What is to be done.
    pub(super) task: Option<String>,
    /// Let only this participant work.
    #[arg(long, value_name = "NAME")]
    pub(super) participant: Option<String>,
}

/// Ends the run that is on, with all that its participants have started.
///
/// The files stay as they are.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  autodev stop")]
pub(super) struct Stop {}

/// Tells what the project is doing, and what needs you.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  autodev status
  autodev status --json")]
pub(super) struct Status {}

/// Says something on the thread, which every participant reads with its next turn.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  autodev post 'use the new date format everywhere'
  autodev post --work-done 'added the parser'     inside a participant's turn")]
pub(super) struct Post {
    /// What is said.
    pub(super) text: String,
    /// Claim the work of this turn done; only inside a participant's turn.
    #[arg(long)]
    pub(super) work_done: bool,
}

/// Takes the newest checkpoint, restore or redo back: files, index, HEAD and branches as they were before.
///
/// What is there now is set aside first, and `autodev redo` brings it back. Can be repeated, any number of steps.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  autodev undo
  autodev undo --yes      without asking on a terminal")]
pub(super) struct Step {
    /// Do not ask.
    #[arg(short, long)]
    pub(super) yes: bool,
}

/// Looks whether ledger, refs, objects, locks and state agree, and names the command that mends what does not.
///
/// Exit code 1 when something does not agree. Looking changes nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  autodev doctor
  autodev doctor --rebuild      make the list again from the refs that hold its entries")]
pub(super) struct Doctor {
    /// Make the list whole from the refs, and the refs from the list.
    #[arg(long)]
    pub(super) rebuild: bool,
    /// Take the state for this folder's, after the folder was copied or moved.
    #[arg(long)]
    pub(super) adopt: bool,
}

/// Shows a whole run in a temporary folder: baseline, credited work, the list, going back.
///
/// Needs git and nothing else: no account, no network, no agent.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  autodev demo")]
pub(super) struct Demo {}

/// Plays an agent from a script of JSON steps.
#[derive(Debug, clap::Args)]
pub(super) struct FakeAgent {
    /// The script.
    pub(super) script: PathBuf,
}

/// Lists the checkpoints, or goes back to one of them.
///
/// Going back sets the branch that the checkpoint was made on, the index and the files to its commit. Changed work
/// is parked on a branch first and gets an entry of its own in the list, so that going back can be undone:
/// restore that entry. Ignored files, secrets, large files and nested repositories stay as they are.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  autodev restore                    list the checkpoints, newest first
  autodev restore c3                 go back to c3
  autodev restore c3 --dry-run       show what that would change
  autodev restore c3 -- src/a.rs     bring back one file alone
  autodev restore --json             the list for programs")]
pub(super) struct Restore {
    /// The id of a checkpoint, such as c3, or at least four digits of its commit.
    pub(super) id: Option<String>,
    /// Complete a restore (or another change) that was cut off.
    #[arg(long = "continue", conflicts_with_all = ["id", "abort"])]
    pub(super) proceed: bool,
    /// Take a restore (or another change) that was cut off back.
    #[arg(long, conflicts_with = "id")]
    pub(super) abort: bool,
    /// Print the plan and change nothing.
    #[arg(long, requires = "id")]
    pub(super) dry_run: bool,
    /// Bring back these files or folders alone; branch and index stay as they are.
    #[arg(last = true, requires = "id", value_name = "PATHS")]
    pub(super) paths: Vec<PathBuf>,
}

/// Keeps what is there now as a commit on the current branch, and lists it.
///
/// Prints the new id. With nothing changed it names the entry that holds HEAD already, or makes one for it.
/// Untracked secrets, files over `max_file_bytes`, nested repositories and special files are left out and named.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  autodev checkpoint
  autodev checkpoint -m 'before the refactoring'")]
pub(super) struct Checkpoint {
    /// One line that says what this is.
    #[arg(short, long, value_name = "LABEL", default_value = "checkpoint")]
    pub(super) message: String,
}
