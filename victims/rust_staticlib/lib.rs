// The Rust half of `rust_staticlib`, see main.c: its blocks come from C's malloc through std's System allocator.
use std::hint::black_box;

/// Gives 4,096 * 100 bytes to C, which returns them to `rust_drop`.
#[no_mangle]
#[inline(never)]
pub extern "C" fn rust_make() -> *mut u8 {
    let mut v = Vec::with_capacity(409_600); // @site rust_make peak=40960000/100 end=409600/1
    v.resize(409_600, 1);
    Box::leak(black_box(v).into_boxed_slice()).as_mut_ptr()
}

/// # Safety
/// `block` came from `rust_make` and is not used again.
#[no_mangle]
pub unsafe extern "C" fn rust_drop(block: *mut u8) {
    // SAFETY: the caller's promise; the capacity is the one of rust_make.
    drop(unsafe { Vec::from_raw_parts(block, 409_600, 409_600) });
}
