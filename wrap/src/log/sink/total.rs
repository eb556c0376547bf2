//! The bound of all logs of a tree of processes together, MEMLOG_MAX_LOGS_TOTAL.
//!
//! `memlog record` makes a file of one page and names it to all that it starts.
//! Each recorder maps that page when it makes a log, and adds to it before it
//! takes room on the disk: at each growth and at no event. There is no lock and
//! no descriptor; a forked child has the mapping of its parent, whatever rights
//! or root folder it gave up. What a killed process has added stays, as its log
//! does.
#![allow(unsafe_code)]
//! # Safety
//! The page is mapped once and never unmapped, and is read and written by
//! atomic words alone, here and in every other process.

use crate::platform::sys::{Errno, Fd, Os, Sys};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering};
use memlog_format::chunk::CHUNK_SIZE;
use memlog_format::total::{LEAST_BYTES, MAGIC, PAGE_BYTES, Word};

/// Counts that processes share, and nothing else is ordered by.
const ORDER: Ordering = Ordering::Relaxed;

/// The bound, as this process knows it.
pub struct Total {
    page: AtomicPtr<AtomicU64>,
    /// What was taken for this process' log.
    taken_bytes: AtomicU64,
    /// Whether this process was counted as one whose log is cut.
    is_counted: AtomicBool,
    /// Why there is no page although one was named.
    error: AtomicI32,
}

impl Total {
    pub(super) const fn new() -> Self {
        Self {
            page: AtomicPtr::new(core::ptr::null_mut()),
            taken_bytes: AtomicU64::new(0),
            is_counted: AtomicBool::new(false),
            error: AtomicI32::new(0),
        }
    }

    /// Maps the page of that name, a C string. Without it there is no bound.
    pub fn begin(&self, path: &[u8]) {
        let mapped = Os::open_log(path).and_then(|fd| {
            let mapped = map(fd);
            Os::close(fd);
            mapped
        });
        match mapped {
            Ok(page) => self.page.store(page.cast(), Ordering::Release),
            Err(Errno(error)) => self.error.store(error, ORDER),
        }
    }

    /// Why there is no bound although there is to be one; 0 if nothing is wrong.
    pub fn error(&self) -> i32 {
        self.error.load(ORDER)
    }

    fn word(&self, word: Word) -> Option<&'static AtomicU64> {
        let page = self.page.load(Ordering::Acquire);
        // SAFETY: see the head of this file; the words lie within a page.
        (!page.is_null()).then(|| unsafe { &*page.add(word as usize) })
    }

    /// Whether there is room for one more log; if not, this process is counted.
    pub fn admits_log(&self) -> bool {
        let (Some(taken), Some(limit)) = (self.word(Word::Taken), self.word(Word::Limit)) else {
            return true;
        };
        let admits = taken.load(ORDER).saturating_add(LEAST_BYTES) <= limit.load(ORDER);
        if !admits {
            self.count(Word::WithoutLog);
        }
        admits
    }

    /// Counts this process once, whatever happened to it.
    fn count(&self, what: Word) {
        if !self.is_counted.swap(true, ORDER)
            && let Some(count) = self.word(what)
        {
            count.fetch_add(1, ORDER);
        }
    }

    /// Takes what a log begins with; false if less is left.
    pub(super) fn take_first(&self, bytes: usize) -> bool {
        let taken = self.try_take(bytes, bytes) > 0;
        if !taken {
            self.count(Word::WithoutLog);
        }
        taken
    }

    /// Takes so much of what is left; false if that is less.
    pub(super) fn take(&self, bytes: usize) -> bool {
        self.take_up_to(bytes, bytes) > 0
    }

    /// Takes so much, or half as much and so on down to `unit`; how much.
    pub(super) fn take_up_to(&self, bytes: usize, unit: usize) -> usize {
        let taken = self.try_take(bytes, unit);
        if taken == 0 {
            self.count(Word::Cut);
        }
        taken
    }

    fn try_take(&self, bytes: usize, unit: usize) -> usize {
        let (Some(taken), Some(limit)) = (self.word(Word::Taken), self.word(Word::Limit)) else {
            return bytes;
        };
        let mut wanted = bytes;
        while wanted >= unit && wanted > 0 {
            let before = taken.fetch_add(wanted as u64, ORDER);
            if before.saturating_add(wanted as u64) <= limit.load(ORDER) {
                self.taken_bytes.fetch_add(wanted as u64, ORDER);
                return wanted;
            }
            taken.fetch_sub(wanted as u64, ORDER);
            wanted = (wanted / 2) & !(CHUNK_SIZE - 1);
        }
        0
    }

    /// How much is left for all.
    pub(super) fn left(&self) -> u64 {
        let (Some(taken), Some(limit)) = (self.word(Word::Taken), self.word(Word::Limit)) else {
            return u64::MAX;
        };
        limit.load(ORDER).saturating_sub(taken.load(ORDER))
    }

    /// Gives back what was not needed.
    pub(super) fn give_back(&self, bytes: usize) {
        if let Some(taken) = self.word(Word::Taken) {
            taken.fetch_sub(bytes as u64, ORDER);
            self.taken_bytes.fetch_sub(bytes as u64, ORDER);
        }
    }

    /// So much the log takes now, whatever was taken for it.
    pub(super) fn settle(&self, bytes: u64) {
        if let Some(taken) = self.word(Word::Taken) {
            let before = self.taken_bytes.swap(bytes, ORDER);
            // Both ways: what is less than before wraps around.
            taken.fetch_add(bytes.wrapping_sub(before), ORDER);
        }
    }

    /// So much the log takes at least, as the kernel counts. Not every file
    /// system has counted by now, so what was taken for more stays.
    pub(super) fn settle_at_least(&self, bytes: u64) {
        if bytes > self.taken_bytes.load(ORDER) {
            self.settle(bytes);
        }
    }

    /// A forked child has taken nothing yet.
    pub(super) fn forget(&self) {
        self.taken_bytes.store(0, ORDER);
        self.is_counted.store(false, ORDER);
    }
}

/// Maps the page of a file, if it is one.
fn map(fd: Fd) -> Result<*mut u8, Errno> {
    let mut start = [0; PAGE_BYTES];
    let length = Os::read_at(fd, &mut start, 0)?;
    if length != PAGE_BYTES || !start.starts_with(&MAGIC.to_ne_bytes()) {
        return Err(Errno(libc::EINVAL));
    }
    Os::map_window(fd, 0, PAGE_BYTES, true)
}
