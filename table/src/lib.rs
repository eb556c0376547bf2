//! The blocks of a log, a row each: who asked for it, when it came and when it went.
//!
//! A log is events; nearly every question is about blocks. The table is made in one
//! reading of the log, put into a file beside it, and asked any number of times
//! without the log's events: a question is a choice of rows, a grouping and a moment.
//!
//! * `pack`: numbers in few bits
//! * `column`: what a row has
//! * `chunk`: some thousand rows, each column packed by itself
//! * `steps`: from events to time
//! * `live`: blocks that have come and not gone
//! * `places`: the stacks and threads that were met, each with a number
//! * `builder`: events to rows; `mappings`: the same of what the program mapped
//! * `writer`: rows to the file, on a thread of its own
//! * `layout`: what lies where in the file
//! * `table`: the file, read
//!
//! **Rows stand in the order in which blocks went**, those that never did at the end.
//! So a row is written when all of it is known, and memory depends on the live set
//! alone. **Time is the number of an event**: allocations and releases of the log,
//! counted from 1; a block of before the log came at 0. `steps` has their ticks.
//!
//! No bytes make it panic: a file that is torn, stale or somebody else's is refused
//! with a reason, and made anew by whoever owns it.
#![forbid(unsafe_code)]

mod builder;
mod chunk;
mod column;
mod layout;
mod live;
mod mappings;
mod pack;
mod places;
mod steps;
mod table;
mod writer;

pub use builder::Builder;
pub use chunk::{CHUNK_ROWS, Extent, Rows};
pub use column::{Column, Columns, Flags};
pub use layout::Unfit;
pub use places::StackKey;
pub use steps::{Step, Steps};
pub use table::{Held, Mark, NEVER, Reading, Table, Thread};
