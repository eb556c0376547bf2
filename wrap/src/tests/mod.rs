//! Tests of the recorder's rooms, one file a room, on the machine itself.
//! [`unwind`] has gimli as judge. The lock-free rooms are tested where they are.

mod arch;
mod bytes;
mod census;
mod claims;
mod code;
mod cull;
mod cull_thread;
mod early;
mod flight;
mod flight_table;
mod image;
pub(crate) mod memory;
mod modules;
mod naming;
mod random;
mod rule;
mod session;
mod settings;
mod text;
mod token;
mod unwind;
mod values;
