//! The recorder: what runs inside the profiled program.
//!
//! It is linked as `memlog_s.a` (behind `-Wl,--wrap`) or `libmemlog.so` (in
//! front of the next definitions); both are thin leaves over this crate. It
//! owns no thread and keeps no descriptor, never panics, prints or blocks, and
//! calls neither libc nor ld.so while it records, but to ask for errno where a
//! call of the program failed. It does not read logs.
//!
//! Five storeys over the crate `memlog-lockfree`; each knows those below it
//! and none above, which `ci/arrows` checks:
//!
//! ```text
//! hooks      what each hooked function means; the life of one malloc
//! process    start, fork, the real functions; RECORDER owns all state
//! log        streams, chunks, the file
//! unwind     the stack of whoever called a hook
//! platform   processor, kernel, ELF, small tools
//! ```
#![cfg_attr(not(test), no_std)]
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod hooks;
pub mod inside;
pub mod leaf;
pub mod log;
pub mod platform;
pub mod process;
pub mod unwind;

#[cfg(test)]
mod tests;
