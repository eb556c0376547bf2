//! Where the parts of a file of code lie: what is taken from an address to have it in the
//! file's own numbering.

use std::ops::Range;

/// A part of a file that is loaded, as its program headers tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where it begins in the file.
    pub offset: u64,
    /// Where it is linked to.
    pub address: u64,
    /// How many bytes of the file it has.
    pub length: u64,
    /// Whether code is in it.
    pub is_code: bool,
}

/// The parts of a file by its path; none where it is not here.
pub type Segments = fn(&[u8]) -> Vec<Segment>;

/// A program that lies where it was linked to lies lower than this on all machines; what
/// can lie anywhere is put higher.
const LINKED_BELOW: u64 = 0x4000_0000;
/// Sizes of pages, by which parts are mapped.
const PAGES: [u64; 3] = [4 << 10, 16 << 10, 64 << 10];

/// What is taken from an address, if the bytes of the file from `offset` on lie at `mapped`,
/// and may be executed there or not.
///
/// ```text
/// ld   offset 0x1000 at 0x1000            lld   offset 0x650 at 0x1650
/// ```
///
/// In files of GNU's linkers the two differ by the same all over, and the first byte has the
/// address 0. LLVM's puts a page between the parts, so the part that was mapped has to be
/// known: of those that begin on that page of the file the one that is as long, for a page
/// may belong to two; then the first one, to which others may have been joined.
pub(crate) fn bias(
    mapped: &Range<u64>,
    (offset, is_code): (u64, bool),
    segments: &[Segment],
) -> u64 {
    let length = mapped.end.saturating_sub(mapped.start);
    let on_page = |segment: &Segment, page: u64| {
        let from = segment.offset & !(page - 1);
        let end = segment.offset.saturating_add(segment.length);
        (from, end.checked_next_multiple_of(page).unwrap_or(end))
    };
    let is_all = |segment: &&Segment| {
        let apart = segment.address.wrapping_sub(segment.offset);
        // Else it could not be mapped by such pages.
        let mut pages = PAGES.iter().filter(|&&page| apart.is_multiple_of(page));
        pages.any(|&page| {
            let (from, end) = on_page(segment, page);
            from == offset && end - from == length
        })
    };
    let has = |segment: &&Segment| {
        let (from, end) = on_page(segment, PAGES[0]);
        (from..end).contains(&offset)
    };
    let alike = || segments.iter().filter(|one| one.is_code == is_code);
    let found = alike()
        .find(is_all)
        .or_else(|| segments.iter().find(is_all))
        .or_else(|| alike().filter(|_| length == 0).find(has))
        .or_else(|| segments.iter().find(has));
    if let Some(segment) = found {
        let apart = segment.address.wrapping_sub(segment.offset);
        return mapped.start.wrapping_sub(offset).wrapping_sub(apart);
    }
    match mapped.start.wrapping_sub(offset) {
        base if base < LINKED_BELOW => 0,
        base => base,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(offset: u64, address: u64, length: u64, is_code: bool) -> Segment {
        Segment {
            offset,
            address,
            length,
            is_code,
        }
    }

    #[test]
    fn each_part_of_a_file_has_one_bias() {
        let base = 0x5555_5555_4000;
        let lld = [
            segment(0, 0, 0x650, false),
            segment(0x650, 0x1650, 0x1a0, true),
            segment(0x7f0, 0x27f0, 0x1b0, false),
            segment(0x9a0, 0x39a0, 0x8_000, false),
        ];
        let of = |from: u64, length: u64, offset| {
            bias(
                &(base + from..base + from + length),
                (offset, from == 0x1000),
                &lld,
            )
        };
        // All four begin on the first page of the file.
        assert_eq!(of(0x3000, 0x9000, 0), base);
        // A part that others were joined to, and one without an end.
        assert_eq!(of(0, 0xc000, 0), base);
        assert_eq!(bias(&(base + 0x1000..base + 0x1000), (0, true), &lld), base);
        // Two of one length: what may be executed there tells them apart.
        assert_eq!(of(0x1000, 0x1000, 0), base);
        assert_eq!(of(0, 0x1000, 0), base);
        let gnu = [
            segment(0, 0, 0x628, false),
            segment(0x1000, 0x1000, 0x185, true),
        ];
        assert_eq!(
            bias(&(base + 0x1000..base + 0x2000), (0x1000, true), &gnu),
            base
        );
        assert_eq!(
            bias(&(base + 0x1000..base + 0x2000), (0x1000, true), &[]),
            base
        );
        // Linked to where it lies.
        let fixed = [
            segment(0, 0x20_0000, 0x650, false),
            segment(0x650, 0x20_1650, 0x1a0, true),
        ];
        assert_eq!(bias(&(0x20_1000..0x20_2000), (0, true), &fixed), 0);
        assert_eq!(bias(&(0x40_1000..0x40_2000), (0x1000, true), &[]), 0);
        let high = [segment(u64::MAX, u64::MAX, u64::MAX, true)];
        bias(&(u64::MAX - 1..u64::MAX), (u64::MAX, true), &high);
    }
}
