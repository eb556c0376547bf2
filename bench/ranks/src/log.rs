//! The bytes of a rank's log.

use memlog_format::api::Api;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::counter::{AREA_END, Counter};
use memlog_format::event::{Alloc, Deltas, Release, predicted_usable};
use memlog_format::ext::{Ext, Rss, RssSource};
use memlog_format::meta::{End, Key, Module, Record, Start};
use memlog_format::table::{Code, CodeId, FIRST_CODE, FIRST_NODE, Node, StackId};
use memlog_format::varint::Writer;

use crate::{BLOCKS, STACKS, large, node, rss_kb, size};

/// Functions between main and those that allocate.
const CALLERS: u32 = 8;
const HEAP: u64 = 0x7F00_0000_0000;
const TICK_OF_PEAK: u64 = 100;

/// Where the code of a stack lies in its file.
pub fn offset(stack: u64) -> u64 {
    0x1000 + 0x40 * stack
}

fn bias(rank: u64) -> u64 {
    0x5555_0000_0000 + 0x1000 * (rank % 4096)
}

/// All of it, each chunk as far as it is used.
pub fn chunks(rank: u64) -> Vec<Vec<u8>> {
    let mut chunks = vec![meta(rank), codes(rank), nodes()];
    chunks.extend(events(rank));
    chunks
}

fn chunk(header: Header, body: &[u8], seal: bool) -> Vec<u8> {
    let mut chunk = header.over(body, seal).encode().to_vec();
    chunk.extend(body);
    chunk
}

fn pid(rank: u64) -> u32 {
    4000 + rank as u32
}

fn meta(rank: u64) -> Vec<u8> {
    let mut start = vec![0; AREA_END];
    for (counter, value) in [
        (Counter::VmHwmKb, rss_kb(rank)),
        (Counter::Stamps, 1),
        (Counter::Streams, 1),
    ] {
        counter.write(&mut start, value);
    }
    let mut body = start[HEADER_SIZE..].to_vec();
    let (host, number) = (node(rank), rank.to_string());
    let low = bias(rank);
    let records = [
        Record::Start(Start {
            pointer_bytes: 8,
            big_endian: false,
            machine: 62,
            pid: pid(rank),
            parent_pid: 1,
            wall_ns: 1_790_000_000_000_000_000 + rank,
            tick_ns: 1_000_000,
            page_bytes: 4096,
            cell_bits: memlog_format::order::CELL_BITS as u8,
            has_usable: true,
        }),
        Record::Text(Key::Executable, b"/opt/made/solver"),
        Record::Text(Key::CommandLine, b"solver\0"),
        Record::Text(Key::Host, host.as_bytes()),
        Record::Text(Key::Job, b"77"),
        Record::Text(Key::Rank, number.as_bytes()),
        Record::Module(Module {
            id: 1,
            bias: low,
            low,
            high: low + 0x10_0000,
            build_id: &[0x77; 20],
            path: b"/opt/made/solver",
        }),
        Record::End(End {
            tick: TICK_OF_PEAK + 1,
            how: 1,
            vm_hwm_kb: rss_kb(rank),
            maxrss_kb: rss_kb(rank),
        }),
    ];
    for record in records {
        let mut room = [0; 512];
        let length = record.encode(&mut room).expect("the room is larger");
        body.extend(&room[..length]);
    }
    chunk(Header::new(Kind::Meta, 0, 0), &body, false)
}

/// First the callers, then who allocates.
fn codes(rank: u64) -> Vec<u8> {
    let callers = (0..u64::from(CALLERS)).map(|at| 0x100 * (at + 1));
    let offsets = callers.chain((0..STACKS).map(offset));
    let codes = offsets.map(|offset| Code {
        address: bias(rank) + offset,
        module: 1,
        exact: false,
    });
    let words = codes.flat_map(|code| [code.address, code.to_tail_word()]);
    table(Kind::Codes, words)
}

/// A line of callers, and each stack below one of them.
fn nodes() -> Vec<u8> {
    let code = |at: u32| CodeId(FIRST_CODE + at);
    let callers = (0..CALLERS).map(|at| Node {
        parent: match at {
            0 => StackId::COMPLETE,
            at => StackId(FIRST_NODE + at - 1),
        },
        code: code(at),
    });
    let stacks = (0..STACKS as u32).map(|stack| Node {
        parent: StackId(FIRST_NODE + stack % CALLERS),
        code: code(CALLERS + stack),
    });
    table(Kind::Nodes, callers.chain(stacks).map(Node::to_word))
}

/// A table's chunk counts as whole.
fn table(kind: Kind, words: impl Iterator<Item = u64>) -> Vec<u8> {
    let body: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    let header = Header {
        committed: CHUNK_SIZE as u32,
        ..Header::new(kind, 0, 0)
    };
    let mut chunk = header.encode().to_vec();
    chunk.extend(body);
    chunk
}

/// Chunks of events that were closed, and the one at hand.
struct Stream {
    deltas: Deltas,
    header: Header,
    body: Vec<u8>,
    done: Vec<Vec<u8>>,
}

impl Stream {
    fn put(&mut self, put: impl FnOnce(&mut Deltas, &mut Writer)) {
        if HEADER_SIZE + self.body.len() + 256 > CHUNK_SIZE {
            self.done.push(chunk(self.header, &self.body, true));
            self.body.clear();
            let next = Header::new(Kind::Events, 0, self.header.sequence + 1);
            let (base_tick, base_stamp) = (self.deltas.tick, self.deltas.stamp);
            self.header = Header {
                thread: self.header.thread,
                base_tick,
                base_stamp,
                ..next
            };
            self.deltas = Deltas::at_start(base_tick, base_stamp);
        }
        let mut room = [0; 256];
        let mut writer = Writer::new(&mut room);
        put(&mut self.deltas, &mut writer);
        let length = writer.finish().expect("no record is as long as the room");
        self.body.extend(&room[..length]);
    }
}

fn events(rank: u64) -> Vec<Vec<u8>> {
    let mut stream = Stream {
        deltas: Deltas::at_start(0, 0),
        header: Header {
            thread: pid(rank),
            ..Header::new(Kind::Events, 0, 0)
        },
        body: Vec::new(),
        done: Vec::new(),
    };
    let mut next = HEAP;
    let mut blocks = Vec::new();
    let each = (0..BLOCKS).flat_map(|_| (0..STACKS).map(|stack| (stack, size(rank, stack))));
    let large = Some((0, large(rank))).filter(|(_, size)| *size > 0);
    for (stack, size) in each.chain(large) {
        let alloc = Alloc {
            api: Api::Malloc,
            address: next,
            size,
            usable: predicted_usable(size),
            alignment_log2: 0,
            stack: StackId(FIRST_NODE + CALLERS + stack as u32),
            order: None,
        };
        stream.put(|deltas, out| deltas.put_alloc(out, &alloc));
        blocks.push(next);
        next += (size + 16).next_multiple_of(16);
    }
    stream.put(|deltas, out| deltas.put_tick(out, TICK_OF_PEAK));
    let rss = Ext::Rss(Rss {
        source: RssSource::VmHwm,
        peak_kb: rss_kb(rank),
        now_kb: rss_kb(rank),
        own_kb: 0,
        stamp: 0,
    });
    stream.put(|deltas, out| deltas.put_ext(out, &rss));
    for address in blocks.into_iter().step_by(2) {
        let release = Release {
            api: Api::Free,
            address,
            announced: false,
            stack: None,
            order: None,
        };
        stream.put(|deltas, out| deltas.put_release(out, &release));
    }
    stream.done.push(chunk(stream.header, &stream.body, false));
    stream.done
}
