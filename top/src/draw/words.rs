//! Sizes as columns have them.

/// `13.1 MiB`.
pub fn size(bytes: u64) -> String {
    memlog_pages::sized(bytes)
}

/// `+13.1 MiB`, `-5 B`, and a dot where nothing changed.
pub fn signed(bytes: i64) -> String {
    match bytes {
        0 => ".".into(),
        more if more > 0 => format!("+{}", size(more.unsigned_abs())),
        less => format!("-{}", size(less.unsigned_abs())),
    }
}
