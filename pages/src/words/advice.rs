//! An error with a remedy.

use std::fmt::{Display, Formatter};

/// What is wrong, and what to do about it.
#[derive(Debug)]
pub struct Advice {
    /// A sentence without a full stop.
    pub wrong: String,
    /// What the user can do.
    pub hint: String,
}

impl Advice {
    /// An error that carries a remedy.
    pub fn error(wrong: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        let (wrong, hint) = (wrong.into(), hint.into());
        Self { wrong, hint }.into()
    }
}

impl Display for Advice {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.wrong)
    }
}

impl std::error::Error for Advice {}
