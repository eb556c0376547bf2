//! The name of a stream's thread, and when it is looked at.

use super::Stream;
use crate::platform::sys::{Os, Sys};
use core::sync::atomic::Ordering;
use memlog_format::ext::Ext;

impl Stream {
    /// Notes the thread's name if it has changed.
    pub fn look_at_name(&mut self) -> bool {
        if self.log().ground.is_quiet() {
            return false;
        }
        let mut name = [0; 16];
        Os::thread_name(&mut name);
        let changed = name != self.name;
        if changed {
            self.name = name;
            self.write_thread();
        }
        changed
    }

    /// Looks at the name again if it is time: a thread is named soon after it
    /// began, or never, so that is twice as seldom each time, and every second at
    /// last.
    pub fn look_again(&mut self, now_ms: u64) {
        const SELDOM: u8 = 10;
        let since = (now_ms as u32).wrapping_sub(self.name_due) as i32;
        if since >= 0 {
            self.look_at_name();
            self.name_due = (now_ms as u32).wrapping_add(1 << self.name_looks);
            self.name_looks = (self.name_looks + 1).min(SELDOM);
        }
    }

    /// Tells the name of a thread that is not this stream's: who comes next has
    /// to tell his own.
    pub fn tell_name(&mut self, tid: u32, name: [u8; 16]) {
        (self.tid, self.name) = (tid, name);
        self.write_thread();
    }

    pub(super) fn write_thread(&mut self) {
        let (tid, name) = (self.tid, self.name);
        if let Some(slot) = self.log().streams.slot(self.number) {
            slot.named.store(mark_of(&name), Ordering::Relaxed);
        }
        self.write_ext(&thread_ext(tid, &name));
    }
}

/// Tells one name from another, nearly always.
pub fn mark_of(name: &[u8; 16]) -> u64 {
    let number = u128::from_le_bytes(*name);
    (number >> 64) as u64 ^ (number as u64).rotate_left(29)
}

/// The record of a thread's name.
pub(super) fn thread_ext(tid: u32, name: &[u8; 16]) -> Ext<'_> {
    let length = name.iter().position(|&byte| byte == 0).unwrap_or(16);
    Ext::Thread {
        tid,
        name: name.get(..length).unwrap_or(&[]),
    }
}
