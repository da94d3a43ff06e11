//! Makes a checkpoint of the project in the current folder, shows what going back to the oldest one would
//! change, and changes nothing else.
//!
//! `cargo run --example checkpoint_and_back`

use autodev::{Made, Project};
use std::path::Path;

fn main() -> autodev::Result<()> {
    let project = Project::open(Path::new("."))?;
    let made = project.checkpoint("from the example")?;
    let said = match &made {
        Made::New(checkpoint) => format!("kept as {}", checkpoint.id),
        other => other.to_string(),
    };
    say(&said);
    let checkpoints = project.list()?;
    if let Some(oldest) = checkpoints.last() {
        let plan = project.plan_restore(&oldest.id.to_string())?;
        say(&format!("going back to {} would change {} files", oldest.id, plan.steps.len()));
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example talks to the terminal")]
fn say(text: &str) {
    println!("{text}");
}
