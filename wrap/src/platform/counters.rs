//! The recorder's counts of itself: private words, mirrored into chunk 0 so
//! that they are in the log at every moment, a SIGKILL included.
#![allow(unsafe_code)]
//! # Safety
//! The mirror is a pointer to chunk 0, which stays mapped while it is set.

use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering};
use memlog_format::chunk::VERSION_AT;
use memlog_format::control::{TEXT_BYTES, Word};
use memlog_format::counter::{AREA_AT, AREA_COUNT, Counter};

/// The counters of the process.
pub struct Counters {
    values: [AtomicU64; AREA_COUNT],
    chunk0: AtomicPtr<u8>,
}

impl Counters {
    /// All zero, mirrored nowhere.
    pub const fn new() -> Self {
        Self {
            values: [const { AtomicU64::new(0) }; AREA_COUNT],
            chunk0: AtomicPtr::new(core::ptr::null_mut()),
        }
    }

    /// Adds to a counter.
    pub fn add(&self, counter: Counter, count: u64) {
        if let Some(value) = self.values.get(counter as usize) {
            let sum = value.fetch_add(count, Ordering::Relaxed) + count;
            self.mirror(counter, sum);
        }
    }

    /// Takes from a counter that is a level, not a count.
    pub fn sub(&self, counter: Counter, count: u64) {
        if let Some(value) = self.values.get(counter as usize) {
            let rest = value
                .fetch_sub(count, Ordering::Relaxed)
                .wrapping_sub(count);
            self.mirror(counter, rest);
        }
    }

    /// Sets a level.
    pub fn set(&self, counter: Counter, to: u64) {
        if let Some(value) = self.values.get(counter as usize) {
            value.store(to, Ordering::Relaxed);
            self.mirror(counter, to);
        }
    }

    /// Reads a counter.
    pub fn get(&self, counter: Counter) -> u64 {
        let value = self.values.get(counter as usize);
        value.map_or(0, |value| value.load(Ordering::Relaxed))
    }

    fn mirror(&self, counter: Counter, value: u64) {
        let chunk0 = self.chunk0.load(Ordering::Acquire);
        if chunk0.is_null() {
            return;
        }
        // SAFETY: chunk 0 is mapped and aligned; the counter's number is below
        // AREA_COUNT, so the word lies in the area that only counters use.
        let word = unsafe {
            &*chunk0
                .add(AREA_AT + 8 * counter as usize)
                .cast::<AtomicU64>()
        };
        word.store(value.to_le(), Ordering::Relaxed);
    }

    /// A word of chunk 0 that `memlog ctl` and we both know; nothing where there is none.
    #[inline]
    pub fn control(&self, word: Word) -> Option<u64> {
        let word = self.control_word(word)?;
        Some(u64::from_le(word.load(Ordering::Acquire)))
    }

    /// Says something there.
    pub fn set_control(&self, word: Word, to: u64) {
        if let Some(word) = self.control_word(word) {
            word.store(to.to_le(), Ordering::Release);
        }
    }

    /// The place of such a word.
    #[inline]
    pub fn control_word(&self, word: Word) -> Option<&'static AtomicU64> {
        let chunk0 = self.chunk0.load(Ordering::Acquire);
        // SAFETY: chunk 0 is mapped for ever and aligned, and these are its words for this.
        (!chunk0.is_null()).then(|| unsafe { &*chunk0.add(word.at()).cast::<AtomicU64>() })
    }

    /// The text that stands there, copied; another process may write it meanwhile.
    pub fn control_text(&self, into: &mut [u8; TEXT_BYTES]) {
        let chunk0 = self.chunk0.load(Ordering::Acquire);
        if chunk0.is_null() {
            return;
        }
        for (index, byte) in into.iter_mut().enumerate() {
            // SAFETY: as above; the text is as long as that.
            *byte = unsafe { chunk0.add(Word::Text.at() + index).read_volatile() };
        }
    }

    /// The chunk that they are mirrored into, or null.
    pub fn mirrored_into(&self) -> *mut u8 {
        self.chunk0.load(Ordering::Acquire)
    }

    /// From now on the counters are mirrored into this chunk.
    ///
    /// # Safety
    /// `chunk0` is null or a whole chunk that stays mapped until replaced.
    pub unsafe fn mirror_into(&self, chunk0: *mut u8) {
        self.chunk0.store(chunk0, Ordering::Release);
        for &(counter, _) in memlog_format::counter::ALL {
            self.mirror(counter, self.get(counter));
        }
    }

    /// Counts in another log's chunk 0, which is mapped here too, one more of
    /// `counter`, and the last reason in `why`: counters that its own process
    /// never sets.
    ///
    /// # Safety
    /// `chunk0` is a whole chunk that is mapped.
    pub unsafe fn count_in(chunk0: *mut u8, counter: Counter, why: (Counter, u64)) {
        let word = |counter: Counter| {
            let at = AREA_AT + 8 * counter as usize;
            // SAFETY: by the caller; as in `mirror`.
            unsafe { &*chunk0.add(at).cast::<AtomicU64>() }
        };
        let one_more = |value: u64| Some((u64::from_le(value) + 1).to_le());
        let order = Ordering::Relaxed;
        let _ = word(counter).fetch_update(order, order, one_more);
        word(why.0).store(why.1.to_le(), order);
    }

    /// Chunk 0 says that the log has what older readers do not know.
    pub fn raise_version(&self) {
        let chunk0 = self.chunk0.load(Ordering::Acquire);
        if !chunk0.is_null() {
            // SAFETY: chunk 0 is mapped; nobody writes its header after it was
            // begun.
            let version = unsafe { &*chunk0.add(VERSION_AT).cast::<AtomicU8>() };
            version.store(memlog_format::VERSION, Ordering::Release);
        }
    }

    /// A forked child counts from zero.
    pub fn reset(&self) {
        self.chunk0.store(core::ptr::null_mut(), Ordering::Release);
        for value in &self.values {
            value.store(0, Ordering::Relaxed);
        }
    }
}

impl Default for Counters {
    fn default() -> Self {
        Self::new()
    }
}
