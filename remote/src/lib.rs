//! Logs that go to another machine while they grow: the protocol, and both its ends.
//!
//! The sender reads a log as any reader does, and never touches the program. It tells the
//! receiver what is new, in an order that makes a log of what was written there at every
//! moment, as that of a program which was killed then. At the end both files have the same
//! bytes. doc/REMOTE.md draws the protocol.
//!
//! It prints nothing and starts nothing: whoever uses it is told ([`Told`], [`Notice`]).
//!
//! Storeys, from the top; none knows one above it:
//!
//! * `sender`: which logs, when, how often; `receiver`: connections, folders, files
//! * `sync`: what of one log is not there yet
//! * `channel`: questions and answers over TLS or a pipe; `discover`: finding each other
//! * `secret`, `tls`: who may speak
//! * `wire`: the bytes of the protocol; `line`: bytes with deadlines
//! * `look`: what there is to know of a log's bytes; `limits`: the numbers of both ends
#![forbid(unsafe_code)]

mod channel;
mod discover;
mod limits;
mod line;
mod look;
mod receiver;
mod secret;
mod sender;
mod sync;
mod tls;
mod wire;

pub use channel::Secured;
pub use discover::{Announcer, Listener as DiscoveryListener};
pub use look::{About, about};
pub use receiver::{Gatherer, Limits, Notice, Tell, Totals};
pub use secret::{Secret, new_secret};
pub use sender::{Connect, Ended, Pace, Program, Sender, Sent, Source, Told};
