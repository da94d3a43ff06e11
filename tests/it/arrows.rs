//! The house holds: a room uses rooms of lower floors only, files say what they are, and stay small.

use std::path::{Path, PathBuf};

/// The rooms by floor; a room may use those before its own line.
const FLOORS: [&[&str]; 6] = [
    &["fs", "config", "clock", "error"],
    &["git", "state", "agent"],
    &["workspace"],
    &["checkpoint", "turn", "snapshot", "isolation", "doctor"],
    &["run"],
    &["cli", "panel", "mcp", "hook"],
];

fn floor(room: &str) -> Option<usize> {
    FLOORS.iter().position(|rooms| rooms.contains(&room))
}

/// Returns all source files with their text.
fn sources() -> Vec<(PathBuf, String)> {
    fn collect(folder: &Path, into: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, into);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                into.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    found
}

fn room_of(path: &Path) -> String {
    let below = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    let first = below.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

/// Splits the list behind `crate::` at its top level: the first word of each path.
fn names(after: &str) -> Vec<String> {
    let word = |text: &str| text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let Some(list) = after.strip_prefix('{') else { return vec![word(after)] };
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (position, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                found.push(word(&list[start..position]));
                start = position + 1;
                if character == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns from which room a name at the library's face comes.
fn faces(sources: &[(PathBuf, String)]) -> Vec<(String, String)> {
    let (_, face) = sources.iter().find(|(path, _)| path.ends_with("src/lib.rs")).unwrap();
    let uses = face.split("pub use ").skip(1).filter_map(|text| text.split(';').next()?.split_once("::"));
    uses.flat_map(|(room, list)| names(list).into_iter().map(move |name| (name, room.to_owned()))).collect()
}

#[test]
fn a_room_uses_rooms_of_lower_floors_only() {
    let sources = sources();
    let faces = faces(&sources);
    assert!(faces.contains(&("Project".to_owned(), "workspace".to_owned())), "{faces:?}");
    let mut wrong = Vec::new();
    for (path, text) in sources.iter().filter(|(path, _)| !path.ends_with("lib.rs") && !path.ends_with("main.rs")) {
        let room = room_of(path);
        let own = floor(&room).unwrap_or_else(|| panic!("{room} has no floor"));
        for name in text.split("crate::").skip(1).flat_map(names).filter(|name| !name.is_empty()) {
            if ["Error", "ErrorKind", "Result"].contains(&name.as_str()) {
                continue;
            }
            let from = faces.iter().find(|(face, _)| *face == name).map_or(&name, |(_, room)| room);
            let theirs = floor(from).unwrap_or_else(|| panic!("{}: crate::{name} is no room", path.display()));
            // The ground floor is the machine itself; its rooms may use each other.
            if *from != room && theirs >= own && own > 0 {
                wrong.push(format!("{} uses {from} (as {name})", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_file_says_what_it_is_and_is_small() {
    for (path, text) in sources() {
        assert!(text.starts_with("//! "), "{} has no head", path.display());
        let lines = text.lines().count();
        assert!(lines < 400, "{} has {lines} lines", path.display());
    }
}
