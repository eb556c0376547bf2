//! A log's bytes, read back as one ordered sequence of events.
//!
//! The reader does no I/O: it is lent the whole log as `&[u8]`, finished or
//! still being written, and lends parts of it out again. It knows what the
//! bytes say and in which order it happened; what that means for the program
//! is the analysis' affair, and names are the symbols'.
//!
//! * `log`: [`Log::open`], everything about a log that is not an event
//! * `grid`: where the chunks lie and to which stream they belong
//! * `ends`: what is missing where nothing follows
//! * `metas`: header, texts, modules, fork and end
//! * `tables`: from a stack's id to its frames
//! * `readings`: one chunk of events by itself
//! * `stream`: one stream's records as they stand
//! * `flight`: the live set of a log that overwrote its oldest events
//! * `records`: each by itself; `step`: one at its place, and what it waits for
//! * `cursor`: one stream's records, with each realloc resolved
//! * `cells`: which numbers order which addresses, and which were lost
//! * `merge`: all streams as one, the events on one address in true order
//! * `undecided`: reallocs under way while a log is looked at
//! * `marks`: of one moment, where a log grows
//! * `follow`: what came since the last look at a log that grows
//! * `steady`: one moment of a log whose chunks are written anew meanwhile
//! * `error`: what can be wrong with a log, in sentences
//!
//! **No input makes it panic**, and none makes it take more than 64 bytes of
//! memory for each byte of the log plus 4 MiB. In a log without lost
//! events memory depends on the number of chunks, streams and order cells
//! only, never on the number of events.
#![forbid(unsafe_code)]

mod cells;
mod cursor;
mod ends;
mod error;
mod flight;
mod follow;
mod grid;
mod item;
mod log;
mod marks;
mod merge;
mod metas;
mod readings;
mod records;
mod steady;
mod step;
mod stream;
mod tables;
mod undecided;

pub use error::{Finding, Findings, ReadError};
pub use flight::Flight;
pub use follow::{Follower, Look};
pub use item::{Item, Kind, Place, Taker};
pub use log::{LeftOut, Log, Size};
pub use marks::Marks;
pub use merge::EventStream;
pub use metas::{Kept, Resident};
pub use readings::{readings, records};
pub use records::Fate;
pub use steady::Steady;
pub use stream::{Record, Stream};
pub use tables::Frames;
