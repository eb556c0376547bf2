//! How much an allocator gives, where nothing is said of it.

/// What glibc gives for a request, so that the usual case needs no byte.
#[inline]
pub const fn predicted_usable(size: u64) -> u64 {
    let chunk = size.saturating_add(8 + 15) & !15;
    let usable = chunk.saturating_sub(8);
    if usable < 24 { 24 } else { usable }
}
