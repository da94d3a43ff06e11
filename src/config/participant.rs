//! One `[[participants]]` of the configuration: an agent that takes part in a run.
//!
//! It says how the agent is started and for how long, not how it is driven: that is the adapter's matter.
//! A command is an array of words and is never handed to a shell. Only `name` and `command` must be given,
//! since nothing could stand in for them.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::values;

/// An agent that takes part in a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Participant {
    /// The name, unique in the project: 1 to 64 of the characters `A-Z a-z 0-9 _ -`.
    #[serde(deserialize_with = "values::name")]
    #[schemars(regex(pattern = values::NAME_SCHEMA))]
    pub name: String,
    /// The way the agent is driven.
    #[serde(default)]
    pub adapter: Adapter,
    /// The program and its arguments, one array item each; never a shell line.
    #[serde(deserialize_with = "values::command")]
    #[schemars(length(min = 1))]
    pub command: Vec<String>,
    /// The names of the environment variables that the agent gets besides the usual ones.
    #[serde(default, deserialize_with = "values::variables")]
    #[schemars(inner(regex(pattern = values::VARIABLE_SCHEMA)))]
    pub env: Vec<String>,
    /// How long one turn may take, such as `30m`; then the agent is ended and the turn has failed.
    #[serde(
        default = "default_turn_timeout",
        deserialize_with = "values::duration",
        serialize_with = "values::write_duration"
    )]
    #[schemars(with = "String", regex(pattern = values::DURATION_SCHEMA))]
    pub turn_timeout: Duration,
    /// What the agent is there for.
    #[serde(default)]
    pub role: Role,
    /// The form in which the agent gets its prompt on standard input.
    #[serde(default)]
    pub prompt: PromptFormat,
}

/// The way an agent is driven.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Adapter {
    /// Any command that reads its prompt on standard input and answers on standard output.
    #[default]
    Exec,
}

/// What a participant is there for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Does the work.
    #[default]
    Worker,
    /// Approves or refuses what a worker calls done.
    Reviewer,
}

/// The form of a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PromptFormat {
    /// One line of JSON.
    #[default]
    Json,
    /// Plain text.
    Text,
}

fn default_turn_timeout() -> Duration {
    Duration::from_mins(30)
}

/// Reads the participants; that their names differ is seen where their lines are known.
pub(super) fn participants<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Participant>, D::Error> {
    values::list(deserializer, "an array of tables, each headed [[participants]]")
}
