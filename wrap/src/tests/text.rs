//! Texts that have a length at most, and files that are read piece by piece.

use crate::platform::text::{Text, each_entry, each_piece};

#[test]
fn hexadecimal_digits() {
    let of = |number| {
        let mut text = Text::<32>::new();
        text.push_hex(number);
        String::from_utf8(text.get().to_vec()).unwrap()
    };
    for number in [0, 9, 15, 16, 0x7f3a_5c00_0b20, u64::MAX] {
        assert_eq!(of(number), format!("{number:x}"));
    }
}

#[test]
fn pieces_of_a_file_end_as_told() {
    let path = std::env::temp_dir().join(format!("memlog-pieces-{}", std::process::id()));
    let long = "x".repeat(100);
    std::fs::write(&path, format!("one\n\n{long}\ntwo words\nno end")).unwrap();
    let name = format!("{}\0", path.display());
    for size in [16, 64, 4096] {
        let mut seen = Vec::new();
        each_piece(name.as_bytes(), b'\n', &mut vec![0; size], |piece| {
            seen.push(String::from_utf8_lossy(piece).into_owned());
        });
        // What is longer than the buffer is told by its beginning.
        assert_eq!(seen[..2], ["one", ""], "{size}");
        assert!(
            long.starts_with(&seen[2]) && seen[2].len() >= size.min(100),
            "{size}"
        );
        assert_eq!(seen[3..], ["two words"], "{size}");
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn texts_keep_what_fits() {
    let mut text = Text::<8>::new();
    assert!(text.is_empty());
    text.push(b"abc");
    text.push_number(0);
    text.push_number(12);
    assert_eq!(text.get(), b"abc012");
    text.push_number(u64::MAX);
    assert_eq!(text.get(), b"abc01218", "the front of what does not fit");
    text.shorten(6);
    assert_eq!(text.get(), b"ab");
    text.shorten(9);
    assert!(text.is_empty());
    text.set(b"x");
    text.clear();
    assert_eq!(text.get(), b"");
    let mut number = Text::<20>::new();
    number.push_number(u64::MAX);
    assert_eq!(number.get(), u64::MAX.to_string().as_bytes());
}

#[test]
fn entries_that_fit_the_buffer_are_seen_whole() {
    let path = std::env::temp_dir().join(format!("memlog-entries-{}", std::process::id()));
    let file = format!("{}\0", path.display());
    let entries = [
        "a=1",
        "",
        "longer than the buffer",
        "b=2",
        "0123456",
        "01234567",
        "c",
        "unfinished",
    ];
    std::fs::write(&path, entries.join("\0")).unwrap();
    let mut seen = Vec::new();
    each_entry(file.as_bytes(), &mut [0; 8], |entry| {
        seen.push(String::from_utf8(entry.to_vec()).unwrap());
    });
    std::fs::remove_file(&path).unwrap();
    // Of longer ones the beginning is seen: it tells what cannot be used.
    let expected = [
        "a=1", "", "longer t", "b=2", "0123456", "01234567", "c", "unfinish",
    ];
    assert_eq!(seen, expected);
    each_entry(file.as_bytes(), &mut [0; 8], |_| {
        panic!("there is no such file any more")
    });
}
