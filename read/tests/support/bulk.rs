//! Big logs for measuring: a program's life as a plain loop.
#![allow(dead_code)] // each test uses its own part

use memlog_format::api::Api;
use memlog_format::chunk::{CHUNK_SIZE, Header, Kind};
use memlog_format::ext::{Ext, Rss, RssSource};
use memlog_format::table::{
    CODES_PER_CHUNK, Code, CodeId, FIRST_NODE, NODES_PER_CHUNK, Node, StackId,
};

use super::{Recorder, chunk};

/// A small generator, always the same.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// A life on some thousand stacks.
pub fn churn(threads: usize, events: u64, window: usize, cross: u64) -> Recorder {
    record(Life {
        threads,
        events,
        window,
        cross,
        stacks: STACKS,
    })
}

/// `events` events of `threads` threads that keep `window` blocks each, by so many
/// stacks; one free in `cross` is another thread's block.
#[derive(Clone, Copy)]
pub struct Life {
    pub threads: usize,
    pub events: u64,
    pub window: usize,
    pub cross: u64,
    pub stacks: u64,
}

/// All of it.
pub fn record(life: Life) -> Recorder {
    let Life {
        threads,
        events,
        window,
        ..
    } = life;
    let mut recorder = Recorder::new(threads, CHUNK_SIZE - 64);
    let mut numbers = Numbers(0x2545_F491_4F6C_DD1D);
    // Each thread's arena: slots of 256 bytes, a stack of free ones.
    let mut live: Vec<Vec<u64>> = vec![Vec::new(); threads];
    let mut free: Vec<Vec<u64>> = (0..threads as u64)
        .map(|thread| {
            let base = 0x7f00_0000_0000 + thread * 0x1000_0000;
            (0..2 * window as u64)
                .rev()
                .map(|slot| base + slot * 256)
                .collect()
        })
        .collect();
    let mut done = 0;
    while done < events {
        for thread in 0..threads {
            for _ in 0..100 {
                step(
                    &mut recorder,
                    &mut numbers,
                    &mut live,
                    &mut free,
                    (thread, life),
                );
                done += 1;
            }
            recorder.streams[thread].tick(done / 10_000);
            if numbers.below(64) == 0 {
                recorder.stamp(thread);
            }
        }
        if done.is_multiple_of(16_000) {
            let blocks: usize = live.iter().map(Vec::len).sum();
            let rss = Rss {
                source: RssSource::Statm,
                peak_kb: 0,
                now_kb: 2000 + blocks as u64 / 8,
                own_kb: 1000,
                stamp: recorder.take_stamp(),
            };
            recorder.streams[0].ext(&Ext::Rss(rss));
        }
    }
    recorder
}

fn step(
    recorder: &mut Recorder,
    numbers: &mut Numbers,
    live: &mut [Vec<u64>],
    free: &mut [Vec<u64>],
    (thread, life): (usize, Life),
) {
    let Life { window, cross, .. } = life;
    let grows = live[thread].len() < window && numbers.below(100) < 52;
    if grows || live[thread].is_empty() {
        let Some(address) = free[thread].pop() else {
            return;
        };
        let stack = stack_of(numbers.below(life.stacks));
        recorder.alloc(thread, Api::Malloc, address, numbers.below(256), stack);
        live[thread].push(address);
        return;
    }
    let owner = match numbers.below(cross.max(1)) {
        0 if cross > 0 => numbers.below(live.len() as u64) as usize,
        _ => thread,
    };
    let owner = if live[owner].is_empty() {
        thread
    } else {
        owner
    };
    if live[owner].is_empty() {
        return;
    }
    let pick = numbers.below(live[owner].len() as u64) as usize;
    let address = live[owner].swap_remove(pick);
    recorder.release(thread, address);
    free[owner].push(address);
}

/// How many stacks `churn` uses.
pub const STACKS: u64 = 8000;

/// The id of the stack of this number: the tables of all machines have it.
fn stack_of(number: u64) -> u32 {
    let (chunk, place) = (number / STACKS, number % STACKS);
    chunk as u32 * NODES_PER_CHUNK + 100 + place as u32
}

/// Full chunks of nodes for so many stacks, in chains of 16 frames, and a chunk of codes.
pub fn tables(stacks: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for index in 0..stacks.div_ceil(STACKS) as u32 {
        let mut nodes = Vec::new();
        for place in FIRST_NODE..NODES_PER_CHUNK {
            let id = index * NODES_PER_CHUNK + place;
            let parent = if place % 16 == 8 { 1 } else { id - 1 };
            let code = CodeId(4 + (id + index) % (CODES_PER_CHUNK - 4));
            let node = Node {
                parent: StackId(parent),
                code,
            };
            nodes.extend(node.to_word().to_le_bytes());
        }
        out.extend(chunk(Header::new(Kind::Nodes, index, 0), &nodes, false));
    }
    let mut codes = Vec::new();
    for id in 4..CODES_PER_CHUNK {
        let code = Code {
            address: 0x40_0000 + u64::from(id) * 16,
            module: 1,
            exact: false,
        };
        codes.extend(code.address.to_le_bytes());
        codes.extend(code.to_tail_word().to_le_bytes());
    }
    out.extend(chunk(Header::new(Kind::Codes, 0, 0), &codes, false));
    out
}
