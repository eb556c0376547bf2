//! `memlog server`: the pages of logs, in a browser.
//!
//! It makes no figure of its own: each answer is the page of a command
//! (`memlog_pages::blocks`), asked at a desk that stays open.
//!
//! Storeys, from the top; none knows one above it:
//!
//! * `args`: the command line
//! * `serve`: sockets, connections, the end; `report`: the page as a file
//! * `routes`: which path is answered by what
//! * `api`: the answers; `bytehound`: the same by the names of bytehound's; `assets`: the
//!   page itself
//! * `scripts`: scripts about a log
//! * `pieces`: answers that are too long for one piece
//! * `shelf`: the logs, and the desks that are open
//! * `door`: who is let in
//! * `reply`: answers and refusals as HTTP
#![forbid(unsafe_code)]

mod api;
mod args;
mod assets;
mod bytehound;
mod door;
mod pieces;
mod reply;
mod report;
mod routes;
mod scripts;
mod serve;
mod shelf;

pub use args::Args;
pub use report::{Report, report};
pub use serve::run;
