//! Repositories of a given size, the same in every run, and edits of them.
//!
//! Text of 1 to 20 KB a file (log-uniform), six files a folder, paths of four to six parts, 5 % more files that
//! git ignores (half in a folder of their own, half beside the others), one commit, packed by `git gc`.

use super::{Commands, Result};
use std::path::{Path, PathBuf};

const FILES_A_FOLDER: usize = 6;
const WORDS: [&str; 32] = [
    "the", "value", "of", "each", "return", "index", "tree", "where", "let", "path", "when", "is", "not", "branch",
    "reads", "commit", "file", "writes", "folder", "state", "match", "entry", "and", "count", "name", "next", "for",
    "line", "parser", "token", "buffer", "error",
];

/// A repository of a known shape.
pub(crate) struct Repository {
    root: PathBuf,
    size: usize,
}

impl Repository {
    /// Makes a repository below `place`, or takes the one that is there.
    pub(crate) fn make(place: &Path, size: usize, commands: &Commands) -> Result<Self> {
        let this = Self { root: place.join(format!("made-{size}")), size };
        if this.root.join(".git/made").exists() {
            return Ok(this);
        }
        eprintln!("making a repository of {size} files …");
        if this.root.exists() {
            std::fs::remove_dir_all(&this.root)?;
        }
        std::fs::create_dir_all(&this.root)?;
        let sizes = sizes();
        for number in 0..size {
            this.write(&Self::path(number), number, 0, &sizes)?;
        }
        for number in 0..size / 20 {
            let path = if number % 2 == 0 {
                format!("build/part{:03}/out{number}.bin", number / 24)
            } else {
                format!("{}.o", Self::path(number * 20))
            };
            this.write(&path, number, 1, &sizes)?;
        }
        std::fs::write(this.root.join(".gitignore"), "/build/\n*.o\n")?;
        commands.git(&this.root, &["init", "-q"])?;
        commands.git(&this.root, &["add", "-A"])?;
        commands.git(&this.root, &["commit", "-q", "-m", "all files"])?;
        commands.git(&this.root, &["gc", "-q"])?;
        std::fs::write(this.root.join(".git/made"), "")?;
        Ok(this)
    }

    /// Copies the repository to `place`, with an index that knows the copied files.
    pub(crate) fn copy_to(&self, place: &Path, name: &str, commands: &Commands) -> Result<Self> {
        let copy = Self { root: place.join(format!("{name}-{}", self.size)), size: self.size };
        if copy.root.exists() {
            std::fs::remove_dir_all(&copy.root)?;
        }
        commands.copy(&self.root, &copy.root)?;
        commands.git(&copy.root, &["status", "--porcelain"])?;
        commands.settle(&copy.root)?;
        Ok(copy)
    }

    /// Returns where the repository is.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the numbers of `count` files, spread over the repository, others for another `step`.
    pub(crate) fn pick(&self, count: usize, step: usize) -> Vec<usize> {
        let count = count.min(self.size);
        let stride = self.size / count.max(1);
        (0..count).map(|index| (step * 7 + index * stride) % self.size).collect()
    }

    /// Gives the files of those numbers new text, which is the same for the same `step`.
    pub(crate) fn edit(&self, numbers: &[usize], step: usize) -> Result<()> {
        let sizes = sizes();
        numbers.iter().try_for_each(|number| self.write(&Self::path(*number), *number, step + 2, &sizes))
    }

    /// Returns the path of the tracked file of a number, from the root; the same in every repository.
    pub(crate) fn path(number: usize) -> String {
        let folder = number / FILES_A_FOLDER;
        let (area, group) = (folder / 1728, folder / 144 % 12);
        let (module, unit) = (folder / 12 % 12, folder % 12);
        let below = match folder % 3 {
            0 => format!("module{module:02}-unit{unit:02}"),
            1 => format!("module{module:02}/unit{unit:02}"),
            _ => format!("module{module:02}/unit{unit:02}/inner"),
        };
        format!("area{area:02}/group{group:02}/{below}/file{number}.txt")
    }

    fn write(&self, path: &str, number: usize, step: usize, sizes: &[usize]) -> Result<()> {
        let path = self.root.join(path);
        if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
            std::fs::create_dir_all(folder)?;
        }
        Ok(std::fs::write(path, text(number, step, sizes)?)?)
    }
}

/// The sizes to choose from: each a hundredth larger than the one before.
fn sizes() -> Vec<usize> {
    std::iter::successors(Some(1024), |size: &usize| Some(size + size / 100))
        .take_while(|size| *size < 20_480)
        .collect()
}

/// Text for a file of a number, another one for each step.
fn text(number: usize, step: usize, sizes: &[usize]) -> Result<String> {
    let mut random = Random(u64::try_from(number)? << 24 ^ u64::try_from(step)?);
    let size = sizes[random.below(sizes.len())?];
    let mut text = String::with_capacity(size + 16);
    while text.len() < size {
        for _ in 0..=random.below(9)? {
            text.push_str(WORDS[random.below(WORDS.len())?]);
            text.push(' ');
        }
        text.push('\n');
    }
    Ok(text)
}

/// Numbers that look random and are the same in every run (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> Result<usize> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Ok(usize::try_from((mixed ^ (mixed >> 31)) >> 32)? % limit)
    }
}
