//! One chunk of events by itself: for who wants to know of many logs how large
//! each process was and how much it did, and nothing else.

use memlog_format::Malformed;
use memlog_format::chunk::{HEADER_SIZE, Header};
use memlog_format::event::{Deltas, Event};
use memlog_format::ext::{Ext, Rss};
use memlog_format::varint::Reader;

use crate::records::next_whole;

/// The records in a chunk, in its stream's order; `chunk` is its bytes up to
/// what is committed. Nothing comes behind one that cannot be read.
pub fn records<'a>(
    header: &Header,
    chunk: &'a [u8],
) -> impl Iterator<Item = Result<Event<'a>, Malformed>> + use<'a> {
    let body = chunk.get(HEADER_SIZE..).unwrap_or(&[]);
    let mut records = Reader::new(body);
    let mut deltas = Deltas::at_start(header.base_tick, header.base_stamp);
    let mut is_over = false;
    std::iter::from_fn(move || {
        let next = match is_over {
            true => None,
            false => next_whole(&mut deltas, &mut records, body).transpose(),
        };
        is_over = !matches!(next, Some(Ok(_)));
        next
    })
}

/// The readings of resident memory among them, up to one that cannot be read.
pub fn readings<'a>(header: &Header, chunk: &'a [u8]) -> impl Iterator<Item = Rss> + 'a {
    records(header, chunk).filter_map(|record| match record {
        Ok(Event::Ext(Ext::Rss(rss))) => Some(rss),
        _ => None,
    })
}
