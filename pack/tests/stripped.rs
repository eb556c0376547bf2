//! Logs of anybody, stripped: what comes out is a log, and nothing panics; what is live at a
//! mark stays.

use memlog_format::api::Api;
use memlog_format::chunk::CHUNK_SIZE;
use memlog_format::stripped::Stripped;
use memlog_format::table::StackId;
use memlog_import::{LogWriter, Settings};
use memlog_pack::strip::{Gone, Order, Plan, Rule, choose};
use memlog_read::{Kind, Log};

const LOGS: [&[u8]; 4] = [
    include_bytes!("../../golden/v1/tiny.memlog"),
    include_bytes!("../../golden/cross/s390x.memlog"),
    include_bytes!("../../golden/cross/x86_64-musl.memlog"),
    include_bytes!("../../golden/cross/armv7hf.memlog"),
];

const SAYS: Stripped = Stripped {
    below_ns: None,
    with_parent: false,
    error_bytes: 0,
    bracket_events: 0,
    bracket_low_bytes: 0,
    peak_reading: 0,
};

fn stripped(bytes: &[u8], rule: &Rule) -> Option<(Vec<u8>, Gone)> {
    let log = Log::open(bytes).ok()?;
    let gone = choose(&log, rule, &mut |_, _| {});
    let order = Order::of(&log, &gone, &mut |_, _| {});
    let plan = Plan::new(bytes, &log, (&gone, &order), rule);
    let mut out = Vec::new();
    plan.write(SAYS, None, &mut out).expect("memory takes all");
    Some((out, gone))
}

/// Blocks that came, those told of in sums too.
fn allocations(bytes: &[u8]) -> u64 {
    let log = Log::open(bytes).expect("a log");
    let blocks = log.events().map(|item| match item.kind {
        Kind::Alloc(_) => 1,
        Kind::Passed(passed) => passed.blocks,
        _ => 0,
    });
    blocks.sum()
}

#[test]
fn what_comes_out_is_a_log() {
    for log in LOGS {
        let (small, gone) = stripped(log, &Rule::default()).expect("a log");
        assert_eq!(small.len() % CHUNK_SIZE, 0);
        assert!(gone.blocks > 0);
        assert_eq!(allocations(&small), allocations(log));
        let again = stripped(&small, &Rule::default()).expect("a log").0;
        assert_eq!(again, small);
    }
}

/// Cut anywhere, and with bits bent in it.
#[test]
fn damaged_logs_are_logs_still() {
    let mut word = 7_u64;
    let mut next = |below: usize| {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (word >> 33) as usize % below
    };
    let mut count = 0;
    for log in LOGS {
        for _ in 0..200 {
            let mut bytes = log.to_vec();
            bytes.truncate(1 + next(log.len()));
            for _ in 0..next(20) {
                // Most of a log is zeros: bytes that are none tell more.
                let at = next(bytes.len());
                let rest = bytes[at..].iter().position(|&byte| byte != 0).unwrap_or(0);
                bytes[at + rest] ^= 1 << next(8);
            }
            let Some((small, _)) = stripped(&bytes, &Rule::default()) else {
                continue;
            };
            count += 1;
            assert_eq!(allocations(&small), allocations(&bytes));
        }
    }
    assert!(count > 100, "{count} could be read");
}

/// A log of one thread.
fn written(tell: impl FnOnce(&mut LogWriter, StackId)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut log = LogWriter::new(&mut bytes, Settings::default());
    let place = log.place(Some(0x1000), true, None, &[]);
    let stack = log.stack(StackId::COMPLETE, place);
    log.thread(7, b"main");
    tell(&mut log, stack);
    log.finish().expect("a log");
    bytes
}

fn sizes(bytes: &[u8]) -> Vec<u64> {
    let log = Log::open(bytes).expect("a log");
    let sizes = log.events().filter_map(|item| match item.kind {
        Kind::Alloc(alloc) => Some(alloc.size),
        _ => None,
    });
    sizes.collect()
}

#[test]
fn what_is_live_at_a_mark_stays() {
    let log = written(|log, stack| {
        let mut come = |at: u64, size: u64| log.allocate(at << 12, size, None, stack, Api::Malloc);
        come(1, 11);
        come(2, 22);
        log.release(1 << 12, None, Api::Free);
        log.mark(b"here");
        log.release(2 << 12, None, Api::Free);
        log.allocate(3 << 12, 33, None, stack, Api::Malloc);
        log.release(3 << 12, None, Api::Free);
        log.allocate(4 << 12, 44, None, stack, Api::Malloc);
    });
    let small = stripped(&log, &Rule::default()).expect("a log").0;
    assert_eq!(sizes(&small), [22, 44]);
    // And what is live after so many events.
    for (event, left) in [
        (1, &[11, 22, 44][..]),
        (2, &[11, 22, 44]),
        (3, &[22, 44]),
        (5, &[22, 33, 44]),
    ] {
        let rule = Rule {
            moments: vec![event],
            ..Rule::default()
        };
        let small = stripped(&log, &rule).expect("a log").0;
        assert_eq!(sizes(&small), left, "after {event}");
    }
}
