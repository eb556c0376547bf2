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

use super::full::Bounds;
use super::rule::{Kind, Rule};
use crate::arch::{self, DoorFrame};
use crate::sync::{AtomicU64, Ordering};
use memlog_format::table::StackId;

/// Frames kept of one stack, at most.
pub const MAX_FRAMES: usize = 16 * 1024;
/// Entries of a thread's cache.
pub const CACHE_ENTRIES: usize = 2048;

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
#[repr(C)]
pub struct CacheEntry {
    /// The address, shifted left, with the exact bit below.
    key: u64,
    known: Known,
}

/// A frame's place in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pc {
    /// A return address, or the very instruction if `exact`.
    pub address: u64,
    /// Whether the frame was interrupted rather than left by a call.
    pub exact: bool,
}

impl Pc {
    /// One word that tells all; addresses leave the top bit free.
    #[inline]
    pub const fn key(self) -> u64 {
        self.address << 1 | self.exact as u64
    }

    /// The address whose rules hold.
    #[inline]
    pub const fn lookup(self) -> u64 {
        self.address.wrapping_sub(!self.exact as u64)
    }
}

/// The memory a walk needs, lent by the stream.
pub struct Workspace<'a> {
    /// The thread's cache.
    pub cache: &'a mut [CacheEntry],
    /// The codes of the frames, innermost first.
    pub codes: &'a mut [u32],
}

/// Who answers what the caches do not know.
pub trait Resolver {
    /// Rule and code of an address; `Err` is the root to end the stack with.
    fn resolve(&mut self, pc: Pc) -> Result<Known, StackId>;
    /// Walks with all registers; how many codes it noted, and the root.
    fn walk_fully(&mut self, frame: &DoorFrame, codes: &mut [u32]) -> (usize, StackId);
    /// The bounds of the stack that an address is on.
    fn bounds_of(&mut self, sp: u64) -> Bounds;
    /// Whether an address lies in code, with tables or without.
    fn is_code(&mut self, address: u64) -> bool;
}

/// Walks; the number of codes noted and the root.
#[inline]
pub fn walk<R: Resolver>(
    frame: &DoorFrame,
    bounds: Bounds,
    space: &mut Workspace,
    resolver: &mut R,
) -> (usize, StackId) {
    let mut pc = Pc {
        address: frame.pc(),
        exact: false,
    };
    if arch::BACK_CHAIN {
        return walk_chain(pc, frame.sp(), bounds, space, resolver);
    }
    let (mut sp, mut fp) = (frame.sp(), frame.fp());
    let mut bounds = bounds;
    let mut count = 0;
    loop {
        let known = match look_up(pc, space.cache, resolver) {
            Ok(known) => known,
            Err(root) => return (count, root),
        };
        match space.codes.get_mut(count) {
            Some(place) => *place = known.code,
            None => return (count, StackId::CUT_TOO_DEEP),
        }
        count += 1;
        let rule = known.rule;
        let from = match rule.kind() {
            Kind::Sp => sp,
            Kind::Fp => fp,
            Kind::End => return (count, StackId::COMPLETE),
            Kind::NoTables | Kind::Unknown => {
                match across(sp, fp, &bounds, resolver) {
                    // Also where a signal interrupted: its caller was left by a call.
                    Ok(caller) => {
                        (pc.address, pc.exact, sp, fp) = (caller.0, false, caller.1, caller.2)
                    }
                    Err(root) => return (count, root),
                }
                continue;
            }
            Kind::Complex => return resolver.walk_fully(frame, space.codes),
            Kind::Signal => {
                let Some(interrupted) = arch::interrupted(sp, &bounds) else {
                    return (count, StackId::CUT_BAD_FRAME);
                };
                (pc.address, pc.exact) = (interrupted.pc, true);
                (sp, fp) = (interrupted.sp, interrupted.fp);
                if !(bounds.low..bounds.high).contains(&sp) {
                    bounds = resolver.bounds_of(sp);
                }
                continue;
            }
        };
        let cfa = from.wrapping_add(rule.offset_words().wrapping_mul(arch::WORD));
        // The stack must rise, or a walk could go round for ever.
        if cfa <= sp {
            return (count, StackId::CUT_BAD_FRAME);
        }
        let Some(address) = bounds.read(cfa.wrapping_sub(arch::RA_BELOW_CFA as u64)) else {
            return (count, StackId::CUT_BAD_FRAME);
        };
        if rule.saved_words() != 0 {
            let at = cfa.wrapping_sub(rule.saved_words().wrapping_mul(arch::WORD));
            match bounds.read(at) {
                Some(word) => fp = word,
                None => return (count, StackId::CUT_BAD_FRAME),
            }
        }
        sp = cfa;
        pc = Pc {
            address: arch::strip(address),
            exact: false,
        };
        // Hand-made stacks end in a null return address.
        if pc.address == 0 {
            return (count, StackId::COMPLETE);
        }
    }
}

/// Steps out of code that no table describes, where it keeps to the ABI's
/// frame pointers: what compilers at run time do (V8, its builtins), for they
/// walk their own stacks by them. Every word is checked: the chain must rise
/// inside the stack, and lead into code. A null frame pointer is the ABI's
/// mark of the outermost frame.
#[cold]
fn across<R: Resolver>(
    sp: u64,
    fp: u64,
    bounds: &Bounds,
    resolver: &mut R,
) -> Result<(u64, u64, u64), StackId> {
    if fp == 0 {
        return Err(StackId::COMPLETE);
    }
    let cut = StackId::CUT_NO_TABLES;
    if !arch::HAS_FRAME_POINTERS || fp < sp {
        return Err(cut);
    }
    let saved = bounds.read(fp).ok_or(cut)?;
    let above = fp.wrapping_add(arch::WORD);
    let address = arch::strip(bounds.read(above).ok_or(cut)?);
    if !resolver.is_code(address) {
        return Err(cut);
    }
    Ok((address, above.wrapping_add(arch::WORD), saved))
}

/// Walks where the ABI chains the frames: the word at sp is the caller's sp,
/// and the return address lies at a fixed place above that.
fn walk_chain<R: Resolver>(
    mut pc: Pc,
    mut sp: u64,
    bounds: Bounds,
    space: &mut Workspace,
    resolver: &mut R,
) -> (usize, StackId) {
    let mut count = 0;
    loop {
        let known = match look_up(pc, space.cache, resolver) {
            Ok(known) => known,
            Err(root) => return (count, root),
        };
        match space.codes.get_mut(count) {
            Some(place) => *place = known.code,
            None => return (count, StackId::CUT_TOO_DEEP),
        }
        count += 1;
        let Some(caller) = bounds.read(sp) else {
            return (count, StackId::CUT_BAD_FRAME);
        };
        if caller == 0 {
            return (count, StackId::COMPLETE);
        }
        if caller <= sp {
            return (count, StackId::CUT_BAD_FRAME);
        }
        sp = caller;
        match bounds.read(sp.wrapping_add_signed(-arch::RA_BELOW_CFA)) {
            Some(0) => return (count, StackId::COMPLETE),
            Some(address) => pc.address = arch::strip(address),
            None => return (count, StackId::CUT_BAD_FRAME),
        }
    }
}

#[inline]
fn look_up<R: Resolver>(
    pc: Pc,
    cache: &mut [CacheEntry],
    resolver: &mut R,
) -> Result<Known, StackId> {
    let key = pc.key();
    let mixed = pc.address ^ (pc.address >> 11);
    let index = mixed as usize & (CACHE_ENTRIES - 1);
    if let Some(entry) = cache.get(index)
        && entry.key == key
    {
        return Ok(entry.known);
    }
    let known = resolver.resolve(pc)?;
    if let Some(entry) = cache.get_mut(index) {
        *entry = CacheEntry { key, known };
    }
    Ok(known)
}

/// The exact table of all threads: two words an entry, key and known. Only
/// ever added to; a new generation gets an empty one.
#[derive(Clone, Copy)]
pub struct Shared {
    words: &'static [AtomicU64],
}

impl Shared {
    /// Over zeroed words, a power of two of pairs.
    pub const fn new(words: &'static [AtomicU64]) -> Self {
        Self { words }
    }

    fn pair(&self, key: u64, probe: usize) -> Option<(&AtomicU64, &AtomicU64)> {
        let pairs = self.words.len() / 2;
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let at = (hash as usize).wrapping_add(probe) & pairs.wrapping_sub(1);
        Some((self.words.get(2 * at)?, self.words.get(2 * at + 1)?))
    }

    /// What is known of an address.
    pub fn get(&self, pc: Pc) -> Option<Known> {
        let key = pc.key();
        for probe in 0..16 {
            let (name, value) = self.pair(key, probe)?;
            match name.load(Ordering::Acquire) {
                0 => return None,
                found if found == key => {
                    // Zero: named, not told yet; the asker finds out himself.
                    let word = value.load(Ordering::Acquire);
                    return (word != 0).then_some(Known {
                        rule: Rule(word as u32),
                        code: (word >> 32) as u32,
                    });
                }
                _ => {}
            }
        }
        None
    }

    /// Tells what is known of an address; quietly not, where it is crowded.
    pub fn put(&self, pc: Pc, known: Known) {
        let key = pc.key();
        let word = u64::from(known.rule.0) | u64::from(known.code) << 32;
        for probe in 0..16 {
            let Some((name, value)) = self.pair(key, probe) else {
                return;
            };
            let order = (Ordering::AcqRel, Ordering::Acquire);
            match name.compare_exchange(0, key, order.0, order.1) {
                Ok(_) => return value.store(word, Ordering::Release),
                Err(found) if found == key => return value.store(word, Ordering::Release),
                Err(_) => {}
            }
        }
    }
}
