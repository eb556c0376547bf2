//! Questions to the table of a log's blocks. Each command here chooses rows by
//! `--where` and `--at`, and makes a page of what `memlog_answers` says of them.
//!
//! * [`Desk`]: a log that is open, to be asked any number of times
//! * [`Question`], [`Ask`]: what a command is asked, and how it answers
//! * [`Told`], [`Answer`]: what an answer is made of, and what it is
//! * [`Matter`]: the same for who is no command; [`Frames`]: all that is known of stacks

pub mod annotate;
mod ask;
mod beside;
pub mod chains;
mod desk;
pub mod diff;
pub mod exported;
pub mod flame;
pub mod fragmentation;
mod frames;
pub mod function;
pub mod graph;
mod grown;
pub mod histogram;
pub mod leaks;
mod lifetimes;
mod list;
mod listed;
pub mod locate;
pub mod maps;
pub mod measure;
mod pieces;
pub mod ranks;
pub mod regions;
pub mod rss;
mod sort;
pub mod table;
pub mod threads;
pub mod timeline;
mod told;
mod unknown;

use serde_json::Value;

use crate::figures::place;
pub use ask::{Answer, Ask, Failure, Question, Told, ask};
use ask::{Around, answered};
pub use desk::{Desk, Opened, Size};
pub use frames::{FrameAt, Frames};
pub use told::Matter;

/// Frames from a line out, for programs.
fn frames(told: &Told, line: u32) -> Vec<Value> {
    told.world.named(line).map(place).collect()
}
