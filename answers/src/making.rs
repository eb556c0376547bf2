//! Tables for tests, whose event's tick is its number.

use memlog_format::api::Api;
use memlog_format::event::{Alloc, Release};
use memlog_format::table::StackId;
use memlog_read::{Place, Taker};
use memlog_table::Builder;

/// The key of these tables.
pub(crate) const KEY: &[u8] = b"key";

/// A table that is made, event by event.
pub(crate) struct Making {
    builder: Builder<Vec<u8>>,
    event: u64,
}

impl Making {
    /// One of a log that began with nothing.
    pub(crate) fn begin() -> Self {
        let mut builder = Builder::new(Vec::new(), KEY);
        builder.log(0, 1 << 20);
        builder.start(0);
        Self { builder, event: 0 }
    }

    fn place(&mut self) -> Place {
        self.event += 1;
        Place {
            stream: 0,
            tid: 1,
            tick: self.event,
        }
    }

    /// A block comes.
    pub(crate) fn alloc(&mut self, api: Api, address: u64, size: u64, stack: u32) {
        let place = self.place();
        let alloc = Alloc {
            api,
            address,
            size,
            usable: size,
            alignment_log2: 0,
            stack: StackId(stack),
            order: None,
        };
        self.builder.alloc(place, &alloc);
    }

    /// A block goes.
    pub(crate) fn release(&mut self, api: Api, address: u64) {
        let place = self.place();
        let release = Release {
            api,
            address,
            announced: api == Api::Realloc,
            stack: None,
            order: None,
        };
        self.builder.release(place, &release);
    }

    /// The table.
    pub(crate) fn end(self) -> Vec<u8> {
        let bytes = self.builder.finish(None, b"");
        bytes.expect("a sink takes all")
    }
}

/// Numbers below others that come the same for each seed.
pub(crate) fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |end| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % end
    }
}
