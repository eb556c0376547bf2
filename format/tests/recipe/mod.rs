//! The recipe of `golden/v1/tiny.memlog`: one chunk of each kind and, between
//! them, every record and every flag of format version 1. A record of a newer
//! memlog stands in each kind of chunk, for readers to skip.
#![allow(dead_code)] // each test that includes this needs a part of it

use memlog_format::api::Api;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::counter::{AREA_END, Counter};
use memlog_format::event::{Alloc, Deltas, Event, Release, predicted_usable};
use memlog_format::ext::{Ext, Ledger, Mapping, Rss, RssSource};
use memlog_format::meta::{End, ForkPoint, Key, Module, Record, Start};
use memlog_format::order::CELL_BITS;
use memlog_format::table::{CODE_SIZE, Code, CodeId, FIRST_CODE, FIRST_NODE, Node, StackId};
use memlog_format::varint::Writer;

const HEAP: u64 = 0x5555_5576_B2A0;
/// Where the realloc moves to: another page, whose cell is shared.
const MOVED: u64 = 0x5555_5577_C380;
const ARENA: u64 = 0x7FFF_E800_0B20;

/// Where a file of the repository lies.
pub fn repository(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(path)
}

/// Whether this run writes what it would otherwise compare.
pub fn is_blessing() -> bool {
    std::env::var_os("MEMLOG_BLESS").is_some_and(|value| value == "1")
}

pub const COUNTERS: [(Counter, u64); 6] = [
    (Counter::LostNoRoom, 3),
    (Counter::OwnBytes, 0x2_1000),
    (Counter::Stamps, 7),
    (Counter::Streams, 1),
    (Counter::VmHwmKb, 1788),
    (Counter::MaxRssFloorKb, 1024),
];

pub const NODES: [Node; 4] = [
    node(StackId::COMPLETE, 6),
    node(StackId(8), 4),
    node(StackId(9), 5),
    node(StackId::CUT_NO_TABLES, 7),
];

pub const CODES: [Code; 4] = [
    code(0x5555_5555_5189, 1, false),
    code(0x5555_5555_51D0, 1, false),
    code(0x7FFF_F7C2_9D90, 2, false),
    code(0x5555_5555_5200, 1, true),
];

const fn node(parent: StackId, code: u32) -> Node {
    Node {
        parent,
        code: CodeId(code),
    }
}

const fn code(address: u64, module: u32, exact: bool) -> Code {
    Code {
        address,
        module,
        exact,
    }
}

pub fn meta() -> Vec<Record<'static>> {
    let mut records = vec![Record::Start(Start {
        pointer_bytes: 8,
        big_endian: false,
        machine: 62,
        pid: 4711,
        parent_pid: 4700,
        wall_ns: 1_750_000_000_000_000_000,
        tick_ns: 1_000_000,
        page_bytes: 4096,
        cell_bits: CELL_BITS as u8,
        has_usable: true,
    })];
    let texts: [(Key, &[u8]); 11] = [
        (Key::Executable, b"/usr/bin/tiny"),
        (Key::CommandLine, b"tiny\0-v\0"),
        (Key::Host, b"node7"),
        (Key::Job, b"12345"),
        (Key::Rank, b"3"),
        (Key::WorkingDirectory, b"/home/user"),
        (Key::Recorder, b"0.1.0"),
        (Key::Setting, b"MEMLOG_FREE_STACKS=1"),
        (Key::Note, b"made by hand"),
        (Key::LogPath, b"12345.node7.3.memlog"),
        (Key::ParentLog, b"12345.node7.4700.memlog"),
    ];
    records.extend(texts.map(|(key, text)| Record::Text(key, text)));
    records.extend([
        Record::Parent { pid: 4700 },
        Record::ForkPoint(ForkPoint {
            stream: 0,
            sequence: 2,
            committed: 40_000,
        }),
        Record::Module(Module {
            id: 1,
            bias: 0x5555_5555_4000,
            low: 0x5555_5555_4000,
            high: 0x5555_5555_8000,
            build_id: &[0xC0, 0xFF, 0xEE, 0x01],
            path: b"/usr/bin/tiny",
        }),
        Record::Module(Module {
            id: 2,
            bias: 0x7FFF_F7C0_0000,
            low: 0x7FFF_F7C0_0000,
            high: 0x7FFF_F7DF_0000,
            build_id: &[],
            path: b"/lib/libc.so.6",
        }),
        Record::Unload { id: 2, tick: 42 },
        Record::Unknown(200),
        Record::End(End {
            tick: 43,
            how: 1,
            vm_hwm_kb: 1788,
            maxrss_kb: 1790,
        }),
    ]);
    records
}

fn alloc(api: Api, address: u64, size: u64, stack: u32) -> Alloc {
    Alloc {
        api,
        address,
        size,
        usable: predicted_usable(size),
        alignment_log2: 0,
        stack: StackId(stack),
        order: None,
    }
}

fn release(api: Api, address: u64) -> Release {
    Release {
        api,
        address,
        announced: false,
        stack: None,
        order: None,
    }
}

fn ledger(order: u64, backing: bool, mapping: Mapping) -> Event<'static> {
    Event::Ext(Ext::Ledger(Ledger {
        mapping,
        backing,
        order,
        stack: StackId(9),
    }))
}

/// The six records of the first worked example in FORMAT.md.
pub fn first_events() -> Vec<Event<'static>> {
    vec![
        Event::Alloc(alloc(Api::Malloc, HEAP, 100, 9)),
        Event::Alloc(alloc(Api::Malloc, HEAP + 0x70, 100, 9)),
        Event::Tick(2),
        Event::Release(release(Api::Free, HEAP)),
        Event::Release(Release {
            announced: true,
            ..release(Api::Realloc, HEAP + 0x70)
        }),
        Event::Alloc(Alloc {
            order: Some(300),
            ..alloc(Api::Realloc, MOVED, 200, 10)
        }),
    ]
}

pub fn events() -> Vec<Event<'static>> {
    let mut events = vec![Event::Ext(Ext::Thread {
        tid: 4711,
        name: b"tiny",
    })];
    events.extend(first_events());
    events.extend([
        Event::Stamp(5),
        Event::Release(Release {
            announced: true,
            order: Some(301),
            ..release(Api::Reallocarray, MOVED)
        }),
        Event::Revoke,
        Event::Alloc(Alloc {
            usable: 88,
            alignment_log2: 6,
            order: Some(4),
            ..alloc(Api::PosixMemalign, ARENA, 64, 10)
        }),
        Event::Tick(42),
        Event::Alloc(alloc(Api::New, HEAP + 0x208, 7, 11)),
        Event::Release(Release {
            stack: Some(StackId(10)),
            ..release(Api::Delete, HEAP + 0x208)
        }),
        Event::Release(Release {
            stack: Some(StackId::CUT_TOO_DEEP),
            order: Some(302),
            ..release(Api::Free, MOVED)
        }),
        Event::Alloc(alloc(Api::Calloc, HEAP + 0x400, 0, 0)),
        Event::Ext(Ext::Rss(Rss {
            source: RssSource::VmHwm,
            peak_kb: 1788,
            now_kb: 0,
            own_kb: 132,
            stamp: 6,
        })),
    ]);
    events.extend([
        ledger(
            0,
            true,
            Mapping::Map {
                address: 0x7FFF_E800_0000,
                length: 0x2_1000,
                prot: 3,
                flags: 0x22,
            },
        ),
        ledger(
            1,
            false,
            Mapping::Remap {
                old_address: 0x7FFF_E800_0000,
                old_length: 0x2_1000,
                address: 0x7FFF_E900_0000,
                length: 0x4_2000,
            },
        ),
        ledger(
            2,
            false,
            Mapping::Unmap {
                address: 0x7FFF_E900_0000,
                length: 0x4_2000,
            },
        ),
        ledger(
            3,
            true,
            Mapping::Break {
                old_end: 0x5555_5578_C000,
                end: 0x5555_557A_D000,
            },
        ),
        Event::Ext(Ext::Fork { child: 4712 }),
        Event::Ext(Ext::Loss {
            events: 3,
            reason: Counter::LostNoRoom as u8,
        }),
        Event::Ext(Ext::Mark(b"phase 2")),
        Event::Ext(Ext::Unknown {
            kind: 31,
            payload: b"new",
        }),
    ]);
    events
}

/// Encodes events as the recorder does.
pub fn encode(deltas: &mut Deltas, events: &[Event]) -> Vec<u8> {
    let mut out = Vec::new();
    for event in events {
        let mut room = [0; 256];
        let mut writer = Writer::new(&mut room);
        put(deltas, &mut writer, event);
        let length = writer.finish().expect("no record is as long as the room");
        out.extend(&room[..length]);
    }
    out
}

fn chunk(header: Header, body: &[u8], seal: bool) -> Vec<u8> {
    let mut chunk = header.over(body, seal).encode().to_vec();
    chunk.extend(body);
    chunk.resize(CHUNK_SIZE, 0);
    chunk
}

fn table(kind: Kind, record_bytes: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut body: Vec<u8> = record_bytes.flat_map(u64::to_le_bytes).collect();
    body.resize(CHUNK_SIZE - HEADER_SIZE, 0);
    chunk(Header::new(kind, 0, 0), &body, false)
}

/// The whole file.
pub fn log() -> Vec<u8> {
    let mut start = vec![0; AREA_END];
    for (counter, value) in COUNTERS {
        counter.write(&mut start, value);
    }
    let mut body = start[HEADER_SIZE..].to_vec();
    for record in meta() {
        let mut room = [0; 256];
        let length = record.encode(&mut room).expect("the room is larger");
        body.extend(&room[..length]);
    }
    let thread = 4711;
    let meta = Header {
        thread,
        ..Header::new(Kind::Meta, 0, 0)
    };
    let first = Header {
        thread,
        ..Header::new(Kind::Events, 0, 0)
    };
    let events = encode(&mut Deltas::at_start(0, 0), &events());
    [
        chunk(meta, &body, true),
        table(Kind::Codes, CODES.iter().flat_map(code_words)),
        table(Kind::Nodes, NODES.iter().map(|node| node.to_word())),
        chunk(first, &events, true),
    ]
    .concat()
}

fn code_words(code: &Code) -> [u64; CODE_SIZE / 8] {
    [code.address, code.to_tail_word()]
}

/// The id of the first node and of the first code are not free to change.
const _: () = assert!(FIRST_NODE == 8 && FIRST_CODE == 4);

/// Writes a record of any kind.
pub fn put(deltas: &mut Deltas, writer: &mut Writer, event: &Event) {
    match event {
        Event::Alloc(alloc) => deltas.put_alloc(writer, alloc),
        Event::Release(release) => deltas.put_release(writer, release),
        Event::Revoke => deltas.put_revoke(writer),
        Event::Tick(tick) => deltas.put_tick(writer, *tick),
        Event::Stamp(stamp) => deltas.put_stamp(writer, *stamp),
        Event::Ext(ext) => deltas.put_ext(writer, ext),
    }
}
