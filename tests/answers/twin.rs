//! The naive twin: blocks as the lines of `memlog dump` tell of them.

use std::collections::HashMap;
use std::io::BufRead;

/// Nanoseconds since recording began, and the number of the event.
pub type When = (u64, u64);

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    pub address: u64,
    pub size: u64,
    pub tid: u32,
    pub born: When,
    pub died: Option<When>,
    pub freed_by: Option<u32>,
    pub is_temporary: bool,
}

/// All blocks of a log that had none before it began.
#[derive(Default)]
pub struct Twin {
    pub blocks: Vec<Block>,
    pub names: HashMap<u32, String>,
    pub releases: u64,
    pub end: When,
    /// Live bytes and blocks when the heap was largest, and the event.
    pub peak: (u64, u64, u64),
    live: HashMap<u64, usize>,
    last: HashMap<u32, u64>,
    now: (u64, u64),
}

/// A time as it is printed.
pub fn ns(seconds: &str) -> u64 {
    (seconds.parse::<f64>().expect("seconds") * 1e9).round() as u64
}

impl Twin {
    /// Of what `memlog dump --no-symbols --threads` prints.
    pub fn of(dump: impl BufRead) -> Self {
        let mut twin = Self::default();
        for line in dump.lines() {
            let line = line.expect("text");
            let (what, rest) = line.split_once(": ").expect("a kind of line");
            let (of, rest) = rest.split_once('\t').expect("columns");
            let columns: Vec<&str> = rest.split(['\t', ' ']).collect();
            let (time, tid) = (ns(columns[0]), columns[2].parse().expect("a thread"));
            twin.end.0 = twin.end.0.max(time);
            match what {
                "THREAD" => drop(twin.names.insert(tid, of.to_owned())),
                "F" => twin.went(address(of), tid),
                "M" => {
                    let (size, at) = of.split_once(' ').expect("a size and an address");
                    twin.came(size.parse().expect("a size"), address(at), tid);
                }
                _ => panic!("{line}"),
            }
        }
        twin
    }

    fn went(&mut self, address: u64, tid: u32) {
        self.end.1 += 1;
        let is_last = self.last.get(&tid) == Some(&address);
        if is_last {
            self.last.remove(&tid);
        }
        self.releases += 1;
        let block = &mut self.blocks[self.live.remove(&address).expect("it was live")];
        (block.died, block.freed_by) = (Some(self.end), Some(tid));
        block.is_temporary = is_last;
        self.now = (self.now.0 - block.size, self.now.1 - 1);
    }

    fn came(&mut self, size: u64, address: u64, tid: u32) {
        self.end.1 += 1;
        self.last.insert(tid, address);
        let before = self.live.insert(address, self.blocks.len());
        assert_eq!(before, None, "{address:#x} was live");
        self.blocks.push(Block {
            address,
            size,
            tid,
            born: self.end,
            died: None,
            freed_by: None,
            is_temporary: false,
        });
        self.now = (self.now.0 + size, self.now.1 + 1);
        // Blocks without bytes count as well.
        if self.now > (self.peak.0, self.peak.1) {
            self.peak = (self.now.0, self.now.1, self.end.1);
        }
    }

    /// Bytes and blocks of those that pass.
    pub fn sum(&self, passes: impl Fn(&Block) -> bool) -> (u64, u64) {
        let chosen = self.blocks.iter().filter(|block| passes(block));
        chosen.fold((0, 0), |sum, block| (sum.0 + block.size, sum.1 + 1))
    }
}

impl Block {
    /// Whether it is live after all that happened until then.
    pub fn is_live_at(&self, ns: u64) -> bool {
        self.born.0 <= ns && self.died.is_none_or(|died| ns < died.0)
    }

    pub fn is_live_after(&self, event: u64) -> bool {
        self.born.1 <= event && self.died.is_none_or(|died| event < died.1)
    }

    pub fn contains(&self, address: u64) -> bool {
        (self.address..self.address + self.size.max(1)).contains(&address)
    }
}

fn address(text: &str) -> u64 {
    let digits = text.strip_prefix("0x").expect("an address");
    u64::from_str_radix(digits, 16).expect("an address")
}
