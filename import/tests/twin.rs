//! Random lists of what a form's reader may say, written as a log and read again, against a
//! twin that keeps a plain list.

use std::collections::BTreeMap;

use memlog_format::api::Api;
use memlog_format::table::StackId;
use memlog_import::{Given, Held, LogWriter, Settings};
use memlog_read::{Kind, Log};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Time(u64),
    Thread(u32),
    Alloc { at: u64, size: u64, place: u8 },
    Free(u64),
    Resize { old: u64, at: u64, size: u64 },
    MadeUp(u64),
    FreeMadeUp(usize),
    Hold { blocks: u64, bytes: u64 },
    LetGo,
    CameAndWent { blocks: u64, bytes: u64 },
    Resident(u64),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    // Few addresses, so that they meet, where none is made up.
    let at = || (8..16u64).prop_map(|at| at << 60 | 0x1230);
    let size = || prop_oneof![0..200u64, any::<u64>()];
    let op = prop_oneof![
        any::<u32>().prop_map(|ns| Op::Time(ns.into())),
        (0..4u32).prop_map(Op::Thread),
        (at(), size(), any::<u8>()).prop_map(|(at, size, place)| Op::Alloc { at, size, place }),
        at().prop_map(Op::Free),
        (at(), at(), size()).prop_map(|(old, at, size)| Op::Resize { old, at, size }),
        size().prop_map(Op::MadeUp),
        any::<usize>().prop_map(Op::FreeMadeUp),
        (0..50u64, 0..10_000u64).prop_map(|(blocks, bytes)| Op::Hold { blocks, bytes }),
        Just(Op::LetGo),
        (0..50u64, 0..10_000u64).prop_map(|(blocks, bytes)| Op::CameAndWent { blocks, bytes }),
        (1..1u64 << 40).prop_map(Op::Resident),
    ];
    proptest::collection::vec(op, 0..400)
}

/// What is expected of a log: what is live by address, and what came and went in all.
#[derive(Debug, Default, PartialEq)]
struct Twin {
    live: BTreeMap<u64, (u64, u8)>,
    came: u64,
    went: u64,
    bytes: u128,
    /// Sizes that are live and lie where the writer chose.
    sums: Vec<u64>,
    readings: Vec<u64>,
    last_ns: u64,
}

impl Twin {
    fn came(&mut self, at: u64, size: u64, place: u8) {
        self.went += u64::from(self.live.insert(at, (size, place)).is_some());
        self.came += 1;
        self.bytes += u128::from(size);
    }

    fn went(&mut self, at: u64) -> bool {
        let was_there = self.live.remove(&at).is_some();
        self.went += u64::from(was_there);
        was_there
    }

    /// As even as they can be.
    fn sum(&mut self, blocks: u64, bytes: u64) -> Vec<u64> {
        let blocks = if bytes > 0 { blocks.max(1) } else { blocks };
        let sizes = (0..blocks).map(|index| (bytes + blocks - 1 - index) / blocks);
        let sizes: Vec<u64> = sizes.collect();
        assert_eq!(sizes.iter().sum::<u64>(), bytes);
        self.came += blocks;
        self.bytes += u128::from(bytes);
        sizes
    }
}

fn write(ops: &[Op]) -> (Vec<u8>, Twin) {
    let (mut bytes, mut twin) = (Vec::new(), Twin::default());
    let mut log = LogWriter::new(&mut bytes, Settings::default());
    log.start().tick_ns = 1;
    let (mut made_up, mut held): (Vec<u64>, Vec<(Held, Vec<u64>)>) = Default::default();
    for op in ops {
        match *op {
            Op::Time(ns) => {
                log.time(ns);
                twin.last_ns = twin.last_ns.max(ns);
            }
            Op::Thread(tid) => log.thread(tid, b"t"),
            Op::Alloc { at, size, place } => {
                let stack = stack(&mut log, place);
                log.allocate(at, size, None, stack, Api::Malloc);
                twin.came(at, size, place);
            }
            Op::Free(at) => {
                log.release(at, None, Api::Free);
                twin.went(at);
            }
            Op::Resize { old, at, size } => {
                let stack = stack(&mut log, 7);
                log.resize(old, at, size, None, stack, Api::Realloc);
                twin.went(old);
                twin.came(at, size, 7);
            }
            Op::MadeUp(size) => {
                let at = log.made_up_address(size);
                assert!(!twin.live.contains_key(&at), "{at:#x} is live");
                let stack = stack(&mut log, 1);
                log.allocate(at, size, None, stack, Api::Malloc);
                twin.came(at, size, 1);
                made_up.push(at);
            }
            Op::FreeMadeUp(which) => {
                if !made_up.is_empty() {
                    let at = made_up.swap_remove(which % made_up.len());
                    log.release(at, None, Api::Free);
                    assert!(twin.went(at));
                }
            }
            Op::Hold { blocks, bytes } => {
                let stack = stack(&mut log, 2);
                held.push((log.hold(stack, blocks, bytes), twin.sum(blocks, bytes)));
            }
            Op::LetGo => {
                if let Some((block, sizes)) = held.pop() {
                    log.let_go(block);
                    twin.went += sizes.len() as u64;
                }
            }
            Op::CameAndWent { blocks, bytes } => {
                let stack = stack(&mut log, 3);
                log.came_and_went(stack, blocks, bytes);
                twin.went += twin.sum(blocks, bytes).len() as u64;
            }
            Op::Resident(kb) => {
                log.resident(kb, 0);
                twin.readings.push(kb);
            }
        }
    }
    let made = log.finish().expect("a log");
    twin.sums = held.into_iter().flat_map(|(_, sizes)| sizes).collect();
    twin.sums.sort_unstable();
    let live = twin.live.len() + twin.sums.len();
    assert_eq!((made.allocations, made.releases), (twin.came, twin.went));
    assert_eq!(made.live.0, live as u64);
    (bytes, twin)
}

fn stack(log: &mut LogWriter, place: u8) -> StackId {
    let (outer, inner) = (format!("outer{}", place / 16), format!("inner{place}"));
    let outer = log.place(None, true, None, &[named(&outer, 1)]);
    let names = [named(&inner, 7), named("into", u32::from(place))];
    let inner = log.place(Some(0x1000 + u64::from(place)), true, None, &names);
    let outer = log.stack(StackId::COMPLETE, outer);
    log.stack(outer, inner)
}

fn named(function: &str, line: u32) -> Given<'_> {
    Given {
        function: function.as_bytes(),
        file: b"file.c",
        line,
    }
}

/// The same out of the log.
fn read(bytes: &[u8], twin: &Twin) -> Twin {
    let log = Log::open(bytes).expect("a log");
    assert!(log.findings().list().is_empty(), "{:?}", log.findings());
    let (mut found, mut all) = (Twin::default(), BTreeMap::new());
    let mut events = log.events();
    for item in events.by_ref() {
        match item.kind {
            Kind::Alloc(alloc) => {
                let place = place_of(&log, alloc.stack);
                let was = all.insert(alloc.address, (alloc.size, place));
                assert_eq!(was, None, "an address is live twice");
                found.came += 1;
                found.bytes += u128::from(alloc.size);
            }
            Kind::Release(release) => {
                assert!(all.remove(&release.address).is_some());
                found.went += 1;
            }
            Kind::Rss(rss) => found.readings.push(rss.now_kb),
            Kind::Unfinished(_) => panic!("a realloc without its end"),
            _ => {}
        }
    }
    assert!(
        events.findings().list().is_empty(),
        "{:?}",
        events.findings()
    );
    found.last_ns = log.end().expect("an end").tick;
    let is_known = |at: &u64| twin.live.contains_key(at);
    let (live, sums): (BTreeMap<_, _>, BTreeMap<_, _>) =
        all.into_iter().partition(|(at, _)| is_known(at));
    found.live = live;
    found.sums = sums.into_values().map(|(size, _)| size).collect();
    found.sums.sort_unstable();
    found
}

/// Which of the places of [`stack`] it is, by all of its names.
fn place_of(log: &Log, stack: StackId) -> u8 {
    let names = |address: u64| {
        let codes = log.code_names().iter();
        let codes = codes.filter(move |code| code.address == address);
        codes.map(|code| String::from_utf8_lossy(code.name).into_owned())
    };
    let frames = log.frames(stack).map(|frame| frame.lookup_address());
    let frames: Vec<Vec<String>> = frames.map(|at| names(at).collect()).collect();
    let [inner, outer] = frames.as_slice() else {
        panic!("{frames:?}");
    };
    let place: u8 = inner[0]
        .strip_prefix("inner")
        .expect("inner")
        .parse()
        .expect("u8");
    assert_eq!(inner[1..], ["into"]);
    assert_eq!(*outer, [format!("outer{}", place / 16)]);
    place
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_log_says_what_was_said(ops in ops()) {
        let (bytes, twin) = write(&ops);
        let found = read(&bytes, &twin);
        prop_assert_eq!(found, twin);
    }
}

/// More than one chunk of each kind.
#[test]
fn many_of_each_are_all_there() {
    let mut bytes = Vec::new();
    let mut log = LogWriter::new(&mut bytes, Settings::default());
    for number in 0..9000u64 {
        let function = format!("function{number}");
        let place = log.place(None, true, None, &[named(&function, 1)]);
        let stack = log.stack(StackId::COMPLETE, place);
        log.time(number * 1_000_000);
        for block in 0..4 {
            log.allocate(number << 20 | block << 4, number, None, stack, Api::Calloc);
        }
    }
    log.made_from("test", b"file");
    let made = log.finish().expect("a log");
    assert_eq!(made.chunks as usize * 65536, bytes.len());
    let log = Log::open(&bytes).expect("a log");
    assert!(log.findings().list().is_empty(), "{:?}", log.findings());
    let mut events = log.events();
    let mut count = 0;
    for item in events.by_ref() {
        let Kind::Alloc(alloc) = item.kind else {
            continue;
        };
        let code = log.frames(alloc.stack).next().expect("a frame");
        let name = &log.code_names()[alloc.size as usize];
        assert_eq!(name.address, code.lookup_address());
        assert_eq!((item.tick, alloc.address >> 20), (alloc.size, alloc.size));
        count += 1;
    }
    assert_eq!(count, 4 * 9000);
    assert!(
        events.findings().list().is_empty(),
        "{:?}",
        events.findings()
    );
}

/// Two frames at one address with different names: each keeps its own.
#[test]
fn names_of_one_address_do_not_mix() {
    let mut bytes = Vec::new();
    let mut log = LogWriter::new(&mut bytes, Settings::default());
    let module = log.module(b"/lib/a.so", b"", 0, 0..0);
    let names = [[named("a", 1)], [named("b", 1)], [named("a", 1)]];
    let codes = names.map(|names| log.place(Some(0x500), true, Some(module), &names));
    assert_eq!(codes[0], codes[2]);
    assert_ne!(codes[0], codes[1]);
    let nameless = log.place(Some(0x500), true, Some(module), &[]);
    assert!(!codes.contains(&nameless));
    log.finish().expect("a log");
    let log = Log::open(&bytes).expect("a log");
    let at = |code| log.code(code).expect("a code").lookup_address();
    let found = |code| {
        log.code_names()
            .iter()
            .filter(move |name| name.address == at(code))
    };
    let names = [codes[0], codes[1], nameless]
        .map(|code| found(code).map(|name| name.name).collect::<Vec<_>>());
    assert_eq!(names, [vec![b"a"], vec![b"b"], vec![]]);
}

#[test]
fn sums_of_too_many_blocks_are_refused() {
    let mut bytes = Vec::new();
    let mut log = LogWriter::new(&mut bytes, Settings::default());
    log.came_and_went(StackId::COMPLETE, u64::MAX, u64::MAX);
    assert!(log.has_failed());
    let error = log.finish().expect_err("too many");
    assert!(
        error.to_string().contains("18446744073709551615 blocks"),
        "{error}"
    );
    assert!(error.remedy().contains("--held-only"));
    let mut log = LogWriter::new(
        &mut bytes,
        Settings {
            held_only: true,
            ..Settings::default()
        },
    );
    log.came_and_went(StackId::COMPLETE, u64::MAX, u64::MAX);
    let held = log.hold(StackId::COMPLETE, 3, 10);
    log.let_go(held);
    assert_eq!(log.finish().expect("a log").allocations, 3);
}
