//! Encoders and decoders are each other's inverse.

mod any;
mod recipe;

use memlog_format::api::Api;
use memlog_format::chunk::Header;
use memlog_format::event::{Alloc, Deltas, Event, MAX_EVENT, Release, predicted_usable};
use memlog_format::ext::{Ext, MAX_EXT, MAX_PAYLOAD, MAX_TEXT};
use memlog_format::meta::{Key, MAX_STRING, Record};
use memlog_format::table::{CODE_SIZE, Code, CodeId, NODE_SIZE, Node, StackId};
use memlog_format::varint::{MAX_VARINT, Reader, Writer, unzigzag, zigzag};
use proptest::collection::vec;
use proptest::prelude::*;

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn decode<'a>(deltas: &mut Deltas, bytes: &'a [u8]) -> Vec<Event<'a>> {
    let mut reader = Reader::new(bytes);
    let mut events = Vec::new();
    while let Some(event) = deltas.next(&mut reader).expect("what was encoded decodes") {
        events.push(event);
    }
    events
}

/// Makes the ticks of a sequence strictly rise, as a stream's do.
fn in_time(events: Vec<Event<'static>>, base_tick: u64) -> Vec<Event<'static>> {
    let mut now = base_tick;
    let rises = |event: &Event| match *event {
        Event::Tick(tick) if tick <= now => false,
        Event::Tick(tick) => {
            now = tick;
            true
        }
        _ => true,
    };
    events.into_iter().filter(rises).collect()
}

/// As an allocator's, or any.
fn usual_address() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => (0x5555_5555_0000u64..0x5555_5565_0000).prop_map(|address| address & !15),
        1 => (0x7fff_f000_0000u64..0x7fff_ffff_0000).prop_map(|address| address & !15),
        1 => any::number(),
    ]
}

#[test]
fn nearly_all_events_are_usual() {
    let mut deltas = Deltas::default();
    let mut words = [0; 16];
    // The first of a chunk is far from zero.
    let first = deltas.put_malloc(&mut words, 0x5555_5555_0010, (100, 104), StackId(7));
    assert_eq!(first, None);
    let event = Alloc {
        api: Api::Malloc,
        address: 0x5555_5555_0010,
        size: 100,
        usable: 104,
        alignment_log2: 0,
        stack: StackId(7),
        order: None,
    };
    deltas.put_alloc(&mut Writer::new(&mut [0; MAX_EVENT]), &event);
    let next = deltas.put_malloc(&mut words, 0x5555_5555_0080, (100, 104), StackId(7));
    assert_eq!(next, Some(2));
    let next = deltas.put_malloc(&mut words, 0x5555_5666_0080, (1000, 1000), StackId(9));
    assert_eq!(next, Some(8));
    let word = words.first_chunk_mut().expect("16 bytes");
    assert_eq!(deltas.put_free(word, 0x5555_5555_0080), Some(5));
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn events(
        events in vec(any::event(), 0..60),
        base_tick in any::number(),
        base_stamp in any::number(),
    ) {
        let events = in_time(events, base_tick);
        let start = Deltas::at_start(base_tick, base_stamp);
        let (mut wrote, mut read) = (start, start);
        let bytes = recipe::encode(&mut wrote, &events);
        prop_assert_eq!(decode(&mut read, &bytes), events);
        prop_assert_eq!(wrote, read);
    }

    /// Cut anywhere, the events before the cut are there and no other is.
    #[test]
    fn every_prefix_of_events(events in vec(any::event(), 0..20), cut: prop::sample::Index) {
        let events = in_time(events, 0);
        let bytes = recipe::encode(&mut Deltas::default(), &events);
        let mut reader = Reader::new(&bytes[..cut.index(bytes.len() + 1)]);
        let mut deltas = Deltas::default();
        let mut whole = 0;
        while let Ok(Some(event)) = deltas.next(&mut reader) {
            if event == Event::Ext(Ext::Custom) {
                // The word alone, without what the program told of: no more is there.
                prop_assert!(!matches!(deltas.next(&mut reader), Ok(Some(_))));
                break;
            }
            prop_assert_eq!(event, events[whole]);
            whole += 1;
        }
        prop_assert!(whole <= events.len());
    }

    #[test]
    fn events_keep_their_bounds(event in any::event()) {
        let bytes = recipe::encode(&mut Deltas::default(), &[event]);
        let most = if matches!(event, Event::Ext(_)) { MAX_EXT } else { MAX_EVENT };
        prop_assert!(bytes.len() <= most, "{} bytes", bytes.len());
    }

    /// What is written in two words at once is what is written piece by piece.
    #[test]
    fn usual_events(
        events in vec((usual_address(), any::number(), 0u64..40, any::number(), any::<bool>()), 1..40),
    ) {
        let (mut short, mut long) = (Deltas::default(), Deltas::default());
        for (address, size, excess, stack, is_release) in events {
            let (mut room, mut words) = ([0; MAX_EVENT], [0; 16]);
            let mut writer = Writer::new(&mut room);
            let stack = StackId(stack as u32);
            let before = short;
            let written = if is_release {
                let event = Release { api: Api::Free, address, announced: false, stack: None, order: None };
                long.put_release(&mut writer, &event);
                let word = words.first_chunk_mut().expect("16 bytes");
                short.put_free(word, address)
            } else {
                let usable = match excess {
                    0..38 => predicted_usable(size),
                    _ => size.wrapping_add(excess),
                };
                let event = Alloc { api: Api::Malloc, address, size, usable, alignment_log2: 0, stack, order: None };
                long.put_alloc(&mut writer, &event);
                short.put_malloc(&mut words, address, (size, usable), stack)
            };
            let expected = writer.finish().expect("room");
            match written {
                Some(count) => {
                    prop_assert_eq!(&words[..count], &room[..expected]);
                    prop_assert_eq!(short, long);
                }
                // It was left to the other, and nothing has moved.
                None => {
                    prop_assert_eq!(short, before);
                    short = long;
                }
            }
        }
    }

    /// A writer without enough room says so and writes nothing past its slice.
    #[test]
    fn too_little_room(event in any::event(), room in 0..MAX_EXT) {
        let long = recipe::encode(&mut Deltas::default(), &[event]);
        let mut out = vec![0; room];
        let mut writer = Writer::new(&mut out);
        let mut deltas = Deltas::default();
        recipe::put(&mut deltas, &mut writer, &event);
        let expected = (long.len() <= room).then_some(long.len());
        prop_assert_eq!(writer.finish(), expected);
        prop_assert!(long.starts_with(&out[..long.len().min(room)]));
    }

    #[test]
    fn meta_records(records in vec(any::record(), 0..12)) {
        let mut bytes = Vec::new();
        for record in &records {
            let mut room = [0; 1024];
            let length = record.encode(&mut room).expect("the room is larger");
            prop_assert_eq!(record.encode(&mut room[..length]), Some(length));
            prop_assert_eq!(record.encode(&mut { room }[..length - 1]), None);
            bytes.extend(&room[..length]);
        }
        let mut reader = Reader::new(&bytes);
        let mut decoded = Vec::new();
        while let Some(record) = Record::next(&mut reader).expect("what was encoded decodes") {
            decoded.push(record);
        }
        prop_assert_eq!(decoded, records);
    }

    #[test]
    fn headers(header in any::header()) {
        prop_assert_eq!(Header::decode(&header.encode()), Ok(Some(header)));
    }

    #[test]
    fn nodes(parent: u32, code in 1..=u32::MAX) {
        let node = Node { parent: StackId(parent), code: CodeId(code) };
        let bytes = node.to_word().to_le_bytes();
        prop_assert_eq!(bytes.len(), NODE_SIZE);
        prop_assert_eq!(Node::decode(&bytes), Some(node));
    }

    #[test]
    fn codes(address in any::number(), module: u32, exact: bool) {
        let code = Code { address, module, exact };
        let bytes = [address, code.to_tail_word()].map(u64::to_le_bytes).concat();
        prop_assert_eq!(bytes.len(), CODE_SIZE);
        let written = bytes.iter().any(|&byte| byte != 0);
        prop_assert_eq!(Code::decode(&bytes), written.then_some(code));
    }

    #[test]
    fn varints(value in any::number()) {
        let mut out = [0; MAX_VARINT];
        let mut writer = Writer::new(&mut out);
        writer.var(value);
        let length = writer.finish().expect("a varint fits ten bytes");
        let bits = 64 - value.leading_zeros() as usize;
        prop_assert_eq!(length, bits.div_ceil(7).max(1));
        let mut reader = Reader::new(&out[..length]);
        prop_assert_eq!(reader.var(), Ok(value));
        prop_assert!(reader.is_empty());
        let narrow = Reader::new(&out[..length]).var32().ok();
        prop_assert_eq!(narrow, u32::try_from(value).ok());
    }

    #[test]
    fn zigzags(value in any::number()) {
        prop_assert_eq!(zigzag(unzigzag(value)), value);
        prop_assert_eq!(unzigzag(zigzag(value as i64)), value as i64);
    }
}

/// An exact null is a code: a call through a null pointer ended in a signal.
#[test]
fn the_code_at_address_zero() {
    let code = Code {
        address: 0,
        module: 0,
        exact: true,
    };
    let bytes = [0, code.to_tail_word()].map(u64::to_le_bytes).concat();
    assert_eq!(Code::decode(&bytes), Some(code));
}

#[test]
fn long_texts_are_cut() {
    let long = [b'x'; MAX_STRING + 9];
    let mut out = vec![0; 3 * MAX_STRING];
    let length = Record::Text(Key::Note, &long).encode(&mut out).unwrap();
    let text = Record::Text(Key::Note, &long[..MAX_STRING]);
    assert_eq!(
        Record::next(&mut Reader::new(&out[..length])),
        Ok(Some(text))
    );

    let bytes = recipe::encode(&mut Deltas::default(), &[Event::Ext(Ext::Mark(&long))]);
    let mark = Event::Ext(Ext::Mark(&long[..MAX_TEXT]));
    assert_eq!(decode(&mut Deltas::default(), &bytes), [mark]);
}

/// A payload that is too long is refused aloud, not left out.
#[test]
fn a_long_unknown_payload_does_not_fit() {
    let ext = Ext::Unknown {
        kind: 20,
        payload: &[7; MAX_PAYLOAD + 1],
    };
    let mut room = [0; 1024];
    let mut writer = Writer::new(&mut room);
    Deltas::default().put_ext(&mut writer, &ext);
    assert_eq!(writer.finish(), None);
}

/// Time does not run backwards: nothing is written, nothing is changed.
#[test]
fn an_earlier_tick_is_no_record() {
    let mut deltas = Deltas::at_start(10, 0);
    let bytes = recipe::encode(&mut deltas, &[Event::Tick(10), Event::Tick(3)]);
    assert_eq!((bytes.len(), deltas.tick), (0, 10));
}

#[test]
fn counters_come_back() {
    use memlog_format::counter::{ALL, AREA_END};

    let mut chunk = vec![0; AREA_END];
    for (&(counter, _), value) in ALL.iter().zip(1..) {
        counter.write(&mut chunk, value);
    }
    for (&(counter, _), value) in ALL.iter().zip(1..) {
        assert_eq!(counter.read(&chunk), value);
        // Where there is no room nothing is written.
        counter.write(&mut [0; 70], u64::MAX);
    }
}
