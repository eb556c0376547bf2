//! What the reader of each form writes to.

use std::collections::HashMap;

use memlog_format::api::Api;
use memlog_format::chunk::Kind;
use memlog_format::counter::Counter;
use memlog_format::event::{Alloc, Release, predicted_usable};
use memlog_format::ext::{Ext, Rss, RssSource};
use memlog_format::meta::{End, Key, Lack, Module, Record, Start};
use memlog_format::order::CELL_BITS;
use memlog_format::table::{Code, CodeId, NODE_SIZE, Node, StackId};

use crate::addresses::Addresses;
use crate::error::Error;
use crate::events::Events;
pub use crate::made::{Held, Made, ModuleId, Settings};
use crate::metas::Metas;
use crate::out::{Out, Sink};
use crate::places::{Given, Places};
use crate::segments::Segment;
use crate::tables::Table;

/// No more blocks are made of sums.
const MOST_BLOCKS: u64 = 100_000_000;
/// So many of the lines that were left out are told one by one.
const TOLD: u64 = 5;

#[derive(Clone, Copy)]
struct Live {
    size: u64,
    is_made_up: bool,
}

/// Writes a log: what is called in this order happened in this order.
pub struct LogWriter<'s> {
    out: Out<'s>,
    metas: Metas,
    places: Places,
    nodes: Table,
    stacks: HashMap<(u32, u32), StackId>,
    events: Events,
    live: HashMap<u64, Live>,
    addresses: Addresses,
    start: Start,
    settings: Settings,
    modules: u32,
    stamps: u64,
    peak_kb: u64,
    blocks_of_sums: u64,
    file: Box<[u8]>,
    made: Made,
}

impl<'s> LogWriter<'s> {
    /// An empty log.
    pub fn new(sink: &'s mut dyn Sink, settings: Settings) -> Self {
        Self {
            out: Out::new(sink),
            metas: Metas::new(),
            places: Places::new(),
            nodes: Table::new(Kind::Nodes, NODE_SIZE, "stacks"),
            stacks: HashMap::new(),
            events: Events::new(),
            live: HashMap::new(),
            addresses: Addresses::default(),
            start: Start {
                pointer_bytes: 8,
                big_endian: false,
                machine: 0,
                pid: 0,
                parent_pid: 0,
                wall_ns: 0,
                tick_ns: 1_000_000,
                page_bytes: 4096,
                cell_bits: CELL_BITS as u8,
                has_usable: false,
            },
            settings,
            modules: 0,
            stamps: 0,
            peak_kb: 0,
            blocks_of_sums: 0,
            file: Box::default(),
            made: Made::default(),
        }
    }

    /// What the log is of, as far as it is known by default: to be set before the first
    /// time or event.
    pub fn start(&mut self) -> &mut Start {
        &mut self.start
    }

    /// Which tool's file it is made from, and how that is called.
    pub fn made_from(&mut self, tool: &'static str, file: &[u8]) {
        self.made.tool = tool;
        self.file = file.into();
    }

    /// The source does not know this.
    pub fn lacks(&mut self, lack: Lack) {
        if !self.made.lacks.contains(&lack) {
            self.made.lacks.push(lack);
            self.text(Key::Lacks, &[lack as u8]);
        }
    }

    /// A line or record was not understood, and the others can be without it.
    pub fn leave_out(&mut self, why: &Error) {
        self.made.left_out += 1;
        self.lacks(Lack::LeftOut);
        if self.made.left_out <= TOLD {
            self.remark(format!("left out: {why}"));
        }
    }

    /// A sentence for whoever reads the log.
    pub fn remark(&mut self, sentence: String) {
        self.text(Key::Note, sentence.as_bytes());
        self.made.remarks.push(sentence);
    }

    /// The file ends earlier than it should: a sentence says where.
    pub fn cut_off(&mut self, sentence: String) {
        self.lacks(Lack::End);
        self.remark(sentence);
    }

    /// Whether nothing more is written: [`finish`](Self::finish) says why.
    pub fn has_failed(&self) -> bool {
        self.out.is_over()
    }

    /// How import is to be done.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The parts of a file of code; none if it is not here.
    pub fn segments(&self, path: &[u8]) -> Vec<Segment> {
        let found = self.settings.segments.map(|segments| segments(path));
        found.unwrap_or_default()
    }

    /// A text with a meaning.
    pub fn text(&mut self, key: Key, text: &[u8]) {
        self.metas.push(&mut self.out, &Record::Text(key, text));
    }

    /// A file of code. With a bias of 0 an address is that of the file. Where it lay is not
    /// known: `0..0`.
    pub fn module(
        &mut self,
        path: &[u8],
        build_id: &[u8],
        bias: u64,
        mapped: std::ops::Range<u64>,
    ) -> ModuleId {
        self.modules += 1;
        let module = Module {
            id: self.modules,
            bias,
            low: mapped.start,
            high: mapped.end,
            build_id,
            path,
        };
        self.metas.push(&mut self.out, &Record::Module(module));
        ModuleId(self.modules)
    }

    /// A frame; the same again is the same code. `address` is a return address unless
    /// `is_exact`; without one, one is made up. `names` has the innermost inlined function
    /// first, then what it is inlined into, and last the function itself. Without names they
    /// are looked up in the module's file, if that is here.
    pub fn place(
        &mut self,
        address: Option<u64>,
        is_exact: bool,
        module: Option<ModuleId>,
        names: &[Given],
    ) -> CodeId {
        let code = Code {
            address: address.unwrap_or(0),
            module: module.map_or(0, |module| module.0),
            exact: is_exact,
        };
        let to = (&mut self.out, &mut self.metas);
        self.places.of(to, code, address.is_some(), names)
    }

    /// The stack of a frame that was called from another, or from a root as
    /// [`StackId::COMPLETE`]; the same pair gives the same stack.
    pub fn stack(&mut self, caller: StackId, place: CodeId) -> StackId {
        if let Some(&known) = self.stacks.get(&(caller.0, place.0)) {
            return known;
        }
        let node = Node {
            parent: caller,
            code: place,
        };
        let word = node.to_word().to_le_bytes();
        let stack = StackId(self.nodes.push(&mut self.out, &word));
        self.stacks.insert((caller.0, place.0), stack);
        stack
    }

    /// It is this late since the start. A time that goes back is taken as the one before.
    pub fn time(&mut self, ns_since_start: u64) {
        let tick = ns_since_start / self.start.tick_ns.max(1);
        if tick < self.events.tick {
            self.made.times_back += 1;
        }
        self.events.tick = self.events.tick.max(tick);
    }

    /// The thread of what follows.
    pub fn thread(&mut self, tid: u32, name: &[u8]) {
        self.events.thread = tid;
        self.events.put(&mut self.out, |deltas, out| {
            deltas.put_ext(out, &Ext::Thread { tid, name });
        });
    }

    /// The program or its user marked this moment.
    pub fn mark(&mut self, text: &[u8]) {
        self.events.put(&mut self.out, |deltas, out| {
            deltas.put_ext(out, &Ext::Mark(text));
        });
    }

    /// A reading of resident memory: now, and the most that it was so far; 0 where unknown.
    pub fn resident(&mut self, now_kb: u64, peak_kb: u64) {
        self.peak_kb = self.peak_kb.max(now_kb).max(peak_kb);
        let (source, stamp) = match now_kb {
            0 => (RssSource::VmHwm, self.stamps),
            _ => (RssSource::Statm, self.stamps),
        };
        self.stamps += 2;
        let reading = Ext::Rss(Rss {
            source,
            peak_kb,
            now_kb,
            own_kb: 0,
            stamp,
        });
        self.events.put(&mut self.out, |deltas, out| {
            deltas.put_ext(out, &reading);
            deltas.put_stamp(out, stamp + 1);
        });
    }

    /// An address for a block of this size whose source has none; it is used again when that
    /// block went. A form has addresses of its own or these: they may be alike.
    pub fn made_up_address(&mut self, size: u64) -> u64 {
        self.lacks(Lack::Addresses);
        self.addresses.take(size)
    }

    /// A block came. One that is live there already went unseen.
    pub fn allocate(
        &mut self,
        address: u64,
        size: u64,
        usable: Option<u64>,
        stack: StackId,
        api: Api,
    ) {
        self.replace(address);
        self.came(address, size);
        let alloc = self.alloc_of(address, (size, usable), stack, api);
        self.events
            .put(&mut self.out, |deltas, out| deltas.put_alloc(out, &alloc));
    }

    /// A block went; nothing where none is known there.
    pub fn release(&mut self, address: u64, stack: Option<StackId>, api: Api) {
        if !self.went(address) {
            self.made.unknown_releases += 1;
            return;
        }
        self.put_release(release_of(address, stack, api));
    }

    /// A block became another, by realloc or reallocarray. Where the old one is not known a
    /// block came.
    pub fn resize(
        &mut self,
        old: u64,
        address: u64,
        size: u64,
        usable: Option<u64>,
        stack: StackId,
        api: Api,
    ) {
        if !self.went(old) {
            self.made.unknown_releases += 1;
            return self.allocate(address, size, usable, stack, api);
        }
        self.made.releases += 1;
        self.replace(address);
        self.came(address, size);
        let release = Release {
            announced: true,
            ..release_of(old, None, api)
        };
        let alloc = self.alloc_of(address, (size, usable), stack, api);
        self.events.put(&mut self.out, |deltas, out| {
            deltas.put_release(out, &release);
            deltas.put_alloc(out, &alloc);
        });
    }

    /// Blocks that together have so many bytes are live from now on: their sizes differ by
    /// one byte at most.
    pub fn hold(&mut self, stack: StackId, blocks: u64, bytes: u64) -> Held {
        // Bytes of no blocks are of one at least.
        let blocks = blocks.max(u64::from(bytes > 0));
        let held = self.held(blocks, bytes);
        for index in 0..held.blocks {
            if self.has_failed() {
                break;
            }
            let (address, size) = held.block(index);
            self.put_of_sum(address, size, stack);
        }
        self.made.live.0 += held.blocks;
        self.made.live.1 = self.made.live.1.wrapping_add(held.bytes);
        held
    }

    /// Those blocks went.
    pub fn let_go(&mut self, held: Held) {
        for index in 0..held.blocks {
            if self.has_failed() {
                break;
            }
            self.put_release(release_of(held.block(index).0, None, Api::Free));
        }
        self.made.live.0 -= held.blocks;
        self.made.live.1 = self.made.live.1.wrapping_sub(held.bytes);
    }

    /// Blocks that together had so many bytes came and went, one after the other.
    pub fn came_and_went(&mut self, stack: StackId, blocks: u64, bytes: u64) {
        if self.settings.held_only {
            return self.lacks(Lack::Gone);
        }
        let blocks = blocks.max(u64::from(bytes > 0));
        let held = self.held(blocks, bytes);
        for index in 0..held.blocks {
            if self.has_failed() {
                break;
            }
            let (_, size) = held.block(index);
            self.put_of_sum(held.first, size, stack);
            self.put_release(release_of(held.first, None, Api::Free));
        }
    }

    /// Writes what is not written yet, and the first chunk.
    pub fn finish(mut self) -> Result<Made, Error> {
        if !self.made.lacks.contains(&Lack::End) {
            let end = Record::End(End {
                tick: self.events.tick,
                // No form tells it.
                how: 0,
                vm_hwm_kb: self.peak_kb,
                maxrss_kb: self.peak_kb,
            });
            self.metas.push(&mut self.out, &end);
        }
        self.events.flush(&mut self.out);
        self.nodes.flush(&mut self.out);
        self.places.flush(&mut self.out);
        let digest = format!("{:016x}", self.out.digest);
        let from = [self.made.tool.as_bytes(), &self.file, digest.as_bytes()].join(&0);
        self.text(Key::MadeFrom, &from);
        let counters = [
            (Counter::Streams, u64::from(self.events.are_some())),
            (Counter::Stamps, self.stamps),
            (Counter::VmHwmKb, self.peak_kb),
        ];
        self.metas.finish(&mut self.out, self.start, &counters);
        if let Some(error) = self.out.failure {
            return Err(error);
        }
        self.made.chunks = self.out.count();
        Ok(self.made)
    }

    fn held(&mut self, blocks: u64, bytes: u64) -> Held {
        self.lacks(Lack::Addresses);
        if blocks > 1 {
            self.lacks(Lack::Sizes);
        }
        self.blocks_of_sums = self.blocks_of_sums.saturating_add(blocks);
        let size = bytes.checked_div(blocks).unwrap_or(0);
        // One more byte than the smaller of them.
        let first = self.addresses.run(size.saturating_add(1), blocks);
        if self.blocks_of_sums > MOST_BLOCKS || first.is_none() {
            self.out.fail(Error::TooManyBlocks {
                blocks: self.blocks_of_sums,
                held_only: self.settings.held_only,
            });
        }
        Held {
            first: first.unwrap_or(0),
            step: Addresses::step(size.saturating_add(1)),
            blocks: if first.is_some() { blocks } else { 0 },
            bytes: if first.is_some() { bytes } else { 0 },
        }
    }

    fn put_of_sum(&mut self, address: u64, size: u64, stack: StackId) {
        self.made.allocations += 1;
        let alloc = self.alloc_of(address, (size, None), stack, Api::Malloc);
        self.events
            .put(&mut self.out, |deltas, out| deltas.put_alloc(out, &alloc));
    }

    fn put_release(&mut self, release: Release) {
        self.made.releases += 1;
        self.events.put(&mut self.out, |deltas, out| {
            deltas.put_release(out, &release);
        });
    }

    /// What is live there goes before something else comes.
    fn replace(&mut self, address: u64) {
        if self.went(address) {
            self.made.replaced += 1;
            self.put_release(release_of(address, None, Api::Free));
        }
    }

    fn came(&mut self, address: u64, size: u64) {
        self.made.allocations += 1;
        self.made.live.0 += 1;
        self.made.live.1 = self.made.live.1.wrapping_add(size);
        let is_made_up = self.addresses.has(address);
        self.live.insert(address, Live { size, is_made_up });
    }

    fn went(&mut self, address: u64) -> bool {
        let Some(live) = self.live.remove(&address) else {
            return false;
        };
        self.made.live.0 -= 1;
        self.made.live.1 = self.made.live.1.wrapping_sub(live.size);
        if live.is_made_up {
            self.addresses.give_back(address, live.size);
        }
        true
    }

    fn alloc_of(
        &mut self,
        address: u64,
        (size, usable): (u64, Option<u64>),
        stack: StackId,
        api: Api,
    ) -> Alloc {
        self.start.has_usable |= usable.is_some();
        Alloc {
            api,
            address,
            size,
            usable: usable.unwrap_or(predicted_usable(size)),
            alignment_log2: 0,
            stack,
            order: None,
        }
    }
}

fn release_of(address: u64, stack: Option<StackId>, api: Api) -> Release {
    Release {
        api,
        address,
        announced: false,
        stack,
        order: None,
    }
}
