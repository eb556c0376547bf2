//! What the threads of a recorded program share without a lock: the lowest
//! storey of the recorder, and pure. It makes no system call, knows no
//! processor and owns no memory: whoever calls hands all of that in.
//!
//! * [`life`] what the recorder is doing, in a word that a fork wipes
//! * [`claims`] which thread holds a stream
//! * [`commit`] how a record becomes valid
//! * [`order`] the order of events on one address
//! * [`memo`] what one thread found out, for all
//! * [`table`] exact ids of stacks and of code, in a table that grows
//! * [`sync`] the atomics of all of these
//!
//! loom builds this crate as it ships and tries every order of a few
//! operations on each file (`tests/loom`).
#![cfg_attr(not(test), no_std)]
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod claims;
pub mod commit;
pub mod life;
pub mod memo;
pub mod order;
pub mod sync;
#[allow(unsafe_code)] // one place: words of a slice behind an address
pub mod table;

#[cfg(test)]
mod tests;
