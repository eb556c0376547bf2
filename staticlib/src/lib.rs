//! `memlog_s.a` and `memlog_s.o`: `__wrap_malloc` and its family over
//! `__real_malloc`. Only the way out and the panic that cannot happen live
//! here; the recorder is `memlog-wrap`, the doors are its assembly.
//!
//! The script `prelink` makes the two products of this crate's archive: one
//! object of the core with the five names of the original's link line, and one
//! member of the archive for each further name.
#![no_std]

/// Runs at the latest when the image starts, if no call came before: a
/// program that never allocates has a log that says so.
extern "C" fn init() {
    memlog_wrap::start::wake();
}

/// Runs when the image ends by exit.
extern "C" fn fini() {
    memlog_wrap::notices::finish(1);
}

#[used]
#[unsafe(link_section = ".init_array")]
static INIT: extern "C" fn() = init;

#[used]
#[unsafe(link_section = ".fini_array")]
static FINI: extern "C" fn() = fini;

#[link(name = "memlog_doors", kind = "static")]
unsafe extern "C" {}

unsafe extern "C" {
    /// Defined nowhere: a panic that the optimiser could not rule out is an
    /// error of the linker.
    fn memlog_can_panic() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: never linked.
    unsafe { memlog_can_panic() }
}
