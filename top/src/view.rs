//! What is shown, as values.

use std::collections::VecDeque;
use std::path::PathBuf;

use memlog_pages::Name;
use memlog_pages::live::{Held, Look};
use memlog_pages::{Life, Seen};

/// So many looks are remembered for the curves.
pub const CURVE: usize = 240;

/// What one look found.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// All logs of a folder; none where one log was named.
    pub logs: Option<Vec<LogRow>>,
    /// Logs that are not looked at, for there are so many.
    pub left_out: usize,
    /// The log that the user looks into.
    pub detail: Option<Detail>,
    /// What went wrong, in a sentence.
    pub error: Option<String>,
}

/// A log of a folder.
#[derive(Clone, Debug, Default)]
pub struct LogRow {
    pub path: PathBuf,
    pub seen: Seen,
    pub life: Life,
    /// Whether nothing more comes.
    pub is_over: bool,
    pub live: Held,
    /// Since the last look.
    pub grown: i64,
    /// Allocations a second since then.
    pub rate: f64,
    /// Why it cannot be read.
    pub error: Option<String>,
}

/// A log that is looked into.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    pub seen: Seen,
    pub life: Life,
    /// Whether nothing more comes.
    pub is_over: bool,
    pub look: Look,
    /// Of each site of the look.
    pub names: Vec<Name>,
    /// Live bytes at each look, the last one at the end.
    pub heap: VecDeque<u64>,
    /// The same of resident memory, as last read.
    pub resident: VecDeque<u64>,
    /// The stacks of a site that was asked for, by its label.
    pub stacks: Option<(u32, Vec<StackView>)>,
}

/// A stack with its names.
#[derive(Clone, Debug, Default)]
pub struct StackView {
    pub held: Held,
    /// The innermost first.
    pub frames: Vec<Name>,
}

/// The end of a curve, and one more.
pub fn push(curve: &mut VecDeque<u64>, value: u64) {
    if curve.len() >= CURVE {
        curve.pop_front();
    }
    curve.push_back(value);
}
