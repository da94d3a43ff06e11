//! Which names look like secrets, and so stay out of everything that is kept.
//!
//! Rules are patterns for the base name of an untracked file, in any case, with `*` and `?`. The last rule
//! that matches decides, so that what the user adds is stronger than what is built in. `"!name"` removes the
//! rule that is written so, or, where there is none, lets through what it matches. The content of a file is
//! never looked at, and a folder is judged by its files.

use gix::bstr::ByteSlice as _;
use gix::glob::wildmatch;

/// The names that look like secrets, as a list in the order of the design.
const SECRET: [&str; 13] = [
    ".env*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".netrc",
    ".pypirc",
    "credentials.json",
];

/// The names among those that are made to be shared.
const OPEN: [&str; 4] = ["*.pub", ".env.example", ".env.sample", ".env.template"];

/// The rules that say which base names look like secrets.
#[derive(Debug, Clone)]
pub(crate) struct SecretRules {
    rules: Vec<(String, Verdict)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Secret,
    Open,
}

impl SecretRules {
    /// Puts the key `secrets` of the configuration on top of the built-in list.
    pub(crate) fn new(configured: &[String]) -> Self {
        let secret = SECRET.iter().map(|name| ((*name).to_owned(), Verdict::Secret));
        let open = OPEN.iter().map(|name| ((*name).to_owned(), Verdict::Open));
        let mut rules: Vec<(String, Verdict)> = secret.chain(open).collect();
        for pattern in configured {
            let Some(name) = pattern.strip_prefix('!') else {
                rules.push((pattern.clone(), Verdict::Secret));
                continue;
            };
            let before = rules.len();
            rules.retain(|(rule, verdict)| *verdict == Verdict::Open || !rule.eq_ignore_ascii_case(name));
            if rules.len() == before {
                rules.push((name.to_owned(), Verdict::Open));
            }
        }
        Self { rules }
    }

    /// Tells whether a file of this base name looks like a secret.
    pub(crate) fn matches(&self, base_name: &[u8]) -> bool {
        let decides = |rule: &str| wildmatch(rule.into(), base_name.as_bstr(), wildmatch::Mode::IGNORE_CASE);
        self.rules.iter().rev().find(|(rule, _)| decides(rule)).is_some_and(|(_, verdict)| *verdict == Verdict::Secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(configured: &[&str]) -> SecretRules {
        SecretRules::new(&configured.iter().map(|&pattern| pattern.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_built_in_names_are_secrets_in_any_case() {
        let rules = rules(&[]);
        let secret = [
            ".env",
            ".env.local",
            ".ENV.Production",
            ".envrc",
            "server.pem",
            "Server.PEM",
            "tls.key",
            "a.p12",
            "a.pfx",
            "a.jks",
            "id_rsa",
            "id_rsa.old",
            "ID_RSA",
            "id_dsa",
            "id_ecdsa_sk",
            "id_ed25519",
            ".netrc",
            ".pypirc",
            "credentials.json",
            "Credentials.JSON",
            ".key",
            ".pem",
        ];
        for name in secret {
            assert!(rules.matches(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn names_that_only_resemble_secrets_are_open() {
        let rules = rules(&[]);
        let open = [
            "id_rsa.pub",
            "ID_ED25519.PUB",
            ".env.example",
            ".env.sample",
            ".Env.Template",
            "env",
            "my.env",
            "pem",
            "a.pem.txt",
            "keys",
            "a.keys",
            "my_id_rsa",
            "netrc",
            "credentials.json5",
            "main.rs",
            "",
        ];
        for name in open {
            assert!(!rules.matches(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn the_sample_names_every_built_in_rule() {
        let words: Vec<&str> = super::super::TEMPLATE.split([' ', ',', '\n']).collect();
        for rule in SECRET.iter().chain(&OPEN) {
            assert!(words.iter().any(|word| word == rule || word.strip_suffix('.') == Some(rule)), "{rule}");
        }
    }

    #[test]
    fn names_that_are_not_utf8_are_judged_too() {
        let rules = rules(&["caf?.txt"]);
        assert!(rules.matches(b"\xff\xfe.pem"));
        assert!(rules.matches(b".env\xff"));
        assert!(rules.matches(b"caf\xe9.txt"));
        assert!(!rules.matches(b"\xff.txt"));
    }

    #[test]
    fn added_patterns_are_stronger_than_built_in_exceptions() {
        let rules = rules(&["*.secret", "deploy.pub", ".env.example"]);
        assert!(rules.matches(b"a.Secret"));
        assert!(rules.matches(b"deploy.pub"));
        assert!(rules.matches(b".env.example"));
        assert!(!rules.matches(b"other.pub"));
    }

    #[test]
    fn an_exclamation_mark_removes_the_rule_that_is_written_so() {
        let rules = rules(&["!*.PEM"]);
        assert!(!rules.matches(b"server.pem"));
        assert!(rules.matches(b"id_rsa.pem"), "another rule still holds");
        assert!(rules.matches(b".env.pem"), "another rule still holds");
    }

    #[test]
    fn an_exclamation_mark_lets_names_through_that_no_rule_is_written_as() {
        let rules = rules(&["!.envrc", "!test-*.key"]);
        assert!(!rules.matches(b".envrc"));
        assert!(!rules.matches(b"test-1.key"));
        assert!(rules.matches(b".env"));
        assert!(rules.matches(b"prod.key"));
    }

    #[test]
    fn what_is_taken_out_can_be_put_in_again_and_the_last_word_counts() {
        assert!(rules(&["!*.pem", "*.pem"]).matches(b"a.pem"));
        assert!(!rules(&["*.pem", "!*.pem"]).matches(b"a.pem"));
    }
}
