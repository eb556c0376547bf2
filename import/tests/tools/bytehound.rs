//! bytehound's files.

mod file;

use file::File;
use memlog_import::Lack;
use memlog_read::{Kind, Log};

use super::{golden, import, seen, sentence, total, within};

const MAPS: &str = "\
555555554000-555555555000 r--p 00000000 fe:00 1 /opt/v
555555555000-555555556000 r-xp 00001000 fe:00 1 /opt/v
7ffff7c00000-7ffff7c01000 r-xp 00000000 fe:00 2 /usr/lib/libbytehound.so
7ffff7d00000-7ffff7d01000 rw-p 00000000 00:00 0
";

const OWN: u64 = 0x7fff_f7c0_0123;
const MAIN: u64 = 0x5555_5555_5456;

fn small() -> File {
    let mut file = File::new();
    file.maps(MAPS).backtrace(1, &[OWN, MAIN, MAIN + 0x10]);
    file.came((1, 1), 10, 0x1000, 100);
    file.came((1, 2), 20, 0x2000, 50);
    file.resized((1, 1), 30, 0x1000, 0x3000, 200);
    file.went((1, 2), 40, 0x2000);
    file.came((2, 1), 50, 0x2000, 7);
    file
}

#[test]
fn blocks_are_those_of_their_events() {
    for length in [40, 64, 1 << 20] {
        let (made, seen) = seen(&small().pieces(length));
        assert_eq!((made.allocations, made.releases), (4, 2));
        assert_eq!(
            (made.unknown_releases, made.replaced, made.times_back),
            (0, 0, 0)
        );
        let curve: Vec<_> = seen.curve.iter().map(|(&us, &sum)| (us, sum)).collect();
        let expected = [(10, 100), (20, 150), (30, 250), (40, 200), (50, 207)];
        assert_eq!(curve, expected.map(|(ms, sum)| (ms * 1000, sum)));
        let stacks: Vec<_> = seen.live.keys().map(|stack| &**stack).collect();
        assert_eq!(stacks, ["v+1456 < v+1466"]);
        assert!(!made.lacks.contains(&Lack::Times) && !made.lacks.contains(&Lack::Addresses));
    }
}

/// A thread hands its events over late: they are put where their times are.
#[test]
fn a_late_batch_is_put_in_its_place() {
    let mut file = File::new();
    file.maps(MAPS).backtrace(1, &[MAIN]);
    // The same place in turn: seen before it went.
    file.came((1, 1), 10, 0x1000, 100);
    file.came((2, 1), 30, 0x1000, 40);
    file.went((1, 1), 20, 0x1000);
    file.went((2, 1), 50, 0x1000);
    file.came((3, 1), 5, 0x9000, 1);
    let (made, seen) = seen(&file.packed());
    assert_eq!(
        (made.replaced, made.unknown_releases, made.times_back),
        (0, 0, 0)
    );
    let curve: Vec<_> = seen.curve.into_iter().collect();
    let expected = [(5, 1), (10, 101), (20, 1), (30, 41), (50, 1)];
    assert_eq!(curve, expected.map(|(ms, sum)| (ms * 1000, sum)));
}

/// At one time the first that came is taken as gone, and is not let go twice.
#[test]
fn two_blocks_at_one_place_and_time_are_two() {
    let mut file = File::new();
    file.maps(MAPS).backtrace(1, &[MAIN]);
    file.came((1, 1), 10, 0x1000, 100);
    file.came((2, 1), 20, 0x1000, 40);
    file.went((1, 1), 20, 0x1000);
    let (made, seen) = seen(&file.packed());
    assert_eq!((made.replaced, made.unknown_releases), (1, 0));
    assert_eq!(total(&seen.live), (1, 40));
}

#[test]
fn parts_of_stacks_are_put_together() {
    let mut file = File::new();
    file.maps(MAPS).backtrace(7, &[MAIN]);
    let partial = |file: &mut File, id: u64, replaced: u32, addresses: &[u64]| {
        file.n32(13)
            .n64(id)
            .n32(9)
            .n32(replaced)
            .n32(addresses.len() as u32);
        addresses.iter().for_each(|&address| _ = file.n64(address));
    };
    partial(&mut file, 3, u32::MAX, &[MAIN, MAIN + 1, MAIN + 2]);
    partial(&mut file, 1, 2, &[MAIN + 5]);
    file.came((1, 1), 10, 0x1000, 100);
    let (_, seen) = seen(&file.packed());
    let stacks: Vec<_> = seen.live.keys().map(|stack| &**stack).collect();
    assert_eq!(stacks, ["v+145b < v+1458"]);
}

/// What `bytehound postprocess` leaves: names, and what came and went as sums.
#[test]
fn names_that_the_file_has_are_taken() {
    let mut file = File::new();
    for (id, text) in [(0, "v"), (1, "_ZN1a1fEv"), (2, "main"), (3, "a.cpp")] {
        file.n32(14).n32(id).list(text.as_bytes());
    }
    let none = u32::MAX;
    let frame = |file: &mut File, [mangled, function, source, line]: [u32; 4], inline: u8| {
        file.n32(15).n64(0x1456).n32(0).n32(mangled).n32(function);
        file.n32(source).n32(line).n32(none).n8(inline);
    };
    frame(&mut file, [1, none, 3, 4], 1);
    frame(&mut file, [none, 2, 3, 9], 0);
    file.n32(16).n32(2).n32(0).n32(1);
    file.n32(17)
        .n64(0)
        .n64(5_000_000)
        .n64(5_000_000)
        .n64(3)
        .n64(30)
        .n64(1)
        .n64(20);
    file.n32(1).n64(5_001_000).block(0x1000, 100, 0);
    let (made, bytes) = import(&file.packed()).expect("a log");
    assert_eq!((made.allocations, made.live), (4, (1, 100)));
    let log = Log::open(&bytes).expect("a log");
    let names = log.code_names().iter();
    let names: Vec<_> = names
        .map(|name| (name.name, name.file, name.line))
        .collect();
    let (inner, outer): (&[u8], &[u8]) = (b"_ZN1a1fEv", b"main");
    assert_eq!(names, [(inner, &b"a.cpp"[..], 4), (outer, b"a.cpp", 9)]);
    let (_, seen) = seen(&file.packed());
    assert_eq!(within(&seen.came, "main"), (4, 130));
}

/// Events that say nothing of blocks are passed over to their last byte.
#[test]
fn other_events_are_passed_over() {
    let mut file = File::new();
    file.maps(MAPS).backtrace(1, &[MAIN]);
    file.n32(6).n64(1).n64(3).list(b"abc");
    file.n32(7).n32(5);
    file.n32(8)
        .n64(0)
        .n64(0)
        .n64(0)
        .n64(0)
        .n64(0)
        .n32(0)
        .n32(0)
        .n32(0)
        .n32(0)
        .n64(0);
    file.n32(9).n64(0).n64(0).n64(0).n64(0).n32(0);
    file.n32(10).n64(0).n64(0).n32(0).n32(1).n32(2).n32(3);
    file.n32(11).list(b"A=B");
    file.n32(12).n64(0).n64(0).n64(0);
    file.n32(4)
        .n64(0)
        .list(b"/opt/v")
        .list(b"\x7fELF and so on");
    for more in 0..=8 {
        file.n32(24)
            .n64(0)
            .varint(5, more)
            .n64(0)
            .varint(127 >> 1, more)
            .varint(9, more);
        file.varint(1, more)
            .n32(0)
            .n32(0)
            .n32(0)
            .varint(2, more)
            .n8(b'x')
            .n8(b'y');
        file.n32(25)
            .n64(0)
            .varint(5, more)
            .n64(0)
            .varint(9, more)
            .varint(1, more);
        file.n64(0).varint(6, more).n64(0).varint(0, more).n32(0);
        file.n32(26).n64(0).varint(5, more).n64(0);
        (0..7).for_each(|_| _ = file.varint(3, more));
        file.n32(27)
            .varint(5, more)
            .n64(0)
            .varint(3, more)
            .varint(4, more);
        file.n32(0)
            .n32(0)
            .n32(0)
            .varint(1, more)
            .n64(0)
            .varint(1, more)
            .n32(0);
    }
    file.came((1, 1), 10, 0x1000, 100);
    let (made, seen) = seen(&file.packed());
    assert_eq!(total(&seen.live), (1, 100));
    assert!(made.remarks.is_empty(), "{:?}", made.remarks);
}

#[test]
fn clocks_and_the_program_are_taken_from_the_header() {
    let (_, bytes) = import(&small().packed()).expect("a log");
    let log = Log::open(&bytes).expect("a log");
    let start = log.start().expect("a start");
    assert_eq!(
        (start.pid, start.pointer_bytes, start.big_endian),
        (77, 8, false)
    );
    assert_eq!(start.wall_ns, 999_000_000_000);
    let mut events = log.events();
    let first = events.find_map(|item| match item.kind {
        Kind::Alloc(alloc) => Some((alloc.usable, item.tick, log.tick_ns())),
        _ => None,
    });
    assert_eq!(first, Some((108, 10_000, 1000)));
}

#[test]
fn cut_and_flipped_files_are_survived() {
    let file = small();
    for packed in [file.packed(), file.pieces(64)] {
        for end in 0..packed.len() {
            super::hostile::survives(&packed[..end]);
        }
        let mut packed = packed;
        for at in 0..packed.len() {
            for flip in [0x01, 0x80, 0xff] {
                packed[at] ^= flip;
                super::hostile::survives(&packed);
                packed[at] ^= flip;
            }
        }
    }
    let (made, _) = import(&file.pieces(64)[..200]).expect("a log");
    let remark = "the file ends in the middle of event 2, which is left out";
    assert_eq!(made.remarks, [remark]);
}

#[test]
fn what_bytehound_does_not_write_is_an_error() {
    let after = |records: &dyn Fn(&mut File)| {
        let mut file = File::new();
        records(&mut file);
        sentence(&file.packed())
    };
    let event = after(&|file| _ = file.n32(28));
    assert!(
        event.contains("expected an event's number up to 27, found '28'"),
        "{event}"
    );
    let deep = after(&|file| _ = file.n32(5).n64(1).n32(u32::MAX));
    assert!(
        deep.contains("a stack of no more than 1,048,576 frames"),
        "{deep}"
    );
    // A length that nothing stands behind.
    let long = after(&|file| _ = file.n32(11).n32(u32::MAX));
    assert_eq!(long, "no error");
    let mut kind = small().pieces(64);
    kind.extend([3, 1, 0, 0, 0, 9]);
    assert!(sentence(&kind).contains("is of the kind 1 or 2, not 3"));
}

/// What the program asked for, by its text and by DHAT.
#[test]
fn a_recorded_file_says_what_the_program_did() {
    let (made, seen) = seen(&golden("bytehound.dat"));
    assert_eq!(
        (total(&seen.came), total(&seen.live)),
        ((1154, 1_023_131), (101, 156_811))
    );
    assert_eq!(
        (made.unknown_releases, made.replaced, made.times_back),
        (0, 0, 0)
    );
    let stacks: Vec<_> = seen.live.keys().collect();
    assert!(
        stacks.iter().all(|stack| stack.starts_with("tables+1")),
        "{stacks:?}"
    );
    let same_as_memtrails = super::seen(&golden("memtrail.data")).1;
    assert_eq!(seen.live, same_as_memtrails.live);
    assert!(made.remarks.is_empty(), "{:?}", made.remarks);
}

/// What its postprocess left of that file.
#[test]
fn a_postprocessed_file_says_the_same() {
    let (_, seen) = seen(&golden("bytehound.post.dat"));
    assert_eq!(
        (total(&seen.came), total(&seen.live)),
        ((1154, 1_023_131), (101, 156_811))
    );
    assert_eq!(within(&seen.came, "churn"), (1000, 700_000));
    assert_eq!(within(&seen.live, "copy_of"), (60, 1200));
    println!("{:?}", seen.live);
}

/// Each stack is one frame deeper than the last, in a few bytes.
#[test]
fn a_stack_costs_what_is_new_of_it() {
    let mut file = File::new();
    file.maps(MAPS);
    let count = 300_000;
    for id in 0..count {
        file.n32(13).n64(id).n32(9).n32(0).n32(1);
        file.n64(if id % 2 == 0 { MAIN + id % 0x100 } else { OWN });
    }
    file.n32(20)
        .id((1, 1))
        .n64(5_010_000)
        .block(0x1000, 100, count - 1);
    let begun = std::time::Instant::now();
    let (made, _) = import(&file.one_piece()).expect("a log");
    assert_eq!(made.allocations, 1);
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    // No stack is as deep as that.
    for id in 0..(1 << 20) {
        file.n32(13).n64(id).n32(9).n32(0).n32(1).n64(MAIN);
    }
    let sentence = sentence(&file.one_piece());
    assert!(
        sentence.contains("no more than 1,048,576 frames"),
        "{sentence}"
    );
}

/// Own frames at the inner end are left out of stacks that were told by parts, too.
#[test]
fn parts_of_stacks_are_those_of_whole_ones() {
    let stacks: [&[u64]; 5] = [
        &[OWN, MAIN, MAIN + 0x10],
        &[OWN, OWN + 4, MAIN + 8, MAIN, MAIN + 0x10],
        &[MAIN + 0x20],
        &[OWN, OWN, OWN],
        &[MAIN, OWN, MAIN],
    ];
    let (mut whole, mut parts) = (File::new(), File::new());
    whole.maps(MAPS);
    parts.maps(MAPS);
    let mut last: Vec<u64> = Vec::new();
    for (id, stack) in (1..).zip(stacks) {
        whole.backtrace(id, stack);
        let alike = last.iter().rev().zip(stack.iter().rev());
        let alike = alike.take_while(|(one, other)| one == other).count();
        let new = &stack[..stack.len() - alike];
        parts.n32(13).n64(id).n32(9);
        parts.n32((last.len() - alike) as u32).n32(new.len() as u32);
        new.iter().for_each(|&address| _ = parts.n64(address));
        last = stack.to_vec();
        for file in [&mut whole, &mut parts] {
            file.n32(20).id((1, id)).n64(5_000_000 + id * 1000);
            file.block(0x1000 * id, 100 * id, id);
        }
    }
    let (_, whole) = seen(&whole.packed());
    let (_, parts) = seen(&parts.packed());
    assert_eq!(whole.came, parts.came);
    assert_eq!(whole.came.len(), 5);
}

/// Ctrl-C ends it in the middle of a piece.
#[test]
fn who_wants_no_more_gets_no_more() {
    struct Impatient(std::cell::Cell<u32>);
    impl memlog_import::Sink for Impatient {
        fn write(&mut self, _: u32, _: &[u8]) -> std::io::Result<()> {
            Ok(())
        }
        fn is_over(&self) -> bool {
            self.0.set(self.0.get().saturating_sub(1));
            self.0.get() == 0
        }
    }
    let mut file = small();
    for number in 10..50_000 {
        file.came((3, number), number, 0x10_0000 + number * 16, 8);
    }
    let packed = file.one_piece();
    let made = |patience| {
        let mut sink = Impatient(std::cell::Cell::new(patience));
        let settings = memlog_import::Settings::default();
        let made = memlog_import::convert(&mut &packed[..], b"", &mut sink, settings);
        made.expect("a log").allocations
    };
    assert_eq!(made(u32::MAX), 4 + 49_990);
    assert!(made(1000) < 1000);
}
