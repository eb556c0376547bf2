//! The tight way through records gives what the judge gives: of any bytes the same
//! records up to the same error, each in the same tick, and the same state behind them.

mod any;
mod recipe;

use memlog_format::Malformed;
use memlog_format::event::{Deltas, Event, Usual};
use memlog_format::varint::Reader;
use proptest::collection::vec;
use proptest::prelude::*;

/// Records with their ticks, what ended them, and the state then.
type Told = (Vec<(u64, String)>, Result<(), Malformed>, Deltas);

/// As `read` does it: what ends in a zero and is followed by one is no record.
fn judged(bytes: &[u8], mut tight: impl FnMut(&mut Deltas, &mut Reader, &mut Told)) -> Told {
    let mut deltas = Deltas::at_start(7, 9);
    let mut reader = Reader::new(bytes);
    let mut told = (Vec::new(), Ok(()), deltas);
    loop {
        tight(&mut deltas, &mut reader, &mut told);
        let (start, before) = (reader.at(), deltas);
        match deltas.next(&mut reader) {
            Ok(None) => break,
            Ok(Some(_)) if matches!(bytes[reader.at() - 1..], [0, 0, ..]) => {
                told.1 = Err(Malformed {
                    offset: start,
                    expected: "a whole record",
                });
                deltas = before;
                break;
            }
            // Who reads a log is told of no ticks.
            Ok(Some(Event::Tick(_))) => {}
            Ok(Some(event)) => told.0.push((deltas.tick, format!("{event:?}"))),
            Err(error) => {
                told.1 = Err(error);
                deltas = before;
                break;
            }
        }
    }
    told.2 = deltas;
    told
}

/// How many came the tight way.
fn compare(bytes: &[u8], at_once: usize) -> usize {
    let expected = judged(bytes, |_, _, _| {});
    let mut count = 0;
    let found = judged(bytes, |deltas, reader, told| {
        let mut left = at_once;
        deltas.each_usual(reader, |tick, usual| {
            let event = match usual {
                Usual::Alloc(alloc) => Event::Alloc(alloc),
                Usual::Release(release) => Event::Release(release),
            };
            told.0.push((tick, format!("{event:?}")));
            count += 1;
            left -= 1;
            left > 0
        });
    });
    assert_eq!(found, expected);
    count
}

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        cases: 512,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    /// Records of all kinds, and the same with bytes of them changed.
    #[test]
    fn records_are_what_the_judge_says(
        events in vec(any::event(), 0..60),
        spoilt in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        at_once in 1usize..40,
    ) {
        let mut bytes = recipe::encode(&mut Deltas::at_start(7, 9), &events);
        compare(&bytes, at_once);
        // A tick of none is no byte.
        let is_empty = bytes.is_empty();
        for (at, byte) in spoilt.iter().filter(|_| !is_empty) {
            let at = at.index(bytes.len());
            // Zeros are what a crash of the machine leaves.
            let byte = if byte % 3 == 0 { 0 } else { *byte };
            bytes[at] = byte;
            if at + 1 < bytes.len() && byte == 0 {
                bytes[at + 1] = 0;
            }
            compare(&bytes, at_once);
        }
    }

    /// Any bytes, many of which are tags of usual records and short numbers.
    #[test]
    fn bytes_are_what_the_judge_says(
        bytes in vec(prop_oneof![0u8..16, any::<u8>(), Just(0x80u8), Just(0xFFu8)], 0..600),
        at_once in 1usize..40,
    ) {
        compare(&bytes, at_once);
    }
}

/// Numbers of each length behind each tag, and each tag and entry point before numbers.
#[test]
fn each_tag_and_each_length() {
    let mut tight = 0;
    for tag in 0..=255u8 {
        for api in 0..=40u8 {
            for length in 1..=11usize {
                let mut bytes = vec![tag, api];
                for _ in 0..5 {
                    bytes.resize(bytes.len() + length - 1, 0x81);
                    bytes.push(1);
                }
                // Usual ones behind it, and room for the window.
                bytes.extend([3, 2].repeat(40));
                tight += compare(&bytes, 1000);
            }
        }
    }
    assert!(tight > 20_000, "{tight}");
}
