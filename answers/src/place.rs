//! Where a function is.

use memlog_analysis::{Name, nameless_in};

/// A location without its line.
pub(crate) fn file_of(location: &str) -> &str {
    match location.rsplit_once(':') {
        Some((file, line)) if line.bytes().all(|byte| byte.is_ascii_digit()) => file,
        _ => location,
    }
}

/// The line of a location.
pub(crate) fn line_of(location: &str) -> Option<u64> {
    location.rsplit_once(':')?.1.parse().ok()
}

/// The program or library of a function; one without a name is called after it.
pub(crate) fn module_of(name: &Name) -> Option<&str> {
    name.module
        .as_deref()
        .or_else(|| nameless_in(&name.function))
}
