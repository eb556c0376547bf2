//! Records of a log's metadata.

use super::{address, bytes, number, number32, size};
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE};
use memlog_format::kept::{KeptFile, Place, Word};
use memlog_format::meta::{CodeName, Death, End, ForkPoint, Key, Module, Record, Start};
use memlog_format::resident::{Census, CensusWhy, MAX_PATH_END, Mapped};
use memlog_format::table::StackId;
use memlog_format::tuned::Tuned;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn start() -> impl Strategy<Value = Start> {
    (
        any::<(u8, bool, u16, u8, bool)>(),
        [number32(), number32(), number32()],
        [number(), number()],
    )
        .prop_map(
            |(small, [pid, parent_pid, page_bytes], [wall_ns, tick_ns])| Start {
                pointer_bytes: small.0,
                big_endian: small.1,
                machine: small.2,
                pid,
                parent_pid,
                wall_ns,
                tick_ns,
                page_bytes,
                cell_bits: small.3,
                has_usable: small.4,
            },
        )
}

fn module() -> impl Strategy<Value = Module<'static>> {
    (
        number32(),
        [number(), number(), number()],
        bytes(40),
        bytes(300),
    )
        .prop_map(|(id, [bias, low, high], build_id, path)| Module {
            id,
            bias,
            low,
            high,
            build_id,
            path,
        })
}

fn key() -> impl Strategy<Value = Key> {
    proptest::sample::select(vec![
        Key::Executable,
        Key::CommandLine,
        Key::Host,
        Key::Job,
        Key::Rank,
        Key::WorkingDirectory,
        Key::Recorder,
        Key::Setting,
        Key::Note,
        Key::LogPath,
        Key::ParentLog,
        Key::RankParent,
        Key::PastUs,
    ])
}

pub fn record() -> impl Strategy<Value = Record<'static>> {
    prop_oneof![
        start().prop_map(Record::Start),
        (key(), bytes(300)).prop_map(|(key, text)| Record::Text(key, text)),
        module().prop_map(Record::Module),
        (number32(), number()).prop_map(|(id, tick)| Record::Unload { id, tick }),
        number32().prop_map(|pid| Record::Parent { pid }),
        [number32(), number32(), number32()].prop_map(|[stream, sequence, committed]| {
            Record::ForkPoint(ForkPoint {
                stream,
                sequence,
                committed,
            })
        }),
        (any::<u8>(), [number(), number(), number()]).prop_map(
            |(how, [tick, vm_hwm_kb, maxrss_kb])| {
                Record::End(End {
                    tick,
                    how,
                    vm_hwm_kb,
                    maxrss_kb,
                })
            }
        ),
        (any::<u8>(), number(), number(), number()).prop_map(
            |(signal, oom_kills, maxrss_kb, wall_ns)| {
                Record::Death(Death {
                    signal,
                    oom_kills,
                    maxrss_kb,
                    wall_ns,
                })
            }
        ),
        (number(), number32(), bytes(40), bytes(300)).prop_map(|(address, line, file, name)| {
            Record::CodeName(CodeName {
                address,
                line,
                file,
                name,
            })
        }),
        mapped().prop_map(Record::Mapped),
        census().prop_map(Record::Census),
        (
            number(),
            [number32(), number32()],
            any::<(i32, i32, bool)>()
        )
            .prop_map(|(tick, [tid, stack], (parameter, value, is_taken))| {
                Record::Tuned(Tuned {
                    tick,
                    tid,
                    parameter,
                    value,
                    is_taken,
                    stack: StackId(stack),
                })
            }),
        (number32(), bytes(300)).prop_map(|(number, text)| Record::Word(Word { number, text })),
        (
            number32(),
            number(),
            any::<Option<u8>>(),
            bytes(40),
            bytes(300)
        )
            .prop_map(|(number, bias, compiler, build_id, path)| {
                Record::KeptFile(KeptFile {
                    number,
                    bias,
                    compiler,
                    code_bytes: bias ^ 1,
                    covered_bytes: bias >> 1,
                    build_id,
                    path,
                })
            }),
        (number32(), number(), bytes(300)).prop_map(|(file, address, functions)| {
            Record::Place(Place {
                file,
                address,
                functions,
            })
        }),
        (16..=255u8).prop_map(Record::Unknown),
    ]
}

fn mapped() -> impl Strategy<Value = Mapped<'static>> {
    let numbers = proptest::array::uniform6(number());
    (numbers, number32(), bytes(MAX_PATH_END), bytes(300)).prop_map(
        |(
            [
                low_kb,
                length_kb,
                resident_kb,
                anonymous_kb,
                huge_kb,
                swapped_kb,
            ],
            flags,
            path,
            runs,
        )| Mapped {
            low_kb,
            length_kb,
            flags,
            resident_kb,
            anonymous_kb,
            huge_kb,
            swapped_kb,
            path,
            runs,
        },
    )
}

fn census() -> impl Strategy<Value = Census> {
    let why = proptest::sample::select(vec![CensusWhy::Grown, CensusWhy::Full, CensusWhy::End]);
    let numbers = proptest::array::uniform5(number());
    (numbers, why, any::<bool>(), any::<bool>()).prop_map(
        |([stamp, tick, resident_kb, own_kb, cost_us], why, is_whole, is_counted)| Census {
            stamp,
            tick,
            resident_kb,
            own_kb,
            cost_us,
            why,
            is_whole,
            is_counted,
        },
    )
}
