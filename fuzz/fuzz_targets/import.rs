//! Attacks the readers of other tools' files, packed and plain, by what they begin with.
//!
//! It fails where one panics, takes long, or more memory than a multiple of its file and of
//! the log that comes of it; and where that log is damaged to the reader of logs, or has
//! another number of events than was told.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memlog_fuzz::{Counting, Limit, limited};
use memlog_import::{Error, Settings, Sink, convert};
use memlog_read::{Kind, Log};

#[global_allocator]
static MEMORY: Counting = Counting;

/// The tables of a decoder of zstd and its window, the chunks that are being filled.
const LIMIT: Limit = Limit {
    per_byte: 4096,
    besides: 256 << 20,
};

/// No log of so few bytes has more chunks, but for sums of many blocks.
const MOST_CHUNKS: u32 = 64;

/// The log, as long as it is short.
#[derive(Default)]
struct Short(Vec<u8>);

impl Sink for Short {
    fn write(&mut self, index: u32, chunk: &[u8]) -> std::io::Result<()> {
        if index >= MOST_CHUNKS {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.0.write(index, chunk)
    }
}

fuzz_target!(|input: &[u8]| {
    let mut log = Short::default();
    let made = limited(input.len(), LIMIT, || {
        convert(&mut &*input, b"file", &mut log, Settings::default())
    });
    match made {
        Ok(made) => check(&log.0, (made.allocations, made.releases)),
        Err(Error::Write(_)) => {}
        Err(error) => assert!(!error.to_string().is_empty() && !error.remedy().is_empty()),
    }
});

fn check(bytes: &[u8], expected: (u64, u64)) {
    let log = Log::open(bytes).expect("a log");
    assert!(log.findings().list().is_empty(), "{:?}", log.findings());
    let mut events = log.events();
    let mut found = (0, 0);
    for item in events.by_ref() {
        match item.kind {
            Kind::Alloc(_) => found.0 += 1,
            Kind::Release(_) => found.1 += 1,
            _ => {}
        }
    }
    assert!(
        events.findings().list().is_empty(),
        "{:?}",
        events.findings()
    );
    assert_eq!(found, expected);
}
