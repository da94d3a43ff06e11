//! Times the program and the git commands that do the same, side by side.
//!
//! Repositories are made in a temporary folder, every contestant works on a copy of its own, and the contestants
//! take turns within each round, so that what disturbs the machine disturbs all of them. Printed are medians and
//! the ratio of medians; nothing is asserted about time. Garbage collection is off, and what was written before
//! a timed part is synced before it.
//!
//! `cargo bench` runs all of it; `cargo bench -- --sizes 1000,10000 --rounds 5` a part; `cargo bench -- --help`.
#![allow(clippy::disallowed_methods, reason = "a bench makes the files and starts the programs that it needs")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a bench prints what it measured")]

mod commands;
mod measures;
mod repositories;
mod table;

use commands::Commands;
use repositories::Repository;
use std::error::Error;
use std::path::PathBuf;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const HELP: &str = "\
Times autodev and the git commands that do the same, side by side.

    cargo bench -- [--sizes N,N,…] [--rounds N] [--only PART] [--folder PATH]

    --sizes     numbers of tracked files        (1000,10000,100000)
    --rounds    rounds that count, after one that does not     (7)
    --only      checkpoint, reread or restore             (all three)
    --folder    where to make the repositories, and to keep them for the next call
                                            (a temporary folder, removed)";

/// What is to be measured.
struct Arguments {
    sizes: Vec<usize>,
    rounds: usize,
    only: Option<String>,
    folder: Option<PathBuf>,
}

fn main() -> Result<()> {
    let Some(arguments) = read_arguments(std::env::args().skip(1))? else {
        println!("{HELP}");
        return Ok(());
    };
    let temporary = tempfile::Builder::new().prefix("autodev-bench-").tempdir()?;
    let place = arguments.folder.clone().unwrap_or_else(|| temporary.path().to_owned());
    std::fs::create_dir_all(&place)?;
    let commands = Commands::new(&temporary.path().join("home"))?;
    let cores = std::thread::available_parallelism()?;
    println!("{}, {cores} cores, {} rounds after one that does not count", commands.git_version()?, arguments.rounds);
    println!("milliseconds are medians; × is the ratio of medians to git's");
    for size in &arguments.sizes {
        let base = Repository::make(&place, *size, &commands)?;
        println!("\n{} files", table::grouped(*size));
        let wanted = |part: &str| arguments.only.as_deref().is_none_or(|only| only == part);
        if wanted("checkpoint") {
            measures::checkpoints(&base, temporary.path(), &commands, arguments.rounds)?;
        }
        if wanted("reread") {
            measures::rereading(&base, temporary.path(), &commands)?;
        }
        if wanted("restore") {
            measures::restores(&base, temporary.path(), &commands, arguments.rounds)?;
        }
        if arguments.folder.is_none() {
            std::fs::remove_dir_all(base.root())?;
        }
    }
    Ok(())
}

/// Reads the arguments; `None` when help is asked for. `--bench` is what `cargo bench` adds.
fn read_arguments(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>> {
    let mut arguments = Arguments { sizes: vec![1_000, 10_000, 100_000], rounds: 7, only: None, folder: None };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} wants a value; see --help"));
        match word.as_str() {
            "--bench" => {}
            "--help" | "-h" => return Ok(None),
            "--sizes" => {
                arguments.sizes = value()?.split(',').map(str::parse).collect::<std::result::Result<_, _>>()?;
            }
            "--rounds" => arguments.rounds = value()?.parse::<usize>()?.max(1),
            "--only" => {
                let part = value()?;
                if !["checkpoint", "reread", "restore"].contains(&part.as_str()) {
                    return Err(format!("unknown part {part}; see --help").into());
                }
                arguments.only = Some(part);
            }
            "--folder" => arguments.folder = Some(std::path::absolute(value()?)?),
            _ => return Err(format!("unknown argument {word}; see --help").into()),
        }
    }
    Ok(Some(arguments))
}
