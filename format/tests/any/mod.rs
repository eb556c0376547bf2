//! Any record, for the property tests: every field over its whole range, with
//! the small and the extreme values that deltas and flags turn on made common.
#![allow(dead_code, unused_imports)] // each test that includes this needs a part of it

mod records;

use memlog_format::api::{Api, NAMES, TOLD};
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::event::{Alloc, Event, Release, predicted_usable};
use memlog_format::ext::{Ext, Ledger, MAX_TEXT, Mapping, Rss, RssSource};
use memlog_format::failure::Failure;
use memlog_format::limit::{Limit, LimitAct, LimitKind};
use memlog_format::passed::Passed;
use memlog_format::switch::{By, Switch};
use memlog_format::table::StackId;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
pub use records::record;

/// A number: small, anything, at an edge of the varints, or extreme.
pub fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..300u64,
        any::<u64>(),
        (0..64u32, 0..3u64).prop_map(|(bit, off)| (1u64 << bit).wrapping_add(off).wrapping_sub(1)),
        Just(u64::MAX),
    ]
}

fn number32() -> impl Strategy<Value = u32> {
    number().prop_map(|number| number as u32)
}

/// Addresses that share pages and low bits often enough.
fn address() -> impl Strategy<Value = u64> {
    prop_oneof![
        (0..64u64).prop_map(|block| 0x5555_5576_B2A0 + 16 * block),
        (0..64u64).prop_map(|byte| 0x7FFF_E800_0000 + byte),
        number(),
    ]
}

fn size() -> impl Strategy<Value = u64> {
    prop_oneof![0..4u64, 24..26u64, number()]
}

fn stack() -> impl Strategy<Value = StackId> {
    prop_oneof![0..20u32, number32()].prop_map(StackId)
}

pub fn api() -> impl Strategy<Value = Api> {
    (0..NAMES.len()).prop_map(|index| NAMES[index].0)
}

/// Also what the program tells of.
fn any_api() -> impl Strategy<Value = Api> {
    prop_oneof![4 => api(), 1 => (0..TOLD.len()).prop_map(|index| TOLD[index].0)]
}

fn alloc() -> impl Strategy<Value = Alloc> {
    let usable = option::of(size());
    (
        any_api(),
        address(),
        size(),
        usable,
        any::<u8>(),
        stack(),
        option::of(number()),
    )
        .prop_map(
            |(api, address, size, usable, alignment_log2, stack, order)| Alloc {
                api,
                address,
                size,
                usable: usable.unwrap_or(predicted_usable(size)),
                alignment_log2: if api.is_aligned() { alignment_log2 } else { 0 },
                stack,
                order,
            },
        )
}

fn release() -> impl Strategy<Value = Release> {
    (
        any_api(),
        address(),
        any::<bool>(),
        option::of(stack()),
        option::of(number()),
    )
        .prop_map(|(api, address, announced, stack, order)| Release {
            api,
            address,
            announced,
            stack,
            order,
        })
}

/// Bytes that live as long as the tests: records borrow theirs.
fn bytes(most: usize) -> impl Strategy<Value = &'static [u8]> {
    vec(any::<u8>(), 0..=most).prop_map(|bytes| &*bytes.leak())
}

fn mapping() -> impl Strategy<Value = Mapping> {
    (0..5, [number(), number(), number(), number()]).prop_map(|(kind, [a, b, c, d])| match kind {
        0 => Mapping::Map {
            address: a,
            length: b,
            prot: c as u32,
            flags: d as u32,
        },
        1 => Mapping::Unmap {
            address: a,
            length: b,
        },
        2 => Mapping::Leave {
            address: a,
            length: b,
        },
        3 => Mapping::Remap {
            old_address: a,
            old_length: b,
            address: c,
            length: d,
        },
        _ => Mapping::Break { old_end: a, end: b },
    })
}

fn rss() -> impl Strategy<Value = Rss> {
    let source = prop_oneof![
        Just(RssSource::MaxRss),
        Just(RssSource::Statm),
        Just(RssSource::VmHwm)
    ];
    (source, [number(), number(), number(), number()]).prop_map(
        |(source, [peak_kb, now_kb, own_kb, stamp])| Rss {
            source,
            peak_kb,
            now_kb,
            own_kb,
            stamp,
        },
    )
}

fn limit() -> impl Strategy<Value = Limit<'static>> {
    let kinds = [
        LimitKind::Group,
        LimitKind::AddressSpace,
        LimitKind::Data,
        LimitKind::Machine,
    ];
    let acts = [
        LimitAct::Watched,
        LimitAct::Near,
        LimitAct::Asked,
        LimitAct::Ended,
    ];
    let (kind, act) = (0..kinds.len(), 0..acts.len());
    (kind, act, number(), number(), bytes(MAX_TEXT)).prop_map(
        move |(kind, act, used_bytes, limit_bytes, name)| Limit {
            kind: kinds[kind],
            act: acts[act],
            used_bytes,
            limit_bytes,
            name,
        },
    )
}

fn failure() -> impl Strategy<Value = Failure> {
    (
        api(),
        any::<u8>(),
        [number(), number()],
        number32(),
        stack(),
    )
        .prop_map(
            |(api, alignment_log2, [size, calls], errno, stack)| Failure {
                api,
                alignment_log2,
                size,
                calls,
                errno,
                stack,
            },
        )
}

fn passed() -> impl Strategy<Value = Passed> {
    let flags = (any::<bool>(), any::<bool>());
    let threads = (number32(), number32());
    let stacks = (stack(), option::of(stack()));
    (
        any_api(),
        any::<u8>(),
        [size(), size()],
        threads,
        stacks,
        flags,
        0..=Passed::MOST,
    )
        .prop_map(
            |(api, alignment_log2, [size, usable], threads, stacks, flags, blocks)| match blocks {
                0 => Passed::OTHERS,
                _ => Passed {
                    tid: threads.0,
                    api,
                    alignment_log2,
                    size,
                    usable,
                    stack: stacks.0,
                    releaser: threads.1,
                    release_stack: stacks.1,
                    temporary: flags.0,
                    moved: flags.1,
                    blocks,
                },
            },
        )
}

fn by() -> impl Strategy<Value = By> {
    prop_oneof![
        Just(By::Program),
        Just(By::Control),
        Just(By::Signal),
        Just(By::Time)
    ]
}

pub fn ext() -> impl Strategy<Value = Ext<'static>> {
    let ledger = (mapping(), any::<bool>(), number(), stack());
    prop_oneof![
        (number32(), bytes(MAX_TEXT)).prop_map(|(tid, name)| Ext::Thread { tid, name }),
        rss().prop_map(Ext::Rss),
        number32().prop_map(|child| Ext::Fork { child }),
        (number(), any::<u8>()).prop_map(|(events, reason)| Ext::Loss { events, reason }),
        ledger.prop_map(|(mapping, backing, order, stack)| {
            Ext::Ledger(Ledger {
                mapping,
                backing,
                order,
                stack,
            })
        }),
        bytes(MAX_TEXT).prop_map(Ext::Mark),
        bytes(MAX_TEXT).prop_map(Ext::Scope),
        limit().prop_map(Ext::Limit).boxed(),
        failure().prop_map(Ext::Failed).boxed(),
        passed().prop_map(Ext::Passed).boxed(),
        (any::<bool>(), by(), number())
            .prop_map(|(on, by, stamp)| Ext::Switch(Switch { on, by, stamp }))
            .boxed(),
        Just(Ext::Unseen).boxed(),
        (18..32u8, bytes(memlog_format::ext::MAX_PAYLOAD))
            .prop_map(|(kind, payload)| Ext::Unknown { kind, payload }),
    ]
}

/// Any event; ticks are as they come, so sort them before use.
pub fn event() -> impl Strategy<Value = Event<'static>> {
    prop_oneof![
        4 => alloc().prop_map(Event::Alloc),
        4 => release().prop_map(Event::Release),
        1 => Just(Event::Revoke),
        1 => number().prop_map(Event::Tick),
        1 => number().prop_map(Event::Stamp),
        2 => ext().prop_map(Event::Ext),
    ]
}

pub fn header() -> impl Strategy<Value = Header> {
    let kind = proptest::sample::select(vec![
        Kind::Meta,
        Kind::Events,
        Kind::Nodes,
        Kind::Codes,
        Kind::Live,
        Kind::Folds,
    ]);
    (
        kind,
        any::<u16>(),
        [number32(), number32(), number32()],
        HEADER_SIZE..=CHUNK_SIZE,
        [number(), number(), number(), number()],
    )
        .prop_map(
            |(kind, flags, [stream, sequence, thread], committed, words)| Header {
                kind,
                version: memlog_format::VERSION,
                flags,
                stream,
                sequence,
                committed: committed as u32,
                thread,
                base_tick: words[0],
                base_stamp: words[1],
                checksum: words[2],
                folded: words[3] as u32,
                culled: words[2] as u32,
                seal: words[3],
            },
        )
}
