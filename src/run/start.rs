//! Where a run began: held by a ref for as long as the run may need it, since a participant may take a branch
//! anywhere, and commits that only a branch held would be anybody's to lose.

use super::error::Result;
use crate::checkpoint;
use crate::git::{RefUpdate, Repository};
use crate::workspace::Project;
use gix::ObjectId;

/// Where a run began, after its baseline.
#[derive(Debug, Default)]
pub(super) struct Start {
    pub(super) commit_id: Option<ObjectId>,
    /// The full name of the branch.
    pub(super) branch: Option<String>,
}

impl Start {
    /// Sees where HEAD is, and makes `refs/autodev/<key>/r/<run>` hold it.
    pub(super) fn hold(project: &Project, run: &str) -> Result<Self> {
        let repository = project.repository()?;
        let head = repository.head().map_err(checkpoint::Error::from)?;
        let start = Self { commit_id: head.commit_id(), branch: head.branch().map(str::to_owned) };
        if let Some(commit_id) = start.commit_id {
            let update = RefUpdate::create(place(project, run), commit_id);
            let message = format!("autodev: start of {run}");
            repository.update_refs(&[update], &message, project.signature()).map_err(checkpoint::Error::from)?;
        }
        Ok(start)
    }

    /// Lets the start go where HEAD still leads to it; otherwise its ref stays, and that is said.
    pub(super) fn release(&self, project: &Project, run: &str) -> Result<Option<String>> {
        let (Some(commit_id), Ok(repository)) = (self.commit_id, project.repository()) else { return Ok(None) };
        if repository.try_find_ref(&place(project, run)).map_err(checkpoint::Error::from)? != Some(commit_id) {
            return Ok(None);
        }
        if leads_to(repository, commit_id)? {
            let gone = RefUpdate::create(place(project, run), commit_id).reversed();
            repository
                .update_refs(&[gone], "autodev: not needed", project.signature())
                .map_err(checkpoint::Error::from)?;
            return Ok(None);
        }
        let id = commit_id.to_hex_with_len(7);
        Ok(Some(format!("HEAD no longer leads to {id}, where the run began; it is held by {}", place(project, run))))
    }
}

fn leads_to(repository: &Repository, commit_id: ObjectId) -> Result<bool> {
    let Some(head) = repository.head().map_err(checkpoint::Error::from)?.commit_id() else { return Ok(false) };
    Ok(repository.count_commits(Some(head), commit_id).map_err(checkpoint::Error::from)? == 0)
}

fn place(project: &Project, run: &str) -> String {
    format!("{}r/{run}", project.ref_prefix())
}
