//! `libmemlog.so`: malloc and its family in front of the next definitions in
//! link order. The recorder is `memlog-wrap`, the doors are its assembly.
//!
//! The crate is built as an archive and linked by the script `link`: the
//! compiler exports no symbol of an assembly file from a cdylib, and the doors
//! can be nothing else (see `doc/decisions/003-link-libmemlog-with-a-script.md`).
#![no_std]
#![allow(unsafe_code)]
//! # Safety
//! One name that AddressSanitizer looks for; nobody else has one of that name.

use core::ffi::{CStr, c_char};

memlog_wrap::leaf!();

/// AddressSanitizer's shared runtime ends a program in which it is not the first
/// library. It may be the second: our calls go on to its malloc. What the program
/// or ASAN_OPTIONS say stands before this.
#[unsafe(no_mangle)]
extern "C" fn __asan_default_options() -> *const c_char {
    const OPTIONS: &CStr = c"verify_asan_link_order=0";
    OPTIONS.as_ptr()
}
