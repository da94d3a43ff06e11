//! Change: everything a command does to a project, carried out so that it can be cut anywhere.
//!
//! Hold → read back → intent → work tree → compare → index → refs → ledger → operation → intent gone.
//! Each step can be done twice, so that what a cut left is completed by doing it again (`recover`). A step
//! that fails gives everything back; where even that fails, the intent stays and says what is where.

use super::apply::{Trust, bring_over, compare};
use super::begin::Begun;
use super::capture::Captured;
use super::error::{Error, Result};
use super::give_back::give_back;
use super::hold::{Hold, read_back};
use super::marks::Marks;
use super::plan::Plan;
use super::project::Project;
use super::raw::RawFile;
use super::refs::{Direction, Others, move_all, records};
use super::scope::OURS;
use super::scratch::ScratchIndex;
use super::swap::discard_leftovers;
use crate::fs::FileIdentity;
use crate::git::{IndexLock, RefUpdate, Repository};
use crate::state::{BEFORE, ChangeRecord, Checkpoint, IndexGoal, Intent, OperationRecord, PathRecord, StateFolder};
use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::EntryMode;
use serde_json::Value;

/// Everything that a change does; what is replaced is described by its plan and held by its hold.
#[derive(Debug)]
pub(crate) struct Change {
    /// The way of the work tree.
    pub(crate) plan: Plan,
    /// What holds the state before.
    pub(crate) hold: Hold,
    /// More refs that hold: entries, a parked branch.
    pub(crate) holding: Vec<RefUpdate>,
    /// How HEAD and branches move.
    pub(crate) moves: Vec<RefUpdate>,
    /// What becomes of the user's index.
    pub(crate) index: IndexGoal,
    /// Files that are given as they were held, after the work tree was brought over.
    pub(crate) raw_after: Vec<RawFile>,
    /// The entries that the ledger gets.
    pub(crate) entries: Vec<Checkpoint>,
    /// The line that `operations.jsonl` gets.
    pub(crate) operation: Option<OperationRecord>,
    /// The line that memory.md gets.
    pub(crate) memory: Option<String>,
    /// Whether nothing is going on in the project any more once it is done.
    pub(crate) rests: bool,
    /// The event that is reported, and its fields.
    pub(crate) event: (&'static str, Value),
}

impl Change {
    fn record(&self, project: &Project) -> Result<ChangeRecord> {
        Ok(ChangeRecord {
            from: self.plan.from.to_string(),
            to: self.plan.to.to_string(),
            in_the_way: self.plan.in_the_way.iter().cloned().map(PathRecord).collect(),
            raw_before: self.hold.raw.iter().map(RawFile::to_record).collect(),
            raw_after: self.raw_after.iter().map(RawFile::to_record).collect(),
            index_before: FileIdentity::of(&project.repository()?.index_path()),
            index: self.index.clone(),
            moves: records(&self.moves),
            entries: self.entries.clone(),
            operation: self.operation.clone(),
            memory: self.memory.clone(),
            rests: self.rests,
            event: self.event.0.to_owned(),
            fields: self.event.1.clone(),
        })
    }
}

impl Begun<'_> {
    /// Carries the change out; returns what else is worth saying.
    pub(crate) fn carry_out(mut self, captured: &Captured, change: &Change) -> Result<Vec<String>> {
        let (project, signature) = (self.project, self.project.signature());
        let (repository, state) = (project.repository()?, project.state());
        let holding: Vec<RefUpdate> = change.hold.refs.iter().chain(&change.holding).cloned().collect();
        self.intent.holding = records(&holding);
        self.intent.save(state)?;
        repository.update_refs(&holding, &format!("autodev: hold before {}", self.intent.what), signature)?;
        read_back(repository, captured, &change.plan, &change.hold, &holding, &change.moves)?;
        keep_index(repository, state)?;
        self.intent.change = Some(change.record(project)?);
        self.intent.save(state)?;
        // From here on giving up is not enough any more: it is completed, given back, or left to the next command.
        self.open = false;
        let lock = self.index_lock.take();
        // A failure here has moved everything back already, or could not, and the intent says what is where.
        let brought =
            bring_over(project, captured, &change.plan, &change.hold.raw, &change.raw_after, Trust::HeldBytes);
        let (next, mut swap) = match brought {
            Ok(brought) => brought,
            Err(error) => return give_back(project, change, None, &mut self.intent, &error),
        };
        match self.forward(captured, change, &next, lock) {
            Ok(mut notes) => {
                notes.extend(clear_away(project));
                notes.splice(0..0, std::mem::take(&mut self.notes));
                Ok(notes)
            }
            Err(error) => give_back(project, change, Some(&mut swap), &mut self.intent, &error),
        }
    }

    fn forward(
        &self,
        captured: &Captured,
        change: &Change,
        next: &ScratchIndex,
        lock: Option<IndexLock>,
    ) -> Result<Vec<String>> {
        let (project, repository) = (self.project, self.project.repository()?);
        let untouched = change.plan.steps.is_empty() && change.raw_after.is_empty();
        let mut notes = if untouched { Vec::new() } else { compare(repository, &change.plan, next)? };
        notes.extend(complete(project, captured, &self.intent, next, Stands::ForTheTarget, lock)?);
        Ok(notes)
    }
}

/// Brings index, refs and ledger to the end of a change whose work tree is there, and tells of it.
///
/// Without a lock, and where the change keeps it, the user's index stays as it is.
pub(super) fn complete(
    project: &Project,
    captured: &Captured,
    intent: &Intent,
    next: &ScratchIndex,
    stands: Stands,
    lock: Option<IndexLock>,
) -> Result<Vec<String>> {
    let repository = project.repository()?;
    let record = intent.change.as_ref().ok_or(Error::NoIntent)?;
    let message = format!("autodev: {}", intent.what);
    let others = if stands == Stands::ForTheTarget { Others::Refuse } else { Others::Leave };
    let move_refs = || move_all(repository, &record.moves, Direction::Forward, others, &message, project.signature());
    match lock {
        Some(lock) if record.index != IndexGoal::Keep => {
            let settled = settle_index(repository, captured, next, &record.index, stands)?;
            lock.prepare(settled.as_ref().unwrap_or(next).path())?;
            move_refs()?;
            lock.publish()?;
        }
        lock => {
            move_refs()?;
            lock.map_or(Ok(()), IndexLock::release)?;
        }
    }
    super::records::enter(project.state(), &record.entries, record.operation.as_ref())?;
    Ok(tell(project, record))
}

/// Ends a change that is done and written down: what cannot be cleared away now, the next command clears away.
pub(super) fn clear_away(project: &Project) -> Option<String> {
    let cleared = discard_leftovers(project).and_then(|()| Ok(Intent::remove(project.state())?));
    cleared.err().map(|error| format!("not everything could be cleared away; the next command does that: {error}"))
}

/// Keeps the user's index as it is before the change, for giving it back.
fn keep_index(repository: &Repository, state: &StateFolder) -> Result<()> {
    let (index, copy) = (repository.index_path(), state.file(BEFORE));
    crate::fs::remove_file(&copy)?;
    if index.exists() {
        // git replaces its index and never writes it in place, so a second name keeps the bytes as well as a copy.
        if crate::fs::link(&index, &copy).is_err() {
            crate::fs::copy_with_time(&index, &copy)?;
            crate::fs::sync_file(&copy)?;
        }
    }
    Ok(())
}

/// What an index of the work tree stands for before it is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    /// For the target exactly, but for `.autodev/`.
    ForTheTarget,
    /// For the target and edits that were made meanwhile.
    ForMore,
}

/// Makes the index that the user gets out of the one that stands for the work tree; `None` where that one will do.
pub(super) fn settle_index(
    repository: &Repository,
    captured: &Captured,
    next: &ScratchIndex,
    goal: &IndexGoal,
    stands: Stands,
) -> Result<Option<ScratchIndex>> {
    let (tree_id, marks) = match goal {
        IndexGoal::Keep => return Ok(None),
        IndexGoal::Work { .. } if stands == Stands::ForTheTarget => return Ok(None),
        IndexGoal::Work { tree } => (object_id(tree)?, Marks::default()),
        IndexGoal::Tree { tree } => {
            let tree_id = object_id(tree)?;
            if stands == Stands::ForTheTarget && has_ours_of(repository, captured, tree_id)? {
                return Ok(None);
            }
            (tree_id, Marks::default())
        }
        IndexGoal::Held { commit } => {
            let commit_id = object_id(commit)?;
            (repository.tree_of(commit_id)?, Marks::from_message(&repository.message_of(commit_id)?))
        }
    };
    let settled = next.branch_off("settled")?;
    repository.set_tree_in_index(settled.path(), tree_id)?;
    if matches!(goal, IndexGoal::Work { .. }) {
        keep_ours(repository, captured, &settled)?;
    }
    marks.give_to(repository, &settled)?;
    Ok(Some(settled))
}

/// Tells whether the user's index says of `.autodev/` what a tree says.
fn has_ours_of(repository: &Repository, captured: &Captured, tree_id: ObjectId) -> Result<bool> {
    let empty = repository.empty_tree();
    let ours = repository.with_root_entry_of(empty, OURS, tree_id)?;
    let wanted: Vec<_> = repository
        .changes(empty, ours)?
        .into_iter()
        .filter_map(|step| step.change.after().map(|(kind, id)| (step.path, EntryMode::from(kind).value(), id)))
        .collect();
    let index = captured.user_index.as_ref();
    let there: Vec<_> = index.into_iter().flat_map(|index| index.entries_below(OURS)).collect();
    let same = |(entry, (path, mode, id)): (&crate::git::IndexEntry<'_>, &(BString, u16, ObjectId))| {
        entry.path == path && entry.mode.bits() == u32::from(*mode) && entry.id == *id
    };
    Ok(there.len() == wanted.len() && there.iter().zip(&wanted).all(same))
}

/// Gives an index the entries of `.autodev/` that the user's index has.
fn keep_ours(repository: &Repository, captured: &Captured, index: &ScratchIndex) -> Result<()> {
    let view = repository.read_index(index.path())?;
    let there: Vec<BString> =
        view.iter().flat_map(|view| view.entries_below(OURS)).map(|entry| entry.path.to_owned()).collect();
    let user = captured.user_index.iter().flat_map(|index| index.entries_below(OURS));
    let wanted: Vec<_> = user.map(|entry| (entry.path.to_owned(), entry.mode.bits(), entry.id)).collect();
    repository.remove_from_index(index.path(), &there)?;
    Ok(repository.set_in_index(index.path(), &wanted)?)
}

/// Tells of the change in events, state and memory; that may fail, and is noted.
pub(super) fn tell(project: &Project, record: &ChangeRecord) -> Vec<String> {
    let told = [
        project.event(&record.event, record.fields.clone()).map(drop),
        if record.rests { project.rest() } else { Ok(()) },
        record.memory.as_deref().map_or(Ok(()), |line| project.remember_line(line)),
    ];
    let failed = told.into_iter().filter_map(Result::err);
    failed.map(|error| format!("not everything could be written down: {error}")).collect()
}

/// Reads an id as it stands in an intent.
pub(super) fn object_id(text: &str) -> Result<ObjectId> {
    ObjectId::from_hex(text.as_bytes()).map_err(|_| Error::NoIntent)
}
