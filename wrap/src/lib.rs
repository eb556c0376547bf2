//! The recorder: what runs inside the profiled program.
//!
//! It is linked as `memlog_s.a` (behind `-Wl,--wrap`) or `libmemlog.so` (in
//! front of the next definitions); both are thin leaves over this crate. It
//! owns no thread and keeps no descriptor, never panics, prints or blocks, and
//! calls neither libc nor ld.so while it records. It does not read logs.
//!
//! The life of one malloc, door to commit:
//!
//! * [`arch`] the doorstep: registers as the caller left them
//! * [`hooks`], [`spaces`], [`notices`] what each hooked function means
//! * [`session`], [`life`], [`token`], [`claims`], [`streams`] who may record
//! * [`events`] the event: [`order`], [`unwind`], [`table`], [`stream`]
//! * [`commit`], [`sink`], [`metalog`] its way into the file
//!
//! Off the path: [`start`], [`settings`], [`naming`], [`real`], [`early`],
//! [`child`], [`codemap`], [`modules`], [`maps`], [`image`], [`exec`], [`rss`], [`clock`], [`counters`],
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
macro_rules! off_the_model {
    ($($(#[$attribute:meta])* $name:ident),* $(,)?) => {
        $(#[cfg(not(loom))] $(#[$attribute])* pub mod $name;)*
    };
}

off_the_model!(
    #[allow(unsafe_code)] // the words of assembly
    arch,
    child,
    clock,
    codemap,
    counters,
    doors,
    early,
    events,
    exec,
    hooks,
    image,
    lock,
    maps,
    metalog,
    modules,
    naming,
    notices,
    real,
    recorder,
    rss,
    session,
    settings,
    sink,
    slices,
    spaces,
    start,
    stream,
    streams,
    sys,
    token,
    unwind,
);

#[cfg(test)]
mod tests;
