//! The recorder: what runs inside the profiled program.
//!
//! It is linked as `memlog_s.a` (behind `-Wl,--wrap`) or `libmemlog.so` (in
//! front of the next definitions); both are thin leaves over this crate. It
//! owns no thread and keeps no descriptor, never panics, prints or blocks, and
//! calls neither libc nor ld.so while it records, but to ask for errno where a
//! call of the program failed. It does not read logs.
//!
//! The life of one malloc, door to commit:
//!
//! * [`arch`] the doorstep: registers as the caller left them
//! * [`hooks`], [`aligned`], [`operators`], [`named`], [`spaces`], [`notices`], [`rights`] what each hooked function means
//! * [`session`], [`life`], [`token`], [`claims`], [`streams`], [`threads`], [`parting`] who may record
//! * [`events`], [`failed`] the event: [`order`], [`unwind`], [`table`], [`stream`]
//! * [`commit`], [`sink`], [`metalog`] its way into the file
//!
//! Off the path: [`start`], [`settings`], [`launcher`], [`naming`], [`real`], [`linkmap`], `linked`, [`deep`],
//! [`early`],
//! [`child`], [`codemap`], [`modules`], [`maps`], [`image`], [`exec`], [`rss`], [`guard`], [`clock`], [`counters`],
//! [`lock`], [`sync`], [`sys`]; all state hangs off one [`recorder::RECORDER`].
#![cfg_attr(not(test), no_std)]
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod claims;
pub mod commit;
pub mod life;
pub mod order;
pub mod sync;
#[allow(unsafe_code)] // one place: words of a slice behind an address
pub mod table;

// Under loom only the lock-free parts above are built: the rest leans on
// statics and on memory that loom does not know.
#[cfg(not(loom))]
pub mod absent;
#[cfg(not(loom))]
pub mod aligned;
#[cfg(not(loom))]
#[allow(unsafe_code)] // the words of assembly
pub mod arch;
#[cfg(not(loom))]
mod auxiliary;
#[cfg(not(loom))]
pub mod capture;
#[cfg(not(loom))]
pub mod child;
#[cfg(not(loom))]
pub mod clock;
#[cfg(not(loom))]
pub mod codemap;
#[cfg(not(loom))]
pub mod counters;
#[cfg(not(loom))]
pub mod deep;
#[cfg(not(loom))]
pub mod doors;
#[cfg(not(loom))]
pub mod early;
#[cfg(not(loom))]
pub mod events;
#[cfg(not(loom))]
pub mod exec;
#[cfg(not(loom))]
pub mod failed;
#[cfg(not(loom))]
pub mod flight;
#[cfg(not(loom))]
pub mod guard;
#[cfg(not(loom))]
pub mod hooks;
#[cfg(not(loom))]
pub mod image;
#[cfg(not(loom))]
pub mod initial;
pub mod inside;
#[cfg(not(loom))]
pub mod launcher;
pub mod leaf;
#[cfg(not(loom))]
mod linked;
#[cfg(not(loom))]
pub mod linkmap;
#[cfg(not(loom))]
pub mod lock;
#[cfg(not(loom))]
pub mod maps;
#[cfg(not(loom))]
pub mod metalog;
#[cfg(not(loom))]
pub mod modules;
#[cfg(not(loom))]
pub mod named;
#[cfg(not(loom))]
pub mod naming;
#[cfg(not(loom))]
pub mod notices;
#[cfg(not(loom))]
pub mod operators;
#[cfg(not(loom))]
pub mod overhead;
#[cfg(not(loom))]
pub mod parting;
#[cfg(not(loom))]
pub mod real;
#[cfg(not(loom))]
pub mod recorder;
#[cfg(not(loom))]
pub mod rights;
#[cfg(not(loom))]
pub mod rss;
#[cfg(not(loom))]
pub mod session;
#[cfg(not(loom))]
pub mod settings;
#[cfg(not(loom))]
pub mod sink;
#[cfg(not(loom))]
pub mod slices;
#[cfg(not(loom))]
pub mod spaces;
#[cfg(not(loom))]
pub mod start;
#[cfg(not(loom))]
pub mod stream;
#[cfg(not(loom))]
pub mod streams;
#[cfg(not(loom))]
pub mod sys;
#[cfg(not(loom))]
pub mod threads;
#[cfg(not(loom))]
pub mod token;
#[cfg(not(loom))]
pub mod unwind;

#[cfg(test)]
mod tests;
