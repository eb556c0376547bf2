//! The id of the stack that a call came from.
//!
//! By the kept stack of the thread where that can say it; else by the plain
//! walk and a descent through the trie. In verify mode both, compared.

use crate::hooks::session::Recording;
use crate::log::stream::{Of, Stream};
use crate::log::tables::NodeMemory;
use crate::platform::arch;
use crate::platform::arch::DoorFrame;
use crate::platform::bounds::Bounds;
use crate::platform::clock;
use crate::platform::lock::Patience;
use crate::process::recorder::{Here, RECORDER, VERIFYING};
use crate::unwind::codemap;
use crate::unwind::kept::{self, Namer};
use crate::unwind::walk::{self, Resolver, WalkState};
use core::sync::atomic::Ordering;
use memlog_format::counter::Counter;
use memlog_format::table::{CodeId, Node, StackId};
use memlog_lockfree::table::{Inside, Tag};

/// How far below what was last seen a thread's own stack may reach unasked.
const BELOW: u64 = 64 * 1024;

type Asking = codemap::Asking<Here>;

/// The trie of the process.
struct Names(NodeMemory);

impl Names {
    /// How many of these frames, one inside the other, follow each other.
    fn follow_far(&self, id: StackId, inside: impl ExactSizeIterator<Item = CodeId>) -> u32 {
        RECORDER.log.nodes.follow_far(id.0, Callees(inside))
    }
}

impl Namer for Names {
    #[inline]
    fn follows(&self, node: Node) -> Option<u32> {
        RECORDER.log.nodes.follows(node.parent.0, &[node.to_word()])
    }

    #[inline]
    fn expect(&self, tag: Tag) {
        if let Some(place) = RECORDER.log.nodes.place(tag) {
            arch::expect(place);
        }
    }

    #[cold]
    fn took(&self, bytes: usize) {
        RECORDER.ground.note_own(bytes as u64);
    }

    #[inline]
    fn intern(&self, tag: Tag, node: Node, inside: impl ExactSizeIterator<Item = CodeId>) -> u32 {
        let key = [node.to_word()];
        let nodes = &RECORDER.log.nodes;
        let inside = Callees(inside);
        nodes.intern_path(node.parent.0, tag, &key, inside, &self.0)
    }
}

/// The frames further in, as keys of the trie.
struct Callees<I>(I);

impl<I: ExactSizeIterator<Item = CodeId>> Inside<1> for Callees<I> {
    fn count(&self) -> u32 {
        self.0.len() as u32
    }

    fn next(&mut self, before: u32) -> Option<[u64; 1]> {
        let (parent, code) = (StackId(before), self.0.next()?);
        Some([Node { parent, code }.to_word()])
    }
}

/// The same where the rules may have changed, or everything is verified.
#[inline(never)]
pub fn capture_apart(recording: Recording, frame: &DoorFrame, of: Of) -> StackId {
    let Recording { stream, patience } = recording;
    let generation = RECORDER.generation.load(Ordering::Acquire);
    if stream.generation != generation & !VERIFYING {
        stream.clear_cache(generation & !VERIFYING);
        stream.leave_private_chunk();
    }
    if generation & VERIFYING == 0 {
        return capture_anew(stream, frame, patience, of);
    }
    let looked = stream.kept(of).unchanged(&WalkState::at(frame));
    stream.capture_space(of).1.wake();
    let stack = capture_anew(stream, frame, patience, of);
    verify(stream, frame, patience, stack);
    if looked.is_some_and(|id| id != stack) && !is_refused(stack) {
        RECORDER.ground.counters.add(Counter::VerifyDiffers, 1);
    }
    stack
}

/// By a walk to where the stack is that of last time: a copy for each, so that
/// where the last one is kept is no variable.
#[inline(always)]
pub(super) fn capture_anew(
    stream: &mut Stream,
    frame: &DoorFrame,
    patience: Patience,
    of: Of,
) -> StackId {
    match of {
        Of::Allocation => capture_allocation(stream, frame, patience),
        Of::Release => capture_release(stream, frame, patience),
    }
}

#[inline(never)]
fn capture_allocation(stream: &mut Stream, frame: &DoorFrame, patience: Patience) -> StackId {
    walk_to_last(stream, frame, patience, Of::Allocation)
}

#[inline(never)]
fn capture_release(stream: &mut Stream, frame: &DoorFrame, patience: Patience) -> StackId {
    walk_to_last(stream, frame, patience, Of::Release)
}

#[inline(always)]
fn walk_to_last(stream: &mut Stream, frame: &DoorFrame, patience: Patience, of: Of) -> StackId {
    let mut asking = Asking::new(patience, stream.stack);
    let Some((bounds, is_own)) = bounds_of(stream, frame, &mut asking) else {
        return StackId::CUT_BUSY;
    };
    let namer = Names(NodeMemory(&RECORDER.log, patience));
    let space = stream.capture_space(of);
    let stack = match kept::capture(frame, bounds, is_own, space, &mut asking, &namer) {
        Some(stack) => stack,
        None => plain(stream, frame, (bounds, is_own), &mut asking),
    };
    if asking.crossed {
        RECORDER.ground.counters.add(Counter::FramePointerStacks, 1);
    }
    stack
}

/// What a walk may read, and whether that is the thread's own stack; none where
/// nobody could be asked.
#[inline]
fn bounds_of(
    stream: &mut Stream,
    frame: &DoorFrame,
    asking: &mut Asking,
) -> Option<(Bounds, bool)> {
    let low = frame.sp();
    let own = stream.stack;
    let is_own = (own.low..own.high).contains(&low);
    let high = match is_own {
        true => own.high,
        false => elsewhere(stream, low, asking)?.high,
    };
    Some((Bounds { low, high }, is_own))
}

/// The bounds of a stack that is not the thread's own.
#[cold]
fn elsewhere(stream: &mut Stream, sp: u64, asking: &mut Asking) -> Option<Bounds> {
    if !(stream.other_stack.low..stream.other_stack.high).contains(&sp) {
        let found = asking.bounds_of(sp)?;
        if sp < stream.stack.low && found.high > stream.stack.low {
            // The thread's own, further down than was known.
            stream.stack.low = sp.saturating_sub(BELOW).max(found.low);
            return Some(stream.stack);
        }
        stream.other_stack = found;
    }
    Some(stream.other_stack)
}

/// By the plain walk, from the root through the trie, outermost frame first.
#[inline(never)]
fn plain(
    stream: &mut Stream,
    frame: &DoorFrame,
    (bounds, is_own): (Bounds, bool),
    asking: &mut Asking,
) -> StackId {
    let namer = Names(NodeMemory(&RECORDER.log, asking.patience));
    let (mut count, mut root) = walk::walk(frame, bounds, &mut stream.workspace(), asking);
    if root == StackId::CUT_BAD_FRAME
        && !is_own
        && let Some(bounds) = reaches_further(stream, bounds, asking)
    {
        (count, root) = walk::walk(frame, bounds, &mut stream.workspace(), asking);
    }
    let space = stream.workspace();
    named(root, space.codes.get(..count).unwrap_or(&[]), &namer)
}

/// The id of a stack of these codes, innermost first, from the root through the trie.
/// Where a path leaves another is in the index, which is fetched ahead; what follows
/// there without leaving it needs none.
fn named(root: StackId, codes: &[u32], namer: &Names) -> StackId {
    /// Frames further out than this seldom lie on one path only.
    const SHARED: usize = 14;
    let mut inside = codes.iter().rev().map(|&code| CodeId(code));
    let mut tag = kept::tag_of(root);
    for code in inside.clone().take(SHARED) {
        tag = tag.mixed(u64::from(code.0));
        namer.expect(tag);
    }
    let (mut id, mut tag) = (root, kept::tag_of(root));
    loop {
        let known = namer.follow_far(id, inside.clone());
        if known as usize == inside.len() {
            return StackId(id.0 + known);
        }
        for code in inside.by_ref().take(known as usize) {
            tag = tag.mixed(u64::from(code.0));
        }
        let parent = StackId(id.0 + known);
        let Some(code) = inside.next() else {
            return parent;
        };
        tag = tag.mixed(u64::from(code.0));
        match namer.intern(tag, Node { parent, code }, inside.clone()) {
            0 => return StackId::CUT_FULL,
            next => id = StackId(next),
        }
    }
}

/// What lies where a foreign stack is may reach further by now than when that
/// was asked for. Not asked again soon: there are stacks that are broken.
#[cold]
fn reaches_further(stream: &mut Stream, known: Bounds, asking: &mut Asking) -> Option<Bounds> {
    const WAIT_MS: u64 = 100;
    let (high, at_ms) = stream.confirmed;
    let now_ms = clock::ms_of(stream.tick());
    if high == known.high && now_ms.wrapping_sub(at_ms) < WAIT_MS {
        return None;
    }
    let found = asking.bounds_of(known.low)?;
    stream.confirmed = (found.high.max(known.high), now_ms);
    if found.high <= known.high {
        return None;
    }
    stream.other_stack = found;
    Some(Bounds {
        high: found.high,
        ..known
    })
}

/// Whether a stack says of itself that a table could not be asked or had no
/// room, as in a handler that interrupted its holder: the next walk may be
/// luckier, and that is no difference.
#[cold]
fn is_refused(mut stack: StackId) -> bool {
    while let Some([word]) = RECORDER.log.nodes.get(stack.0) {
        stack = Node::from_word(word).parent;
    }
    stack == StackId::CUT_FULL || stack == StackId::CUT_BUSY
}

/// Walks once more, the plain way, and counts whether that says the same.
#[cold]
#[inline(never)]
fn verify(stream: &mut Stream, frame: &DoorFrame, patience: Patience, stack: StackId) {
    let mut asking = Asking::new(patience, stream.stack);
    let Some((bounds, _)) = bounds_of(stream, frame, &mut asking) else {
        return;
    };
    let mut space = stream.workspace();
    let (count, root) = walk::walk(frame, bounds, &mut space, &mut asking);
    if is_refused(stack) || is_refused(root) {
        return;
    }
    let mut id = stack;
    let mut same = true;
    for &code in space.codes.get(..count).unwrap_or(&[]) {
        let Some([word]) = RECORDER.log.nodes.get(id.0) else {
            same = false;
            break;
        };
        let node = Node::from_word(word);
        same &= is_same_code(node.code, CodeId(code));
        id = node.parent;
    }
    RECORDER.ground.counters.add(Counter::Verified, 1);
    if !same || id != root {
        RECORDER.ground.counters.add(Counter::VerifyDiffers, 1);
    }
}

/// Whether two codes say the same: threads that race may each have made one.
fn is_same_code(one: CodeId, other: CodeId) -> bool {
    one == other || RECORDER.log.codes.get(one.0) == RECORDER.log.codes.get(other.0)
}
