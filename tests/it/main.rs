//! One binary for all stories.
