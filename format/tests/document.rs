//! FORMAT.md draws two logs byte for byte. What it draws is what the code
//! writes, and reads. `MEMLOG_BLESS=1` draws the second one anew.

mod draw;
mod recipe;

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::event::Deltas;
use memlog_format::varint::Reader;

const PAGE: &str = "format/FORMAT.md";

fn page() -> String {
    std::fs::read_to_string(recipe::repository(PAGE)).expect(PAGE)
}

/// Where the lines of the block of this name lie in the page.
fn block(page: &str, name: &str) -> std::ops::Range<usize> {
    let fence = format!("\n```text {name}\n");
    let start = page.find(&fence).expect("the block") + fence.len();
    let length = page[start..].find("```").expect("the block's end");
    start..start + length
}

/// The bytes that lines of `offset: bytes | remark` draw, zeros between them.
fn bytes_of(lines: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let (offset, rest) = line.split_once(':').expect("an offset and a colon");
        let offset = usize::from_str_radix(offset, 16).expect("an offset in hex");
        assert!(offset >= bytes.len(), "drawn twice: {line}");
        bytes.resize(offset, 0);
        let drawn = rest.split('|').next().expect("bytes");
        let digits = drawn.split_whitespace();
        bytes.extend(digits.map(|byte| u8::from_str_radix(byte, 16).expect("a byte in hex")));
    }
    bytes
}

/// Where a line does not start where the one before it ended.
fn gaps(lines: &str) -> Vec<(usize, usize)> {
    let mut gaps = Vec::new();
    let mut end = 0;
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let after = bytes_of(line).len();
        let start = usize::from_str_radix(&line[..5], 16).expect("five digits");
        if start != end {
            gaps.push((end, start));
        }
        end = after;
    }
    gaps
}

#[test]
fn example_1_is_a_chunk_of_events() {
    let page = page();
    let lines = &page[block(&page, "event-chunk")];
    let header = Header {
        committed: 90,
        thread: 4711,
        ..Header::new(Kind::Events, 3, 0)
    };
    let events = recipe::first_events();
    let body = recipe::encode(&mut Deltas::default(), &events);
    let drawn = bytes_of(lines);
    assert_eq!(drawn, [header.encode().as_slice(), &body].concat());
    assert_eq!(
        gaps(lines),
        [(0x30, 0x40)],
        "only the header's zeros are not drawn"
    );

    assert_eq!(Header::decode(&drawn), Ok(Some(header)));
    let mut deltas = Deltas::at_start(header.base_tick, header.base_stamp);
    let mut reader = Reader::new(&drawn[HEADER_SIZE..]);
    for expected in events {
        assert_eq!(deltas.next(&mut reader), Ok(Some(expected)));
    }
    assert!(reader.is_empty());
}

#[test]
fn example_2_is_the_golden_log() {
    let mut page = page();
    let log = recipe::log();
    let drawing = draw::log(&log);
    if recipe::is_blessing() {
        page.replace_range(block(&page, "tiny.memlog"), &drawing);
        std::fs::write(recipe::repository(PAGE), &page).expect(PAGE);
    }
    let lines = &page[block(&page, "tiny.memlog")];
    let mut drawn = bytes_of(lines);
    drawn.resize(4 * CHUNK_SIZE, 0);
    let differs = drawn.iter().zip(&log).position(|(a, b)| a != b);
    assert_eq!(differs, None, "the first offset drawn wrong");
    assert_eq!(drawn.len(), log.len());
    assert_eq!(lines, drawing, "the remarks beside the bytes");
}
