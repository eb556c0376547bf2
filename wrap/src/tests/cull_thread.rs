//! A thread that writes a chunk: blocks of its own and of before, of all functions and
//! sizes, with and without numbers, and between them every other record.

use super::random::Random;
use crate::log::cull::LARGE;
use memlog_format::api::Api;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::event::{Alloc, Deltas, Release, predicted_usable};
use memlog_format::ext::{Ext, Rss, RssSource};
use memlog_format::switch::{By, Switch};
use memlog_format::table::StackId;
use memlog_format::varint::Writer;
use std::collections::BTreeMap;

/// A block, and how much it had of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block {
    pub size: u64,
    pub usable: u64,
    pub stack: u32,
    pub tid: u32,
    pub tick: u64,
}

/// A thread that writes a chunk.
pub struct Thread {
    random: Random,
    pub chunk: Vec<u8>,
    pub header: Header,
    pub deltas: Deltas,
    pub live: BTreeMap<u64, Block>,
    tid: u32,
    stamp: u64,
    ordered: u64,
    pub last: u64,
}

pub const ADDRESSES: u64 = 300;

impl Thread {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let before = (0..random.below(80)).map(|index| {
            let block = Block {
                size: 1 + index * 7,
                usable: predicted_usable(1 + index * 7),
                stack: 3,
                tid: 9,
                tick: 0,
            };
            (0x10_0000 + index * 48, block)
        });
        let header = Header {
            thread: 7,
            base_tick: 100,
            base_stamp: 50,
            ..Header::new(Kind::Events, 2, 5)
        };
        let mut chunk = vec![0; CHUNK_SIZE];
        chunk[..HEADER_SIZE].copy_from_slice(&header.encode());
        Self {
            live: before.collect(),
            random,
            chunk,
            header,
            deltas: Deltas::at_start(100, 50),
            tid: 7,
            stamp: 50,
            ordered: 0,
            last: 0,
        }
    }

    pub fn put(&mut self, put: impl FnOnce(&mut Deltas, &mut Writer)) {
        let at = self.header.committed as usize;
        let mut out = Writer::new(&mut self.chunk[at..]);
        put(&mut self.deltas, &mut out);
        self.header.committed += out.finish().expect("room") as u32;
        self.chunk[..HEADER_SIZE].copy_from_slice(&self.header.encode());
    }

    pub fn alloc(&mut self, api: Api) {
        let address = loop {
            let address = 0x20_0000 + self.random.below(ADDRESSES) * 32;
            if !self.live.contains_key(&address) {
                break address;
            }
        };
        let size = match self.random.below(60) {
            0 => LARGE + self.random.below(9),
            1 => self.random.below(5000),
            _ => 8 + self.random.below(6) * 16,
        };
        let usable = predicted_usable(size) + 16 * u64::from(self.random.below(20) == 0);
        let order = self.order();
        let alloc = Alloc {
            api,
            address,
            size,
            usable,
            alignment_log2: if api.is_aligned() { 6 } else { 0 },
            stack: StackId(10 + self.random.below(6) as u32),
            order,
        };
        self.put(|deltas, out| deltas.put_alloc(out, &alloc));
        let block = Block {
            size,
            usable,
            stack: alloc.stack.0,
            tid: self.tid,
            tick: self.deltas.tick,
        };
        self.live.insert(address, block);
        self.last = address;
    }

    fn order(&mut self) -> Option<u64> {
        (self.random.below(25) == 0).then(|| {
            self.ordered += 1;
            self.ordered
        })
    }

    /// A block that is live: often the last.
    fn some(&mut self) -> Option<u64> {
        if self.random.below(3) > 0 && self.live.contains_key(&self.last) {
            return Some(self.last);
        }
        let index = self.random.below(self.live.len().max(1) as u64) as usize;
        self.live.keys().nth(index).copied()
    }

    pub fn release(&mut self, api: Api, announced: bool) -> Option<u64> {
        let address = self.some()?;
        let stack = (self.random.below(4) == 0).then_some(StackId(20));
        let release = Release {
            api,
            address,
            announced,
            stack,
            order: self.order(),
        };
        self.put(|deltas, out| deltas.put_release(out, &release));
        Some(address)
    }

    pub fn step(&mut self) {
        match self.random.below(400) {
            0..150 => {
                let apis = [Api::Malloc, Api::Calloc, Api::Memalign, Api::New];
                let api = apis[self.random.below(4) as usize];
                self.alloc(api);
            }
            150..300 => {
                if let Some(address) = self.release(Api::Free, false) {
                    self.live.remove(&address);
                }
            }
            300..340 => {
                if let Some(address) = self.release(Api::Realloc, true) {
                    if self.random.below(5) == 0 {
                        self.put(|deltas, out| deltas.put_revoke(out));
                    } else {
                        self.live.remove(&address);
                        self.alloc(Api::Realloc);
                    }
                }
            }
            340..375 => {
                let tick = self.deltas.tick + 1 + self.random.below(2);
                self.put(|deltas, out| deltas.put_tick(out, tick));
            }
            375..384 => {
                self.stamp += 1 + self.random.below(3);
                let stamp = self.stamp;
                self.put(|deltas, out| deltas.put_stamp(out, stamp));
            }
            384..388 => {
                self.stamp += 1;
                let rss = Rss {
                    source: RssSource::Statm,
                    peak_kb: 0,
                    now_kb: 1000 + self.random.below(500),
                    own_kb: 10,
                    stamp: self.stamp,
                };
                self.put(|deltas, out| deltas.put_ext(out, &Ext::Rss(rss)));
            }
            388..392 => self.put(|deltas, out| deltas.put_ext(out, &Ext::Mark(b"here"))),
            392..394 => self.put(|deltas, out| deltas.put_ext(out, &Ext::Fork { child: 77 })),
            394..396 => {
                self.tid = 7 + self.random.below(2) as u32;
                let tid = self.tid;
                let thread = Ext::Thread { tid, name: b"t" };
                self.put(|deltas, out| deltas.put_ext(out, &thread));
            }
            396 => {
                let switch = Switch {
                    on: true,
                    by: By::Program,
                    stamp: self.stamp,
                };
                self.put(|deltas, out| deltas.put_ext(out, &Ext::Switch(switch)));
            }
            _ => {
                let loss = Ext::Loss {
                    events: 0,
                    reason: 0,
                };
                self.put(|deltas, out| deltas.put_ext(out, &loss));
            }
        }
    }
}
