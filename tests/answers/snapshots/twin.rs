//! Goes through the lines of `memlog dump`, and copies what is live.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::Path;

use crate::ask;
use crate::sites::Folder;
use crate::twin::ns;

/// Bytes and blocks.
pub type Held = (i64, i64);

/// By stack, or by the program's functions, the innermost first.
pub type ByStack = BTreeMap<usize, Held>;
pub type ByPath = BTreeMap<Vec<String>, Held>;

pub fn plus(one: Held, other: Held) -> Held {
    (one.0 + other.0, one.1 + other.1)
}

pub fn add(to: &mut ByStack, stack: usize, held: Held) {
    let sum = to.entry(stack).or_default();
    *sum = plus(*sum, held);
}

pub fn sum(of: &ByStack) -> Held {
    of.values().copied().fold((0, 0), plus)
}

/// A stack as its frames tell of it.
pub struct Stack {
    /// FNV-1a over its return addresses.
    pub id: u64,
    /// As pmem would print them.
    pub lines: String,
    /// Functions of the program.
    pub path: Vec<String>,
}

/// A block of an event.
#[derive(Clone, Copy)]
pub struct Block {
    pub size: i64,
    pub stack: usize,
    pub is_leaked: bool,
}

/// What happened: memory came, with size and stack, or went.
pub struct Event {
    pub ns: u64,
    pub address: u64,
    pub came: Option<(i64, usize)>,
    /// The stack that released it, where the log has that.
    pub freed_by: Option<usize>,
}

pub struct Twin {
    pub events: Vec<Event>,
    pub stacks: Vec<Stack>,
    pub end_ns: u64,
}

fn hexadecimal(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number")
}

/// `FILE (SYMBOL+0xOFF) [0xPC (0xRELPC)]`
fn stack_of(frames: &[&str]) -> Stack {
    let (mut id, mut lines, mut path) = (0xCBF2_9CE4_8422_2325_u64, String::new(), Vec::new());
    for (index, frame) in frames.iter().enumerate() {
        let (place, pc) = frame.rsplit_once(" [").expect("an address");
        let (file, symbol) = place.rsplit_once(" (").expect("a symbol");
        let (name, offset) = symbol
            .trim_end_matches(')')
            .rsplit_once('+')
            .expect("offset");
        let pc = hexadecimal(pc.split(' ').next().expect("a pc"));
        for byte in 0..8 {
            id ^= pc >> (8 * byte) & 0xFF;
            id = id.wrapping_mul(0x100_0000_01B3);
        }
        let symbol = match (name, hexadecimal(offset)) {
            ("?", _) => "unknown".to_owned(),
            (name, 0) => name.to_owned(),
            (name, offset) => format!("{name}+{offset}"),
        };
        writeln!(lines, "  {{{index}}} {symbol}").expect("a String");
        if file.ends_with("/known") {
            path.push(name.to_owned());
        }
    }
    Stack { id, lines, path }
}

impl Twin {
    pub fn of(folder: &Folder, log: &Path) -> Self {
        let dump = folder.says(&["dump", log.to_str().expect("a name")]);
        let (mut events, mut stacks) = (Vec::new(), Vec::new());
        let mut known: HashMap<String, usize> = HashMap::new();
        for line in dump.lines() {
            let mut columns = line.split('\t');
            let (what, of) = columns.next().expect("what").split_once(": ").expect("of");
            let figures = columns.next().expect("figures");
            let ns = ns(figures.split(' ').next().expect("seconds"));
            // Threads look at the clock each for itself; a report's time never goes back.
            let ns = events.last().map_or(ns, |last: &Event| ns.max(last.ns));
            let frames: Vec<&str> = columns.collect();
            let stack = (!frames.is_empty()).then(|| {
                let next = stacks.len();
                let stack = *known.entry(frames.join("\t")).or_insert(next);
                if stack == next {
                    stacks.push(stack_of(&frames));
                }
                stack
            });
            let (came, freed_by, address) = match what {
                "F" => (None, stack, of),
                "M" => {
                    let (size, address) = of.split_once(' ').expect("an address");
                    let size = size.parse().expect("a size");
                    (Some((size, stack.expect("a stack"))), None, address)
                }
                _ => panic!("{line}"),
            };
            events.push(Event {
                ns,
                address: hexadecimal(address),
                came,
                freed_by,
            });
        }
        let stats = ask(folder, log, "stats");
        Self {
            events,
            stacks,
            end_ns: ns(&stats["duration_seconds"].to_string()),
        }
    }

    pub fn churn(&self) -> u64 {
        let came = |event: &Event| event.came.map_or(0, |(size, _)| 2 * size as u64);
        self.events.iter().map(came).sum()
    }

    /// What there is at each snapshot, and last at the end.
    pub fn snapshots(&self, every: Every) -> Vec<Snapshot> {
        self.snapshots_of(every, |_| true)
    }

    /// The same of chosen blocks, at the same moments.
    pub fn snapshots_of(&self, every: Every, passes: impl Fn(&Block) -> bool) -> Vec<Snapshot> {
        let blocks = self.blocks();
        let (mut all, mut now) = (Vec::new(), Snapshot::default());
        let mut due = 1;
        let mut take = |now: &mut Snapshot| {
            all.push(now.clone());
            (now.churn, now.came, now.went) = Default::default();
        };
        for (event, block) in self.events.iter().zip(&blocks) {
            if let Every::Ns(distance) = every {
                while due * distance < event.ns {
                    now.ns = Some(due * distance);
                    take(&mut now);
                    due += 1;
                }
            }
            now.events += 1;
            let (size, stack) = (block.size, block.stack);
            let (sign, is_chosen) = (if event.came.is_some() { 1 } else { -1 }, passes(block));
            now.all = plus(now.all, (sign * size, sign));
            if is_chosen {
                add(&mut now.live, stack, (sign * size, sign));
                let (of, ever) = match sign {
                    1 => (&mut now.came, &mut now.came_ever),
                    _ => (&mut now.went, &mut now.went_ever),
                };
                add(of, stack, (size, 1));
                add(ever, stack, (size, 1));
            }
            now.churn += size as u64;
            if let Every::Churn(distance) = every
                && now.churn >= distance
            {
                now.ns = Some(event.ns);
                take(&mut now);
            }
        }
        if let Every::Ns(distance) = every {
            while due * distance <= self.end_ns {
                now.ns = Some(due * distance);
                take(&mut now);
                due += 1;
            }
        }
        now.ns = None;
        take(&mut now);
        all
    }

    /// By event the block that came or went.
    fn blocks(&self) -> Vec<Block> {
        let mut live: HashMap<u64, (usize, Block)> = HashMap::new();
        let mut all: Vec<Block> = Vec::new();
        for (index, event) in self.events.iter().enumerate() {
            let block = match event.came {
                Some((size, stack)) => {
                    let is_leaked = true;
                    let block = Block {
                        size,
                        stack,
                        is_leaked,
                    };
                    assert!(live.insert(event.address, (index, block)).is_none());
                    block
                }
                None => {
                    let (born, mut block) = live.remove(&event.address).expect("it was live");
                    block.is_leaked = false;
                    all[born] = block;
                    block
                }
            };
            all.push(block);
        }
        all
    }

    /// Those that pass the filter, by the program's functions.
    pub fn by_path(&self, of: &ByStack, with: Option<&str>) -> ByPath {
        let mut found = ByPath::new();
        for (&stack, &held) in of {
            let path = &self.stacks[stack].path;
            if with.is_none_or(|name| path.iter().any(|one| one == name)) {
                let sum = found.entry(path.clone()).or_default();
                *sum = plus(*sum, held);
            }
        }
        found.retain(|_, held| *held != (0, 0));
        found
    }
}

#[derive(Clone, Copy)]
pub enum Every {
    Churn(u64),
    Ns(u64),
}

impl Every {
    pub fn words(self) -> String {
        match self {
            Every::Churn(bytes) => format!("{bytes}B"),
            Every::Ns(ns) => format!("{ns}ns"),
        }
    }
}

#[derive(Clone, Default)]
pub struct Snapshot {
    /// None at the end.
    pub ns: Option<u64>,
    pub events: u64,
    pub churn: u64,
    /// Of all blocks that are live.
    pub all: Held,
    pub live: ByStack,
    pub came: ByStack,
    pub went: ByStack,
    pub came_ever: ByStack,
    pub went_ever: ByStack,
}
