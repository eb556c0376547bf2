//! Takes snapshots between the events that go to the tally. Readings without
//! snapshots do not come by here.

use memlog_analysis::{Held, Snapshots};
use memlog_format::event::{Alloc, Release, Usual};
use memlog_read::{Item, Kind, Place, Taker};

use super::analysis::Feed;

/// The tally's feed with an eye on what comes and goes.
pub struct Snapping<'f, 't, 'l, 'a> {
    feed: &'f mut Feed<'t, 'l, 'a>,
    snapshots: &'f mut Snapshots,
}

impl<'f, 't, 'l, 'a> Snapping<'f, 't, 'l, 'a> {
    /// In the middle of a log.
    pub fn go_on(feed: &'f mut Feed<'t, 'l, 'a>, snapshots: &'f mut Snapshots) -> Self {
        Self { feed, snapshots }
    }

    /// Before the first event of the log's own.
    pub fn begin(feed: &'f mut Feed<'t, 'l, 'a>, snapshots: &'f mut Snapshots) -> Self {
        snapshots.begin(feed.tally);
        Self { feed, snapshots }
    }
}

impl<'a> Taker<'a> for Snapping<'_, '_, '_, 'a> {
    #[inline]
    fn soon(&mut self, events: &[(Place, Usual)]) {
        self.feed.soon(events);
    }

    #[inline]
    fn alloc(&mut self, place: Place, alloc: &Alloc) {
        self.snapshots.before(place.tick, self.feed.tally);
        let before = self.feed.tally.live();
        self.feed.alloc(place, alloc);
        let came = Held {
            bytes: alloc.size,
            blocks: 1,
        };
        self.snapshots.after(before, came, self.feed.tally);
    }

    #[inline]
    fn release(&mut self, place: Place, release: &Release) {
        self.snapshots.before(place.tick, self.feed.tally);
        let before = self.feed.tally.live();
        self.feed.release(place, release);
        self.snapshots
            .after(before, Held::default(), self.feed.tally);
    }

    fn item(&mut self, item: &Item<'a>) {
        match &item.kind {
            Kind::Alloc(alloc) => self.alloc(item.place(), alloc),
            Kind::Release(release) => self.release(item.place(), release),
            Kind::Mark(name) => {
                self.snapshots.mark(name, item.tick, self.feed.tally);
                self.feed.item(item);
            }
            Kind::Switch(switch) => {
                self.snapshots.before(item.tick, self.feed.tally);
                if switch.on {
                    self.snapshots.forget(self.feed.tally);
                }
                let before = self.feed.tally.live();
                self.feed.item(item);
                self.snapshots
                    .after(before, Held::default(), self.feed.tally);
            }
            _ => self.feed.item(item),
        }
    }
}
