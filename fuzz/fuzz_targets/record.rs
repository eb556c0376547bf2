//! Attacks the decoders of single records: of an events chunk and of the header
//! chunks, on bytes as they come. The first byte chooses.
//!
//! It fails where a reader panics or stands still, where one record is read out
//! of fewer bytes than one, and where what was read and written again is not
//! read as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memlog_format::event::{Deltas, Event};
use memlog_format::ext::Ext;
use memlog_format::meta::Record;
use memlog_format::varint::{Reader, Writer};
use memlog_fuzz::{Counting, Limit, limited};

#[global_allocator]
static MEMORY: Counting = Counting;

/// The decoders own no memory; the encoder's room is on the stack.
const LIMIT: Limit = Limit {
    per_byte: 0,
    besides: 0,
};

fuzz_target!(|input: &[u8]| {
    let Some((&which, bytes)) = input.split_first() else {
        return;
    };
    limited(bytes.len(), LIMIT, || match which & 1 {
        0 => events(bytes, u64::from(which)),
        _ => metas(bytes),
    });
});

fn events(bytes: &[u8], base: u64) {
    let start = Deltas::at_start(base, base);
    let (mut deltas, mut written, mut again) = (start, start, start);
    let mut records = Reader::new(bytes);
    let mut count = 0;
    while let Ok(Some(event)) = deltas.next(&mut records) {
        count += 1;
        assert!(count <= bytes.len(), "more records than bytes");
        // The next one may be told by it, and only a newer memlog knows how.
        if matches!(event, Event::Ext(Ext::Unknown { .. })) {
            continue;
        }
        let mut room = [0; 512];
        let mut out = Writer::new(&mut room);
        match event {
            Event::Alloc(alloc) => written.put_alloc(&mut out, &alloc),
            Event::Release(release) => written.put_release(&mut out, &release),
            Event::Revoke => written.put_revoke(&mut out),
            Event::Tick(tick) => written.put_tick(&mut out, tick),
            Event::Stamp(stamp) => written.put_stamp(&mut out, stamp),
            Event::Ext(ext) => written.put_ext(&mut out, &ext),
        }
        // Longer than the recorder would write it: then it says so.
        let Some(length) = out.finish() else {
            let is_ext = matches!(event, Event::Ext(_));
            assert!(is_ext, "{event:?} does not fit");
            continue;
        };
        let read = again.next(&mut Reader::new(&room[..length]));
        match (event, read) {
            // Time that does not pass is not written.
            (Event::Tick(_), Ok(None)) => assert_eq!(length, 0),
            (Event::Ext(ext), Ok(Some(Event::Ext(same)))) => same_ext(&ext, &same),
            (event, read) => assert_eq!(read, Ok(Some(event))),
        }
    }
}

/// Texts are cut to what the recorder keeps.
fn same_ext(one: &Ext, other: &Ext) {
    use memlog_format::ext::MAX_TEXT;
    use memlog_format::limit::Limit;
    let kept = |text: &[u8]| text.len().min(MAX_TEXT);
    match (one, other) {
        (Ext::Mark(one), Ext::Mark(other)) | (Ext::Scope(one), Ext::Scope(other)) => {
            assert_eq!(&one[..kept(one)], *other)
        }
        // Of a path the end is kept.
        (Ext::Limit(one), Ext::Limit(other)) => {
            let name = &one.name[one.name.len() - kept(one.name)..];
            assert_eq!(&Limit { name, ..*one }, other);
        }
        (
            Ext::Thread { tid, name },
            Ext::Thread {
                tid: same_tid,
                name: same,
            },
        ) => assert_eq!((tid, &name[..kept(name)]), (same_tid, *same)),
        _ => assert_eq!(one, other),
    }
}

fn metas(bytes: &[u8]) {
    let mut records = Reader::new(bytes);
    let mut room = [0; 9000];
    let mut count = 0;
    while let Ok(Some(record)) = Record::next(&mut records) {
        count += 1;
        assert!(count <= bytes.len(), "more records than bytes");
        if matches!(record, Record::Unknown(_)) {
            continue;
        }
        let length = record.encode(&mut room).expect("room for a record");
        let read = Record::next(&mut Reader::new(&room[..length]));
        assert_eq!(read, Ok(Some(record)));
    }
}
