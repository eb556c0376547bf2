//! Questions to the table of a log's blocks. Each command here chooses rows by
//! `--where` and `--at`, and makes a page of what `memlog_answers` says of them.
//!
//! * [`Desk`]: a log that is open, to be asked any number of times
//! * [`Question`], [`Ask`]: what a command is asked, and how it answers
//! * [`Told`], [`Answer`]: what an answer is made of, and what it is

pub mod annotate;
mod ask;
mod beside;
pub mod chains;
mod desk;
pub mod diff;
pub mod exported;
pub mod fragmentation;
pub mod function;
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
pub mod rss;
pub mod table;
pub mod threads;
pub mod timeline;
mod unknown;

use serde_json::Value;

use crate::figures::place;
pub use ask::{Answer, Ask, Failure, Question, Told, ask};
use ask::{Around, answered};
pub use desk::{Desk, Opened, Size};
pub use pieces::About;

/// Frames from a line out, for programs.
fn frames(told: &Told, line: u32) -> Vec<Value> {
    told.world.named(line).map(place).collect()
}
