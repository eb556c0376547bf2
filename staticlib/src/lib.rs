//! `memlog_s.a` and `memlog_s.o`: `__wrap_malloc` and its family over
//! `__real_malloc`. The recorder is `memlog-wrap`, the doors are its assembly.
//!
//! The script `prelink` makes the two products of this crate's archive: one
//! object of the core with the five names of the original's link line, and one
//! member of the archive for each further name.
#![no_std]

memlog_wrap::leaf!();

/// Says in every program that is linked with it, stripped or not, that the
/// recorder is inside. Readers are `memlog record` and the recorder that is
/// preloaded: of two in one process neither would be right.
#[used]
#[unsafe(link_section = ".note.memlog")]
static INSIDE: memlog_wrap::inside::Note = memlog_wrap::inside::NOTE;
