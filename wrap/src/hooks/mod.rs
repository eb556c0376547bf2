//! The top storey: what each hooked function means. Only the doors call it.
//!
//! * [`malloc`] the life of one malloc and one free: the hot path, in one file
//! * [`family`], [`aligned`], [`operators`], [`named`] blocks that come and go
//! * [`mappings`] the ledger of mappings
//! * [`notices`], [`filters`], [`rights`], [`threads`] what the program tells without knowing
//! * [`header`], [`custom`] what it says by itself
//! * [`switches`] recording goes on or off
//! * [`session`], [`resumed`] who may record
//! * [`events`], [`capture`], [`failed`] the event and its stack

pub mod aligned;
pub mod capture;
pub mod custom;
pub mod events;
pub mod failed;
pub mod family;
pub mod filters;
pub mod header;
pub mod malloc;
pub mod mappings;
pub mod named;
pub mod notices;
pub mod operators;
pub mod resumed;
pub mod rights;
pub mod session;
pub mod switches;
pub mod threads;

/// A handler that is missing, or that takes other arguments than `doors.h` says,
/// does not compile.
mod handlers {
    use super::rights::*;
    use super::{aligned::*, family::*, filters::*, malloc::*, mappings::*, notices::*};
    use crate::platform::arch::DoorFrame;

    include!(concat!(env!("OUT_DIR"), "/handlers.rs"));
}
