//! Small files of heaptrack's, line by line.

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
