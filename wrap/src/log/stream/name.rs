//! The name of a stream's thread, and when it is looked at.

use super::Stream;
use crate::platform::sys::{Os, Sys};
use core::sync::atomic::Ordering;
use memlog_format::ext::Ext;

/// Bytes of a name at most. The kernel's have 15.
pub const LONGEST: usize = 32;

/// What stands for the name of a thread that the program told: the kernel's is
/// not asked for any more.
pub const TOLD: u64 = u64::MAX;

impl Stream {
    /// Notes the thread's name if it has changed.
    pub fn look_at_name(&mut self) -> bool {
        if self.log().ground.is_quiet() || self.is_name_told {
            return false;
        }
        let mut name = [0; 16];
        Os::thread_name(&mut name);
        let name = wide(&name);
        let changed = name != self.name;
        if changed {
            self.name = name;
            self.write_thread();
        }
        changed
    }

    /// The program says by which name it calls this thread.
    pub fn be_named(&mut self, name: &[u8]) {
        self.name = [0; LONGEST];
        for (to, from) in self.name.iter_mut().zip(name) {
            *to = *from;
        }
        self.is_name_told = true;
        self.write_thread();
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
    pub fn tell_name(&mut self, tid: u32, name: &[u8; 16]) {
        (self.tid, self.name, self.is_name_told) = (tid, wide(name), false);
        self.write_thread();
    }

    pub(super) fn write_thread(&mut self) {
        let (tid, name) = (self.tid, self.name);
        if let Some(slot) = self.log().streams.slot(self.number) {
            let mark = match self.is_name_told {
                true => TOLD,
                false => mark_of(&name),
            };
            slot.named.store(mark, Ordering::Relaxed);
        }
        self.write_ext(&thread_ext(tid, &name));
    }
}

/// Tells one of the kernel's names from another, nearly always.
pub fn mark_of(name: &[u8; LONGEST]) -> u64 {
    let number = name
        .first_chunk()
        .map_or(0, |&name| u128::from_le_bytes(name));
    (number >> 64) as u64 ^ (number as u64).rotate_left(29)
}

/// A name of the kernel's.
pub fn wide(name: &[u8; 16]) -> [u8; LONGEST] {
    let mut wide = [0; LONGEST];
    for (to, from) in wide.iter_mut().zip(name) {
        *to = *from;
    }
    wide
}

/// The record of a thread's name.
pub(super) fn thread_ext(tid: u32, name: &[u8; LONGEST]) -> Ext<'_> {
    let length = name.iter().position(|&byte| byte == 0).unwrap_or(LONGEST);
    Ext::Thread {
        tid,
        name: name.get(..length).unwrap_or(&[]),
    }
}
