//! How much a script may do.

use std::time::Duration;

/// How much a script may do. 0 is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From its start to its end.
    pub time: Option<Duration>,
    /// Steps of the language.
    pub operations: u64,
    /// Functions that call each other.
    pub calls: usize,
    /// Variables of a function.
    pub variables: usize,
    /// Bytes of a text, or of all texts in an array.
    pub text_bytes: usize,
    /// Members of an array, or of a map of the language.
    pub members: usize,
    /// Bytes that it prints and draws, together.
    pub output_bytes: usize,
    /// Blocks, stacks and groups that it holds in its hands, one by one.
    pub held: u64,
}

impl Limits {
    /// Of a script that its user starts, and can end.
    pub const USERS: Self = Self {
        time: None,
        operations: 0,
        calls: 64,
        variables: 2_000,
        text_bytes: 16 << 20,
        members: 1_000_000,
        output_bytes: 1 << 30,
        held: 0,
    };

    /// Of one that comes from elsewhere.
    pub const STRANGERS: Self = Self {
        time: Some(Duration::from_secs(60)),
        operations: 100_000_000,
        calls: 32,
        variables: 200,
        text_bytes: 256 << 10,
        members: 20_000,
        output_bytes: 64 << 20,
        held: 10_000_000,
    };
}
