//! What nearly all records are, read without a question for each byte: the tight way
//! beside [`Deltas::next`], which stays the judge of what a record is.
//!
//! ```text
//! while a window of 64 bytes is left:
//!     tag of a tick: go on by it
//!     tag of an allocation, or of a release that is not announced:
//!         each number from the eight bytes where it begins
//!     anything else, and whatever is odd about those: leave it where it is
//! ```
//!
//! * No usual record is longer than 43 bytes: so one compare a window and one a number
//!   are all that is asked of where the bytes end.
//! * Whether a size has one byte or two, and whether it is there at all, is asked by no
//!   branch: a processor cannot predict it. The same goes for stacks.
//! * A number of more than eight bytes is left to the judge, wherever it stands.

use crate::api::Api;
use crate::event::{
    ANNOUNCED, Alloc, BYTES, Deltas, HAS_STACK, OP_ALLOC, OP_FREE, OP_MALLOC, OP_RELEASE, OP_TICK,
    ORDERED, Release, SAME_SIZE, SAME_STACK, USABLE, Usual, predicted_usable, short_release,
};
use crate::table::StackId;
use crate::varint::{CONTINUED, Reader, gather, unzigzag};

const WINDOW: usize = 64;

/// The bytes ahead, and how many of them were read.
struct Window<'a> {
    bytes: &'a [u8; WINDOW],
    at: usize,
}

impl Window<'_> {
    #[inline(always)]
    fn word(&self) -> Option<u64> {
        let bytes = self.bytes.get(self.at..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }

    #[inline(always)]
    fn u8(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// A number of at most eight bytes.
    #[inline(always)]
    fn var(&mut self) -> Option<u64> {
        let word = self.word()?;
        let last = !word & CONTINUED;
        if last == 0 {
            return None;
        }
        self.at += last.trailing_zeros() as usize / 8 + 1;
        Some(gather(word & (last ^ (last - 1))))
    }

    /// The same of one that is most likely short, and may be left out.
    #[inline(always)]
    fn short(&mut self, is_there: bool) -> Option<u64> {
        let word = self.word()?;
        if is_there && word & 0x8080 == 0x8080 {
            return self.var();
        }
        let more = word >> 7 & 1;
        self.at += (1 + more as usize) & usize::from(is_there).wrapping_neg();
        Some(word & 0x7f | (word >> 1 & 0x3f80) & more.wrapping_neg())
    }

    /// Whether what was read last ends in a zero and one follows: see below.
    #[inline(always)]
    fn is_hollow(&self) -> bool {
        let end = self.bytes.get(self.at.wrapping_sub(1)..);
        !matches!(end, Some(&[last, next, ..]) if last | next != 0)
    }
}

impl Deltas {
    /// Reads usual records, ticks among them, up to the first that is not, and stays
    /// before it; also before whatever is odd, and some bytes before the end. Each goes
    /// to `take` with its tick, until that says that it was the last one wanted.
    ///
    /// A record that ends in a zero and is followed by one is odd: a block of the file
    /// may have become zeros.
    #[inline(always)]
    pub fn each_usual(&mut self, bytes: &mut Reader, mut take: impl FnMut(u64, Usual) -> bool) {
        let all = bytes.all();
        let mut at = bytes.at();
        // In registers, for nobody else sees it.
        let mut deltas = *self;
        while let Some(ahead) = all.get(at..).and_then(<[u8]>::first_chunk) {
            let mut window = Window {
                bytes: ahead,
                at: 1,
            };
            let mut next = deltas;
            let Some(usual) = next.usual(ahead[0], &mut window) else {
                break;
            };
            if window.is_hollow() {
                break;
            }
            at += window.at;
            deltas = next;
            if let Some(usual) = usual
                && !take(deltas.tick, usual)
            {
                break;
            }
        }
        *self = deltas;
        bytes.go_to(at);
    }

    /// The record of this tag; inside of it nothing where it is a tick.
    #[inline(always)]
    fn usual(&mut self, tag: u8, window: &mut Window) -> Option<Option<Usual>> {
        let flags = tag & !7;
        let api = match tag & 7 {
            OP_MALLOC => Api::Malloc,
            OP_FREE if flags & (ANNOUNCED | SAME_SIZE) == 0 => short_release(false),
            OP_ALLOC => Api::from_byte(window.u8()?)?,
            OP_RELEASE if flags & (ANNOUNCED | SAME_SIZE) == 0 => Api::from_byte(window.u8()?)?,
            OP_TICK if flags != !7 => {
                self.tick = self.tick.saturating_add(u64::from(tag >> 3));
                return Some(None);
            }
            _ => return None,
        };
        Some(Some(match tag & 7 {
            OP_MALLOC | OP_ALLOC => Usual::Alloc(self.usual_alloc(flags, api, window)?),
            _ => Usual::Release(self.usual_release(flags, api, window)?),
        }))
    }

    #[inline(always)]
    fn usual_alloc(&mut self, flags: u8, api: Api, window: &mut Window) -> Option<Alloc> {
        let alignment_log2 = match api.is_aligned() {
            true => window.u8()?,
            false => 0,
        };
        let is_new = flags & SAME_SIZE == 0;
        let size = window.short(is_new)?;
        self.size = if is_new { size } else { self.size };
        let address = self.usual_address(flags, window)?;
        let usable = match flags & USABLE {
            0 => predicted_usable(self.size),
            _ => self.size.wrapping_add(window.var()?),
        };
        Some(Alloc {
            api,
            address,
            size: self.size,
            usable,
            alignment_log2,
            stack: self.usual_stack(flags & SAME_STACK == 0, window)?,
            order: usual_order(flags, window)?,
        })
    }

    #[inline(always)]
    fn usual_release(&mut self, flags: u8, api: Api, window: &mut Window) -> Option<Release> {
        Some(Release {
            api,
            address: self.usual_address(flags, window)?,
            announced: false,
            stack: match flags & HAS_STACK {
                0 => None,
                _ => Some(self.usual_stack(true, window)?),
            },
            order: usual_order(flags, window)?,
        })
    }

    #[inline(always)]
    fn usual_address(&mut self, flags: u8, window: &mut Window) -> Option<u64> {
        let distance = unzigzag(window.var()?);
        let shift = if flags & BYTES == 0 { 4 } else { 0 };
        self.address = self.address.wrapping_add((distance << shift) as u64);
        Some(self.address)
    }

    #[inline(always)]
    fn usual_stack(&mut self, is_new: bool, window: &mut Window) -> Option<StackId> {
        let distance = unzigzag(window.short(is_new)?);
        let distance = if is_new { distance } else { 0 };
        let stack = i64::from(self.stack).checked_add(distance)?;
        self.stack = u32::try_from(stack).ok()?;
        Some(StackId(self.stack))
    }
}

#[inline(always)]
fn usual_order(flags: u8, window: &mut Window) -> Option<Option<u64>> {
    match flags & ORDERED {
        0 => Some(None),
        _ => Some(Some(window.var()?)),
    }
}
