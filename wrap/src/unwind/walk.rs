//! The plain walk: every frame from the caller of the hook outwards.
//!
//! ```text
//! walk(registers of the door):
//!   for each frame, innermost first:
//!     (rule, code) of its pc: this thread's cache, then the exact table of
//!       all threads, then compiled from the unwind tables
//!     note the code
//!     step by the rule: CFA from sp or fp, return address below it
//!     a rule of kind Complex: start again from the door with all registers
//!   the root says how it ended; descend from it through the trie, outermost
//!   frame first: the last node is the stack's id
//! ```
//!
//! Nothing is guessed: a frame that cannot be stepped from ends the stack, and
//! the root says why.
#![allow(unsafe_code)]
//! # Safety
//! The stack is read within [`Bounds`]; caches are plain memory of the stream.

use super::kept::Far;
use super::row::Machine;
use super::rule::{Kind, Rule};
use super::share::Share;
use super::signal;
use super::switch::Mapped;
use crate::platform::arch::{self, DoorFrame};
use crate::platform::bounds::Bounds;
use crate::platform::rules::Back;
use crate::platform::sys::{Os, Sys};
use memlog_format::table::StackId;

/// Frames kept of one stack, at most.
pub const MAX_FRAMES: usize = Os::SIZES.frames;
/// Entries of a thread's cache, at most.
const CACHE_ENTRIES: usize = Os::SIZES.cached_codes;

/// What is known of a code address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The step.
    pub rule: Rule,
    /// The code's id in the log.
    pub code: u32,
}

/// An entry of a thread's cache.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
struct CacheEntry {
    /// The address, shifted left, with the exact bit below.
    key: u64,
    known: Known,
}

/// The offset of its entry, by the key's bits from the third and from the
/// fourteenth on.
#[inline(always)]
fn hash_of(key: u64) -> usize {
    ((key << 1) ^ (key >> 10)) as usize
}

/// What a thread knows of code addresses. Zeros are nothing.
#[repr(C)]
pub struct Cache {
    share: Share<CacheEntry, CACHE_ENTRIES>,
    entries: [CacheEntry; CACHE_ENTRIES],
    /// Memory that is not this thread's stack.
    mapped: Mapped,
    /// For what no thread knows.
    machine: Machine,
}

impl Cache {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.mapped.clear();
        let used = self.share.used();
        for entry in self.entries.iter_mut().take(used) {
            *entry = CacheEntry::default();
        }
    }

    /// What the thread knows of an address.
    #[inline(always)]
    fn get(&self, pc: Pc) -> Option<Known> {
        let key = pc.key();
        let entry = self.share.entry(&self.entries, hash_of(key));
        (entry.key == key).then_some(entry.known)
    }

    /// Notes what was not there; bytes of memory that this is the first to use.
    fn put(&mut self, pc: Pc, known: Known) -> usize {
        let more = self.share.miss();
        let key = pc.key();
        let entry = self.share.entry_mut(&mut self.entries, hash_of(key));
        *entry = CacheEntry { key, known };
        more * size_of::<CacheEntry>()
    }
}

/// A frame's place in the program, in one word: an address, and whether the
/// frame was interrupted right there rather than left by a call. Addresses
/// leave the top bit free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pc(u64);

impl Pc {
    /// Where a call returns to.
    #[inline]
    pub const fn returned(address: u64) -> Self {
        Self(address << 1)
    }

    /// The very instruction that was interrupted.
    #[inline]
    pub const fn interrupted(address: u64) -> Self {
        Self(address << 1 | 1)
    }

    /// The address.
    #[inline]
    pub const fn address(self) -> u64 {
        self.0 >> 1
    }

    /// Whether the frame was interrupted.
    #[inline]
    pub const fn is_exact(self) -> bool {
        self.0 & 1 != 0
    }

    /// The word.
    #[inline]
    pub const fn key(self) -> u64 {
        self.0
    }

    /// The address whose rules hold.
    #[inline]
    pub const fn lookup(self) -> u64 {
        self.address().wrapping_sub(!self.is_exact() as u64)
    }
}

/// The memory a walk needs, lent by the stream.
pub struct Workspace<'a> {
    /// The thread's cache.
    pub cache: &'a mut Cache,
    /// The codes of the frames, innermost first.
    pub codes: &'a mut [u32],
}

/// Who answers what the caches do not know.
pub trait Resolver {
    /// Rule and code of a frame's address, with a machine to find them; `Err` is
    /// the root to end the stack with.
    fn resolve(
        &mut self,
        frame: (WalkState, Bounds),
        machine: &mut Machine,
    ) -> Result<Known, StackId>;
    /// Walks with all registers, the naive way; how many codes it noted, and
    /// the root.
    fn walk_fully(
        &mut self,
        frame: &DoorFrame,
        bounds: Bounds,
        codes: &mut [u32],
    ) -> (usize, StackId);
    /// What the tables say of an address, for a step by any register; none
    /// where they could not be asked.
    fn far(&mut self, pc: Pc) -> Option<Far>;
    /// The bounds of the stack that an address is on; none where he could not
    /// be asked.
    fn bounds_of(&mut self, sp: u64) -> Option<Bounds>;
    /// Whether an address lies in code, with tables or without, if that is not
    /// known: a frame pointer leads there. As above.
    fn is_code(&mut self, address: u64, is_known: bool) -> Option<bool>;
    /// A cache takes so many bytes of memory more than before.
    fn took(&self, _bytes: usize) {}
}

/// Where a walk stands: all that a step by a packed rule depends on, but for
/// the words of the stack.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct WalkState {
    /// The frame's place in the program.
    pub pc: Pc,
    /// Its stack pointer.
    pub sp: u64,
    /// Its frame pointer, or whatever lies in that register.
    pub fp: u64,
}

impl WalkState {
    /// At the caller of a door.
    #[inline]
    pub fn at(frame: &DoorFrame) -> Self {
        Self {
            pc: Pc::returned(frame.pc()),
            sp: frame.sp(),
            fp: frame.fp(),
        }
    }
}

/// Why a walk goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The stack ends, as the root says.
    Root(StackId),
    /// No packed rule can make this step; or one of `switch` has made it, to another
    /// stack.
    Complex,
}

/// The resolver could not be asked.
const BUSY: Stop = Stop::Root(StackId::CUT_BUSY);

/// Walks; the number of codes noted and the root.
#[inline]
pub fn walk<R: Resolver>(
    frame: &DoorFrame,
    bounds: Bounds,
    space: &mut Workspace,
    resolver: &mut R,
) -> (usize, StackId) {
    let mut state = WalkState::at(frame);
    let (on, mut bounds) = (bounds, bounds);
    let mut count = 0;
    loop {
        let known = match look_up(&state, &bounds, space.cache, resolver) {
            Ok(known) => known,
            Err(root) => return (count, root),
        };
        match space.codes.get_mut(count) {
            Some(place) => *place = known.code,
            None => return (count, StackId::CUT_TOO_DEEP),
        }
        count += 1;
        match step(known.rule, &mut state, &mut bounds, space.cache, resolver) {
            Ok(()) => {}
            Err(Stop::Root(root)) => return (count, root),
            Err(Stop::Complex) if known.rule.is(Kind::NoTables) => {}
            Err(Stop::Complex) => return resolver.walk_fully(frame, on, space.codes),
        }
    }
}

/// One step outwards.
#[inline(always)]
pub fn step<R: Resolver>(
    rule: Rule,
    state: &mut WalkState,
    bounds: &mut Bounds,
    cache: &Cache,
    resolver: &mut R,
) -> Result<(), Stop> {
    if arch::BACK_CHAIN && rule.is(Kind::Chain) {
        return along_chain(state, bounds);
    }
    // Tests, not a table: which of the two it is can be predicted.
    let from = if rule.is(Kind::Sp) {
        state.sp
    } else if rule.is(Kind::Fp) {
        state.fp
    } else {
        // By copies: what somebody else has the address of is kept in memory.
        let mut apart = (*state, *bounds);
        let done = rarer_step(rule, &mut apart, cache, resolver);
        (*state, *bounds) = apart;
        return done;
    };
    let cfa = from.wrapping_add(rule.offset_words().wrapping_mul(arch::WORD));
    // The stack must rise, or a walk could go round for ever. Where it ends
    // and whether it is aligned is asked of the CFA for both words below it.
    let sp = cfa.wrapping_sub(arch::SP_BELOW_CFA);
    let is_inside = state.sp < sp && cfa <= bounds.high && cfa.is_multiple_of(arch::WORD);
    if !is_inside {
        return Err(BAD);
    }
    let saved = rule.saved_words();
    let at = cfa.wrapping_sub(arch::return_below(saved));
    let address = match arch::RETURN_IS_NEXT {
        // SAFETY: aligned and inside: below the CFA, and not below sp, where
        // the bounds begin.
        true => unsafe { Bounds::word(at) },
        false => bounds.read_below(at).ok_or(BAD)?,
    };
    let below = arch::fp_below(saved);
    if below != 0 {
        state.fp = bounds.read_below(cfa.wrapping_sub(below)).ok_or(BAD)?;
    }
    state.sp = sp;
    return_to(address, state)
}

const BAD: Stop = Stop::Root(StackId::CUT_BAD_FRAME);

#[inline(always)]
fn return_to(address: u64, state: &mut WalkState) -> Result<(), Stop> {
    let address = arch::strip(address);
    state.pc = Pc::returned(address);
    // Hand-made stacks end in a null return address; no code of a program has
    // the top bit, for which a `Pc` has no room.
    match address as i64 {
        1.. => Ok(()),
        0 => Err(Stop::Root(StackId::COMPLETE)),
        ..0 => Err(BAD),
    }
}

/// One step where the ABI chains the frames: the word at sp is the caller's sp,
/// above which whatever it called put the return address.
#[inline(always)]
pub fn along_chain(state: &mut WalkState, bounds: &Bounds) -> Result<(), Stop> {
    let caller = bounds.read(state.sp).ok_or(BAD)?;
    if caller == 0 {
        return Err(Stop::Root(StackId::COMPLETE));
    }
    if caller <= state.sp {
        return Err(BAD);
    }
    let at = caller.wrapping_sub(arch::return_below(0));
    let address = bounds.read(at).ok_or(BAD)?;
    state.sp = caller;
    return_to(address, state)
}

#[cold]
#[inline(never)]
fn rarer_step<R: Resolver>(
    rule: Rule,
    (state, bounds): &mut (WalkState, Bounds),
    cache: &Cache,
    resolver: &mut R,
) -> Result<(), Stop> {
    let is_plain = matches!(rule, Rule::BARE | Rule::GIVEN_UP);
    if !is_plain && let Some(back) = Back::of(rule) {
        let mapped = &cache.mapped;
        let region = |at| mapped.around(at, back, |at| resolver.bounds_of(at));
        back.step(state, bounds, region)?;
        return Err(Stop::Complex);
    }
    match rule.kind() {
        Kind::End => Err(Stop::Root(StackId::COMPLETE)),
        Kind::Complex => Err(Stop::Complex),
        Kind::Signal => out_of_signal(rule, state, bounds, resolver),
        Kind::NoTables if is_plain => Err(Stop::Root(StackId::CUT_NO_TABLES)),
        Kind::NoTables | Kind::Unknown | Kind::Sp | Kind::Fp | Kind::Chain => {
            // What a call was seen to return to is code: run-time compilers'
            // programs cross such frames at each allocation.
            across(state, bounds, |address| {
                let pc = Pc::returned(address);
                let is_known = pc.address() == address && cache.get(pc).is_some();
                resolver.is_code(address, is_known)
            })
        }
    }
}

/// From a signal's frame to what it interrupted.
fn out_of_signal<R: Resolver>(
    rule: Rule,
    state: &mut WalkState,
    bounds: &mut Bounds,
    resolver: &mut R,
) -> Result<(), Stop> {
    let [pc, sp, fp] = signal::interrupted(state.sp, rule, bounds).ok_or(BAD)?;
    state.pc = Pc::interrupted(pc);
    (state.sp, state.fp) = (sp, fp);
    if !(bounds.low..bounds.high).contains(&state.sp) {
        let low = state.sp;
        *bounds = resolver.bounds_of(low).ok_or(BUSY)?;
        bounds.low = low;
    }
    Ok(())
}

/// Steps out of code that no table describes, where it keeps to the ABI's
/// frame pointers: what compilers at run time do (V8, its builtins), for they
/// walk their own stacks by them. Every word is checked: the chain must rise
/// inside the stack, and lead into code. A null frame pointer says nothing here:
/// where it marks the outermost frame, the resolver knows that frame.
pub fn across(
    state: &mut WalkState,
    bounds: &Bounds,
    is_code: impl FnOnce(u64) -> Option<bool>,
) -> Result<(), Stop> {
    let fp = state.fp;
    const CUT: Stop = Stop::Root(StackId::CUT_NO_TABLES);
    if !arch::HAS_FRAME_POINTERS || fp < state.sp {
        return Err(CUT);
    }
    let saved = bounds.read(fp).ok_or(CUT)?;
    let above = fp.wrapping_add(arch::WORD);
    let address = arch::strip(bounds.read(above).ok_or(CUT)?);
    if !is_code(address).ok_or(BUSY)? {
        return Err(CUT);
    }
    // Also where a signal interrupted: the caller was left by a call.
    state.pc = Pc::returned(address);
    (state.sp, state.fp) = (above.wrapping_add(arch::WORD), saved);
    Ok(())
}

#[inline]
pub(super) fn look_up<R: Resolver>(
    state: &WalkState,
    bounds: &Bounds,
    cache: &mut Cache,
    resolver: &mut R,
) -> Result<Known, StackId> {
    if let Some(known) = cache.get(state.pc) {
        return Ok(known);
    }
    // By copies: what somebody else has the address of is kept in memory.
    let known = resolver.resolve((*state, *bounds), &mut cache.machine)?;
    if known.rule != Rule::BARE {
        match cache.put(state.pc, known) {
            0 => {}
            bytes => resolver.took(bytes),
        }
    }
    Ok(known)
}
