//! `memlog server`, as programs ask it.
//!
//! * [`client`]: a server, and a client that speaks HTTP in the plainest way
//! * [`bytehound`]: the routes of bytehound's server

mod bytehound;
mod client;
#[path = "../sites/mod.rs"]
mod sites;
