//! The name of a stream's thread, and when it is looked at.

use super::Stream;
use crate::platform::clock;
use crate::platform::sys::{Os, Sys};
use core::sync::atomic::Ordering;
use memlog_format::ext::Ext;

/// Bytes of a name at most. The kernel's have 15.
pub const LONGEST: usize = 32;

/// What stands for the name of a thread that the program told: the kernel's is
/// not asked for any more.
pub const TOLD: u64 = u64::MAX;

/// What a stream knows of it.
#[derive(Clone, Copy)]
pub(super) struct Name {
    text: [u8; LONGEST],
    /// Whether the program told it.
    is_told: bool,
    /// How often it was looked at; see `look_again`.
    looks: u8,
    /// The millisecond, cut to 32 bits, from which on it is to be looked at again.
    due: u32,
}

impl Name {
    /// None yet.
    const NONE: Self = Self {
        text: [0; LONGEST],
        is_told: false,
        looks: 0,
        due: 0,
    };

    fn of(text: &[u8]) -> Self {
        let mut name = Self::NONE;
        for (to, from) in name.text.iter_mut().zip(text) {
            *to = *from;
        }
        name
    }

    /// The record of it.
    pub(super) fn ext(&self, tid: u32) -> Ext<'_> {
        let end = self.text.iter().position(|&byte| byte == 0);
        let name = self.text.get(..end.unwrap_or(LONGEST)).unwrap_or(&[]);
        Ext::Thread { tid, name }
    }

    fn mark(&self) -> u64 {
        match self.text.first_chunk() {
            Some(name) if !self.is_told => mark_of(name),
            _ => TOLD,
        }
    }
}

impl Stream {
    /// The stream serves this thread from now on: another than before, unless it is
    /// the same.
    pub(super) fn take_name(&mut self, is_same: bool) {
        if !is_same {
            self.name = Name::NONE;
        }
        let is_written = self.look_at_name();
        (self.name.looks, self.name.due) = (0, clock::ms_of(self.tick()) as u32);
        if !is_same && !is_written {
            self.write_thread();
        }
    }

    /// Notes the thread's name if it has changed.
    pub fn look_at_name(&mut self) -> bool {
        if self.log().ground.is_quiet() || self.name.is_told {
            return false;
        }
        let mut name = [0; 16];
        Os::thread_name(&mut name);
        let text = Name::of(&name).text;
        let changed = text != self.name.text;
        if changed {
            self.name.text = text;
            self.write_thread();
        }
        changed
    }

    /// The program says by which name it calls this thread.
    pub fn be_named(&mut self, name: &[u8]) {
        self.name = Name {
            is_told: true,
            ..Name::of(name)
        };
        self.write_thread();
    }

    /// Looks at the name again if it is time: a thread is named soon after it
    /// began, or never, so that is twice as seldom each time, and every second at
    /// last.
    pub fn look_again(&mut self, now_ms: u64) {
        const SELDOM: u8 = 10;
        let since = (now_ms as u32).wrapping_sub(self.name.due) as i32;
        if since >= 0 {
            self.look_at_name();
            self.name.due = (now_ms as u32).wrapping_add(1 << self.name.looks);
            self.name.looks = (self.name.looks + 1).min(SELDOM);
        }
    }

    /// Tells the name of a thread that is not this stream's: who comes next has
    /// to tell his own.
    pub fn tell_name(&mut self, tid: u32, name: &[u8; 16]) {
        (self.tid, self.name) = (tid, Name::of(name));
        self.write_thread();
    }

    fn write_thread(&mut self) {
        let (tid, name) = (self.tid, self.name);
        if let Some(slot) = self.log().streams.slot(self.number) {
            slot.named.store(name.mark(), Ordering::Relaxed);
        }
        self.write_ext(&name.ext(tid));
        self.thread_told();
    }
}

/// Tells one of the kernel's names from another, nearly always.
pub fn mark_of(name: &[u8; 16]) -> u64 {
    let number = u128::from_le_bytes(*name);
    (number >> 64) as u64 ^ (number as u64).rotate_left(29)
}
