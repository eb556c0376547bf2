//! Small files of each form, line by line, whole and damaged.

use std::io::Write;

use memlog_import::{Error, Made, Settings, convert};
use memlog_read::{Item, Kind, Log};

const FILE: &str = "v 10400 2
X ./app --flag
I 1000 3e8000
s /opt/app
s main
s /src/main.c
s inner
i 401000 1 4 3 7 2 3 a
t 1 0
a 0 1
a 64 1
+ 1
c a
R 100
- 1
+ 1
c 14
";

fn read(file: &[u8]) -> (Result<Made, Error>, Vec<u8>) {
    let mut log = Vec::new();
    let made = convert(&mut &file[..], b"app.gz", &mut log, Settings::default());
    (made, log)
}

#[test]
fn what_a_file_says_is_in_its_log() {
    let (made, bytes) = read(FILE.as_bytes());
    let made = made.expect("a log");
    assert_eq!(
        (made.allocations, made.releases, made.live),
        (2, 1, (1, 100))
    );
    let log = Log::open(&bytes).expect("a log");
    assert!(log.findings().list().is_empty(), "{:?}", log.findings());
    let names = log.code_names().iter();
    let names: Vec<_> = names
        .map(|code| (code.name, code.file, code.line))
        .collect();
    let (inner, main): (&[u8], &[u8]) = (b"inner", b"main");
    assert_eq!(
        names,
        [(inner, &b"/src/main.c"[..], 7), (main, b"/src/main.c", 10)]
    );
    let mut events = log.events();
    let items: Vec<Item> = events.by_ref().collect();
    assert!(
        events.findings().list().is_empty(),
        "{:?}",
        events.findings()
    );
    let kinds = items.iter().filter_map(|item| match item.kind {
        Kind::Alloc(alloc) => Some((item.tick, alloc.size as i64)),
        Kind::Release(_) => Some((item.tick, -1)),
        Kind::Rss(rss) => Some((item.tick, rss.now_kb as i64)),
        _ => None,
    });
    let kinds: Vec<_> = kinds.collect();
    assert_eq!(kinds, [(0, 100), (10, 1024), (10, -1), (10, 100)]);
    let frames: Vec<_> = log.frames(first_stack(&items)).collect();
    assert_eq!(frames.len(), 1);
}

fn first_stack(items: &[Item]) -> memlog_format::table::StackId {
    let stack = items.iter().find_map(|item| match item.kind {
        Kind::Alloc(alloc) => Some(alloc.stack),
        _ => None,
    });
    stack.expect("a block")
}

const RAW: &str = "v 10400 2
x /opt/app
X ./app
I 1000 3e8000
m /opt/app 400000 0 1000 2000 1000
m /lib/libc.so.6 7f0000000000 0 200000
t 7f0000000123 0
t 400010 1
+ 64 2 5000
c a
- 5000
m -
m /lib/other.so 7f0000000000 0 200000
t 7f0000000123 0
+ 10 3 5000
R 10
";

const TEXT: &str = "M: 12 0x5500\t0.000010 100 42 0 0\t/opt/app (copy+0x12) [0x401205 (0x1205)]\t/opt/app (?+0x130a) [0x40130a (0x130a)]
THREAD: worker\t0.000011 100 43 0 0
M: 8 0x5600\t0.000012 120 43 0 0
F: 0x5500\t0.000013 120 42 0 0\t/opt/app(copy+0x1) [0x4011f4]
MAP: 4096 0x7f00\t0.000013 120 42 0 0
";

#[test]
fn the_recorder_s_own_form_is_read() {
    let (made, bytes) = read(RAW.as_bytes());
    let made = made.expect("a log");
    assert_eq!(
        (made.allocations, made.releases, made.live),
        (2, 1, (1, 16))
    );
    assert!(made.remarks.is_empty(), "{:?}", made.remarks);
    let log = Log::open(&bytes).expect("a log");
    let paths = log.modules().iter().map(|module| module.path);
    let paths: Vec<_> = paths
        .map(|path| std::str::from_utf8(path).unwrap())
        .collect();
    assert_eq!(paths, ["/opt/app", "/lib/libc.so.6", "/lib/other.so"]);
    // One address, in two files that lay there in turn.
    let stacks = log.events().filter_map(|item| match item.kind {
        Kind::Alloc(alloc) => Some(alloc.stack),
        _ => None,
    });
    let modules = stacks.map(|stack| log.frames(stack).map(|code| code.module).collect());
    assert_eq!(modules.collect::<Vec<Vec<u32>>>(), [vec![1, 2], vec![3]]);
}

#[test]
fn the_text_of_2015_is_read() {
    let (made, bytes) = read(TEXT.as_bytes());
    let made = made.expect("a log");
    assert_eq!((made.allocations, made.releases, made.live), (2, 1, (1, 8)));
    assert_eq!(made.remarks.len(), 1, "{:?}", made.remarks);
    let log = Log::open(&bytes).expect("a log");
    assert_eq!(log.tick_ns(), 1000);
    let names = log.code_names().iter().map(|name| (name.name, name.line));
    let copy: &[u8] = b"copy";
    assert_eq!(names.collect::<Vec<_>>(), [(copy, 0x12), (copy, 1)]);
    let threads = log.events().filter_map(|item| match item.kind {
        Kind::Thread { tid, name } => Some((item.tick, tid, name)),
        _ => None,
    });
    let threads: Vec<_> = threads.collect();
    let (none, worker): (&[u8], &[u8]) = (b"", b"worker");
    assert_eq!(threads, [(10, 42, none), (11, 43, worker), (13, 42, none)]);
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed
        .write_all(bytes)
        .and_then(|()| packed.finish())
        .expect("memory")
}

/// As zstd packs what it cannot make smaller: two frames of one raw block each.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let frame = |bytes: &[u8]| {
        let head = [0x28, 0xb5, 0x2f, 0xfd, 0x20 | 0x80, 0, 0, 0, 0];
        let length = (bytes.len() as u32).to_le_bytes();
        let block = ((bytes.len() as u32) << 3 | 1).to_le_bytes();
        [&head[..5], &length, &block[..3], bytes].concat()
    };
    let (first, second) = bytes.split_at(bytes.len() / 2);
    [frame(first), frame(second)].concat()
}

#[test]
fn packed_files_are_the_same() {
    for file in [FILE, RAW, TEXT] {
        let plain = read(file.as_bytes()).1;
        assert!(!plain.is_empty());
        assert_eq!(read(&gzipped(file.as_bytes())).1, plain);
        assert_eq!(read(&zstd(file.as_bytes())).1, plain);
        let two = file.split_at(file.len() / 3);
        let parts = [gzipped(two.0.as_bytes()), gzipped(two.1.as_bytes())].concat();
        assert_eq!(read(&parts).1, plain);
    }
}

/// Whatever is there is a log or a sentence, and what is cut is said to be.
#[test]
fn files_that_are_cut_or_changed_are_logs_or_errors() {
    for file in [FILE, RAW, TEXT] {
        for packed in [
            file.as_bytes().to_vec(),
            gzipped(file.as_bytes()),
            zstd(file.as_bytes()),
        ] {
            for cut in 0..packed.len() {
                judge(&packed[..cut], packed[..cut].ends_with(b"\n"));
            }
            for (at, bit) in (0..packed.len()).flat_map(|at| [(at, at % 8), (at, (at + 3) % 8)]) {
                let mut changed = packed.clone();
                changed[at] ^= 1 << bit;
                judge(&changed, true);
            }
        }
    }
}

fn judge(bytes: &[u8], may_be_whole: bool) {
    match read(bytes) {
        (Ok(made), log) => {
            assert!(may_be_whole || !made.remarks.is_empty(), "{bytes:?}");
            let log = Log::open(&log).expect("a log");
            assert!(log.findings().list().is_empty(), "{:?}", log.findings());
            let mut events = log.events();
            events.by_ref().for_each(drop);
            assert!(
                events.findings().list().is_empty(),
                "{:?}",
                events.findings()
            );
        }
        (Err(error), _) => {
            assert!(
                error.to_string().len() > 20 && error.remedy().len() > 10,
                "{error}"
            );
        }
    }
}

/// An id or size that a file claims costs nothing, nor does a line without an end.
#[test]
fn claims_take_no_memory() {
    for line in [
        "t ffffffff 0",
        "a 64 ffffffffffffffff",
        "i 0 ffffffff",
        "s ffffffffffff x",
    ] {
        let text = format!("v 10400 3\nX app\n{line}\n");
        let error = read(text.as_bytes()).0.expect_err(line);
        assert!(
            error
                .to_string()
                .starts_with("line 3: expected a line as heaptrack"),
            "{error}"
        );
    }
    for line in [
        "+ ffffffff",
        "- ffffffff",
        "R zz",
        "I ffffffffff",
        "\u{1}\u{2} x",
        "+  1",
    ] {
        let text = format!("v 10400 3\nX app\n{line}\n");
        let made = read(text.as_bytes()).0.expect(line);
        assert_eq!(made.left_out + made.unknown_releases, 1, "{line}");
    }
    let long = [b"v 10400 3\nX ".to_vec(), vec![b'x'; 3 << 20]].concat();
    let error = read(&gzipped(&long)).0.expect_err("a long line");
    assert!(error.to_string().contains("no more than 1 MiB"), "{error}");
    let error = read(b"v 10400 4\nX app\n").0.expect_err("newer");
    assert!(error.to_string().contains("version 4"), "{error}");
    for other in [
        &b""[..],
        b"\x1f\x8b",
        b"v\n",
        b"hello\nworld\n",
        b"\x7fELF\x02\x01",
        b"F: \n",
    ] {
        assert!(
            matches!(read(other).0, Err(Error::Unrecognised | Error::Read(_))),
            "{other:?}"
        );
    }
}

/// What unpacks to very much is read as it comes: half a million blocks out of some bytes.
#[test]
fn a_bomb_is_read_as_it_comes() {
    let events = "+ 1\n- 1\n".repeat(250_000);
    let text = format!("v 10400 2\nX app\ns f\ni 1 0 1\nt 1 0\na 0 1\na 8 1\n{events}");
    let (made, log) = read(&gzipped(text.as_bytes()));
    let made = made.expect("a log");
    assert_eq!((made.allocations, made.releases), (250_000, 250_000));
    // Two bytes an event where an address is used again.
    assert!(log.len() < 2 << 20, "{}", log.len());
}
