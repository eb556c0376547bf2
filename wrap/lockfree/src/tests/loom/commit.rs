//! The commit: who sees a length sees all the bytes before it.

use crate::commit::Committed;
use crate::sync::AtomicU32;
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;

const BYTES: usize = 4;

struct Chunk {
    committed: AtomicU32,
    bytes: [UnsafeCell<u8>; BYTES],
}

impl Chunk {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            committed: AtomicU32::new(0),
            bytes: std::array::from_fn(|_| UnsafeCell::new(0)),
        })
    }

    /// Writes one record behind what is committed, and commits it.
    #[allow(unsafe_code)]
    fn append(&self, from: usize, record: &[u8]) {
        for (place, &byte) in self.bytes[from..].iter().zip(record) {
            // SAFETY: loom checks that nobody looks at the byte meanwhile.
            place.with_mut(|place| unsafe { *place = byte });
        }
        Committed(&self.committed).publish((from + record.len()) as u32);
    }

    /// All that is committed now.
    #[allow(unsafe_code)]
    fn read(&self) -> Vec<u8> {
        let length = Committed(&self.committed).length() as usize;
        let valid = self.bytes[..length].iter();
        // SAFETY: as above; a byte before the length is never written again.
        valid
            .map(|place| place.with(|place| unsafe { *place }))
            .collect()
    }
}

#[test]
fn every_prefix_is_readable_at_any_moment() {
    loom::model(|| {
        let chunk = Chunk::new();
        let writer = {
            let chunk = chunk.clone();
            thread::spawn(move || {
                chunk.append(0, &[1]);
                chunk.append(1, &[2, 3]);
                chunk.append(3, &[4]);
            })
        };
        let (early, late) = (chunk.read(), chunk.read());
        for seen in [&early, &late] {
            assert!([0, 1, 3, 4].contains(&seen.len()));
            assert!([1, 2, 3, 4].starts_with(seen));
        }
        // What was committed stays committed.
        assert!(late.starts_with(&early));
        writer.join().unwrap();
        assert_eq!(chunk.read(), [1, 2, 3, 4]);
    });
}

/// A stream that goes to another thread: the next holder writes behind the
/// last one's bytes, and a reader sees both or only the first.
#[test]
fn a_second_holder_appends_behind_the_first() {
    use crate::claims::{Claim, FREE};
    loom::model(|| {
        let chunk = Chunk::new();
        let holder = Arc::new(AtomicU32::new(1));
        let next = {
            let (chunk, holder) = (chunk.clone(), holder.clone());
            thread::spawn(move || {
                if Claim(&holder).take(FREE, 2) {
                    let from = chunk.read().len();
                    assert_eq!(from, 2);
                    chunk.append(from, &[3, 4]);
                }
            })
        };
        let reader = {
            let chunk = chunk.clone();
            thread::spawn(move || assert!([1, 2, 3, 4].starts_with(&chunk.read())))
        };
        chunk.append(0, &[1, 2]);
        Claim(&holder).release();
        next.join().unwrap();
        reader.join().unwrap();
    });
}
