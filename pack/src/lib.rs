//! Logs made anew: with all their names in one file that any machine reads, and smaller.
//!
//! A log names code by addresses; the names are in the programs' files, which another machine
//! does not have. Whoever packs a log looks them up and hands them in here; they are put
//! behind the log as records of its meta chunks, so that it stays a log. All other chunks are
//! copied as they are, and lie where they lay. What the log tells of its user can be left out
//! on the way.
//!
//! It opens no file and looks no names up. A file that is read here may be anybody's: nothing
//! panics, and no memory is taken by what a length claims.
//!
//! * [`Keeper`]: names become records
//! * [`Image`]: the bytes of a log with other meta chunks
//! * `metas`: meta records, read and written anew
//! * [`Hider`]: texts without paths, hosts and users, or without any name
//! * `scrub`: the same in chunks of events, where nothing may move
//! * [`strip`]: a log without the events of blocks that lived shortly
//! * [`archive`]: logs in a tar, packed by zstd
//! * [`zstd`]: what zstd packs as it is written
#![forbid(unsafe_code)]

pub mod archive;
mod hide;
mod image;
mod keep;
mod metas;
mod scrub;
pub mod strip;
pub mod zstd;

pub use hide::{Hidden, Hider, Public, Shown};
pub use image::Image;
pub use keep::{Function, Keeper};
