//! Small logs, made by hand, of programs that are nowhere: their pages are the
//! same on every machine.

use memlog_format::api::Api;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::counter::{AREA_END, Counter};
use memlog_format::event::{Alloc, Deltas, Release, predicted_usable};
use memlog_format::ext::{Ext, Ledger, Mapping, Rss, RssSource};
use memlog_format::meta::{End, Key, Module, Record, Start};
use memlog_format::order::CELL_BITS;
use memlog_format::resident::{Census, Mapped};
use memlog_format::table::{Code, CodeId, FIRST_CODE, FIRST_NODE, Node, StackId};
use memlog_format::varint::Writer;

/// Where the program lies, and where its library.
pub const PROGRAM: u64 = 0x5555_5555_4000;
pub const LIBRARY: u64 = 0x7FFF_F7C0_0000;
const MODULE_BYTES: u64 = 0x10_0000;
const HEAP: u64 = 0x5555_5600_0000;
const PID: u32 = 4711;

/// A log in the making: one thread, one chunk of each kind.
pub struct Recipe {
    library: &'static [u8],
    codes: Vec<Code>,
    nodes: Vec<Node>,
    events: Vec<u8>,
    deltas: Deltas,
    stamp: u64,
    next_block: u64,
    counters: Vec<(Counter, u64)>,
    census: Vec<Record<'static>>,
    pid: u32,
    build_id: &'static [u8],
}

impl Recipe {
    /// Nothing happened yet; the library is at this path.
    pub fn new(library: &'static [u8]) -> Self {
        let mut recipe = Self {
            library,
            codes: Vec::new(),
            nodes: Vec::new(),
            events: Vec::new(),
            deltas: Deltas::at_start(0, 0),
            stamp: 0,
            next_block: HEAP,
            counters: Vec::new(),
            census: Vec::new(),
            pid: PID,
            build_id: &[],
        };
        let name = b"main";
        recipe.ext(&Ext::Thread { tid: PID, name });
        recipe
    }

    /// The stack of these return addresses, outermost first, on a root.
    pub fn stack(&mut self, root: StackId, addresses: &[u64]) -> StackId {
        addresses
            .iter()
            .fold(root, |parent, &address| self.node(parent, address))
    }

    fn node(&mut self, parent: StackId, address: u64) -> StackId {
        let code = Code {
            address,
            // What lies below both is of no file.
            module: match address {
                ..PROGRAM => 0,
                PROGRAM..LIBRARY => 1,
                _ => 2,
            },
            exact: false,
        };
        let at = self.codes.iter().position(|other| *other == code);
        let at = at.unwrap_or_else(|| {
            self.codes.push(code);
            self.codes.len() - 1
        });
        let node = Node {
            parent,
            code: CodeId(FIRST_CODE + at as u32),
        };
        let at = self.nodes.iter().position(|other| *other == node);
        let at = at.unwrap_or_else(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        });
        StackId(FIRST_NODE + at as u32)
    }

    fn put(&mut self, write: impl FnOnce(&mut Deltas, &mut Writer)) {
        let mut room = [0; 256];
        let mut writer = Writer::new(&mut room);
        write(&mut self.deltas, &mut writer);
        let length = writer.finish().expect("no record is as long as the room");
        self.events.extend(&room[..length]);
    }

    fn ext(&mut self, ext: &Ext) {
        self.put(|deltas, writer| deltas.put_ext(writer, ext));
    }

    /// Blocks of a size; their addresses.
    pub fn allocate(&mut self, stack: StackId, count: u64, size: u64) -> Vec<u64> {
        let block = |_| self.allocate_one(Api::Malloc, stack, size);
        (0..count).map(block).collect()
    }

    fn allocate_one(&mut self, api: Api, stack: StackId, size: u64) -> u64 {
        let address = self.next_block;
        self.next_block += predicted_usable(size) + 8;
        let alloc = Alloc {
            api,
            address,
            size,
            usable: predicted_usable(size),
            alignment_log2: 0,
            stack,
            order: None,
        };
        self.put(|deltas, writer| deltas.put_alloc(writer, &alloc));
        address
    }

    /// The blocks go.
    pub fn release(&mut self, blocks: &[u64]) {
        for &address in blocks {
            let release = Release {
                api: Api::Free,
                address,
                announced: false,
                stack: None,
                order: None,
            };
            self.put(|deltas, writer| deltas.put_release(writer, &release));
        }
    }

    /// A realloc moves a block; where it is then.
    #[allow(dead_code, reason = "each test uses a part of it")]
    pub fn grow(&mut self, stack: StackId, from: u64, size: u64) -> u64 {
        let release = Release {
            api: Api::Realloc,
            address: from,
            announced: true,
            stack: None,
            order: None,
        };
        self.put(|deltas, writer| deltas.put_release(writer, &release));
        self.allocate_one(Api::Realloc, stack, size)
    }

    /// From here on it is this millisecond.
    pub fn time(&mut self, tick: u64) {
        self.put(|deltas, writer| deltas.put_tick(writer, tick));
    }

    /// The program marks this moment.
    #[allow(dead_code, reason = "each test uses a part of it")]
    pub fn mark(&mut self, name: &[u8]) {
        self.ext(&Ext::Mark(name));
    }

    /// The kernel's figures are read.
    pub fn read_rss(&mut self, peak_kb: u64) {
        self.stamp += 1;
        let (source, stamp) = (RssSource::VmHwm, self.stamp);
        self.ext(&Ext::Rss(Rss {
            source,
            peak_kb,
            now_kb: 0,
            own_kb: 132,
            stamp,
        }));
        self.set(Counter::VmHwmKb, peak_kb);
    }

    /// What was resident in which mapping at the last reading.
    #[allow(dead_code, reason = "each test uses a part of it")]
    pub fn count_resident(&mut self, is_counted: bool, mapped: &[Mapped<'static>]) {
        self.census
            .extend(mapped.iter().map(|one| Record::Mapped(*one)));
        self.census.push(Record::Census(Census {
            stamp: self.stamp,
            tick: self.deltas.tick,
            resident_kb: mapped.iter().map(|one| one.resident_kb).sum(),
            own_kb: 132,
            is_whole: true,
            is_counted,
            ..Census::default()
        }));
    }

    /// The program's own calls on the address space.
    pub fn map(&mut self, order: u64, backing: bool, mapping: Mapping) {
        self.map_by(StackId::COMPLETE, order, backing, mapping);
    }

    /// The same from a stack.
    pub fn map_by(&mut self, stack: StackId, order: u64, backing: bool, mapping: Mapping) {
        self.ext(&Ext::Ledger(Ledger {
            mapping,
            backing,
            order,
            stack,
        }));
    }

    /// What a counter has in the end.
    pub fn set(&mut self, counter: Counter, value: u64) {
        self.counters.retain(|(other, _)| *other != counter);
        self.counters.push((counter, value));
    }

    /// It is of this rank of this job.
    #[allow(dead_code, reason = "each test uses a part of it")]
    pub fn of_rank(&mut self, job: &'static [u8], rank: &'static [u8]) {
        let texts = [(Key::Job, job), (Key::Rank, rank)];
        let texts = texts.map(|(key, text)| Record::Text(key, text));
        self.census.extend(texts);
    }

    /// It is of this process.
    #[allow(dead_code, reason = "each test uses a part of it")]
    pub fn of_process(&mut self, pid: u32) {
        self.pid = pid;
    }

    /// The program and its library have this.
    #[allow(dead_code, reason = "each test uses a part of it")]
    pub fn of_build(&mut self, build_id: &'static [u8]) {
        self.build_id = build_id;
    }

    /// The log says this too.
    #[allow(dead_code, reason = "each test uses a part of it")]
    pub fn say(&mut self, record: Record<'static>) {
        self.census.push(record);
    }

    fn records(&self) -> Vec<Record<'static>> {
        let start = Start {
            pointer_bytes: 8,
            big_endian: false,
            machine: 62,
            pid: self.pid,
            parent_pid: 4700,
            wall_ns: 1_750_000_000_000_000_000,
            tick_ns: 1_000_000,
            page_bytes: 4096,
            cell_bits: CELL_BITS as u8,
            has_usable: true,
        };
        let module = |id, low, path| {
            Record::Module(Module {
                id,
                bias: low,
                low,
                high: low + MODULE_BYTES,
                build_id: self.build_id,
                path,
            })
        };
        vec![
            Record::Start(start),
            Record::Text(Key::Executable, b"/nowhere/program"),
            Record::Text(Key::Host, b"node7"),
            module(1, PROGRAM, b"/nowhere/program"),
            module(2, LIBRARY, self.library),
            Record::End(End {
                tick: self.deltas.tick,
                how: 1,
                vm_hwm_kb: 0,
                maxrss_kb: 0,
            }),
        ]
    }

    /// The file.
    pub fn log(&self) -> Vec<u8> {
        let mut start = vec![0; AREA_END];
        for &(counter, value) in &self.counters {
            counter.write(&mut start, value);
        }
        let mut metas = start[HEADER_SIZE..].to_vec();
        for record in self.records().into_iter().chain(self.census.clone()) {
            let mut room = [0; 256];
            let length = record.encode(&mut room).expect("the room is larger");
            metas.extend(&room[..length]);
        }
        let codes = self.codes.iter();
        let codes = codes.flat_map(|code| [code.address, code.to_tail_word()]);
        let nodes = self.nodes.iter().map(|node| node.to_word());
        [
            chunk(Kind::Meta, &metas),
            table(Kind::Codes, codes),
            table(Kind::Nodes, nodes),
            chunk(Kind::Events, &self.events),
        ]
        .concat()
    }
}

fn table(kind: Kind, words: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut body: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    body.resize(CHUNK_SIZE - HEADER_SIZE, 0);
    chunk(kind, &body)
}

fn chunk(kind: Kind, body: &[u8]) -> Vec<u8> {
    let header = Header {
        thread: PID,
        ..Header::new(kind, 0, 0)
    };
    let mut chunk = header.over(body, false).encode().to_vec();
    chunk.extend(body);
    assert!(chunk.len() <= CHUNK_SIZE, "the recipe is too long");
    chunk.resize(CHUNK_SIZE, 0);
    chunk
}
