//! What all threads read of code without asking under the lock: the rules that were
//! found, and the modules. Written by whoever holds the map's lock, but for rules,
//! which anybody may add.
#![allow(unsafe_code)]
//! # Safety
//! Both lie in zeroed mappings that stay for ever, and zeros are a valid beginning of
//! them. A module's place is written before the count that leads to it, and not again
//! while another thread is there.

use super::modules::{MAX_MODULES, Module};
use super::rule::Rule;
use super::walk::{Known, Pc};
use crate::platform::ground::Ground;
use crate::platform::sys::{Os, Sys};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use memlog_lockfree::memo::{HEAD, Memo};
use memlog_lockfree::sync::AtomicU64 as Word;

/// Pairs of the table of rules: as many as small programs need, whose start every
/// page costs, or when those are half used what large ones do.
const FEW: usize = Os::SIZES.shared_codes;
const MANY: usize = Os::SIZES.many_shared_codes;

const fn bytes_of(pairs: usize) -> usize {
    (Memo::words(pairs) * size_of::<Word>()).next_multiple_of(4096)
}
const HEAD_BYTES: usize = HEAD * size_of::<Word>();

/// How often a writer is waited for before his table is left to him.
const PATIENCE: usize = 10_000;

/// A library may go without a word of the loader's or a call of the program's: a
/// module is looked at again before it is believed after so long.
const LOOK_NS: u64 = 100_000_000;

/// Where both are.
pub struct Published {
    few: AtomicPtr<Word>,
    many: AtomicPtr<Word>,
    modules: AtomicPtr<PublicModules>,
}

/// Every module instance that was found, as long as there is room. Places are never
/// used again: somebody may be reading there. What has none is asked for under the
/// lock.
struct PublicModules {
    count: AtomicUsize,
    /// Apart from the rest, so that a search reads few lines.
    spans: [Span; MAX_MODULES],
    modules: [UnsafeCell<Module>; MAX_MODULES],
}

struct Span {
    low: AtomicU64,
    high: AtomicU64,
    id: AtomicU32,
    /// When it was there for certain; 0 once it is gone.
    seen_ns: AtomicU64,
}

impl Published {
    /// Nothing.
    pub const fn new() -> Self {
        Self {
            few: AtomicPtr::new(core::ptr::null_mut()),
            many: AtomicPtr::new(core::ptr::null_mut()),
            modules: AtomicPtr::new(core::ptr::null_mut()),
        }
    }

    /// Takes memory; false if there is none.
    pub fn take_memory(&self, ground: &Ground) -> bool {
        let modules = Os::memory(size_of::<PublicModules>().next_multiple_of(4096));
        let few = Os::memory_wiped_on_fork(bytes_of(FEW));
        if modules.is_null() || few.is_null() {
            return false;
        }
        ground.note_own(bytes_of(FEW) as u64 + 2 * 4096);
        self.modules.store(modules.cast(), Ordering::Release);
        self.few.store(few.cast(), Ordering::Release);
        true
    }

    /// The table in use, and whether it is the larger one.
    fn memo(&self) -> Option<(Memo, bool)> {
        let many = self.many.load(Ordering::Acquire);
        let table = match many.is_null() {
            true => (self.few.load(Ordering::Acquire), FEW),
            false => (many, MANY),
        };
        // SAFETY: null, or a mapping of that size, which stays.
        unsafe { table_at(table.0, table.1) }.map(|memo| (memo, !many.is_null()))
    }

    /// What is known of an address, by the rules of a generation.
    #[inline]
    pub fn get(&self, pc: Pc, generation: u64) -> Option<Known> {
        let word = self.memo()?.0.get(pc.key(), generation)?;
        Some(Known {
            rule: Rule(word as u32),
            code: (word >> 32) as u32,
        })
    }

    /// Lets all threads know of an address. Whether it is time for a larger table.
    pub fn put(&self, pc: Pc, known: Known, generation: u64) -> bool {
        let word = u64::from(known.rule.0) | u64::from(known.code) << 32;
        self.memo().is_some_and(|(memo, is_large)| {
            memo.put(pc.key(), word, generation);
            !is_large && memo.is_half_full()
        })
    }

    /// Takes the larger table, if it is time. By the holder of the map's lock.
    #[cold]
    pub fn grow(&self, ground: &Ground, generation: u64) {
        let Some((small, false)) = self.memo() else {
            return;
        };
        if !small.is_half_full() || !small.is_of(generation) || ground.is_quiet() {
            return;
        }
        let larger = new_table(ground, MANY, generation);
        if larger.is_null() {
            return;
        }
        self.many.store(larger, Ordering::Release);
        small.close();
        // Nobody comes here any more, and who is still there writes for nobody.
        // SAFETY: the smaller table's mapping.
        unsafe { empty(self.few.load(Ordering::Relaxed), FEW) };
    }

    /// Sees to it that the rules are those of a generation. By the holder of the
    /// map's lock.
    pub fn renew(&self, ground: &Ground, generation: u64) {
        let Some((memo, is_large)) = self.memo() else {
            return;
        };
        if memo.is_of(generation) {
            return;
        }
        let (place, pairs) = match is_large {
            false => (&self.few, FEW),
            true => (&self.many, MANY),
        };
        let is_free = (0..PATIENCE).any(|_| {
            core::hint::spin_loop();
            memo.close()
        });
        if is_free && ground.is_quiet() {
            memo.clear();
            memo.open(generation);
        } else if is_free {
            // SAFETY: the table's mapping; readers take zeros for nothing.
            unsafe { empty(place.load(Ordering::Relaxed), pairs) };
            memo.open(generation);
        } else if !ground.is_quiet() {
            // Left to who writes there, and may never come back.
            let fresh = new_table(ground, pairs, generation);
            if !fresh.is_null() {
                let left = place.swap(fresh, Ordering::AcqRel);
                // SAFETY: the mapping of the one before.
                unsafe { empty(left, pairs) };
            }
        }
    }

    fn modules(&self) -> Option<&PublicModules> {
        // SAFETY: null, or the mapping of `take_memory`.
        unsafe { self.modules.load(Ordering::Acquire).as_ref() }
    }

    /// The module at a code address, if it was there a moment ago; under a filter
    /// nobody can look again.
    pub fn module(&self, ground: &Ground, address: u64) -> Option<&Module> {
        let modules = self.modules()?;
        let (index, span) = modules.known().find(|(_, span)| span.contains(address))?;
        let seen_ns = span.seen_ns.load(Ordering::Acquire);
        let is_recent = || Os::ticks_ns().wrapping_sub(seen_ns) < LOOK_NS;
        if seen_ns == 0 || !is_recent() && !ground.is_quiet() {
            return None;
        }
        // SAFETY: written before the count that led here, and never again.
        modules
            .modules
            .get(index)
            .map(|place| unsafe { &*place.get() })
    }

    /// A module was found. By the holder of the map's lock.
    pub fn add(&self, ground: &Ground, module: &Module) {
        let Some(modules) = self.modules() else {
            return;
        };
        let count = modules.count.load(Ordering::Relaxed);
        let (Some(span), Some(place)) = (modules.spans.get(count), modules.modules.get(count))
        else {
            return;
        };
        ground.note_own((size_of::<Module>() + size_of::<Span>()) as u64);
        // SAFETY: nobody looks there before the count says so.
        unsafe { *place.get() = *module };
        span.low.store(module.low, Ordering::Relaxed);
        span.high.store(module.image.high, Ordering::Relaxed);
        span.id.store(module.id, Ordering::Relaxed);
        span.seen_ns.store(Os::ticks_ns(), Ordering::Relaxed);
        modules.count.store(count + 1, Ordering::Release);
    }

    /// A module was found where it was; false if it was given up meanwhile.
    pub fn saw(&self, id: u32) -> bool {
        self.with_id(id).is_some_and(|span| {
            let order = Ordering::Relaxed;
            let seen_ns = span.seen_ns.load(order);
            let now = Os::ticks_ns();
            // Who gives it up does not wait for the lock.
            seen_ns != 0
                && span
                    .seen_ns
                    .compare_exchange(seen_ns, now, order, order)
                    .is_ok()
        })
    }

    /// A module goes.
    pub fn lose(&self, id: u32) {
        if let Some(span) = self.with_id(id) {
            span.seen_ns.store(0, Ordering::Release);
        }
    }

    /// What lies in a range goes, or something else may come there. Whether there
    /// was a module. Without the lock, and before it happens.
    pub fn lose_range(&self, low: u64, bytes: u64) -> bool {
        let Some(modules) = self.modules() else {
            return false;
        };
        let high = low.saturating_add(bytes);
        let mut is_hit = false;
        for (_, span) in modules.known() {
            let touches =
                span.low.load(Ordering::Relaxed) < high && low < span.high.load(Ordering::Relaxed);
            if touches && span.seen_ns.swap(0, Ordering::AcqRel) != 0 {
                is_hit = true;
            }
        }
        is_hit
    }

    fn with_id(&self, id: u32) -> Option<&Span> {
        let mut known = self.modules()?.known();
        let is_it = |span: &Span| {
            span.id.load(Ordering::Relaxed) == id && span.seen_ns.load(Ordering::Relaxed) != 0
        };
        known.find(|(_, span)| is_it(span)).map(|(_, span)| span)
    }

    /// Forgets all modules, whose places are written again: in a process of one
    /// thread, which is not reading there.
    pub fn forget_modules(&self) {
        if let Some(modules) = self.modules() {
            modules.count.store(0, Ordering::Relaxed);
        }
    }
}

impl Default for Published {
    fn default() -> Self {
        Self::new()
    }
}

impl PublicModules {
    fn known(&self) -> impl Iterator<Item = (usize, &Span)> {
        let count = self.count.load(Ordering::Acquire);
        self.spans.iter().take(count).enumerate()
    }
}

impl Span {
    /// Whether it is there and holds an address.
    fn contains(&self, address: u64) -> bool {
        let range = self.low.load(Ordering::Relaxed)..self.high.load(Ordering::Relaxed);
        range.contains(&address) && self.seen_ns.load(Ordering::Acquire) != 0
    }
}

/// A table.
///
/// # Safety
/// Null, or a mapping of its size that stays for ever.
unsafe fn table_at(at: *mut Word, pairs: usize) -> Option<Memo> {
    if at.is_null() {
        return None;
    }
    // SAFETY: by the caller; all zeros are words.
    let words = unsafe { core::slice::from_raw_parts(at, Memo::words(pairs)) };
    Some(Memo::new(words))
}

/// A new table that is open, or null.
fn new_table(ground: &Ground, pairs: usize, generation: u64) -> *mut Word {
    let at = Os::memory_wiped_on_fork(bytes_of(pairs)).cast();
    // SAFETY: null, or mapped just now.
    if let Some(memo) = unsafe { table_at(at, pairs) } {
        memo.open(generation);
        ground.note_own(bytes_of(pairs) as u64);
    }
    at
}

/// Empties a table, all but its head.
///
/// # Safety
/// A mapping of [`new_table`] that is closed.
unsafe fn empty(at: *mut Word, pairs: usize) {
    let pairs_at = at.wrapping_add(HEAD).cast();
    // SAFETY: by the caller. Words are atomic, and zeros are nothing to who reads.
    unsafe { Os::zero(pairs_at, bytes_of(pairs) - HEAD_BYTES) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicBool;

    fn module(id: u32) -> Module {
        let low = u64::from(id) << 20;
        let mut module = Module::default();
        (module.id, module.low, module.image.high) = (id, low, low + (1 << 20));
        module
    }

    fn published() -> (Ground, Published) {
        let (ground, published) = (Ground::new(), Published::new());
        assert!(published.take_memory(&ground));
        published.renew(&ground, 1);
        (ground, published)
    }

    fn known(number: u32) -> Known {
        Known {
            rule: Rule(number << 3 | 1),
            code: number,
        }
    }

    #[test]
    fn a_module_is_there_until_it_goes() {
        let (_, published) = published();
        let id_at = |address| {
            published
                .module(&Ground::new(), address)
                .map(|module| module.id)
        };
        assert_eq!(id_at(1 << 20), None);
        for id in 1..=3 {
            published.add(&Ground::new(), &module(id));
        }
        assert_eq!([id_at(1 << 20), id_at((3 << 20) - 1)], [Some(1), Some(2)]);
        published.lose(2);
        assert_eq!([id_at(2 << 20), id_at(3 << 20)], [None, Some(3)]);
        // Another one where that was.
        let mut another = module(2);
        another.id = 9;
        published.add(&Ground::new(), &another);
        assert_eq!(id_at(2 << 20), Some(9));
        // Seen again, but for what was given up meanwhile.
        assert!(published.lose_range((3 << 20) + 4096, 1) && !published.lose_range(0, 1 << 20));
        assert!(published.saw(1) && !published.saw(2) && !published.saw(3));
        assert_eq!([id_at(1 << 20), id_at(3 << 20)], [Some(1), None]);
        published.forget_modules();
        assert_eq!(id_at(1 << 20), None);
    }

    #[test]
    fn more_modules_than_places_are_nobodys_fault() {
        let (_, published) = published();
        for id in 1..=MAX_MODULES as u32 + 2 {
            published.add(&Ground::new(), &module(id));
        }
        let last = MAX_MODULES as u64;
        assert!(published.module(&Ground::new(), last << 20).is_some());
        assert!(published.module(&Ground::new(), (last + 1) << 20).is_none());
    }

    /// Threads tell and ask while generations go by: what is read is of the asker's
    /// generation, in a small table, a large one and while it grows, and writers are
    /// counted right. How many tables there were.
    fn storm(keys: u64) -> usize {
        let (ground, published) = published();
        let (ground, published) = (&ground, &published);
        let (told, is_wanted) = (AtomicU64::new(1), AtomicBool::new(false));
        let mut tables = Vec::new();
        std::thread::scope(|threads| {
            for seed in 0..3 {
                let (told, is_wanted) = (&told, &is_wanted);
                threads.spawn(move || {
                    for round in 0..200_000_u64 {
                        let generation = told.load(Ordering::Acquire);
                        let number = (round * 7919 + seed) % keys + 1;
                        let pc = Pc::returned(number << 4);
                        let word = known((number as u32) << 8 | (generation as u32 & 0xff));
                        if let Some(found) = published.get(pc, generation) {
                            assert_eq!(found, word, "{generation}");
                        }
                        if published.put(pc, word, generation) {
                            is_wanted.store(true, Ordering::Relaxed);
                        }
                    }
                });
            }
            for generation in 2..=2000 {
                published.renew(ground, generation);
                told.store(generation, Ordering::Release);
                if is_wanted.load(Ordering::Relaxed) {
                    published.grow(ground, generation);
                }
                let (_, is_large) = published.memo().unwrap();
                let place = [&published.few, &published.many][usize::from(is_large)];
                tables.push(place.load(Ordering::Relaxed) as usize);
                std::thread::yield_now();
            }
        });
        assert!(published.memo().unwrap().0.is_at_rest());
        tables.dedup();
        tables.len()
    }

    #[test]
    fn rules_are_those_of_their_generation() {
        // A writer who was preempted costs a table, on a busy machine many; a change
        // does not.
        assert!(storm(1000) < 1000 && storm(9000) < 1000);
    }
}
