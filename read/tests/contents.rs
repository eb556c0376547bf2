//! What a log says besides its order: reallocs, forks, tables, texts.

mod support;

use memlog_format::api::Api;
use memlog_format::chunk::{Header, Kind as ChunkKind};
use memlog_format::event::Release;
use memlog_format::ext::Ext;
use memlog_format::meta::{ForkPoint, Key, Record};
use memlog_format::table::{Code, CodeId, Node, StackId};
use memlog_read::{Finding, Kind, Log};
use support::{Recorder, START, chunk, meta_chunk};

fn show(log: &[u8]) -> Vec<String> {
    let log = Log::open(log).unwrap();
    let show = |kind| match kind {
        Kind::Alloc(alloc) => format!("+{:x}:{}", alloc.address, alloc.size),
        Kind::Release(release) => format!("-{:x}", release.address),
        Kind::Unfinished(release) => format!("?{:x}", release.address),
        Kind::Mark(text) => String::from_utf8_lossy(text).into(),
        other => format!("{other:?}"),
    };
    log.events().map(|item| show(item.kind)).collect()
}

#[test]
fn a_realloc_is_a_release_and_an_allocation_or_nothing() {
    let mut recorder = Recorder::new(1, 60000);
    recorder.alloc(0, Api::Malloc, 0x1000, 10, 1);
    recorder.announce(0, 0x1000);
    recorder.streams[0].tick(5);
    recorder.streams[0].ext(&Ext::Mark(b"between"));
    recorder.alloc(0, Api::Realloc, 0x2000, 20, 1);
    recorder.announce(0, 0x2000);
    recorder.streams[0].revoke();
    recorder.release(0, 0x2000);
    recorder.alloc(0, Api::Malloc, 0x3000, 30, 1);
    recorder.announce(0, 0x3000);
    let log = recorder.finish(&[]);
    let expected = [
        "+1000:10", "-1000", "between", "+2000:20", "-2000", "+3000:30", "?3000",
    ];
    assert_eq!(show(&log), expected);
    let log = Log::open(&log).unwrap();
    let mut events = log.events();
    events.by_ref().for_each(drop);
    let unfinished = Finding::UnfinishedRealloc {
        stream: 0,
        address: 0x3000,
    };
    assert_eq!(events.findings().list(), [unfinished]);
}

/// The end of a realloc that nobody saw is no fault of the log.
#[test]
fn a_realloc_that_recording_went_off_over_is_no_finding() {
    let mut recorder = Recorder::new(1, 60000);
    recorder.alloc(0, Api::Malloc, 0x1000, 10, 1);
    recorder.announce(0, 0x1000);
    recorder.streams[0].ext(&Ext::Unseen);
    recorder.alloc(0, Api::Realloc, 0x1000, 20, 1);
    let log = recorder.finish(&[]);
    assert_eq!(show(&log), ["+1000:10", "?1000", "+1000:20"]);
    let log = Log::open(&log).unwrap();
    let mut events = log.events();
    events.by_ref().for_each(drop);
    assert_eq!(events.findings().list(), []);
}

#[test]
fn a_revoked_release_uses_its_number_up() {
    let mut recorder = Recorder::new(2, 60000);
    recorder.alloc(0, Api::Malloc, 0x1000, 10, 1);
    recorder.announce(1, 0x1000);
    recorder.streams[1].revoke();
    recorder.release(1, 0x1000);
    recorder.alloc(0, Api::Malloc, 0x1000, 20, 1);
    let log = recorder.finish(&[]);
    assert_eq!(show(&log), ["+1000:10", "-1000", "+1000:20"]);
    let log = Log::open(&log).unwrap();
    let mut events = log.events();
    events.by_ref().for_each(drop);
    assert_eq!(events.findings().order_gaps, 0);
}

#[test]
fn lost_numbers_hold_nobody_up() {
    let mut recorder = Recorder::new(2, 60000);
    recorder.alloc(0, Api::Malloc, 0x1000, 10, 1);
    recorder.release(1, 0x1000);
    recorder.number(0, 0x1000); // taken, never written
    recorder.alloc(1, Api::Malloc, 0x1000, 20, 1);
    recorder.streams[0].tick(9);
    recorder.release(0, 0x1000);
    recorder.streams[0].ext(&Ext::Mark(b"later"));
    recorder.streams[1].tick(3);
    recorder.streams[1].ext(&Ext::Mark(b"sooner"));
    let log = recorder.finish(&[]);
    let expected = ["+1000:10", "-1000", "+1000:20", "sooner", "-1000", "later"];
    assert_eq!(show(&log), expected);
    let log = Log::open(&log).unwrap();
    assert_eq!(log.events().findings().order_gaps, 1);
}

#[test]
fn threads_and_marks_are_told() {
    let mut recorder = Recorder::new(1, 60000);
    let thread = Ext::Thread {
        tid: 77,
        name: b"worker",
    };
    recorder.streams[0].ext(&thread);
    recorder.alloc(0, Api::Malloc, 0x1000, 10, 1);
    let log = recorder.finish(&[]);
    let log = Log::open(&log).unwrap();
    let items: Vec<_> = log.events().collect();
    assert!(matches!(
        items[0].kind,
        Kind::Thread {
            tid: 77,
            name: b"worker"
        }
    ));
    assert_eq!(items[1].tid, 77);
}

#[test]
fn a_child_inherits_up_to_the_cut() {
    let mut recorder = Recorder::new(2, 60000);
    recorder.alloc(0, Api::Malloc, 0x1000, 10, 1);
    recorder.alloc(1, Api::Malloc, 0x100_0000, 20, 1);
    let committed = |recorder: &Recorder, stream: usize| {
        64 + *recorder.streams[stream].ends.last().unwrap() as u32
    };
    let point = ForkPoint {
        stream: 0,
        sequence: 0,
        committed: committed(&recorder, 0),
    };
    recorder.alloc(0, Api::Malloc, 0x3000, 30, 1);
    let parent = recorder.finish(&[]);
    let child = meta_chunk(&[
        Record::Start(START),
        Record::Parent { pid: 4711 },
        Record::Text(Key::ParentLog, b"host.4711.memlog"),
        Record::ForkPoint(point),
    ]);
    let (parent, child) = (Log::open(&parent).unwrap(), Log::open(&child).unwrap());
    assert_eq!(child.parent_pid(), Some(4711));
    assert_eq!(
        child.text(Key::ParentLog),
        Some(b"host.4711.memlog".as_slice())
    );
    let inherited: Vec<_> = parent.events_until(child.fork_points()).collect();
    assert!(matches!(&inherited[..], [item]
        if matches!(item.kind, Kind::Alloc(alloc) if alloc.size == 10)));
}

#[test]
fn stacks_are_walked_to_their_root() {
    let code = |address: u64| Code {
        address,
        module: 1,
        exact: false,
    };
    let mut codes = Vec::new();
    for address in [0x400100, 0x400200] {
        codes.extend(u64::to_le_bytes(address));
        codes.extend(code(address).to_tail_word().to_le_bytes());
    }
    let mut nodes = Vec::new();
    let node = |parent, code| Node {
        parent: StackId(parent),
        code: CodeId(code),
    };
    for node in [node(1, 4), node(8, 5), node(11, 4)] {
        nodes.extend(node.to_word().to_le_bytes());
    }
    let mut log = meta_chunk(&[Record::Start(START)]);
    log.extend(chunk(Header::new(ChunkKind::Nodes, 0, 0), &nodes, false));
    log.extend(chunk(Header::new(ChunkKind::Codes, 0, 0), &codes, false));
    let log = Log::open(&log).unwrap();
    let mut frames = log.frames(StackId(9));
    let found: Vec<_> = frames.by_ref().map(|code| code.address).collect();
    assert_eq!(found, [0x400200, 0x400100]);
    assert_eq!(frames.root(), Some(StackId::COMPLETE));
    // A node above its child would make a walk without end.
    assert_eq!(log.node(StackId(10)), None);
    let mut frames = log.frames(StackId(10));
    assert_eq!(frames.by_ref().count(), 0);
    assert_eq!(frames.root(), None);
}

#[test]
fn a_release_by_realloc_alone_is_a_free() {
    let mut recorder = Recorder::new(1, 60000);
    recorder.alloc(0, Api::Malloc, 0x1000, 10, 1);
    let release = Release {
        api: Api::Realloc,
        address: 0x1000,
        announced: false,
        stack: None,
        order: None,
    };
    recorder.streams[0].release(&release);
    assert_eq!(show(&recorder.finish(&[])), ["+1000:10", "-1000"]);
}
