//! Packed files that are damaged, or that nobody packed.

use std::fs;

use super::{Case, text};
use crate::recorded;
use crate::sites::{Folder, said};

/// A damaged file is told as one, with status 2 and no log left behind.
#[test]
fn damage_is_told() {
    let folder = Folder::new("answers-packed-damaged");
    let (log, _) = recorded(&folder, &[], "many 2000");
    let case = Case::new(folder, log, &[]);
    let whole = fs::read(&case.packed).expect("a file");
    let mut bent = whole.clone();
    bent[whole.len() / 2] ^= 0x10;
    let wrong = case.folder.path("wrong.tar.zst");
    for bytes in [
        &whole[..4],
        &whole[..whole.len() / 2],
        &whole[..whole.len() - 1],
        &bent,
    ] {
        fs::write(&wrong, bytes).expect("written");
        for command in ["report", "stats", "extract -o out", "pack -o again", "info"] {
            let words: Vec<_> = command.split(' ').chain([text(&wrong)]).collect();
            let output = case.folder.run(&words);
            let told = said(&output);
            assert_eq!(output.status.code(), Some(2), "{command}: {told}");
            assert!(told.starts_with("memlog: error: "), "{command}: {told}");
        }
        assert!(case.folder.logs("out").is_empty());
    }
    let output = case.folder.run(&["extract", text(&case.log)]);
    assert!(
        said(&output).contains("is no packed log"),
        "{}",
        said(&output)
    );
    assert_eq!(output.status.code(), Some(2));
    // No room to unpack it in.
    let mut command = case.folder.memlog(&["report", text(&case.packed)]);
    let output = command.env("TMPDIR", "/nowhere").output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("unpack it in /nowhere"),
        "{}",
        said(&output)
    );
}

/// A packed file by hand, in one frame of zstd whose bytes are as they are: one log that is
/// told to have so many bytes, and has these.
fn told_to_have(length: u64, content: &[u8]) -> Vec<u8> {
    let mut tar = Vec::new();
    for (name, length, content) in [("memlog-pack-1", 0, &[][..]), ("a.memlog", length, content)] {
        let mut header = [0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000600\0");
        // A number that octal digits have no room for.
        header[124] = 0x80;
        header[128..136].copy_from_slice(&length.to_be_bytes());
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar  \0");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        tar.extend(header);
        tar.extend(content);
        tar.resize(tar.len().next_multiple_of(512), 0);
    }
    tar.extend([0; 1024]);
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x50];
    let mut pieces = tar.chunks(100_000).peekable();
    while let Some(piece) = pieces.next() {
        let is_last = u32::from(pieces.peek().is_none());
        let header = (piece.len() as u32) << 3 | is_last;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(piece);
    }
    frame
}

/// A few bytes may stand for more than any disk has.
#[test]
fn a_bomb_is_not_unpacked() {
    let folder = Folder::new("answers-packed-bomb");
    let name = "bomb.tar.zst";
    let zeros = vec![0; 1 << 20];
    let mut log = zeros.clone();
    log[..4].copy_from_slice(b"MLOG");
    for content in [&zeros, &log] {
        fs::write(folder.path(name), told_to_have(1 << 60, content)).expect("a file");
        for words in [&["report"][..], &["info"], &["extract", "-o", "out"]] {
            let output = folder.run(&[words, &[name]].concat());
            let told = said(&output);
            assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
            assert!(
                told.contains("it unpacks to 1.0 EiB or more"),
                "{words:?}: {told}"
            );
        }
    }
    // What there is room for is written only if it begins as a log does.
    fs::write(folder.path(name), told_to_have(1 << 20, &zeros)).expect("a file");
    let told = said(&folder.run(&["report", name]));
    assert!(told.contains("what is packed in it is no log"), "{told}");
}
