//! Readings of resident memory, of one chunk of events by itself: for who wants
//! to know of many logs how large each process was, and nothing else.

use memlog_format::chunk::{HEADER_SIZE, Header};
use memlog_format::event::{Deltas, Event};
use memlog_format::ext::{Ext, Rss};
use memlog_format::varint::Reader;

use crate::cursor::next_whole;

/// The readings in a chunk, in its stream's order; `chunk` is its bytes up to
/// what is committed. They end at a record that cannot be read.
pub fn readings<'a>(header: &Header, chunk: &'a [u8]) -> impl Iterator<Item = Rss> + 'a {
    let body = chunk.get(HEADER_SIZE..).unwrap_or(&[]);
    let mut records = Reader::new(body);
    let mut deltas = Deltas::at_start(header.base_tick, header.base_stamp);
    std::iter::from_fn(move || {
        while let Ok(Some(event)) = next_whole(&mut deltas, &mut records, body) {
            if let Event::Ext(Ext::Rss(rss)) = event {
                return Some(rss);
            }
        }
        None
    })
}
