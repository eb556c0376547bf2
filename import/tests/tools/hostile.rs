//! Files that are damaged: an error or a log that says so, and never a panic.

use super::{golden, import};
use memlog_read::Log;

const FILES: [&str; 7] = [
    "dhat.json",
    "go.pb.gz",
    "gperftools.heap",
    "gperftools.pb.gz",
    "jemalloc.heap",
    "massif.out",
    "memtrail.data",
];

/// What is made can be read to its end.
pub(crate) fn survives(file: &[u8]) {
    let Ok((_, bytes)) = import(file) else { return };
    let log = Log::open(&bytes).expect("a log");
    assert!(log.findings().list().is_empty(), "{:?}", log.findings());
    log.events().for_each(drop);
}

#[test]
fn cut_files_are_survived() {
    for name in FILES {
        let file = unpacked(name);
        // Each byte of small files; of larger ones a part, in other places each.
        let step = file.len() / 200 + 1;
        (0..file.len())
            .step_by(step)
            .for_each(|end| survives(&file[..end]));
        let packed = golden(name);
        let step = packed.len() / 50 + 1;
        (0..packed.len())
            .step_by(step)
            .for_each(|end| survives(&packed[..end]));
    }
}

#[test]
fn flipped_bytes_are_survived() {
    for name in FILES {
        let mut file = unpacked(name);
        let step = file.len() / 200 + 1;
        for at in (0..file.len()).step_by(step) {
            for flip in [0x01, 0x80, 0xff] {
                file[at] ^= flip;
                survives(&file);
                file[at] ^= flip;
            }
        }
    }
}

fn unpacked(name: &str) -> Vec<u8> {
    let file = golden(name);
    let mut bytes = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(&file[..]);
    match std::io::Read::read_to_end(&mut decoder, &mut bytes) {
        Ok(_) => bytes,
        Err(_) => file,
    }
}
