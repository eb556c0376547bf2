//! Draws a log as lines of `offset: bytes | remark`, a record at a time.

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::counter::{ALL, AREA_AT, AREA_END};
use memlog_format::event::{Alloc, Deltas, Event, Release};
use memlog_format::ext::{Ext, Mapping};
use memlog_format::meta::Record;
use memlog_format::table::{CODE_SIZE, Code, FIRST_CODE, FIRST_NODE, NODE_SIZE, Node};
use memlog_format::varint::Reader;

const BYTES_A_LINE: usize = 12;

/// Draws every chunk of a log.
pub fn log(bytes: &[u8]) -> String {
    let mut drawing = Drawing {
        bytes,
        lines: String::new(),
    };
    for at in (0..bytes.len()).step_by(CHUNK_SIZE) {
        let header = Header::decode(&bytes[at..])
            .expect("a header")
            .expect("in use");
        if at > 0 {
            drawing.lines.push('\n');
        }
        drawing.header(at, &header);
        drawing.lines.push('\n');
        let end = at + header.committed as usize;
        match header.kind {
            Kind::Meta => drawing.meta(at, end),
            Kind::Events => drawing.events(at + HEADER_SIZE, end, &header),
            Kind::Nodes => drawing.nodes(at),
            Kind::Codes => drawing.codes(at),
            Kind::Live | Kind::Folds => panic!("the first version has none of these"),
        }
    }
    drawing.lines
}

struct Drawing<'a> {
    bytes: &'a [u8],
    lines: String,
}

impl Drawing<'_> {
    fn put(&mut self, start: usize, end: usize, remark: &str) {
        let mut remark = remark;
        for at in (start..end).step_by(BYTES_A_LINE) {
            let line = &self.bytes[at..end.min(at + BYTES_A_LINE)];
            let hex: Vec<_> = line.iter().map(|byte| format!("{byte:02X}")).collect();
            let line = format!("{at:05X}: {:35} | {remark}", hex.join(" "));
            self.lines += line.trim_end();
            self.lines.push('\n');
            remark = "";
        }
    }

    fn header(&mut self, at: usize, header: &Header) {
        let sealed = if header.is_sealed() {
            "sealed"
        } else {
            "not sealed"
        };
        let kind = format!("{:?}", header.kind).to_lowercase();
        let version = header.version;
        self.put(
            at,
            at + 8,
            &format!("chunk of {kind}, version {version}, {sealed}"),
        );
        let (stream, sequence) = (header.stream, header.sequence);
        let what = match header.kind {
            Kind::Nodes | Kind::Codes => format!("index {stream}"),
            _ => format!("stream {stream}, sequence {sequence}"),
        };
        self.put(at + 8, at + 16, &what);
        let (committed, thread) = (header.committed, header.thread);
        let what = format!("committed {committed}, thread {thread}");
        self.put(at + 16, at + 24, &what);
        self.put(at + 24, at + 32, &format!("base tick {}", header.base_tick));
        self.put(
            at + 32,
            at + 40,
            &format!("base stamp {}", header.base_stamp),
        );
        self.put(at + 40, at + 48, "checksum");
    }

    fn meta(&mut self, at: usize, end: usize) {
        for &(counter, name) in ALL {
            let place = at + AREA_AT + 8 * counter as usize;
            let value = counter.read(&self.bytes[at..]);
            if value != 0 {
                self.put(place, place + 8, &format!("counter {name}: {value}"));
            }
        }
        self.lines.push('\n');
        let start = at + AREA_END;
        let mut reader = Reader::new(&self.bytes[start..end]);
        let mut before = start;
        while let Some(record) = Record::next(&mut reader).expect("a record") {
            let after = start + reader.at();
            self.put(before, after, &meta_remark(&record));
            before = after;
        }
    }

    fn events(&mut self, start: usize, end: usize, header: &Header) {
        let mut deltas = Deltas::at_start(header.base_tick, header.base_stamp);
        let mut reader = Reader::new(&self.bytes[start..end]);
        let mut before = start;
        while let Some(event) = deltas.next(&mut reader).expect("a record") {
            let after = start + reader.at();
            self.put(before, after, &event_remark(&event));
            before = after;
        }
    }

    fn nodes(&mut self, at: usize) {
        for id in FIRST_NODE.. {
            let place = at + id as usize * NODE_SIZE;
            let Some(node) = Node::decode(&self.bytes[place..]) else {
                break;
            };
            let (parent, code) = (node.parent.0, node.code.0);
            let parent = match node.parent.is_root() {
                true => format!("root {parent}, {}", node.parent.root_name()),
                false => format!("node {parent}"),
            };
            let remark = format!("node {id}: code {code}, called from {parent}");
            self.put(place, place + NODE_SIZE, &remark);
        }
    }

    fn codes(&mut self, at: usize) {
        for id in FIRST_CODE.. {
            let place = at + id as usize * CODE_SIZE;
            let Some(code) = Code::decode(&self.bytes[place..]) else {
                break;
            };
            let exact = if code.exact { ", exact" } else { "" };
            let remark = format!(
                "code {id}: {:#x} in module {}{exact}",
                code.address, code.module
            );
            self.put(place, place + CODE_SIZE, &remark);
        }
    }
}

fn text(bytes: &[u8]) -> String {
    format!("\"{}\"", bytes.escape_ascii())
}

fn meta_remark(record: &Record) -> String {
    match record {
        Record::Start(start) => format!(
            "START {} bytes, machine {}, pid {}, tick {} ns",
            start.pointer_bytes, start.machine, start.pid, start.tick_ns
        ),
        Record::Text(key, bytes) => format!("TEXT {key:?} {}", text(bytes)),
        Record::Module(module) => format!(
            "MODULE {} {:#x}..{:#x} {}",
            module.id,
            module.low,
            module.high,
            text(module.path)
        ),
        Record::Unload { id, tick } => format!("UNLOAD {id} at tick {tick}"),
        Record::Parent { pid } => format!("PARENT {pid}"),
        Record::ForkPoint(at) => format!(
            "FORK stream {}, sequence {}, {} bytes",
            at.stream, at.sequence, at.committed
        ),
        Record::End(end) => format!("END tick {}, how {}", end.tick, end.how),
        Record::Death(death) => format!("DEATH by signal {}", death.signal),
        Record::CodeName(code) => {
            format!("CODE_NAME {:#x} {}", code.address, text(code.name))
        }
        Record::Mapped(mapped) => format!(
            "MAPPED {:#x}, {} of {} kB, {}",
            mapped.low_kb * 1024,
            mapped.resident_kb,
            mapped.length_kb,
            text(mapped.path)
        ),
        Record::Census(census) => format!(
            "CENSUS at stamp {}, {} kB, {} kB own",
            census.stamp, census.resident_kb, census.own_kb
        ),
        Record::Tuned(tuned) => format!(
            "TUNED {} to {} at tick {}",
            tuned.parameter, tuned.value, tuned.tick
        ),
        Record::Word(word) => format!("WORD {} {}", word.number, text(word.text)),
        Record::KeptFile(file) => format!("FILE {} {}", file.number, text(file.path)),
        Record::Place(place) => format!("PLACE {:#x} in file {}", place.address, place.file),
        Record::Unknown(kind) => format!("type {kind}, of a newer memlog"),
    }
}

fn event_remark(event: &Event) -> String {
    match event {
        Event::Alloc(alloc) => alloc_remark(alloc),
        Event::Release(release) => release_remark(release),
        Event::Revoke => "REVOKE".into(),
        Event::Tick(tick) => format!("TICK to {tick}"),
        Event::Stamp(stamp) => format!("STAMP {stamp}"),
        Event::Ext(Ext::Thread { tid, name }) => format!("THREAD {tid} {}", text(name)),
        Event::Ext(Ext::Rss(rss)) => format!(
            "RSS {:?}, peak {} kB, own {} kB, stamp {}",
            rss.source, rss.peak_kb, rss.own_kb, rss.stamp
        ),
        Event::Ext(Ext::Fork { child }) => format!("FORK {child}"),
        Event::Ext(Ext::Loss { events, reason }) => format!("LOSS {events}, counter {reason}"),
        Event::Ext(Ext::Ledger(entry)) => {
            let backing = if entry.backing { ", backing" } else { "" };
            let what = mapping_remark(&entry.mapping);
            format!(
                "{what}, stack {}, number {}{backing}",
                entry.stack.0, entry.order
            )
        }
        Event::Ext(Ext::Mark(bytes)) => format!("MARK {}", text(bytes)),
        Event::Ext(Ext::Scope(bytes)) => format!("SCOPE {}", text(bytes)),
        Event::Ext(Ext::Limit(limit)) => format!(
            "LIMIT {:?} {:?}, {} of {} bytes, {}",
            limit.kind,
            limit.act,
            limit.used_bytes,
            limit.limit_bytes,
            text(limit.name)
        ),
        Event::Ext(Ext::Failed(failure)) => format!(
            "FAILED {} of {} bytes, aligned to 2^{}, calls {}, errno {}, stack {}",
            failure.api.name(),
            failure.size,
            failure.alignment_log2,
            failure.calls,
            failure.errno,
            failure.stack.0
        ),
        Event::Ext(Ext::Passed(passed)) => format!(
            "PASSED {} of {} bytes by {}, usable {}, stack {}",
            passed.blocks,
            passed.size,
            passed.api.name(),
            passed.usable,
            passed.stack.0
        ),
        Event::Ext(Ext::Switch(switch)) => format!(
            "SWITCH {} by {:?}, stamp {}",
            if switch.on { "on" } else { "off" },
            switch.by,
            switch.stamp
        ),
        Event::Ext(Ext::Unseen) => "UNSEEN".into(),
        Event::Ext(Ext::Custom) => "CUSTOM, alone".into(),
        Event::Ext(Ext::Unknown { kind, .. }) => format!("EXT {kind}, of a newer memlog"),
    }
}

fn mapping_remark(mapping: &Mapping) -> String {
    match mapping {
        Mapping::Map {
            address, length, ..
        } => format!("MAP {address:#x}, {length:#x} bytes"),
        Mapping::Unmap { address, length } => format!("UNMAP {address:#x}, {length:#x} bytes"),
        Mapping::Leave { address, length } => {
            format!("UNMAP {address:#x}, {length:#x} bytes, by mremap")
        }
        Mapping::Remap {
            old_address,
            address,
            length,
            ..
        } => format!("REMAP {old_address:#x} to {address:#x}, {length:#x} bytes"),
        Mapping::Break { old_end, end } => format!("BREAK {old_end:#x} to {end:#x}"),
    }
}

fn number(order: Option<u64>) -> String {
    order.map_or(String::new(), |number| format!(", number {number}"))
}

fn alloc_remark(alloc: &Alloc) -> String {
    let alignment = match alloc.alignment_log2 {
        0 => String::new(),
        log2 => format!(", aligned to {}", 1 << log2),
    };
    format!(
        "ALLOC {} {:#x}, size {}, usable {}{alignment}, stack {}{}",
        alloc.api.name(),
        alloc.address,
        alloc.size,
        alloc.usable,
        alloc.stack.0,
        number(alloc.order)
    )
}

fn release_remark(release: &Release) -> String {
    let announced = if release.announced { ", announced" } else { "" };
    let stack = release
        .stack
        .map_or(String::new(), |id| format!(", stack {}", id.0));
    format!(
        "RELEASE {} {:#x}{announced}{stack}{}",
        release.api.name(),
        release.address,
        number(release.order)
    )
}
