//! Records one by one: whether each was written whole, and what became of a realloc.

use memlog_format::Malformed;
use memlog_format::event::{Deltas, Event};
use memlog_format::ext::Ext;
use memlog_format::varint::Reader;

/// What became of an announced release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It happened.
    Happened,
    /// It did not.
    Revoked,
    /// Recording went off before its end.
    Unseen,
    /// The chunk does not say.
    Unfinished,
}

/// The next record, if it was written whole. Where a block of the file became
/// zeros the record before runs into them: its numbers end too early, which no
/// byte of it tells. But then it ends in a zero and zeros follow, which are no
/// record.
#[inline]
pub(crate) fn next_whole<'a>(
    deltas: &mut Deltas,
    records: &mut Reader<'a>,
    body: &[u8],
) -> Result<Option<Event<'a>>, Malformed> {
    let start = records.at();
    let event = deltas.next(records)?;
    match body.get(records.at().wrapping_sub(1)..) {
        Some([0, 0, ..]) => Err(Malformed {
            offset: start,
            expected: "a record that was written whole",
        }),
        _ => Ok(event),
    }
}

/// Looks ahead to where the fate of the announced release behind `records` is told, and
/// where that record ends. The next release ends the search, so that no record is looked at
/// more than twice.
pub(crate) fn fate(deltas: Deltas, records: Reader, body: &[u8]) -> (Fate, usize) {
    let (fate, end) = fate_so_far(deltas, records, body);
    (fate.unwrap_or(Fate::Unfinished), end)
}

/// The same of a chunk that may go on: nothing where it ends before that is told.
pub(crate) fn fate_so_far(
    mut deltas: Deltas,
    mut records: Reader,
    body: &[u8],
) -> (Option<Fate>, usize) {
    loop {
        let fate = match next_whole(&mut deltas, &mut records, body) {
            Ok(Some(Event::Alloc(alloc))) if alloc.api.is_realloc() => Fate::Happened,
            Ok(Some(Event::Revoke)) => Fate::Revoked,
            Ok(Some(Event::Ext(Ext::Unseen))) => Fate::Unseen,
            Ok(Some(Event::Alloc(_) | Event::Release(_))) | Err(_) => Fate::Unfinished,
            Ok(Some(Event::Tick(_) | Event::Stamp(_) | Event::Ext(_))) => continue,
            Ok(None) => return (None, records.at()),
        };
        return (Some(fate), records.at());
    }
}
