//! MEMLOG_FOLLOW_EXEC=0: images that the program starts are not recorded.
//!
//! The environment that they inherit is the memory the kernel gave this
//! image; our name is taken out of LD_PRELOAD there, before the program's own
//! code has run. Everything else in it stays as it is.
#![allow(unsafe_code)]
//! # Safety
//! /proc/self/stat says where the kernel put the environment; it lies on the
//! main stack, writable, and nobody else runs yet.

use crate::platform::sys::{Os, Sys};
use crate::platform::text::decimal;

const VARIABLE: &[u8] = b"LD_PRELOAD=";
/// The others need the first; the second would bring it back.
const OURS: [&[u8]; 3] = [b"libmemlog.so", b"libmemlog_new.so", b"libmemlog_named.so"];

/// Takes our libraries out of LD_PRELOAD.
pub fn hide_from_children(buffer: &mut [u8]) {
    let Some((start, end)) = environment_range(buffer) else {
        return;
    };
    let length = end.saturating_sub(start) as usize;
    // SAFETY: see the head of this file.
    let block = unsafe { core::slice::from_raw_parts_mut(start as *mut u8, length) };
    for entry in block.split_mut(|&byte| byte == 0) {
        if entry.starts_with(VARIABLE)
            && let Some(list) = entry.get_mut(VARIABLE.len()..)
        {
            strip(list);
        }
    }
}

/// Keeps the items of a list that are not ours, and fills up with colons,
/// which the loader skips.
pub fn strip(list: &mut [u8]) {
    let mut kept = 0;
    let mut from = 0;
    while from < list.len() {
        let rest = list.get(from..).unwrap_or(&[]);
        let is_end = |byte: &u8| matches!(byte, b':' | b' ');
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        let item = rest.get(..length).unwrap_or(&[]);
        let is_ours = OURS.iter().any(|ours| item.ends_with(ours));
        if !is_ours {
            for offset in 0..length {
                let byte = list.get(from + offset).copied().unwrap_or(b':');
                if let Some(place) = list.get_mut(kept + offset) {
                    *place = byte;
                }
            }
            kept += length;
            if let Some(place) = list.get_mut(kept) {
                *place = b':';
            }
            kept += 1;
        }
        from += length + 1;
    }
    for place in list.iter_mut().skip(kept) {
        *place = b':';
    }
}

/// Fields 50 and 51 of /proc/self/stat, counted behind the program's name.
fn environment_range(buffer: &mut [u8]) -> Option<(u64, u64)> {
    let fd = Os::open(b"/proc/self/stat\0").ok()?;
    let count = Os::read(fd, buffer).unwrap_or(0);
    Os::close(fd);
    let text = buffer.get(..count)?;
    let name_end = text.iter().rposition(|&byte| byte == b')')?;
    let mut fields = text.get(name_end + 2..)?.split(|&byte| byte == b' ');
    let start = fields.nth(47).and_then(decimal)?;
    let end = fields.next().and_then(decimal)?;
    (start != 0 && start < end).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::strip;

    fn stripped(list: &str) -> String {
        let mut bytes = list.as_bytes().to_vec();
        strip(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn only_our_own_name_goes() {
        assert_eq!(stripped("/a/libmemlog.so"), ":::::::::::::::");
        assert_eq!(stripped("/a/libmemlog.so:b.so"), "b.so::::::::::::::::");
        assert_eq!(stripped("b.so /a/libmemlog.so"), "b.so::::::::::::::::");
        assert_eq!(
            stripped("/libmemlog.so:/libmemlog_new.so:b.so"),
            format!("b.so{}", ":".repeat(32))
        );
        assert_eq!(stripped("x.so:y.so"), "x.so:y.so");
        assert_eq!(stripped(""), "");
    }
}
