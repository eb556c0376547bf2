//! Scripts that ask logs: bytehound's words in Rhai, over memlog's answers. `doc/SCRIPTS.md`
//! tells them to users.
//!
//! A list of a script is no list of blocks: it is what chooses them, as a filter does, and
//! nothing is looked at before a figure or a picture is asked for. Every figure comes from
//! `memlog_answers`, at the desk of an open log; this crate makes none. It opens no file
//! for writing and prints nothing: whoever runs a script is its [`Host`].
//!
//! Storeys, from the top; none knows one above it:
//!
//! * `run`: a script on a thread of its own, within [`Limits`], and its [`Outcome`]
//! * `collected`, `opened`: a host that keeps all in memory; a log on a thread of its own
//! * `words`: what scripts can say
//! * `graph`, `flame`: pictures of lists; `stacks`: sets of stacks
//! * `groups`: blocks by their stacks; `list`: chosen blocks and mappings; `block`: single
//!   ones; `stack`: a stack as text
//! * `env`: what all words of a running script share
//! * `outcome`, `code`: how a script ended; a filter as a script
//! * `chosen`: which blocks, as a tree of filters and sets of stacks
//! * `host`, `limits`: what is handed in
//! * `tables`, `time`, `path`: words that choose; durations; names of files
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod block;
mod chosen;
mod code;
mod collected;
mod env;
mod flame;
mod graph;
mod groups;
mod host;
mod limits;
mod list;
mod opened;
mod outcome;
mod path;
mod run;
mod stack;
mod stacks;
mod tables;
mod time;
mod words;

pub use chosen::Selection;
pub use code::{Code, filter_to_script};
pub use collected::Collected;
pub use host::{Asked, Host, Job};
pub use limits::Limits;
pub use opened::OpenLog;
pub use outcome::{End, Fault, Outcome, Output, to_json};
pub use run::run;
