//! Appended files: one JSON record a line, each with its number.

use super::{Error, VERSION, error::Result};
use crate::fs;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::path::Path;

/// Appends a record, numbered one higher than the last line; returns the number.
pub(crate) fn append(path: &Path, record: &impl Serialize) -> Result<u64> {
    let damaged = |why: String| Error::Damaged { path: path.to_owned(), why };
    let value = serde_json::to_value(record).map_err(|error| damaged(error.to_string()))?;
    let mut number = 0;
    fs::append_after(path, |last| {
        let last: Option<Value> = last.and_then(|line| serde_json::from_slice(line).ok());
        number = last.and_then(|line| line.get("n").and_then(Value::as_u64)).unwrap_or(0) + 1;
        let mut line = Map::new();
        line.insert("version".into(), VERSION.into());
        line.insert("n".into(), number.into());
        for (name, field) in value.as_object().into_iter().flatten() {
            if name != "version" && name != "n" {
                line.insert(name.clone(), field.clone());
            }
        }
        Value::Object(line).to_string().into_bytes()
    })?;
    Ok(number)
}

/// Appends a record that carries its version and number itself.
pub(crate) fn append_as(path: &Path, record: &impl Serialize) -> Result<()> {
    let line =
        serde_json::to_vec(record).map_err(|error| Error::Damaged { path: path.to_owned(), why: error.to_string() })?;
    Ok(fs::append_after(path, |_| line)?)
}

/// Reads all records; a torn last line is passed over, and so are lines of kinds that are not known.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let bytes = fs::try_read(path)?.unwrap_or_default();
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    Ok(bytes[..whole].split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn records_are_numbered_in_order_also_behind_a_torn_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        assert_eq!(append(&path, &json!({"event": "a"})).unwrap(), 1);
        assert_eq!(append(&path, &json!({"event": "b"})).unwrap(), 2);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend_from_slice(b"{\"version\":1,\"n\":3,\"ev");
        fs::replace(&path, &bytes).unwrap();
        assert_eq!(append(&path, &json!({"event": "c"})).unwrap(), 3);
        let read: Vec<Value> = read(&path).unwrap();
        assert_eq!(read.len(), 3);
        assert_eq!(read[2], json!({"version": 1, "n": 3, "event": "c"}));
    }
}
