//! The work tree by git's plumbing, always in an index of our own.
//!
//! Capture: after a `status`, `update-index` reads what belongs, and `write-tree` makes the tree. Apply: a two-tree
//! `read-tree -i -m` brings the index over, and `checkout-index` writes the files into a folder of ours, from which
//! they are moved into place. Paths go in and out as bytes, separated by NUL.

use super::program::Call;
use super::{Error, Incoming, Repository, Staged, error::Result};
use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use std::collections::HashSet;
use std::path::Path;

/// What makes `update-index` read files, also where one stands in place of a folder.
const ADD: [&str; 3] = ["--add", "--remove", "--replace"];

impl Repository {
    /// Tells whether git can turn a file into a blob; writes nothing, so a full disk does not decide.
    pub(crate) fn can_convert(&self, path: &BStr) -> Result<bool> {
        use std::os::unix::ffi::OsStrExt as _;
        let path = std::ffi::OsStr::from_bytes(path);
        let call = self.program.call("hash-object").args(["--path".as_ref(), path, "--".as_ref(), path]);
        Ok(call.answer()?.status.success())
    }

    /// Takes paths out of `index`, whatever is on disk.
    pub(crate) fn remove_from_index(&self, index: &Path, paths: &[BString]) -> Result<()> {
        self.update_index(index, &["--force-remove"], paths, |call| call)
    }

    /// Reads the files at `paths` into `index`; one that has vanished is taken out.
    ///
    /// New objects are synced all at once.
    pub(crate) fn add_to_index(&self, index: &Path, paths: &[BString]) -> Result<()> {
        self.write_objects(index, |incoming| self.add(index, paths, incoming))
    }

    /// Does as [`Repository::add_to_index`] and [`Repository::write_tree`]; new objects are synced all at once.
    pub(crate) fn add_and_write_tree(&self, index: &Path, paths: &[BString]) -> Result<ObjectId> {
        if paths.is_empty() {
            return self.write_tree(index);
        }
        self.write_objects(index, |incoming| {
            self.add(index, paths, incoming)?;
            self.tree(index, incoming)
        })
    }

    fn add(&self, index: &Path, paths: &[BString], incoming: &Incoming) -> Result<()> {
        self.update_index(index, &ADD, paths, |call| call.setting("index.skipHash=true").incoming(incoming))
    }

    fn tree(&self, index: &Path, incoming: &Incoming) -> Result<ObjectId> {
        let call = self.program.call("write-tree").setting("index.skipHash=true").incoming(incoming);
        let output = call.index(index).run()?;
        ObjectId::from_hex(output.trim()).map_err(|_| Error::Unreadable { command: "write-tree" })
    }

    /// Lets git write objects, which are on disk when this returns, and an index, which gets its checksum.
    fn write_objects<T>(&self, index: &Path, write: impl FnOnce(&Incoming) -> Result<T>) -> Result<T> {
        let incoming = self.incoming()?;
        let written = write(&incoming)?;
        self.note_synced(incoming.keep(index, self.gix.object_hash())?);
        Ok(written)
    }

    /// Sets or lifts a flag of entries: `--skip-worktree`, `--no-assume-unchanged` and the like.
    pub(crate) fn flag_in_index(&self, index: &Path, flag: &str, paths: &[BString]) -> Result<()> {
        self.update_index(index, &[flag], paths, |call| call)
    }

    fn update_index<'a>(
        &'a self,
        index: &Path,
        flags: &[&str],
        paths: &[BString],
        set: impl FnOnce(Call<'a>) -> Call<'a>,
    ) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let call = self.program.call("update-index").args(flags).args(["-z", "--stdin"]);
        set(call).index(index).input(joined(paths)).run().map(drop)
    }

    /// Sets entries of `index` to given modes and objects, without looking at the work tree.
    pub(crate) fn set_in_index(&self, index: &Path, entries: &[(BString, u32, ObjectId)]) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut input = Vec::new();
        for (path, mode, id) in entries {
            input.extend_from_slice(format!("{mode:06o} {id}\t").as_bytes());
            input.extend_from_slice(path);
            input.push(0);
        }
        let call = self.program.call("update-index").args(["--add", "--replace", "-z", "--index-info"]);
        call.index(index).input(input).run().map(drop)
    }

    /// Sets the sides of conflicts in `index`, in place of the entries of those paths.
    pub(crate) fn set_stages_in_index(&self, index: &Path, stages: &[Staged]) -> Result<()> {
        if stages.is_empty() {
            return Ok(());
        }
        let mut input = Vec::new();
        let zero = ObjectId::null(self.gix.object_hash());
        for staged in stages {
            input.extend_from_slice(format!("0 {zero}\t").as_bytes());
            input.extend_from_slice(&staged.path);
            input.push(0);
        }
        for staged in stages {
            input.extend_from_slice(format!("{:06o} {} {}\t", staged.mode, staged.id, staged.stage).as_bytes());
            input.extend_from_slice(&staged.path);
            input.push(0);
        }
        let call = self.program.call("update-index").args(["-z", "--index-info"]);
        call.index(index).input(input).run().map(drop)
    }

    /// Announces paths in `index` without their content, as `git add -N` does.
    pub(crate) fn announce_in_index(&self, index: &Path, paths: &[BString]) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let call = self.program.call("add").args(["--intent-to-add", "--force", "--sparse"]);
        let call = call.args(["--pathspec-from-file=-", "--pathspec-file-nul"]).literal_paths();
        call.index(index).input(joined(paths)).run().map(drop)
    }

    /// Makes `index` stand for a tree, and keeps what it knows of files that are the same in both.
    pub(crate) fn set_tree_in_index(&self, index: &Path, tree_id: ObjectId) -> Result<()> {
        let call = self.program.call("read-tree").args(["--reset", &tree_id.to_string()]);
        call.index(index).run().map(drop)
    }

    /// Writes the tree that `index` stands for.
    pub(crate) fn write_tree(&self, index: &Path) -> Result<ObjectId> {
        self.write_objects(index, |incoming| self.tree(index, incoming))
    }

    /// Writes a copy of `index` in which every folder is spelled out.
    pub(crate) fn expand_index(&self, index: &Path) -> Result<()> {
        self.program.call("update-index").args(["--force-write-index"]).index(index).run().map(drop)
    }

    /// Returns those of `paths` that the ignore rules leave out, tracked or not.
    pub(crate) fn ignored_among(&self, index: &Path, paths: &[BString]) -> Result<Vec<BString>> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        ignored(self.program.call("check-ignore").args(["-z", "--stdin", "--no-index"]).index(index), paths)
    }

    /// Returns those of `paths` that rules leave out which are not on disk: the `.gitignore` files that `index` has
    /// and hides. They are looked for in `elsewhere`, a folder without any such file.
    pub(crate) fn ignored_by(&self, index: &Path, elsewhere: &Path, paths: &[BString]) -> Result<Vec<BString>> {
        ignored(self.program.call("check-ignore").args(["-z", "--stdin"]).index(index).work_tree(elsewhere), paths)
    }

    /// Returns those of `paths` whose bytes a checkout may change, by attributes or by `core.autocrlf`.
    pub(crate) fn converted_among(&self, index: &Path, paths: &[BString]) -> Result<HashSet<BString>> {
        if paths.is_empty() {
            return Ok(HashSet::new());
        }
        // git is asked, since it reads configuration files that the library does not.
        let autocrlf = self.program.call("config").args(["--get", "core.autocrlf"]).answer()?;
        if autocrlf.output.trim() == b"true" {
            return Ok(paths.iter().cloned().collect());
        }
        let attributes = ["text", "crlf", "eol", "ident", "working-tree-encoding", "filter"];
        let call = self.program.call("check-attr").args(["-z", "--stdin"]).args(attributes);
        let output = call.index(index).input(joined(paths)).run()?;
        let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
        let converts = |value: &[u8]| value != b"unspecified" && value != b"unset";
        let records = fields.chunks_exact(3).filter(|record| converts(record[2]));
        Ok(records.map(|record| record[0].into()).collect())
    }

    /// Counts the commits that `to` has and `from` has not.
    pub(crate) fn count_commits(&self, from: Option<ObjectId>, to: ObjectId) -> Result<usize> {
        let range = from.map_or_else(|| to.to_string(), |from| format!("{from}..{to}"));
        let output = self.program.call("rev-list").args(["--count", &range]).run()?;
        let text = String::from_utf8_lossy(&output);
        text.trim().parse().map_err(|_| Error::Unreadable { command: "rev-list" })
    }

    /// Brings `index` (which must stand for the tree `from`) to the tree `to`; looks at no file.
    pub(crate) fn bring_index_over(&self, index: &Path, from: ObjectId, to: ObjectId) -> Result<()> {
        let call = self.program.call("read-tree").args(["-i", "-m"]);
        call.args([from.to_string(), to.to_string()]).index(index).run().map(drop)
    }

    /// Writes the files of `paths` as `index` has them below `folder`, through filters, with their modes.
    pub(crate) fn check_out_into(&self, index: &Path, folder: &Path, paths: &[BString]) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let mut prefix = std::ffi::OsString::from("--prefix=");
        prefix.push(folder);
        prefix.push("/");
        let call = self.program.call("checkout-index").args(["-q", "-z", "--stdin", "--ignore-skip-worktree-bits"]);
        call.args([prefix]).index(index).input(joined(paths)).run().map(drop)
    }

    /// Returns the id that a file would have as the blob of a path, through the filters of that path.
    pub(crate) fn clean_id(&self, path: &BString, file: &Path) -> Result<ObjectId> {
        use std::os::unix::ffi::OsStrExt as _;
        let path = std::ffi::OsStr::from_bytes(path);
        let call = self.program.call("hash-object").args(["--path".as_ref(), path, "--".as_ref(), file.as_os_str()]);
        let output = call.run()?;
        ObjectId::from_hex(output.trim()).map_err(|_| Error::Unreadable { command: "hash-object" })
    }
}

/// Asks `check-ignore` about paths.
fn ignored(call: Call<'_>, paths: &[BString]) -> Result<Vec<BString>> {
    // It takes a colon at the start for magic, which `./` hides.
    let dotted: Vec<BString> = paths.iter().map(|path| [b"./", path.as_slice()].concat().into()).collect();
    let answer = call.input(joined(&dotted)).answer()?;
    match answer.status.code() {
        Some(0) => Ok(answer
            .output
            .split(|byte| *byte == 0)
            .filter_map(|path| path.strip_prefix(b"./"))
            .map(BString::from)
            .collect()),
        Some(1) => Ok(Vec::new()),
        _ => Err(answer.failure("check-ignore")),
    }
}

fn joined(paths: &[BString]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(paths.iter().map(|path| path.len() + 1).sum());
    for path in paths {
        bytes.extend_from_slice(path);
        bytes.push(0);
    }
    bytes
}
