//! Images in memory as no linker makes them.

use crate::platform::elf::image::{ElfImage, read};

/// The parts of a note segment: whose, what, and of which kind.
fn note(kind: u32, name: &[u8], text: &[u8]) -> Vec<u8> {
    let words = [name.len() as u32, text.len() as u32, kind];
    let mut note: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    for part in [name, text] {
        note.extend(part);
        note.resize(note.len().next_multiple_of(4), 0);
    }
    note
}

/// The build-id of an image with such notes, in a segment that says so many bytes.
fn build_id(notes: &[u8], says: u64) -> Vec<u8> {
    let class = if size_of::<usize>() == 8 { 2 } else { 1 };
    let mut bytes = vec![0; 64];
    bytes[..5].copy_from_slice(&[0x7f, b'E', b'L', b'F', class]);
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(32, &64u64.to_ne_bytes());
    put(54, &56u16.to_ne_bytes());
    put(56, &2u16.to_ne_bytes());
    let notes_at = 64 + 2 * 56u64;
    for (kind, offset, size) in [(1u32, 0u64, 4096u64), (4, notes_at, says)] {
        bytes.extend([kind, 4].iter().flat_map(|word| word.to_ne_bytes()));
        let words = [offset, offset, offset, size, size, 4];
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
    }
    bytes.extend(notes);
    let mut image = ElfImage::default();
    assert!(read(bytes.as_ptr() as u64, &mut image, &mut [0; 4096]));
    image.build_id.get().to_vec()
}

/// Each look at a note is a system call: of a page of zeros that calls itself
/// notes there would be hundreds, of a gigabyte millions.
#[test]
fn notes_without_end_are_not_followed() {
    let id = note(3, b"GNU\0", b"0123456789");
    let after = |count: usize| [note(0, b"", b"").repeat(count), id.clone()].concat();
    let found = |notes: Vec<u8>| build_id(&notes, notes.len() as u64);
    assert_eq!(found(after(5)), b"0123456789");
    assert_eq!(found(after(1000)), b"");
    assert_eq!(build_id(&after(5), u64::MAX), b"0123456789");
}
