//! Which file a name leads to, whatever it is called.
//!
//! The moment of its birth belongs to it, where the file system knows one: the number of a file that is gone is
//! given to the next one at once.

use serde::{Deserialize, Serialize};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The device, inode and birth of a file: two names with the same identity are the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
    /// Nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    born: Option<u64>,
}

impl FileIdentity {
    /// Returns the identity of what stands at a path (of a link: the link's own), or `None` where nothing does.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::symlink_metadata(path).ok()?;
        let born = metadata.created().ok().and_then(|born| born.duration_since(std::time::UNIX_EPOCH).ok());
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            born: born.and_then(|born| u64::try_from(born.as_nanos()).ok()),
        })
    }
}
