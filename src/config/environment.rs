//! The environment: read once, here and nowhere else, and handed on by name.
//!
//! What autodev itself looks at are fields. What others get is made from lists: a participant gets what is
//! allowed by name, so that a key in the user's shell does not reach every agent; git gets everything but
//! what would redirect it, change its words, or let it ask. Variables that are empty count as unset where a
//! path or a name is expected. Nothing is ever set here.
#![expect(clippy::disallowed_methods, reason = "this is the room that owns the environment")]

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use chrono::{DateTime, Utc};

/// What every participant gets, besides `LC_*`.
const FOR_EVERYONE: [&str; 15] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "TERM",
    "TMPDIR",
    "TZ",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// What git gets of the variables that are its own: they carry the user's ignore rules.
const GIT_KEEPS: [&str; 3] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// What git does not get: it would speak another language, or ask somebody.
const GIT_LACKS: [&str; 6] = ["LC_ALL", "LANGUAGE", "EDITOR", "VISUAL", "PAGER", "SSH_ASKPASS"];

/// The environment of this process, as it was when it was read.
#[derive(Clone)]
pub(crate) struct Environment {
    variables: Vec<(OsString, OsString)>,
    /// `HOME`.
    pub(crate) home: Option<PathBuf>,
    /// `XDG_STATE_HOME` where it is an absolute path, else `~/.local/state`.
    pub(crate) state_home: Option<PathBuf>,
    /// `AUTODEV_STATE_DIR`, in place of the parent of every state folder.
    pub(crate) state_dir_override: Option<PathBuf>,
    /// `AUTODEV_RUN`, set inside a participant's turn.
    pub(crate) run: Option<String>,
    /// `AUTODEV_TURN`, set inside a participant's turn.
    pub(crate) turn: Option<String>,
    /// `AUTODEV_PARTICIPANT`, set inside a participant's turn.
    pub(crate) participant: Option<String>,
    /// `AUTODEV_STATE`, the state folder, set inside a participant's turn.
    pub(crate) state: Option<PathBuf>,
    /// `AUTODEV_TEST_NOW`, RFC 3339: the moment at which tests let the clock stand.
    pub(crate) autodev_clock: Option<DateTime<Utc>>,
}

impl Environment {
    /// Reads the environment of this process.
    pub(crate) fn current() -> Self {
        Self::from_pairs(std::env::vars_os())
    }

    /// Makes an environment of names and values; of two of the same name the last one counts.
    pub(crate) fn from_pairs<N: Into<OsString>, V: Into<OsString>>(pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        let mut variables: Vec<(OsString, OsString)> = Vec::new();
        for (name, value) in pairs {
            let (name, value) = (name.into(), value.into());
            variables.retain(|(known, _)| *known != name);
            variables.push((name, value));
        }
        let value = |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let filled = |name: &str| value(name).filter(|value| !value.is_empty());
        let path = |name: &str| filled(name).map(PathBuf::from);
        let text = |name: &str| filled(name).map(|value| value.to_string_lossy().into_owned());
        let home = path("HOME");
        let state_home = path("XDG_STATE_HOME").filter(|path| path.is_absolute());
        Self {
            state_home: state_home.or_else(|| home.as_ref().map(|home| home.join(".local/state"))),
            home,
            state_dir_override: path("AUTODEV_STATE_DIR"),
            run: text("AUTODEV_RUN"),
            turn: text("AUTODEV_TURN"),
            participant: text("AUTODEV_PARTICIPANT"),
            state: path("AUTODEV_STATE"),
            autodev_clock: text("AUTODEV_TEST_NOW").and_then(|moment| moment.parse().ok()),
            variables,
        }
    }

    /// Returns the whole environment of a participant, where `allowed` are names that it gets besides the usual ones.
    pub(crate) fn for_participant(&self, allowed: &[String]) -> Vec<(OsString, OsString)> {
        self.only(|name| {
            FOR_EVERYONE.iter().any(|known| name == *known)
                || begins(name, "LC_")
                || allowed.iter().any(|known| name == known.as_str())
        })
    }

    /// Returns the whole environment of the git program, to which its room adds its own.
    pub(crate) fn for_git(&self) -> Vec<(OsString, OsString)> {
        self.only(|name| {
            let redirects = begins(name, "GIT_") && !GIT_KEEPS.iter().any(|kept| name == *kept);
            !redirects && !begins(name, "AUTODEV_") && !GIT_LACKS.iter().any(|lacking| name == *lacking)
        })
    }

    fn only(&self, wanted: impl Fn(&OsStr) -> bool) -> Vec<(OsString, OsString)> {
        self.variables.iter().filter(|(name, _)| wanted(name)).cloned().collect()
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values are left out: some are secrets, and this may end up in a log.
        f.debug_set().entries(self.variables.iter().map(|(name, _)| name)).finish()
    }
}

fn begins(name: &OsStr, with: &str) -> bool {
    name.as_bytes().starts_with(with.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt as _;

    fn names(variables: &[(OsString, OsString)]) -> Vec<String> {
        let mut names: Vec<String> = variables.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    const SHELL: [(&str, &str); 19] = [
        ("PATH", "/bin"),
        ("HOME", "/home/ada"),
        ("LC_ALL", "de_DE.UTF-8"),
        ("LC_TIME", "de_DE.UTF-8"),
        ("LANGUAGE", "de"),
        ("XDG_STATE_HOME", "/state"),
        ("XDG_CONFIG_HOME", "/config"),
        ("EDITOR", "vi"),
        ("VISUAL", "vi"),
        ("PAGER", "less"),
        ("SSH_ASKPASS", "/bin/ask"),
        ("SSH_AUTH_SOCK", "/tmp/agent"),
        ("GIT_DIR", "/elsewhere"),
        ("GIT_CONFIG_GLOBAL", "/home/ada/.gitconfig"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_COUNT", "1"),
        ("AUTODEV_RUN", "r1"),
        ("API_KEY", "secret"),
        ("OTHER_KEY", "secret"),
    ];

    #[test]
    fn a_participant_gets_the_usual_names_and_those_allowed() {
        let environment = Environment::from_pairs(SHELL);
        let usual = ["HOME", "LC_ALL", "LC_TIME", "PATH", "XDG_CONFIG_HOME"];
        assert_eq!(names(&environment.for_participant(&[])), usual);
        let allowed = ["API_KEY".to_owned(), "GIT_DIR".to_owned(), "UNSET".to_owned(), "PATH".to_owned()];
        let more = ["API_KEY", "GIT_DIR", "HOME", "LC_ALL", "LC_TIME", "PATH", "XDG_CONFIG_HOME"];
        assert_eq!(names(&environment.for_participant(&allowed)), more);
    }

    #[test]
    fn git_gets_all_but_what_redirects_it_or_makes_it_ask() {
        let environment = Environment::from_pairs(SHELL);
        let expected = [
            "API_KEY",
            "GIT_CONFIG_GLOBAL",
            "GIT_CONFIG_NOSYSTEM",
            "HOME",
            "LC_TIME",
            "OTHER_KEY",
            "PATH",
            "SSH_AUTH_SOCK",
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
        ];
        assert_eq!(names(&environment.for_git()), expected);
    }

    #[test]
    fn the_state_home_is_the_users_own_where_it_is_set_to_an_absolute_path() {
        let state_home = |pairs: &[(&str, &str)]| Environment::from_pairs(pairs.iter().copied()).state_home;
        let home = ("HOME", "/home/ada");
        assert_eq!(state_home(&[home, ("XDG_STATE_HOME", "/state")]), Some("/state".into()));
        assert_eq!(state_home(&[home, ("XDG_STATE_HOME", "state")]), Some("/home/ada/.local/state".into()));
        assert_eq!(state_home(&[home, ("XDG_STATE_HOME", "")]), Some("/home/ada/.local/state".into()));
        assert_eq!(state_home(&[("HOME", "")]), None);
    }

    #[test]
    fn variables_of_a_turn_are_read_and_empty_ones_are_unset() {
        let turn =
            [("AUTODEV_RUN", "r1"), ("AUTODEV_TURN", "t3"), ("AUTODEV_PARTICIPANT", "builder"), ("NO_COLOR", "1")];
        let environment = Environment::from_pairs(turn.into_iter().chain([("AUTODEV_STATE", "/p/.git/autodev")]));
        assert_eq!(environment.run.as_deref(), Some("r1"));
        assert_eq!(environment.turn.as_deref(), Some("t3"));
        assert_eq!(environment.participant.as_deref(), Some("builder"));
        assert_eq!(environment.state, Some("/p/.git/autodev".into()));
        let empty = Environment::from_pairs([("AUTODEV_RUN", ""), ("NO_COLOR", ""), ("AUTODEV_STATE_DIR", "")]);
        assert_eq!((empty.run, empty.state_dir_override), (None, None));
    }

    #[test]
    fn a_run_of_a_name_that_is_not_utf8_is_still_a_run() {
        let environment = Environment::from_pairs([("AUTODEV_RUN", OsString::from_vec(vec![0xff]))]);
        assert!(environment.run.is_some());
    }

    #[test]
    fn the_clock_of_tests_is_a_moment_or_nothing() {
        let clock = |text: &str| Environment::from_pairs([("AUTODEV_TEST_NOW", text)]).autodev_clock;
        assert_eq!(clock("2026-11-30T01:02:03+01:00").unwrap().to_rfc3339(), "2026-11-30T00:02:03+00:00");
        assert_eq!(clock("yesterday"), None);
    }

    #[test]
    fn values_do_not_show_in_debug_output() {
        let shown = format!("{:?}", Environment::from_pairs(SHELL));
        assert!(shown.contains("API_KEY") && !shown.contains("secret"), "{shown}");
    }

    #[test]
    fn the_environment_of_this_process_is_read() {
        assert!(!Environment::current().variables.is_empty());
    }
}
