//! Blocks, mappings and resident pages of one mapping, side by side.

use memlog_format::resident::Mapped;

use super::given::Given;
use super::pages::Stretches;

/// A live block.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Its first byte.
    pub address: u64,
    /// Bytes asked for.
    pub size: u64,
    /// Bytes given.
    pub given: u64,
    /// Who asked.
    pub stack: u32,
    /// Whether it is one of those that were asked for.
    pub is_chosen: bool,
}

/// What a call mapped.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// Its first byte.
    pub low: u64,
    /// Behind its last.
    pub end: u64,
    /// An allocator made the call.
    pub is_backing: bool,
    /// Who made it.
    pub stack: u32,
}

/// Something that is resident, by whose stack.
pub enum Touched {
    /// Of a block.
    Block(u32, u64),
    /// Of what the program mapped.
    Area(u32, u64),
}

/// Resident bytes of a mapping.
#[derive(Clone, Copy, Debug, Default)]
pub struct Swept {
    /// Asked for by live blocks.
    pub live: u64,
    /// Given to them beyond that, or before them.
    pub rounding: u64,
    /// Mapped by the program.
    pub mapped: u64,
    /// In pages that blocks had.
    pub freed: u64,
    /// Mapped by an allocator, with no block ever.
    pub backing: u64,
    /// The longest stretch of none of those, from its first byte to behind its last.
    pub longest: (u64, u64),
}

impl Block {
    /// Words of the allocator before the block, as its size shows: glibc and its like
    /// give a block all up to the next one's word, and two words to one of its own
    /// mapping.
    fn header(&self, page_bytes: u64) -> u64 {
        match self.given % 16 {
            8 => 8,
            4 | 12 if self.address < 1 << 32 => 4,
            0 if self.address % page_bytes == 16 => 16,
            _ => 0,
        }
    }
}

/// What is resident in a mapping, whose it is told one by one as well.
pub fn sweep(
    mapped: &Mapped,
    page_bytes: u64,
    (live, given, areas): (&[Block], &Given, &[Area]),
    tell: &mut dyn FnMut(Touched),
) -> Swept {
    let stretches = Stretches::of(mapped, page_bytes);
    let mut swept = Swept::default();
    let mut gaps = Gaps {
        page_bytes,
        given,
        areas,
        swept: Swept::default(),
        stretch: (0, 0),
        by_area: Vec::new(),
    };
    for &(from, to) in &stretches.list {
        let mut at = from;
        // The block before may reach into it.
        let first = live.partition_point(|block| block.address < from);
        for block in &live[first.saturating_sub(1)..] {
            let header = block.header(page_bytes);
            let start = block.address.saturating_sub(header);
            if start >= to {
                break;
            }
            let end = block.address.saturating_add(block.given);
            let asked_end = block.address.saturating_add(block.size);
            if end <= from {
                continue;
            }
            gaps.take(at, start.clamp(at, to));
            let asked = within(block.address, asked_end, at, to);
            let all = within(start, end, at, to);
            let asked_there = stretches.part(asked);
            swept.live += asked_there;
            swept.rounding += stretches.part(all).saturating_sub(asked_there);
            if asked_there > 0 && block.is_chosen {
                tell(Touched::Block(block.stack, asked_there));
            }
            at = at.max(end.min(to));
        }
        gaps.take(at, to);
    }
    let rest = gaps.swept;
    for (stack, bytes) in gaps.by_area {
        let there = stretches.part(bytes);
        if there > 0 {
            tell(Touched::Area(stack, there));
        }
    }
    Swept {
        mapped: stretches.part(rest.mapped),
        freed: stretches.part(rest.freed),
        backing: stretches.part(rest.backing),
        longest: rest.longest,
        ..swept
    }
}

/// What no block has.
struct Gaps<'a> {
    page_bytes: u64,
    given: &'a Given,
    areas: &'a [Area],
    swept: Swept,
    /// The stretch that may go on.
    stretch: (u64, u64),
    by_area: Vec<(u32, u64)>,
}

impl Gaps<'_> {
    fn take(&mut self, from: u64, to: u64) {
        let mut at = from;
        let first = self.areas.partition_point(|area| area.end <= from);
        for area in &self.areas[first..] {
            if area.low >= to {
                break;
            }
            let (start, end) = (area.low.max(at), area.end.min(to));
            if end <= start {
                continue;
            }
            self.by_pages(at, start, false);
            match area.is_backing {
                true => self.by_pages(start, end, true),
                false => {
                    self.swept.mapped += end - start;
                    self.by_area.push((area.stack, end - start));
                }
            }
            at = end;
        }
        self.by_pages(at, to, false);
    }

    fn by_pages(&mut self, from: u64, to: u64, is_backing: bool) {
        let mut at = from;
        for (first, last) in self.given.from(from / self.page_bytes) {
            let low = first.saturating_mul(self.page_bytes).max(at);
            let high = last
                .saturating_add(1)
                .saturating_mul(self.page_bytes)
                .min(to);
            if low >= to {
                break;
            }
            self.had_no_block(at, low, is_backing);
            self.swept.freed += high.saturating_sub(low);
            at = at.max(high);
        }
        self.had_no_block(at, to, is_backing);
    }

    fn had_no_block(&mut self, from: u64, to: u64, is_backing: bool) {
        if from >= to {
            return;
        }
        if is_backing {
            self.swept.backing += to - from;
            return;
        }
        let start = match self.stretch {
            (start, end) if end == from => start,
            _ => from,
        };
        self.stretch = (start, to);
        let (low, high) = self.swept.longest;
        if to - start > high - low {
            self.swept.longest = self.stretch;
        }
    }
}

/// Bytes of a range inside another.
fn within(low: u64, high: u64, from: u64, to: u64) -> u64 {
    high.min(to).saturating_sub(low.max(from))
}
