//! The sample: what `autodev init` writes, and the schema that says the same to editors.
//!
//! The folder `.autodev-sample/` is a complete `.autodev/` in which every key is commented out at its default.
//! Comments rot where nothing reads them, so tests parse the sample as it is, with every key uncommented, and
//! each example in its prose; and sample and schema must have the same keys.

use super::Config;

/// A configuration file with every key commented out, explained and at its default.
pub(crate) const TEMPLATE: &str = include_str!("../../.autodev-sample/config.toml");

/// The `memory.md` that a new project begins with.
pub(crate) const MEMORY_TEMPLATE: &str = include_str!("../../.autodev-sample/memory.md");

/// The `.gitignore` that keeps `.autodev/` out of the user's git.
pub(crate) const IGNORE_TEMPLATE: &str = include_str!("../../.autodev-sample/.gitignore");

/// Returns the JSON Schema of the configuration file.
pub(crate) fn schema() -> serde_json::Value {
    schemars::schema_for!(Config).to_value()
}

#[cfg(test)]
mod tests {
    use super::super::{FILE, source, values};
    use super::*;
    use std::path::Path;

    fn read(text: &str) -> Config {
        source::parse(text.as_bytes(), Path::new(FILE)).unwrap()
    }

    fn uncommented(sample: &str) -> String {
        let line = |line: &str| match line.strip_prefix('#') {
            Some(key) if !key.is_empty() && !key.starts_with(' ') => format!("{key}\n"),
            _ => format!("{line}\n"),
        };
        sample.lines().map(line).collect()
    }

    #[test]
    fn every_key_works_alone() {
        let sample = uncommented(TEMPLATE);
        let top = sample.split("[[participants]]\n").next().unwrap();
        for line in top.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            assert_eq!(read(line), Config::default(), "{line}");
        }
    }

    #[test]
    fn the_sample_is_the_defaults() {
        assert_eq!(read(TEMPLATE), Config::default());
        assert_eq!(IGNORE_TEMPLATE, "*\n");
        assert!(MEMORY_TEMPLATE.contains("RESTORE:"));
    }

    #[test]
    fn what_the_sample_comments_out_is_the_defaults_and_an_example() {
        let mut config = read(&uncommented(TEMPLATE));
        let example = config.participants.pop().unwrap();
        assert_eq!(config, Config::default());
        let least = read("[[participants]]\nname = \"builder\"\ncommand = [\"sh\", \"agent.sh\"]").participants;
        assert_eq!(vec![example], least, "the other keys of the example are at their defaults");
    }

    #[test]
    fn examples_in_the_prose_of_the_sample_are_read() {
        let examples: Vec<&str> =
            TEMPLATE.lines().filter_map(|line| line.strip_prefix("#   ")).filter(|line| line.contains(" = ")).collect();
        assert_eq!(examples.len(), 3);
        for example in examples {
            let builder = "[[participants]]\nname = \"a\"\ncommand = [\"a\"]\n";
            read(&if example.starts_with("env") { format!("{builder}{example}") } else { example.to_owned() });
        }
    }

    #[test]
    fn the_schema_has_exactly_the_keys_of_the_sample() {
        let document: toml::Table = uncommented(TEMPLATE).parse().unwrap();
        let schema = schema();
        let keys = |schema: &serde_json::Value| {
            let mut keys: Vec<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
            keys.sort();
            keys
        };
        assert_eq!(keys(&schema), document.keys().cloned().collect::<Vec<_>>());
        let participant = document["participants"][0].as_table().unwrap();
        assert_eq!(keys(&schema["$defs"]["Participant"]), participant.keys().cloned().collect::<Vec<_>>());
    }

    #[test]
    fn the_schema_holds_bounds_defaults_and_meanings() {
        let schema = schema();
        let properties = &schema["properties"];
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(properties["max_attempts"]["minimum"], 1);
        assert_eq!(properties["max_attempts"]["default"], 3);
        assert_eq!(properties["gate_expires"]["type"], "string");
        assert_eq!(properties["gate_expires"]["default"], "24h");
        assert_eq!(properties["gate_expires"]["pattern"], values::DURATION_SCHEMA);
        assert_eq!(properties["verify"]["items"]["minItems"], 1);
        let participant = &schema["$defs"]["Participant"];
        assert_eq!(participant["required"], serde_json::json!(["name", "command"]));
        assert_eq!(participant["properties"]["turn_timeout"]["default"], "30m");
        assert_eq!(participant["properties"]["role"]["default"], "worker");
        assert_eq!(participant["properties"]["command"]["minItems"], 1);
        for (key, property) in properties.as_object().unwrap() {
            assert!(property["description"].is_string(), "{key}");
        }
    }
}
