//! What all targets share: limits that end a target, logs and programs in
//! short, and memory that ends where the input does.
//!
//! * `limits`: how much time and memory an input may take
//! * `brief`: a log in a few hundred bytes
//! * `twin`: the order of events, found the obvious way
//! * `edge`: bytes with nothing behind them
//! * `elf`: a program around given sections
//! * `zeroed`: homes for what the recorder begins as zeros
#![deny(unsafe_code)]

mod brief;
mod edge;
mod elf;
mod limits;
mod twin;
mod zeroed;

pub use brief::{Brief, MAX_PLACES};
pub use edge::Edge;
pub use elf::program;
pub use limits::{Counting, Limit, limited};
pub use twin::{Told, in_order, is_sound, merge};
pub use zeroed::Zeroed;
