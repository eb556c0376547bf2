//! What a process had before its log's own events: what it inherited by fork, and what
//! overwritten events left live.

use memlog_format::api::Api;
use memlog_format::event::Alloc;
use memlog_format::live::LiveEntry;
use memlog_read::{Flight, Kind, Log};

use super::{Family, LogTables, Watch};

/// A step on the way to that.
pub enum Before {
    /// What comes next is of another log.
    Log,
    /// A block was there, or came.
    Came(Alloc),
    /// The block at this address went.
    Went(u64),
    /// What became of all that there was nobody saw.
    Forgot,
}

impl Family<'_> {
    /// All steps, with the tables of their log; the oldest parent's come first.
    pub fn before(&self, watch: &Watch, mut take: impl FnMut(&LogTables, Before)) {
        'forks: for (_, child, parent) in self.forks() {
            let tables = LogTables::new(parent);
            begin(parent, &tables, &mut take);
            let mut events = watch.events_until(parent, child.fork_points());
            while let Some(item) = events.next() {
                if !watch.goes_on(&events) {
                    break 'forks;
                }
                match &item.kind {
                    Kind::Alloc(alloc) => take(&tables, Before::Came(*alloc)),
                    Kind::Release(release) => take(&tables, Before::Went(release.address)),
                    Kind::Switch(switch) if switch.on => take(&tables, Before::Forgot),
                    _ => {}
                }
            }
        }
        begin(self.own(), &LogTables::new(self.own()), &mut take);
    }
}

fn begin(log: &Log, tables: &LogTables, take: &mut impl FnMut(&LogTables, Before)) {
    take(tables, Before::Log);
    for entry in log.flight().into_iter().flat_map(Flight::live) {
        take(tables, Before::Came(plain(entry)));
    }
}

/// How it was asked for nobody knows any more.
fn plain(entry: &LiveEntry) -> Alloc {
    Alloc {
        api: Api::Malloc,
        address: entry.address,
        size: entry.size,
        usable: entry.usable,
        alignment_log2: 0,
        stack: entry.stack,
        order: None,
    }
}
