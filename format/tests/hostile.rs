//! No bytes make a decoder panic, stand still or give more than was in them:
//! each record takes at least one byte, each meta record at least two.

mod any;
mod recipe;

use memlog_format::api::Api;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, checksum};
use memlog_format::counter;
use memlog_format::event::{Deltas, Event};
use memlog_format::ext::Ext;
use memlog_format::meta::Record;
use memlog_format::table::{Code, Node};
use memlog_format::varint::Reader;
use proptest::collection::vec;
use proptest::prelude::*;

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Reads on even after errors, as a careless reader might, and gives the
/// events before the first one.
fn events(bytes: &[u8]) -> Vec<Event<'_>> {
    let mut reader = Reader::new(bytes);
    let mut deltas = Deltas::at_start(u64::MAX - 5, u64::MAX);
    let mut events = Vec::new();
    let (mut calls, mut failed) = (0, false);
    loop {
        let before = reader.at();
        match deltas.next(&mut reader) {
            Ok(None) => break,
            Ok(Some(event)) if !failed => events.push(event),
            Ok(Some(_)) => {}
            Err(error) => {
                failed = true;
                assert!(error.offset <= bytes.len());
                assert!(!error.expected.is_empty());
            }
        }
        calls += 1;
        assert!(reader.at() > before && reader.at() <= bytes.len());
    }
    assert!(calls <= bytes.len(), "{calls} records in {}", bytes.len());
    events
}

fn records(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    let mut whole = 0;
    loop {
        let before = reader.at();
        match Record::next(&mut reader) {
            Ok(None) => break,
            Ok(Some(_)) => whole += 1,
            Err(error) => assert!(error.offset <= bytes.len()),
        }
        assert!(reader.at() > before && reader.at() <= bytes.len());
    }
    assert!(2 * whole <= bytes.len());
}

/// Bytes that are likely to be tags, lengths and edges of varints.
fn likely() -> impl Strategy<Value = Vec<u8>> {
    let edge = proptest::sample::select(vec![0u8, 1, 2, 7, 0x7F, 0x80, 0xFF]);
    vec(prop_oneof![edge, 0..48u8, any::<u8>()], 0..400)
}

/// Events whose encoding says all there is to say about them.
fn is_faithful(event: &Event) -> bool {
    match event {
        Event::Ext(Ext::Thread { name: text, .. } | Ext::Mark(text) | Ext::Scope(text)) => {
            text.len() <= 128
        }
        Event::Ext(Ext::Limit(limit)) => limit.name.len() <= 128,
        // A LIMIT, a FAILED or a PASSED of a newer memlog is one.
        Event::Ext(Ext::Unknown { kind, payload }) => *kind > 9 && payload.len() <= 160,
        // Alone it says nothing; what is left out behind it would put it before an event.
        Event::Ext(Ext::Custom) => false,
        Event::Tick(tick) => *tick != u64::MAX, // passed zero ticks, or too many
        _ => true,
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bytes(bytes in likely()) {
        events(&bytes);
        records(&bytes);
        let _ = Header::decode(&bytes);
        let _ = Node::decode(&bytes);
        let _ = Code::decode(&bytes);
        let _ = checksum(&bytes);
        for &(counter, _) in counter::ALL {
            counter.read(&bytes);
        }
    }

    /// What was decoded from any bytes is encoded to bytes that say the same.
    #[test]
    fn what_was_read_can_be_written(bytes in likely()) {
        let mut read: Vec<_> = events(&bytes).into_iter().filter(is_faithful).collect();
        read.dedup_by(|next, last| matches!((next, last), (Event::Tick(a), Event::Tick(b)) if a == b));
        let mut now = None;
        read.retain(|event| match *event {
            Event::Tick(tick) => now.replace(tick) != Some(tick) && tick != u64::MAX - 5,
            _ => true,
        });
        let again = recipe::encode(&mut Deltas::at_start(u64::MAX - 5, u64::MAX), &read);
        prop_assert_eq!(events(&again), read);
    }

    /// Damage in a valid chunk.
    #[test]
    fn damaged_events(
        whole in vec(any::event(), 1..40),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = recipe::encode(&mut Deltas::default(), &whole);
        for (at, byte) in damage {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        events(&bytes);
    }

    #[test]
    fn damaged_meta(
        whole in vec(any::record(), 1..10),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = Vec::new();
        for record in &whole {
            let mut room = [0; 1024];
            let length = record.encode(&mut room).expect("the room is larger");
            bytes.extend(&room[..length]);
        }
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        records(&bytes);
    }

    #[test]
    fn damaged_headers(header in any::header(), at in 0..HEADER_SIZE, byte: u8) {
        let mut bytes = header.encode();
        bytes[at] = byte;
        if let Ok(Some(read)) = Header::decode(&bytes) {
            let committed = read.committed as usize;
            prop_assert!((HEADER_SIZE..=CHUNK_SIZE).contains(&committed));
            prop_assert_eq!(&read.encode()[..48], &bytes[..48]);
        }
    }
}

/// Each tag byte with nothing, with zeros and with ones behind it.
#[test]
fn every_tag() {
    for tag in 0..=255u8 {
        for fill in [0, 1, 0x7F, 0x80, 0xFF] {
            for length in 0..40 {
                let mut bytes = vec![fill; length + 1];
                bytes[0] = tag;
                events(&bytes);
                records(&bytes);
            }
        }
    }
}

/// A page that never reached the disk reads as zeros: no record may hide there.
#[test]
fn zeros_are_no_records() {
    assert!(Deltas::default().next(&mut Reader::new(&[0; 64])).is_err());
    assert!(Record::next(&mut Reader::new(&[0; 64])).is_err());
    assert_eq!(Node::decode(&[0; 8]), None);
    assert_eq!(Code::decode(&[0; 16]), None);
    assert_eq!(Header::decode(&[0; 64]), Ok(None));
    assert_eq!(Api::from_byte(0), None);
}

/// Flags that version 1 does not use are refused, so that they stay free.
#[test]
fn unused_flags_are_malformed() {
    let unused = [0x83, 0x84, 0x0F, 0x17, 0x27, 0x47, 0x87];
    for tag in unused {
        let bytes = [tag, 5, 5, 5, 5];
        let read = Deltas::default().next(&mut Reader::new(&bytes));
        assert_eq!(read.map_err(|error| error.offset), Err(0), "{tag:#x}");
    }
}

/// What a newer memlog might add is skipped, and what follows is read.
#[test]
fn newer_records_are_skipped() {
    let mut deltas = Deltas::default();
    // A source of RSS from the future; then a type from the future; a revoke.
    let bytes = [0x10, 2, 99, 1, 0xF8, 3, 1, 2, 3, 0x07];
    let mut reader = Reader::new(&bytes);
    let unknown = |kind, payload| Ok(Some(Event::Ext(Ext::Unknown { kind, payload })));
    assert_eq!(deltas.next(&mut reader), unknown(2, &[99, 1]));
    assert_eq!(deltas.next(&mut reader), unknown(31, &[1, 2, 3]));
    assert_eq!(deltas.next(&mut reader), Ok(Some(Event::Revoke)));
    assert_eq!(deltas.next(&mut reader), Ok(None));

    // A text's key; a type; fields behind those known.
    let bytes = [2, 2, 99, b'x', 77, 1, 0, 5, 4, 0x2A, 9, 9, 9];
    let mut reader = Reader::new(&bytes);
    assert_eq!(Record::next(&mut reader), Ok(Some(Record::Unknown(2))));
    assert_eq!(Record::next(&mut reader), Ok(Some(Record::Unknown(77))));
    let parent = Record::Parent { pid: 42 };
    assert_eq!(Record::next(&mut reader), Ok(Some(parent)));
    assert_eq!(Record::next(&mut reader), Ok(None));
}

#[test]
fn headers_that_are_refused() {
    let refused = |at: usize, bytes: &[u8], offset| {
        let mut header = Header::new(memlog_format::chunk::Kind::Events, 1, 2).encode();
        header[at..at + bytes.len()].copy_from_slice(bytes);
        let error = Header::decode(&header).expect_err("refused");
        assert_eq!(error.offset, offset);
    };
    refused(0, b"mlog", 0);
    refused(0, &[0; 4], 0);
    refused(4, &[0], 4);
    refused(4, &[5, 1], 4); // the first version had no such kind
    refused(4, &[7, 2], 4);
    refused(5, &[0], 5);
    refused(5, &[memlog_format::VERSION + 1], 5);
    refused(16, &63u32.to_le_bytes(), 16);
    refused(16, &65_537u32.to_le_bytes(), 16);
    assert_eq!(Header::decode(&[0; 63]).map_err(|e| e.offset), Err(63));
}

/// A chunk that was being begun when the program was killed is unused.
#[test]
fn a_chunk_is_begun_by_its_committed_length() {
    let mut header = Header::new(memlog_format::chunk::Kind::Nodes, 1, 2).encode();
    header[16..20].fill(0);
    assert_eq!(Header::decode(&header), Ok(None));
    header[..4].fill(0);
    assert_eq!(Header::decode(&header), Ok(None));
    header[..4].copy_from_slice(b"\x7FELF");
    assert!(Header::decode(&header).is_err());
}

/// A varint read byte by byte, as the document has it.
fn naive(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u128;
    for (at, &byte) in bytes.iter().enumerate().take(10) {
        value |= u128::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Some((u64::try_from(value).ok()?, at + 1));
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5000, ..config() })]

    /// Of whatever length, at the end and before more.
    #[test]
    fn a_varint_at_once_is_one_byte_by_byte(
        bytes in vec(prop_oneof![0..=255u8, 0x80..=0xFFu8], 0..24)
    ) {
        let mut reader = Reader::new(&bytes);
        let mut rest = bytes.as_slice();
        while let Some((value, count)) = naive(rest) {
            let before = reader.at();
            prop_assert_eq!(reader.var().ok(), Some(value));
            prop_assert_eq!(reader.at() - before, count);
            rest = &rest[count..];
        }
        prop_assert!(reader.var().is_err());
    }
}
