//! A trace for ui.perfetto.dev: what each stack allocated and freed up to some moments, as
//! its own heap profiler tells it, and counters of the heap and of resident memory.
//!
//! Sums of a stack only rise, from one moment to the next: what is live is their
//! difference. A stack that did nothing since the moment before is not told again.

mod messages;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use memlog_analysis::{Held, Name};
use prost::Message;

use super::firefox::{Counter, Process};
use super::{Stacks, file_and_line};
use crate::flame::{Flame, Label, module_of};
use crate::shown::clean;
use messages::{
    AddressSymbols, Callstack, Clock, ClockSnapshot, CounterDescriptor, Frame, HeapSample,
    InternedString, Line, Mapping, ModuleSymbols, Packet, ProcessDescriptor, ProcessHeapSamples,
    ProfilePacket, Trace, TrackDescriptor, TrackEvent,
};

/// What stacks had asked for, and what of it had gone, up to a moment.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    /// Since the start.
    pub ns: u64,
    /// By the place in the tree where a stack ends, if it has one: what came, what went.
    pub sums: Vec<(Option<u32>, Held, Held)>,
}

const SEQUENCE: u32 = 1;
/// SEQ_INCREMENTAL_STATE_CLEARED: what comes needs nothing from before.
const BEGINS: u32 = 1;
const COUNTER: i32 = 4;
const BYTES: i32 = 3;
/// As Perfetto calls the heap of malloc; the page has a name of its own for it.
const HEAP: &str = "libc.malloc";
const REALTIME: u32 = 1;
/// MONOTONIC, MONOTONIC_COARSE, which dumps have, and BOOTTIME, which packets have.
const SINCE_START: [u32; 3] = [3, 4, 6];
/// Recording began then: in a message, 0 is as good as no time.
const START_NS: u64 = 1_000_000_000;
const PROCESS_TRACK: u64 = 1;

/// Dumps and counters are in the order of time.
pub fn perfetto(flame: &Flame, process: Process, dumps: &[Dump], counters: &[Counter]) -> Vec<u8> {
    let mut packets = vec![clocks(process), process_track(process)];
    for (number, counter) in counters.iter().enumerate() {
        let uuid = PROCESS_TRACK + 1 + number as u64;
        packets.push(counter_track(uuid, counter));
        packets.extend(counter.points.iter().map(|&(ns, value)| Packet {
            track_event: Some(TrackEvent {
                kind: COUNTER,
                track_uuid: uuid,
                counter_value: Some(i64::try_from(value).unwrap_or(i64::MAX)),
            }),
            ..packet_at(ns)
        }));
    }
    let mut tables = Tables::new(flame);
    for (index, dump) in dumps.iter().enumerate() {
        let samples = dump.sums.iter().map(|&(end, came, went)| HeapSample {
            callstack_id: tables.callstack(end),
            self_allocated: came.bytes,
            self_freed: went.bytes,
            alloc_count: came.blocks,
            free_count: went.blocks,
        });
        let dumped = ProcessHeapSamples {
            pid: process.pid.into(),
            samples: samples.collect(),
            from_startup: true,
            timestamp: START_NS.saturating_add(dump.ns),
            heap_name: HEAP.to_owned(),
            sampling_interval_bytes: 1,
        };
        let profile = ProfilePacket {
            process_dumps: vec![dumped],
            continued: index + 1 < dumps.len(),
            index: index as u64,
            ..std::mem::take(&mut tables.new)
        };
        packets.push(Packet {
            profile_packet: Some(profile),
            ..packet_at(dump.ns)
        });
    }
    let symbols = tables.symbols.into_values();
    let symbols = symbols.filter(|symbols| !symbols.address_symbols.is_empty());
    let symbols = symbols.map(|symbols| Packet {
        module_symbols: Some(symbols),
        ..packet_at(process.end_ns)
    });
    packets.extend(symbols);
    Trace { packet: packets }.encode_to_vec()
}

fn packet_at(ns: u64) -> Packet {
    Packet {
        timestamp: Some(START_NS.saturating_add(ns)),
        trusted_packet_sequence_id: SEQUENCE,
        ..Packet::default()
    }
}

fn clocks(process: Process) -> Packet {
    let since_start = SINCE_START.map(|clock_id| Clock {
        clock_id,
        timestamp: START_NS,
    });
    let wall = Clock {
        clock_id: REALTIME,
        timestamp: process.start_unix_ns,
    };
    Packet {
        clock_snapshot: Some(ClockSnapshot {
            clocks: since_start.into_iter().chain([wall]).collect(),
        }),
        sequence_flags: BEGINS,
        ..packet_at(0)
    }
}

fn process_track(process: Process) -> Packet {
    Packet {
        track_descriptor: Some(TrackDescriptor {
            uuid: PROCESS_TRACK,
            process: Some(ProcessDescriptor {
                pid: i32::try_from(process.pid).unwrap_or(0),
                process_name: clean(process.name.as_bytes()),
            }),
            ..TrackDescriptor::default()
        }),
        ..packet_at(0)
    }
}

fn counter_track(uuid: u64, counter: &Counter) -> Packet {
    Packet {
        track_descriptor: Some(TrackDescriptor {
            uuid,
            name: counter.name.to_owned(),
            parent_uuid: PROCESS_TRACK,
            counter: Some(CounterDescriptor { unit: BYTES }),
            description: counter.about.to_owned(),
            ..TrackDescriptor::default()
        }),
        ..packet_at(0)
    }
}

/// What stacks consist of, told once each, by numbers.
struct Tables<'f> {
    stacks: Stacks<'f>,
    /// What was not told yet.
    new: ProfilePacket,
    texts: HashMap<String, u64>,
    mappings: HashMap<String, u64>,
    /// By their labels; none is that of no stack.
    frames: HashMap<Option<u32>, u64>,
    callstacks: HashMap<Option<u32>, u64>,
    /// Files and lines by module.
    symbols: BTreeMap<u64, ModuleSymbols>,
}

impl<'f> Tables<'f> {
    fn new(flame: &'f Flame) -> Self {
        Self {
            stacks: Stacks { flame, own: &[] },
            new: ProfilePacket::default(),
            texts: HashMap::new(),
            mappings: HashMap::new(),
            frames: HashMap::new(),
            callstacks: HashMap::new(),
            symbols: BTreeMap::new(),
        }
    }

    /// From the outermost function in.
    fn callstack(&mut self, end: Option<u32>) -> u64 {
        if let Some(&iid) = self.callstacks.get(&end) {
            return iid;
        }
        let chain = end.into_iter().flat_map(|end| self.stacks.chain(end));
        let labels = chain.map(|(_, node)| match node.label {
            Label::Named(label) => Some(label),
            Label::Lesser(_) => None,
        });
        let mut labels: Vec<Option<u32>> = labels.collect();
        labels.reverse();
        if labels.is_empty() {
            labels.push(None);
        }
        let frames = labels.into_iter().map(|label| self.frame(label));
        let frame_ids = frames.collect();
        let iid = self.callstacks.len() as u64 + 1;
        self.callstacks.insert(end, iid);
        self.new.callstacks.push(Callstack { iid, frame_ids });
        iid
    }

    fn frame(&mut self, label: Option<u32>) -> u64 {
        if let Some(&iid) = self.frames.get(&label) {
            return iid;
        }
        let iid = self.frames.len() as u64 + 1;
        self.frames.insert(label, iid);
        let names: &'f [Name] = &self.stacks.flame.names;
        let name = label.and_then(|label| names.get(label as usize));
        let function = name.map_or_else(
            || "(no stack)".to_owned(),
            |name| clean(name.function.as_bytes()),
        );
        let module = name.and_then(module_of);
        let module = module.map(|module| clean(module.as_bytes()));
        let mapping_id = self.mapping(module.unwrap_or_default());
        if let Some(location) = name.and_then(|name| name.location.as_deref()) {
            self.line(mapping_id, iid, &function, location);
        }
        let function_name_id = self.text(&function);
        self.new.frames.push(Frame {
            iid,
            function_name_id,
            mapping_id,
            // Of an address here two lines may be, and an inlined function has none: the
            // number of the frame stands for it, and joins it with its line.
            rel_pc: iid,
        });
        iid
    }

    fn line(&mut self, mapping: u64, address: u64, function: &str, location: &str) {
        let (file, line) = file_and_line(location);
        if let Some(symbols) = self.symbols.get_mut(&mapping) {
            symbols.address_symbols.push(AddressSymbols {
                address,
                lines: vec![Line {
                    function_name: function.to_owned(),
                    source_file_name: clean(file.as_bytes()),
                    line_number: line.unwrap_or(0),
                }],
            });
        }
    }

    fn mapping(&mut self, module: String) -> u64 {
        if let Some(&iid) = self.mappings.get(&module) {
            return iid;
        }
        let iid = self.mappings.len() as u64 + 1;
        let path_string_ids = match module.is_empty() {
            true => Vec::new(),
            false => vec![self.text(&module)],
        };
        // Perfetto puts a slash before each part of a path.
        let path = match module.is_empty() || module.starts_with('/') {
            true => module.clone(),
            false => format!("/{module}"),
        };
        self.mappings.insert(module, iid);
        self.new.mappings.push(Mapping {
            iid,
            path_string_ids,
        });
        let symbols = ModuleSymbols {
            path,
            address_symbols: Vec::new(),
        };
        self.symbols.insert(iid, symbols);
        iid
    }

    fn text(&mut self, text: &str) -> u64 {
        if let Some(&iid) = self.texts.get(text) {
            return iid;
        }
        let iid = self.texts.len() as u64 + 1;
        self.texts.insert(text.to_owned(), iid);
        self.new.strings.push(InternedString {
            iid,
            str: text.to_owned(),
        });
        iid
    }
}
