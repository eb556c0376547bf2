//! Code without tables that runs in the frame of another function, which jumped to
//! it: what GHC makes of Haskell. Its own stack is not the processor's, whose
//! pointer stays where the runtime's `StgRun` has put it, 16 KiB below; all goes on
//! by jumps from there, and a call of C moves it by a few words at most. The tables
//! of that function tell its caller's registers from there, which no other
//! function's do: its return address lies above its CFA, which is its sp.
//!
//! ```text
//! a frame of such code (pc, sp):
//!   follow the ways from pc to where they jump through a word or a register: sp
//!     is so many bytes higher there, on all of them the same
//!   the word there is no return address: this is no function that ends by a jump;
//!   nor may one above be that of a function which jumps before it ends
//!   the word as far above it as the tables have it is behind a call that names
//!     the function that these tables are of
//! ```

use super::bytes::{code_at, follows_call, trampoline_of};
use super::proven::{WORDS, aligned, is_beside};
use super::{Inside, describe};
use crate::platform::arch::{self, code};
use crate::platform::bounds::Bounds;
use crate::platform::rules::Saved;
use crate::unwind::Process;
use crate::unwind::row::{Cfa, Row};
use crate::unwind::rule::Kind;
use crate::unwind::walk::WalkState;

/// How far up a function is looked for whose frame it may be, and how often.
const BLOCKS: usize = 24;
const MOST_SEARCHES: u32 = 64;
/// Bytes of a frame in which its return address is looked for.
const LARGEST_FRAME: u64 = 4096;

/// A function that jumps to other code and leaves it its frame.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Host {
    start: u64,
    /// How far its return address is above the sp that it leaves.
    returns_above: u64,
}

/// A frame of such code.
#[derive(Clone, Copy, Default)]
pub(super) struct Hosted {
    host: Host,
    /// How far sp is below what it was left.
    moved: u64,
}

impl Hosted {
    /// Whether it is one; zeros are none.
    pub(super) fn is_some(&self) -> bool {
        self.host.start != 0
    }
}

impl<H: Process> Inside<H> {
    /// The function whose frame this is, if it can be shown. Its row is the reader's
    /// then.
    #[inline(never)]
    pub(super) fn hosted(&mut self, (state, bounds): &(WalkState, Bounds)) -> Option<Hosted> {
        if state.pc.is_exact() || code::PRESERVED.is_empty() {
            return None;
        }
        let moved = self.proven.reader.jumps_out(state.pc.address())?;
        let left = state.sp.wrapping_add(moved);
        if !left.is_multiple_of(arch::WORD) || self.is_returned_to(bounds.read(left)?) {
            return None;
        }
        let known = self.proven.host;
        let host = match self.is_host_of(&known, left, bounds) {
            true => known,
            false => self.look_for_host(left, bounds)?,
        };
        self.proven.host = host;
        if self.may_be_called(state.pc.address(), left, host.returns_above, bounds) {
            return None;
        }
        let hosted = Hosted { host, moved };
        self.proven.reader.row = self.row_of_hosted(&hosted)?;
        Some(hosted)
    }

    /// The row of such a frame.
    pub(super) fn row_of_hosted(&mut self, hosted: &Hosted) -> Option<Row> {
        let (host, row) = self.host_at(hosted.host.start)?;
        let row = moved_row(&row, host.returns_above, hosted.moved)?;
        (host == hosted.host && !row.pack().is(Kind::Complex)).then_some(row)
    }

    /// Whether a word above may be the return address of an ordinary function that
    /// this code is of, and that jumps while it has a frame: behind a call of nobody
    /// knows whom, or of a function nearby.
    fn may_be_called(&mut self, pc: u64, left: u64, below: u64, bounds: &Bounds) -> bool {
        let block = WORDS as u64 * arch::WORD;
        let high = bounds.high.min(left.wrapping_add(below.min(LARGEST_FRAME)));
        for from in (aligned(left)..high).step_by(block as usize) {
            self.proven.read(from, high);
            for word in (0..WORDS).step_by(2) {
                let address = self.proven.words.get(word).copied().unwrap_or(0) as u64;
                if self.modules.find(address).is_none() || !follows_call(H::ground(), address) {
                    continue;
                }
                if self
                    .called_before(address)
                    .is_none_or(|start| is_beside(start, pc))
                {
                    return true;
                }
            }
        }
        false
    }

    /// Whether code goes on at an address once something has returned.
    fn is_returned_to(&self, address: u64) -> bool {
        self.modules.find(address).is_some()
            && (follows_call(H::ground(), address)
                || trampoline_of(&code_at(H::ground(), address)).is_some())
    }

    /// Whether a call of this function left the stack pointer there.
    fn is_host_of(&mut self, host: &Host, left: u64, bounds: &Bounds) -> bool {
        let address = bounds.read(left.wrapping_add(host.returns_above));
        host.start != 0 && address.and_then(|at| self.called_before(at)) == Some(host.start)
    }

    fn look_for_host(&mut self, left: u64, bounds: &Bounds) -> Option<Host> {
        if self.proven.host_searches == MOST_SEARCHES {
            return None;
        }
        self.proven.host_searches += 1;
        let block = WORDS as u64 * arch::WORD;
        let from = aligned(left);
        for from in (from..bounds.high).step_by(block as usize).take(BLOCKS) {
            self.proven.read(from, bounds.high);
            for word in (0..WORDS).step_by(2) {
                let address = self.proven.words.get(word).copied().unwrap_or(0) as u64;
                let at = from + word as u64 * arch::WORD;
                let Some(start) = self.called_before(address) else {
                    continue;
                };
                if let Some((host, _)) = self.host_at(start)
                    && left.wrapping_add(host.returns_above) == at
                {
                    return Some(host);
                }
            }
        }
        None
    }

    /// The function that begins here, if its tables are those of a host, and its row.
    fn host_at(&mut self, start: u64) -> Option<(Host, Row)> {
        let module = self.modules.find(start)?;
        let Self { indexes, found, .. } = self;
        if !describe::<H>(module, start, indexes, found) || found.start != start {
            return None;
        }
        let end = found.end.wrapping_sub(1);
        let row = *self.machine.run(&self.found, end)?;
        let returns_above = returns_above(&row)?;
        let host = Host {
            start,
            returns_above,
        };
        Some((host, row))
    }
}

/// How far the return address is above sp where nothing but that is the CFA: with
/// all that calls preserve right below it, and the caller's sp right above.
fn returns_above(row: &Row) -> Option<u64> {
    const SP: u64 = arch::SP as u64;
    let Saved::At(returns_at @ 1..) = row.of(arch::RA) else {
        return None;
    };
    let Saved::ValueExpression(mut sp) = row.of(arch::SP) else {
        return None;
    };
    const SP_PLUS: u8 = 0x70 + arch::SP as u8;
    let is_plain = sp.u8()? == SP_PLUS;
    let above = sp.sleb()?;
    let is_right_above = above == returns_at + arch::WORD as i64 && sp.u8().is_none();
    let is_inside = |&register: &usize| matches!(row.of(register), Saved::At(at) if (0..returns_at).contains(&at));
    let is_host = row.cfa == Cfa::Register(SP, 0)
        && is_plain
        && is_right_above
        && code::PRESERVED.iter().all(is_inside);
    is_host.then_some(returns_at as u64)
}

/// The same row as other functions have theirs, where sp is so much lower.
fn moved_row(row: &Row, returns_above: u64, moved: u64) -> Option<Row> {
    let cfa = i64::try_from(returns_above).ok()? + arch::WORD as i64;
    let mut other = Row::EMPTY;
    other.cfa = Cfa::Register(arch::SP as u64, cfa.checked_add_unsigned(moved)?);
    for &register in code::PRESERVED.iter().chain(&[arch::RA]) {
        let Saved::At(at) = row.of(register) else {
            return None;
        };
        *other.saved.get_mut(register)? = Saved::At(at - cfa);
    }
    Some(other)
}
