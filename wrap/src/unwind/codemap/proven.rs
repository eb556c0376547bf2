//! Frames without tables: the candidates that the stack makes of them, and those
//! that were proven.
//!
//! What came out is kept for each pc: the rule of a proven frame goes where all
//! rules go, and a pc that was in vain a few times is given up. All readings
//! together have an end.

use super::bytes::called_by;
use super::hosted::{Host, Hosted};
use super::{Inside, RuleSource};
use crate::platform::arch::{self, code};
use crate::platform::bounds::Bounds;
use crate::platform::sys::{Os, Sys};
use crate::unwind::Process;
use crate::unwind::reading::{Candidate, Reader, word_at};
use crate::unwind::rule::Kind;
use crate::unwind::walk::{Pc, WalkState};

/// Words of the stack that are asked for at once, and how often.
pub(super) const WORDS: usize = 128;
pub(super) const BLOCKS: usize = 16;
/// Claims that are read for one frame, at most.
const MOST_CANDIDATES: usize = 64;
/// Instructions that are read for one frame, and by a process for those that it
/// looks for.
const BUDGET: usize = 30_000;
const WHOLE_BUDGET: usize = 4_000_000;
/// How often a pc is tried.
const MOST_TRIES: u32 = 3;
/// Frames that are remembered: a power of two.
const REMEMBERED: usize = 512;
/// How long a function is that never returns.
const LONG: u64 = 256;

/// What came out for a pc.
#[derive(Clone, Copy, Default)]
struct Outcome {
    pc: Pc,
    candidate: Candidate,
    is_true: bool,
    /// Where the frame is that of a function that jumped to it.
    hosted: Hosted,
    tries: u32,
}

/// All that came out. Zeros are a valid beginning.
pub(super) struct Proven {
    pub(super) reader: Reader,
    outcomes: [Outcome; REMEMBERED],
    spent: usize,
    /// The function whose frame holds code that was met last, and how often one was
    /// looked for.
    pub(super) host: Host,
    pub(super) host_searches: u32,
    /// Where a function was met last that goes back to another stack.
    pub(super) switched_at: u64,
    /// Functions that do not lead to the frame at hand: stale words of the
    /// stack candidate the same ones again and again.
    elsewhere: [u64; MOST_CANDIDATES],
    /// A piece of the stack.
    pub(super) words: [usize; WORDS],
}

impl Proven {
    /// The place of a pc's outcome; none if there is no room.
    fn outcome(&mut self, pc: Pc) -> Option<&mut Outcome> {
        const PROBES: usize = 16;
        let start = (pc.key().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        let indexes = (0..PROBES).map(|probe| start.wrapping_add(probe) % REMEMBERED);
        let index = indexes.into_iter().find(|&index| {
            let place = self.outcomes.get(index);
            place.is_some_and(|place| place.pc == pc || place.pc == Pc::default())
        });
        let place = self.outcomes.get_mut(index?)?;
        place.pc = pc;
        Some(place)
    }

    /// Whether a candidate is true, and a packed rule can say so.
    fn accepts(&mut self, candidate: &Candidate, index: usize) -> bool {
        let is_true = self.reader.proves(candidate);
        if !self.reader.leads_there
            && let Some(place) = self.elsewhere.get_mut(index)
        {
            *place = candidate.start;
        }
        is_true && !self.reader.row.pack().is(Kind::Complex)
    }

    /// Reads words of the stack, the rest is null; by the kernel: one that is
    /// not the thread's own may be gone in part.
    pub(super) fn read(&mut self, from: u64, high: u64) {
        let count = high
            .saturating_sub(from)
            .min(size_of_val(&self.words) as u64);
        self.words.fill(0);
        let bytes = self.words.as_mut_ptr().cast::<u8>();
        // SAFETY: inside the words; of those all bytes are some.
        let bytes = unsafe { core::slice::from_raw_parts_mut(bytes, count as usize) };
        if !Os::read_memory(from, bytes) {
            self.words.fill(0);
        }
    }
}

impl<H: Process> Inside<H> {
    /// A frame without tables, at a place on the stack if that is known.
    #[inline(never)]
    pub(super) fn bare(
        &mut self,
        pc: Pc,
        module: u32,
        frame: Option<&(WalkState, Bounds)>,
    ) -> RuleSource {
        if H::ground().is_quiet() || !code::READS_CODE {
            return RuleSource::Bare(module, false);
        }
        let Some(outcome) = self.proven.outcome(pc) else {
            return RuleSource::Bare(module, true);
        };
        let hosted = outcome.hosted;
        if hosted.is_some() {
            return match self.row_of_hosted(&hosted) {
                Some(row) => {
                    self.proven.reader.row = row;
                    RuleSource::Proven(module)
                }
                None => RuleSource::Bare(module, false),
            };
        }
        if outcome.is_true {
            // Its row is read again, which the process was charged for once.
            let candidate = outcome.candidate;
            self.proven.reader.renew(BUDGET);
            return match self.proven.reader.proves(&candidate) {
                true => RuleSource::Proven(module),
                false => RuleSource::Bare(module, false),
            };
        }
        let Some(frame) = frame else {
            return RuleSource::Bare(module, false);
        };
        if outcome.tries == MOST_TRIES {
            return RuleSource::Bare(module, true);
        }
        outcome.tries += 1;
        if let Some(hosted) = self.charged(|inside| inside.hosted(frame)) {
            if let Some(outcome) = self.proven.outcome(pc) {
                outcome.hosted = hosted;
            }
            return RuleSource::Proven(module);
        }
        let Some(candidate) = self.charged(|inside| inside.look_for_candidate(frame)) else {
            return RuleSource::Bare(module, false);
        };
        if let Some(outcome) = self.proven.outcome(pc) {
            (outcome.candidate, outcome.is_true) = (candidate, true);
        }
        RuleSource::Proven(module)
    }

    /// Whether a pc was tried often enough, this time included.
    pub(super) fn was_tried(&mut self, pc: Pc) -> bool {
        self.proven.outcome(pc).is_none_or(|outcome| {
            outcome.tries = MOST_TRIES.min(outcome.tries + 1);
            outcome.tries == MOST_TRIES
        })
    }

    /// What reading tells, for which the process is charged.
    fn charged<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let left = WHOLE_BUDGET.saturating_sub(self.proven.spent).min(BUDGET);
        self.proven.reader.renew(left);
        let told = read(self);
        self.proven.spent += left.saturating_sub(self.proven.reader.left());
        told
    }

    /// The lowest word of the stack that can be shown to be the return address
    /// of a frame. Every call that an instruction names is one that may be:
    /// those of functions nearby first, then those that may have gone on to
    /// this one by a jump. The ABI aligns the stack where a call is made.
    fn look_for_candidate(&mut self, (state, bounds): &(WalkState, Bounds)) -> Option<Candidate> {
        let mut candidate = Candidate {
            pc: state.pc.address(),
            is_left: !state.pc.is_exact(),
            ..Candidate::default()
        };
        let is_final = |function: u64| is_ending(function, function);
        let is_end = self.called_before(candidate.pc).is_some_and(is_final);
        let mut left = MOST_CANDIDATES;
        self.proven.elsewhere.fill(0);
        for index in 0..2 * BLOCKS {
            let (is_near, block) = (index < BLOCKS, index % BLOCKS);
            let block = block * WORDS * arch::WORD as usize;
            let from = aligned(state.sp).checked_add(block as u64)?;
            if from >= bounds.high {
                continue;
            }
            self.proven.read(from, bounds.high);
            for word in (0..WORDS).step_by(2) {
                let at = from + word as u64 * arch::WORD;
                let address = self.proven.words.get(word).copied().unwrap_or(0) as u64;
                let Some(start) = self.called_before(address) else {
                    continue;
                };
                let is_known = self.proven.elsewhere.contains(&start);
                if is_beside(start, candidate.pc) != is_near || is_known {
                    continue;
                }
                let distance = |to: u64| to.wrapping_sub(at) as i64;
                (candidate.start, candidate.sp, candidate.fp) =
                    (start, distance(state.sp), distance(state.fp));
                candidate.returns = !is_end && !is_ending(start, candidate.pc);
                left = left.checked_sub(1)?;
                if self.proven.accepts(&candidate, left) {
                    return Some(candidate);
                }
            }
        }
        None
    }

    /// Where the function begins that a call before this address was for.
    pub(super) fn called_before(&mut self, address: u64) -> Option<u64> {
        self.modules.find(address)?;
        let (distance, is_place) = called_by(H::ground(), address)?;
        let target = address.wrapping_add_signed(distance);
        match is_place {
            true => word_at(target),
            false => Some(self.proven.reader.behind_stub(target)),
        }
    }
}

/// The first place from here on where a return address may lie.
pub(super) fn aligned(sp: u64) -> u64 {
    let word = sp.next_multiple_of(arch::WORD);
    word + arch::WORD * u64::from(word.is_multiple_of(2 * arch::WORD))
}

/// Whether a pc is one of a function that begins here, if no jump led from one
/// function to another.
pub(super) fn is_beside(start: u64, pc: u64) -> bool {
    const LONGEST: u64 = 32 * 1024;
    pc.wrapping_sub(start) < LONGEST
}

/// Whether a function is one of those that never return, which the outermost
/// frames call last, and holds a pc.
fn is_ending(start: u64, pc: u64) -> bool {
    let mut endings = arch::marks::endings().into_iter();
    endings.any(|(end, ..)| end == start) && pc.wrapping_sub(start) < LONG
}
