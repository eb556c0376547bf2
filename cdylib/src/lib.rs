//! `libmemlog.so`: malloc and its family in front of the next definitions in
//! link order. The recorder is `memlog-wrap`, the doors are its assembly.
//!
//! The crate is built as an archive and linked by the script `link`: the
//! compiler exports no symbol of an assembly file from a cdylib, and the doors
//! can be nothing else (see `doc/DESIGN.md`).
#![no_std]

memlog_wrap::leaf!();
