//! Mapped logs and tables that get shorter. A server reads them all day, and somebody who copies a log over another
//! would end it by a signal: what is read behind a file's new end is zeros instead, and whoever read it is told.
//! Libraries that names are looked up in are mapped without this.
//!
//! # Safety
//!
//! This file may hold `unsafe` because a signal has to be answered, and a mapping be changed where it was made.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::SystemTime;

use memmap2::{Mmap, MmapOptions};

/// Mappings that are looked after at a time; one more is as it was without. Eight open logs have a log and a table each.
const SLOTS: usize = 64;

/// What a handler may know of a mapping.
struct Slot {
    /// 0 where it is nobody's.
    start: AtomicUsize,
    end: AtomicUsize,
    is_cut: AtomicBool,
}

impl Slot {
    /// Where the mapping ends, if it has this address. Its slot may become another's at any time, but not while
    /// somebody reads in it: what is not the same twice is none of his.
    fn end_of(&self, address: usize) -> Option<usize> {
        let start = self.start.load(Ordering::Acquire);
        let end = self.end.load(Ordering::Acquire);
        let is_taken = start != 0 && start == self.start.load(Ordering::Acquire);
        (is_taken && (start..end).contains(&address)).then_some(end)
    }
}

static MAPPINGS: [Slot; SLOTS] = [const {
    Slot {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        is_cut: AtomicBool::new(false),
    }
}; SLOTS];

/// Bytes of a page.
static PAGE: AtomicUsize = AtomicUsize::new(4096);

/// What the signal did before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// From now on a file that gets shorter ends nobody who reads it.
pub fn outlive_cut_files() {
    BEFORE.get_or_init(|| {
        // SAFETY: all zeros is a sigaction; both outlive the call. The handler does only what one may: atomics, mmap,
        // sigaction and raise.
        unsafe {
            let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE));
            PAGE.store(page.unwrap_or(4096), Ordering::Relaxed);
            let mut action: libc::sigaction = std::mem::zeroed();
            let mut before: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_fault as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &action, &mut before);
            before
        }
    });
}

extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel gives a whole siginfo; that of a fault has an address.
    let (is_sent, address) = unsafe { ((*info).si_code <= 0, (*info).si_addr() as usize) };
    if is_sent {
        // SAFETY: no memory is involved. It ends the process when this returns, as it did.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        return;
    }
    let found = MAPPINGS
        .iter()
        .find_map(|slot| Some((slot, slot.end_of(address)?)));
    if let Some((slot, end)) = found {
        slot.is_cut.store(true, Ordering::Release);
        // All behind it is behind the file's end as well.
        let page = address - address % PAGE.load(Ordering::Relaxed);
        // SAFETY: who reads there has this mapping, so its pages are nobody else's. Nothing but them is replaced, and
        // they can be read as before.
        let zeros = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            libc::mmap(page as *mut _, end - page, libc::PROT_READ, flags, -1, 0)
        };
        if zeros != libc::MAP_FAILED {
            return;
        }
    }
    if let Some(before) = BEFORE.get() {
        // SAFETY: it is what was there. The same fault comes again, and does what it did.
        unsafe { libc::sigaction(signal, before, std::ptr::null_mut()) };
    }
}

/// A log or a table in memory.
pub struct Mapped {
    map: Mmap,
    file: File,
    written: Option<SystemTime>,
    slot: Option<&'static Slot>,
}

impl Mapped {
    /// An open file, so many bytes of it or all.
    pub(super) fn of(file: &File, length: Option<u64>) -> io::Result<Self> {
        let mut options = MmapOptions::new();
        if let Some(length) = length {
            options.len(length as usize);
        }
        let file = file.try_clone()?;
        let written = file.metadata()?.modified().ok();
        // SAFETY: what the recorder has committed, which is all that is read of a log, it does not change. Who
        // overwrites a file while it is read gets wrong figures, or is told by `is_changed`; who cuts it ends this
        // process by a signal, if it does not outlive that; neither can make it write anywhere.
        let map = unsafe { options.map(&file) }?;
        let slot = BEFORE.get().and_then(|_| slot_of(&map));
        Ok(Self {
            map,
            file,
            written,
            slot,
        })
    }

    /// Whether it got shorter.
    pub(super) fn is_cut(&self) -> bool {
        let was_cut = |slot: &Slot| slot.is_cut.load(Ordering::Acquire);
        let length = self.file.metadata().map_or(0, |found| found.len());
        self.slot.is_some_and(was_cut) || length < self.map.len() as u64
    }

    /// Whether somebody has written to it.
    pub(super) fn is_changed(&self) -> bool {
        let written = self.file.metadata().and_then(|found| found.modified());
        self.is_cut() || written.ok() != self.written
    }
}

fn slot_of(map: &Mmap) -> Option<&'static Slot> {
    let start = map.as_ptr() as usize;
    let is_taken = |slot: &&Slot| {
        // Nobody has a fault there before it has been read.
        let taken =
            slot.start
                .compare_exchange(0, usize::MAX, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok()
    };
    let slot = MAPPINGS.iter().find(is_taken)?;
    slot.is_cut.store(false, Ordering::Relaxed);
    let page = PAGE.load(Ordering::Relaxed);
    let end = (start + map.len()).next_multiple_of(page);
    slot.end.store(end, Ordering::Release);
    slot.start.store(start, Ordering::Release);
    Some(slot)
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // Before it is unmapped: the place may be another's at once.
        if let Some(slot) = self.slot {
            slot.start.store(usize::MAX, Ordering::Release);
            slot.end.store(0, Ordering::Release);
            slot.start.store(0, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// One without a name.
    fn file(bytes: usize) -> File {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("memlog-cut-{number:?}"));
        let mut options = File::options();
        let file = options.read(true).write(true).create_new(true).open(&path);
        let mut file = file.expect("a file");
        std::fs::remove_file(&path).expect("it is ours");
        file.write_all(&vec![7; bytes]).expect("room");
        file
    }

    #[test]
    fn what_is_behind_a_new_end_is_zeros_and_told() {
        outlive_cut_files();
        let (cut, whole) = (file(1 << 20), file(1 << 20));
        let (map, other) = (Mapped::of(&cut, None), Mapped::of(&whole, None));
        let (map, other) = (map.expect("a map"), other.expect("a map"));
        assert!(map.iter().all(|&byte| byte == 7) && !map.is_changed());
        cut.set_len(1 << 17).expect("it is ours");
        assert!(map.is_cut() && !other.is_cut());
        assert_eq!(map.iter().filter(|&&byte| byte == 7).count(), 1 << 17);
        // Who makes it as long as it was makes no whole of it.
        cut.set_len(1 << 20).expect("room");
        assert!(map.is_cut());
        assert!(map[1 << 19..].iter().all(|&byte| byte == 0));
        assert_eq!(map[..1 << 17], other[..1 << 17]);
        drop(map);
        let again = Mapped::of(&whole, None).expect("a map");
        assert!(again.iter().all(|&byte| byte == 7) && !again.is_changed() && !other.is_changed());
    }

    #[test]
    fn what_is_written_is_told() {
        let mut file = file(10);
        let map = Mapped::of(&file, None).expect("a map");
        std::thread::sleep(std::time::Duration::from_millis(20));
        file.write_all(b"more").expect("room");
        assert!(map.is_changed() && !map.is_cut());
    }
}
