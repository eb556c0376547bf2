//! The calls that map memory, to rows: a table of its own, whose events are those calls.
//! A row is a part of what a call mapped. What is unmapped in pieces has a row for each,
//! all of which came at the same event.

use std::io;

use memlog_analysis::{Area, Areas, Change};
use memlog_format::ext::Ledger;
use memlog_read::Place;

use crate::builder::Builder;
use crate::column::Flags;
use crate::live::Block;
use crate::table::NEVER;

pub(crate) struct Mappings {
    areas: Areas<Block>,
    pub(crate) table: Builder<Vec<u8>>,
}

impl Mappings {
    pub(crate) fn new(key: &[u8]) -> Self {
        Self {
            areas: Areas::default(),
            table: Builder::of_mappings(key),
        }
    }

    pub(crate) fn take(&mut self, place: Place, entry: &Ledger) {
        let table = &mut self.table;
        table.next_event(place.tick);
        let caller = Block {
            born: table.events(),
            stack: table.stacks.place(entry.stack),
            thread: table.threads.place(place.tid),
            scope: table.scopes.of(place.stream),
            ..Block::default()
        };
        let released_by = (caller.thread, u64::from(caller.stack) + 1);
        self.areas
            .take(place.stream, entry, caller, &mut |change| match change {
                Change::Came { start, area } => {
                    table
                        .stacks
                        .came(area.of.stack, area.end - start, caller.born);
                }
                Change::Went { area, from, to, .. } => {
                    let part = part(&area, from, to);
                    table.went(from, (part, None), Flags::of_area(&area), released_by);
                }
            });
    }

    /// What of them is still there nobody knows: recording was off.
    pub(crate) fn forget(&mut self, tick: u64) {
        let table = &mut self.table;
        table.next_event(tick);
        self.areas.clear(&mut |change| {
            if let Change::Went { area, from, to, .. } = change {
                let part = part(&area, from, to);
                let flags = Flags::of_area(&area).lost_sight();
                table.went(from, (part, None), flags, (part.thread, 0));
            }
        });
    }

    pub(crate) fn finish(mut self, end_tick: u64) -> io::Result<Vec<u8>> {
        let table = &mut self.table;
        table.flush(false);
        let mut live: Vec<_> = self.areas.iter().collect();
        live.sort_by_key(|(start, area)| (area.of.born, *start));
        for (start, area) in live {
            let part = part(area, start, area.end);
            let nobody = (part.thread, 0);
            table.row(start, &part, None, NEVER, Flags::of_area(area), nobody);
            if table.is_full() {
                table.flush(true);
            }
        }
        table.flush(true);
        self.table.finish(Some(end_tick), &[])
    }
}

fn part(area: &Area<Block>, from: u64, to: u64) -> Block {
    Block {
        size: to - from,
        ..area.of
    }
}
