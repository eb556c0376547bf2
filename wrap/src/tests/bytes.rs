//! Cursors: integers, LEB128 and encoded pointers, up to the last byte.
#![allow(unsafe_code)]
//! # Safety
//! Cursors are made over arrays that outlive them.

use super::random::Random;
use crate::platform::bytes::Cursor;

fn over(bytes: &[u8]) -> Cursor {
    let at = bytes.as_ptr() as u64;
    // SAFETY: the caller's array, which the tests keep while they read.
    unsafe { Cursor::new(at, at + bytes.len() as u64) }
}

/// The obvious way, to wide numbers.
fn naive_uleb(bytes: &[u8]) -> Option<(u128, usize)> {
    let end = bytes.iter().position(|byte| byte & 0x80 == 0)?;
    let digits = bytes[..=end].iter().rev();
    Some((
        digits.fold(0, |sum, byte| sum << 7 | u128::from(byte & 0x7f)),
        end + 1,
    ))
}

#[test]
fn integers_are_read_to_the_last_byte() {
    let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    let mut cursor = over(&bytes);
    assert_eq!(cursor.u8(), Some(1));
    assert_eq!(cursor.u16(), Some(u16::from_ne_bytes([2, 3])));
    assert_eq!(cursor.u32(), Some(u32::from_ne_bytes([4, 5, 6, 7])));
    assert_eq!(
        cursor.u64(),
        Some(u64::from_ne_bytes([8, 9, 10, 11, 12, 13, 14, 15]))
    );
    assert_eq!((cursor.at, cursor.u8()), (cursor.end, None));
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_moves() {
    for length in 0..8 {
        let bytes = [0xff; 8];
        let mut cursor = over(&bytes[..length]);
        let before = cursor;
        assert_eq!(cursor.u64(), None);
        assert_eq!(cursor.skip(length as u64 + 1), None);
        assert_eq!(cursor.skip(u64::MAX), None);
        assert_eq!(cursor.take(length as u64 + 1), None);
        assert_eq!(cursor, before);
        assert_eq!(cursor.skip(length as u64), Some(()));
        assert_eq!(cursor.u8(), None);
    }
    // A range that ends before it starts is empty.
    let bytes = [0; 4];
    let mut backwards = over(&bytes);
    std::mem::swap(&mut backwards.at, &mut backwards.end);
    assert_eq!(
        (backwards.u8(), backwards.skip(0), backwards.uleb()),
        (None, None, None)
    );
}

#[test]
fn taken_bytes_end_where_they_were_said_to() {
    let bytes = [1, 2, 3, 4];
    let mut cursor = over(&bytes);
    let mut part = cursor.take(3).unwrap();
    assert_eq!(
        (part.u16(), part.u16(), part.u8()),
        (Some(u16::from_ne_bytes([1, 2])), None, Some(3))
    );
    assert_eq!((part.u8(), cursor.u8()), (None, Some(4)));
}

#[test]
fn uleb_at_its_edges() {
    let cases: [(&[u8], Option<u64>); 12] = [
        (&[], None),
        (&[0x80], None),
        (&[0], Some(0)),
        (&[0x80, 0], Some(0)),
        (&[0x7f], Some(127)),
        (&[0x80, 1], Some(128)),
        (&[0xe5, 0x8e, 0x26], Some(624_485)),
        (
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
            Some(u64::MAX),
        ),
        (
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1],
            Some(1 << 63),
        ),
        // More zeros than a word has bits, as linkers pad with.
        (
            &[
                0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0,
            ],
            Some(1),
        ),
        (
            &[
                0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
            ],
            None,
        ),
        // Bits past the word are dropped, not wrapped round.
        (
            &[
                0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f,
            ],
            Some(0),
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(over(bytes).uleb(), expected, "{bytes:x?}");
    }
}

#[test]
fn sleb_at_its_edges() {
    let cases: [(&[u8], Option<i64>); 11] = [
        (&[], None),
        (&[0xff], None),
        (&[0], Some(0)),
        (&[0x3f], Some(63)),
        (&[0x40], Some(-64)),
        (&[0x7f], Some(-1)),
        (&[0xff, 0x7f], Some(-1)),
        (&[0xff, 0], Some(127)),
        (&[0x80, 0x7f], Some(-128)),
        (
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f],
            Some(i64::MIN),
        ),
        (
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0],
            Some(i64::MAX),
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(over(bytes).sleb(), expected, "{bytes:x?}");
    }
}

#[test]
fn uleb_of_random_bytes_is_the_naive_one() {
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..10).map(|_| random.next() as u8).collect();
        let mut cursor = over(&bytes);
        let before = cursor.at;
        match naive_uleb(&bytes) {
            Some((value, used)) => {
                assert_eq!(cursor.uleb(), Some(value as u64), "{bytes:x?}");
                assert_eq!(cursor.at - before, used as u64);
            }
            None => assert_eq!(cursor.uleb(), None),
        }
    }
}

#[test]
fn encoded_pointers_have_their_size_sign_and_base() {
    let bytes = (-4i64).to_ne_bytes();
    let at = bytes.as_ptr() as u64;
    let minus = |base: u64| Some(base.wrapping_sub(4));
    for encoding in [0x00, 0x04, 0x0c, 0x0a, 0x0b] {
        assert_eq!(
            over(&bytes).encoded(encoding, 1000),
            minus(0),
            "{encoding:#x}"
        );
        assert_eq!(over(&bytes).encoded(encoding | 0x10, 1000), minus(at));
        assert_eq!(over(&bytes).encoded(encoding | 0x30, 1000), minus(1000));
    }
    assert_eq!(over(&bytes).encoded(0x02, 0), Some(0xfffc));
    assert_eq!(over(&bytes).encoded(0x03, 0), Some(0xffff_fffc));
    assert_eq!(over(&[0x7f]).encoded(0x09, 0), Some(u64::MAX));
    assert_eq!(over(&[0x7f]).encoded(0x01, 0), Some(127));
    // Omitted, indirect, aligned, of a kind that does not exist.
    for encoding in [0xff, 0x9b, 0x80, 0x50, 0x05, 0x0d, 0x20, 0x40] {
        assert_eq!(over(&bytes).encoded(encoding, 0), None, "{encoding:#x}");
    }
}
