//! The mendings: a ledger made again from its refs, and a state folder adopted.

use crate::clock::compact;
use crate::git::Repository;
use crate::state::{Checkpoint, Counters, Ledger};
use crate::workspace::{Project, write_record};
use crate::{Result, fs};

/// Reads the entries that the refs of a project carry, by id.
pub(super) fn recorded(project: &Project, repository: &Repository) -> Result<Vec<Checkpoint>> {
    let mut found = Vec::new();
    for (_, commit_id) in repository.refs_below(&format!("{}c/", project.ref_prefix()))? {
        let message = repository.message_of(commit_id)?;
        if let Ok(checkpoint) = serde_json::from_slice::<Checkpoint>(&message) {
            found.push(checkpoint);
        }
    }
    found.sort_by_key(|checkpoint| checkpoint.id);
    Ok(found)
}

/// Makes the ledger whole: entries that only refs carry come back into it, and entries without a ref get one.
/// A damaged ledger is set aside first. Tells what was done.
pub(crate) fn rebuild(project: &Project) -> Result<Vec<String>> {
    let _lock = project.lock_and_recover()?;
    let repository = project.repository()?;
    let mut done = Vec::new();
    let path = project.state().file("checkpoints.json");
    let mut ledger = match Ledger::load(project.state()) {
        Ok(ledger) => ledger,
        Err(error @ crate::state::Error::Damaged { .. }) => {
            let aside = path.with_extension(format!("json.damaged-{}", compact(project.clock().now())));
            fs::rename(&path, &aside)?;
            done.push(format!("{error}; it was set aside as {}", aside.display()));
            Ledger::default()
        }
        Err(error) => return Err(error.into()),
    };
    let recorded = recorded(project, repository)?;
    let listed = |id| ledger.checkpoints.iter().any(|there| there.id == id);
    let missing: Vec<Checkpoint> = recorded.iter().filter(|there| !listed(there.id)).cloned().collect();
    let held = |entry: &&Checkpoint| recorded.iter().any(|there| there.id == entry.id);
    for entry in ledger.checkpoints.iter().filter(|entry| !held(entry) && repository.has_commit(entry.commit)) {
        let update = write_record(project, entry)?;
        repository.update_refs(&[update], "autodev: record made again", project.signature())?;
        done.push(format!("{} has a ref again", entry.id));
    }
    if !missing.is_empty() {
        ledger.add(&missing);
        ledger.checkpoints.sort_by_key(|checkpoint| checkpoint.id);
        ledger.save(project.state())?;
        done.extend(missing.iter().map(|checkpoint| format!("{} is in the list again", checkpoint.id)));
    }
    Ok(done)
}

/// Says that the state belongs to the folder that is here now.
pub(crate) fn adopt(project: &Project) -> Result<Vec<String>> {
    let _lock = project.lock_and_recover()?;
    let mut counters = Counters::load(project.state(), project.root())?;
    if counters.belongs_to(project.root()) {
        return Ok(Vec::new());
    }
    counters.move_to(project.root());
    counters.save(project.state())?;
    Ok(vec![format!("the state belongs to {} now", project.root().display())])
}
