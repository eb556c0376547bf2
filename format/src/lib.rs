//! The bytes of a memlog log.
//!
//! This is the border between the two countries of the project: the recorder
//! inside the profiled program writes with it, everything outside reads with
//! it, and nothing else is shared. It does no I/O, owns no memory, has no
//! `unsafe`, no dependency, no feature, and never panics on any input.
//!
//! * [`chunk`]: a file is an array of 64 KiB chunks; their header and checksum
//! * [`event`]: what an events chunk holds; encoder and decoder are mirrors
//! * [`filling`]: such a chunk, filled outside of a recorder
//! * [`ext`]: the rarer records of an events chunk, skippable by length
//! * [`limit`]: one of those: how near a limit on memory is
//! * [`failure`]: another: a call that asked for memory and got none
//! * [`passed`]: another: blocks whose events were left out
//! * [`switch`]: another: recording was switched off or on
//! * [`table`]: the arrays of stack nodes and code addresses
//! * [`meta`]: header, modules, settings, where streams stood at a fork, the end
//! * [`text`](meta::Key): what its texts mean
//! * [`stripped`]: one of those: which events were left out
//! * [`counter`]: what was lost, cut, refused
//! * [`control`]: beside those, how `memlog ctl` and a recorder talk
//! * [`resident`]: what was resident at a moment, mapping by mapping
//! * [`kept`]: names that were put into a log, to be read where their files are not
//! * [`tuned`]: what the program told its allocator
//! * [`refusal`]: one of those: why the log could not grow
//! * [`live`]: the live set of a log that overwrites its oldest events
//! * [`order`]: which numbers order the events on one address
//! * [`operations`]: no part of a log: what `memlog replay` executes
//! * [`attach`]: no part of a log: how a recorder is handed over to a running process
//! * [`varint`], [`api`]: the small words
//! * [`total`]: beside the logs: how much all of a tree of processes take
//!
//! All integers are little-endian on every machine. `FORMAT.md` beside this
//! crate draws the bytes.
#![no_std]

mod alike;
pub mod api;
pub mod attach;
pub mod chunk;
pub mod control;
pub mod counter;
pub mod culled;
pub mod event;
pub mod ext;
pub mod failure;
pub mod filling;
pub mod kept;
pub mod limit;
pub mod live;
pub mod meta;
pub mod operations;
pub mod order;
pub mod passed;
pub mod refusal;
pub mod resident;
pub mod stripped;
pub mod switch;
pub mod table;
mod text;
pub mod total;
pub mod tuned;
mod usable;
mod usual;
pub mod varint;

/// Version of the format. A reader refuses a higher one, and says so.
pub const VERSION: u8 = 2;
/// The version of every log that was never a full flight recorder.
pub const FIRST_VERSION: u8 = 1;

/// Why bytes could not be read as what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where, counted from the start of the slice that was being read.
    pub offset: usize,
    /// What was expected there.
    pub expected: &'static str,
}
