//! The capture: unwinding that goes on until it meets the stack of last time.
//!
//! ```text
//! capture(registers of the door):
//!   a whole stack that came before, at this place among others: that is it (`repeated`)
//!   walk as the plain walk does, noting each new frame's state, until a state
//!     is that of a kept frame, and every word that this frame and those
//!     outside it were stepped by is read again and found as it was
//!   the kept frames inside that one are forgotten; the new ones are kept in
//!     their place, outermost first, each with the id of its stack
//! ```
//!
//! Why that is exact: a step is a function of the state (pc, sp, and fp where
//! a rule uses it), of the words it reads, and of the rules. All equal, the
//! rest of the stack is the same, whatever happened in between: a longjmp, an
//! exception, other threads and coroutines. A change of the rules forgets all.
//!
//! Liberties, each with its price:
//! * fp is compared only where a frame further out uses it before it is
//!   reloaded, for compiled code keeps data in it: one bit a frame.
//! * The words are compared all at once, without a branch each, which may read
//!   words of frames that are gone. So only inside the thread's own stack;
//!   elsewhere one by one, in the order of a walk.
//! * Where again and again nearly all frames are new, keeping them is in vain
//!   and costs a third more than the plain walk. Then that is asked most of the
//!   time, until two captures beside each other meet again.
//! * A step that is not one of the closed set (by sp, by fp, out of a signal on
//!   the same stack) is a barrier: it and the frames inside it are named, and
//!   not kept. What needs other registers is made in [`far`], or left to the
//!   plain walk.
#![allow(unsafe_code)]
//! # Safety
//! Words are read again only above the sp of the present call, inside the
//! bounds of the stack that they were first read in.

mod children;
mod far;
mod frame;
mod repeated;
mod words;

use super::rule::Kind;
use super::walk::{self, Cache, MAX_FRAMES, Resolver, Stop, WalkState};
use crate::platform::arch::DoorFrame;
use crate::platform::bounds::Bounds;
use children::Children;
use far::FarCache;
use frame::{FreshFrame, KeptFrame, Name};
use memlog_format::table::{CodeId, Node, StackId};
use memlog_lockfree::table::Tag;
use repeated::Repeated;
use words::Words;

pub use far::Far;

/// Words of the stack that kept frames were stepped by, at most.
const MAX_WORDS: usize = 2 * MAX_FRAMES;

/// So many captures in a row for which it was in vain to keep the one before ...
const IN_VAIN: u32 = 4;
/// ... and of so many that follow only the first two are kept.
const REST: u32 = 31;
/// Fewer new frames are no matter.
const MANY: usize = 16;
/// What a thread's kept stack takes of memory at first: the first page of each
/// array that is only as long as the deepest stack.
pub const USUAL_BYTES: usize = 6 * 4096;

/// Where the names of stacks come from.
pub trait Namer {
    /// A stack's id, if it was made right after its parent.
    fn follows(&self, node: Node) -> Option<u32>;
    /// A stack of this tag will be asked for soon.
    fn expect(&self, tag: Tag);
    /// A cache takes so many bytes of memory more than before.
    fn took(&self, _bytes: usize) {}
    /// The id of one that was not, 0 if there is no room. If it is new, so are
    /// those `inside` it, which may be made with it.
    fn intern(&self, tag: Tag, node: Node, inside: impl ExactSizeIterator<Item = CodeId>) -> u32;
}

/// The tag that stacks from a root begin with.
pub const fn tag_of(root: StackId) -> Tag {
    Tag(root.0)
}

/// The last stack of a thread, and room for the next.
#[repr(C)]
pub struct Kept {
    count: usize,
    /// The end of the stack that the kept frames are on.
    high: u64,
    /// Whether that is the thread's own, which stays mapped.
    is_own: bool,
    in_vain: u32,
    resting: u32,
    /// The innermost frame of the last stack, if all of it is kept and the
    /// stack is the thread's own; else one that is nowhere.
    innermost: KeptFrame,
    repeated: Repeated,
    frames: [KeptFrame; MAX_FRAMES],
    words: Words,
    fresh: [FreshFrame; MAX_FRAMES],
    children: Children,
    far: FarCache,
}

impl Kept {
    /// Forgets the last stack: it was another thread's.
    pub fn forget(&mut self) {
        self.count = 0;
        self.innermost.state.sp = 0;
        self.repeated.forget();
    }

    /// Whether the plain walk is to be asked this time.
    #[inline(always)]
    fn rests(&mut self) -> bool {
        self.in_vain == IN_VAIN && {
            self.resting = (self.resting + 1) % REST;
            self.resting > 1
        }
    }

    /// Every capture is kept again.
    pub fn wake(&mut self) {
        self.in_vain = 0;
    }

    /// A capture met so many kept frames, and so many others.
    #[inline(always)]
    fn judge(&mut self, met: usize, fresh: usize) {
        let is_in_vain = fresh > MANY && fresh > 4 * met;
        self.in_vain = match is_in_vain {
            true => (self.in_vain + 1).min(IN_VAIN),
            false => 0,
        };
    }

    /// Forgets the ids too: the rules have changed, or the log.
    #[cold]
    pub fn clear(&mut self) {
        self.forget();
        self.children.forget();
        self.far.clear();
    }

    /// The last stack, if the caller's is that to the last word: what a loop
    /// that allocates at one place finds.
    #[inline(always)]
    pub fn unchanged(&self, state: &WalkState) -> Option<StackId> {
        let last = &self.innermost;
        let is_same = last.is_at(state) && self.words.are_same(last.words());
        is_same.then_some(StackId(last.name.id))
    }

    /// The last of the outermost `count` frames.
    #[inline]
    fn last(&self, count: usize) -> Option<&KeptFrame> {
        self.frames.get(count.wrapping_sub(1))
    }

    /// Of the outermost `open` frames, how many are certain to be as they were
    /// and how many may be, if not all are.
    #[cold]
    #[inline(never)]
    fn narrowed(&self, open: usize, is_own: bool) -> (usize, usize) {
        let frames = self.frames.get(..open).unwrap_or(&[]);
        let within = |words| frames.partition_point(|frame| frame.words() <= words);
        let words = 0..frames.last().map_or(0, KeptFrame::words);
        let is_other = |&index: &usize| !self.words.is_same(index);
        if is_own {
            let proven = words.clone().find(is_other).map_or(open, within);
            return (proven, proven);
        }
        // On a stack that somebody may unmap a word is read only when a walk
        // would come to it: when those inside it have been found as they were.
        match words.rev().find(is_other) {
            Some(other) => (0, within(other)),
            None => (open, open),
        }
    }

    /// Notes the last stack, which is kept whole, among those that may come again.
    #[inline(always)]
    fn remember(&mut self, hash: Option<usize>, namer: &impl Namer) {
        let Some(hash) = hash else {
            return;
        };
        match self.repeated.note(hash, &self.innermost, &self.words) {
            0 => {}
            bytes => namer.took(bytes),
        }
    }

    /// Names the new frames and keeps them inside of the outermost `met` kept
    /// ones, or inside of a root. The id of the whole, 0 if there is no room.
    #[inline(always)]
    fn keep(&mut self, met: usize, fresh: usize, root: StackId, namer: &impl Namer) -> u32 {
        let outermost = Name {
            id: root.0,
            tag: tag_of(root),
        };
        self.innermost.state.sp = 0;
        self.count = met;
        let Some(mut inside) = self.fresh.get(..fresh) else {
            return 0;
        };
        let mut outer = match self.frames.get(met.wrapping_sub(1)) {
            Some(&frame) => frame,
            None => {
                let Some((first, rest)) = inside.split_last() else {
                    return 0;
                };
                inside = rest;
                let name = self.children.name(outermost, first, inside, namer);
                let outer = KeptFrame::outermost(first, root, name, &mut self.words, self.high);
                let (Some(outer), 1..) = (outer, name.id) else {
                    return self.children.name_all(name, inside, namer);
                };
                if let Some(place) = self.frames.first_mut() {
                    *place = outer;
                }
                self.count = 1;
                outer
            }
        };
        let Some(places) = self.frames.get_mut(self.count..) else {
            return 0;
        };
        let mut places = places.iter_mut();
        while let Some((frame, rest)) = inside.split_last() {
            inside = rest;
            let name = self.children.name(outer.name, frame, inside, namer);
            let callee = outer.callee(frame, name, &mut self.words);
            let (Some(callee), Some(place)) = (callee, places.next()) else {
                let at = inside.len();
                return self.keep_rest(outer, name, at, namer);
            };
            *place = callee;
            outer = callee;
            self.count += 1;
        }
        if self.is_own {
            self.innermost = outer;
        }
        outer.name.id
    }

    /// The same from a frame on that is not of those that nearly all are.
    #[cold]
    #[inline(never)]
    fn keep_rest(
        &mut self,
        mut outer: KeptFrame,
        mut name: Name,
        mut at: usize,
        namer: &impl Namer,
    ) -> u32 {
        while let Some((frame, inside)) = self.fresh.get(..=at).and_then(<[_]>::split_last) {
            let words = &mut self.words;
            let callee = match frame.known.rule.is(Kind::Signal) {
                true => outer.signal(frame, name, words, self.high),
                false => outer.callee(frame, name, words),
            };
            let (Some(callee), Some(place)) = (callee, self.frames.get_mut(self.count)) else {
                return self.children.name_all(name, inside, namer);
            };
            *place = callee;
            outer = callee;
            self.count += 1;
            let Some((next, further)) = inside.split_last() else {
                break;
            };
            name = self.children.name(outer.name, next, further, namer);
            at -= 1;
        }
        if self.is_own {
            self.innermost = outer;
        }
        outer.name.id
    }
}

/// The id of the caller's stack; nothing where the plain walk has to be asked.
/// `is_own`: the stack is the thread's own, and stays mapped.
#[inline(always)]
pub fn capture<R: Resolver>(
    frame: &DoorFrame,
    mut bounds: Bounds,
    is_own: bool,
    (cache, kept): (&mut Cache, &mut Kept),
    resolver: &mut R,
    namer: &impl Namer,
) -> Option<StackId> {
    let mut state = WalkState::at(frame);
    if kept.high != bounds.high || kept.is_own != is_own {
        (kept.high, kept.is_own) = (bounds.high, is_own);
        kept.forget();
    }
    let hash = match kept.repeated.rests() {
        true => None,
        false => Some(kept.repeated.hash(&state)),
    };
    if let Some(id) = hash.and_then(|hash| kept.repeated.known(&state, hash)) {
        // The last one, which ends where this does, was compared in vain.
        if kept.innermost.is_at(&state) {
            kept.innermost.state.sp = 0;
        }
        return Some(StackId(id));
    }
    if kept.rests() {
        return None;
    }
    let (mut open, mut proven, mut fresh) = (kept.count, 0, 0);
    let mut is_far = false;
    let root = loop {
        if let Some(last) = kept.last(open) {
            if last.state.sp < state.sp {
                open -= 1;
                continue;
            }
            if last.is_at(&state) {
                if open <= proven || (is_own && kept.words.are_same(last.words())) {
                    break StackId::NONE;
                }
                let may_be = open;
                (proven, open) = kept.narrowed(open, is_own);
                if open < may_be {
                    continue;
                }
                break StackId::NONE;
            }
        }
        let known = match walk::look_up(&state, &bounds, cache, resolver) {
            Ok(known) => known,
            Err(root) => {
                open = 0;
                break root;
            }
        };
        *kept.fresh.get_mut(fresh)? = FreshFrame { state, known };
        fresh += 1;
        match walk::step(known.rule, &mut state, &mut bounds, cache, resolver) {
            Ok(()) => {}
            // Where a stack ends that is not the thread's own is hearsay.
            Err(Stop::Root(StackId::CUT_BAD_FRAME)) if !is_own => return None,
            Err(Stop::Root(root)) => {
                open = 0;
                break root;
            }
            Err(Stop::Complex) => {
                let frames = kept.fresh.get(..fresh)?;
                state = kept.far.step(frames, frame, &bounds, resolver)?;
                is_far = true;
            }
        }
    };
    match is_far {
        // All inside of that frame is always new.
        true => kept.wake(),
        false => kept.judge(open, fresh),
    }
    if fresh == 0 {
        let last = *kept.last(open)?;
        if is_own {
            kept.innermost = last;
            kept.remember(hash, namer);
        }
        return Some(StackId(last.name.id));
    }
    if open + fresh > MAX_FRAMES {
        return None;
    }
    match kept.keep(open, fresh, root, namer) {
        0 => Some(StackId::CUT_FULL),
        id => {
            if kept.innermost.state.sp != 0 {
                kept.remember(hash, namer);
            }
            Some(StackId(id))
        }
    }
}
