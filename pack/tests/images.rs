//! Golden logs with other meta chunks: all else is as it was, and what is to be hidden is not
//! in them.

use std::io::Read;
use std::path::Path;

use memlog_format::chunk::{HEADER_SIZE, Header, checksum};
use memlog_format::meta::Key;
use memlog_pack::{Function, Hidden, Hider, Image, Keeper, Public, Shown};
use memlog_read::{Kind, Log};

const PUBLIC: Public = Public {
    function: |name| match name {
        b"main" => Shown::All,
        _ => Shown::Nothing,
    },
    source: |_| Shown::Nothing,
    module: |_| false,
};

fn goldens() -> Vec<(String, Vec<u8>)> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden");
    let folders = ["v1", "v2", "cross"].map(|name| golden.join(name));
    let entries = folders
        .iter()
        .flat_map(|folder| folder.read_dir().expect("golden"));
    let paths = entries.map(|entry| entry.expect("entry").path());
    let logs = paths.filter(|path| path.extension().is_some_and(|name| name == "memlog"));
    let logs = logs.map(|path| {
        (
            path.display().to_string(),
            std::fs::read(path).expect("a log"),
        )
    });
    logs.collect()
}

fn image(log: &[u8], hidden: Hidden, names: &[Vec<u8>]) -> Vec<u8> {
    let mut hider = Hider::new(hidden, PUBLIC);
    hider.learn(log);
    let mut image = Image::new(log, names, &mut hider);
    let length = image.length();
    let mut bytes = Vec::new();
    image.read_to_end(&mut bytes).expect("memory");
    assert_eq!(bytes.len() as u64, length);
    bytes
}

/// Each event, its texts left out where they are hidden.
fn events(log: &Log, with_texts: bool) -> Vec<String> {
    let items = log.events().map(|item| {
        let kind = match item.kind {
            Kind::Thread { tid, .. } if !with_texts => format!("thread {tid}"),
            Kind::Mark(text) if !with_texts => format!("mark of {}", text.len()),
            Kind::Limit(limit) if !with_texts => format!("limit {}", limit.used_bytes),
            kind => format!("{kind:?}"),
        };
        format!("{} {} {} {kind}", item.stream, item.tid, item.tick)
    });
    items.collect()
}

#[test]
fn all_but_the_texts_is_as_it_was() {
    let mut seen = 0;
    for (name, bytes) in goldens() {
        let before = Log::open(&bytes).expect("a log");
        for hidden in [Hidden::Nothing, Hidden::Partial, Hidden::Full] {
            let after = image(&bytes, hidden, &[]);
            let after = Log::open(&after).expect(&name);
            assert_eq!(before.start(), after.start(), "{name}");
            assert_eq!(before.end(), after.end(), "{name}");
            assert_eq!(before.death(), after.death(), "{name}");
            assert_eq!(before.fork_points(), after.fork_points(), "{name}");
            assert_eq!(before.unloads(), after.unloads(), "{name}");
            assert_eq!(before.tunings(), after.tunings(), "{name}");
            assert_eq!(
                before.size().event_bytes,
                after.size().event_bytes,
                "{name}"
            );
            assert_eq!(before.size().file_bytes, after.size().file_bytes, "{name}");
            assert_eq!(before.modules().len(), after.modules().len(), "{name}");
            let is_plain = hidden == Hidden::Nothing;
            assert_eq!(
                events(&before, is_plain),
                events(&after, is_plain),
                "{name}"
            );
            assert!(before.codes().eq(after.codes()), "{name}");
            seen += events(&after, false).len();
        }
    }
    assert!(seen > 10_000, "{seen}");
}

#[test]
fn names_are_found_again_and_packed_once() {
    let (_, bytes) = goldens().remove(0);
    let mut hider = Hider::new(Hidden::Nothing, PUBLIC);
    let long = "n".repeat(10_000);
    let functions = [
        Function {
            name: Some(long.clone()),
            offset: Some(u64::MAX - 1),
            ..Function::default()
        },
        Function {
            name: Some(String::new()),
            symbol: Some("s".into()),
            source: Some("f".into()),
            line: Some(7),
            offset: Some(0),
        },
    ];
    let mut keeper = Keeper::new(&mut hider);
    let of = |bias| memlog_format::kept::KeptFile {
        number: 0,
        bias,
        compiler: Some(1),
        code_bytes: 2,
        covered_bytes: 1,
        build_id: b"id",
        path: b"/p",
    };
    // The same file loaded again, and at another place.
    let [file, again, other] = [5, 5, 6].map(|bias| keeper.file(of(bias)));
    assert_eq!((file, again, other), (1, 1, 2));
    for address in (0..9000).chain([7]) {
        keeper.place(file, address, &functions);
    }
    assert_eq!(keeper.places(), 9000);
    let names = keeper.finish();
    // A packed log that is packed again has its names once.
    let once = image(&bytes, Hidden::Nothing, &names);
    let twice = image(&once, Hidden::Nothing, &names);
    for packed in [&once, &twice] {
        let log = Log::open(packed).expect("a log");
        let kept = log.kept();
        assert_eq!((kept.files.len(), kept.places.len()), (2, 9000));
        let found: Vec<_> = kept.places[8999].functions().collect();
        assert_eq!(found.len(), 2);
        assert_eq!(kept.word(found[0].name), Some(long.as_bytes()));
        assert_eq!(kept.word(found[1].name), Some(&b""[..]));
        assert_eq!(kept.word(found[1].symbol), Some(&b"s"[..]));
        assert_eq!((found[0].symbol, found[0].offset), (0, Some(u64::MAX - 1)));
        assert_eq!((found[1].line, found[1].offset), (7, Some(0)));
        assert_eq!(
            log.text(Key::Packed),
            Some(bytes.len().to_string().as_bytes())
        );
        assert_eq!(
            log.findings().list(),
            Log::open(&bytes).expect("a log").findings().list()
        );
    }
    assert_eq!(once.len(), twice.len());
}

/// Records of a newer memlog, and texts of kinds that are not known.
#[test]
fn what_is_not_known_is_kept() {
    let (_, mut bytes) = goldens().remove(0);
    let header = Header::decode(&bytes).expect("a header").expect("a log");
    let end = header.committed as usize;
    // Of the kind 100, seven bytes; a TEXT of the key 99.
    let records = [&[100, 7][..], b"newer!!", &[2, 4, 99], b"now"].concat();
    bytes[end..end + records.len()].copy_from_slice(&records);
    let end = end + records.len();
    let header = Header {
        committed: end as u32,
        checksum: checksum(&bytes[HEADER_SIZE..end]),
        ..header
    };
    bytes[..HEADER_SIZE].copy_from_slice(&header.encode());
    let has = |bytes: &[u8], text: &[u8]| bytes.windows(text.len()).any(|it| it == text);
    let once = image(&bytes, Hidden::Nothing, &[]);
    let twice = image(&once, Hidden::Nothing, &[]);
    let findings = |bytes: &[u8]| Log::open(bytes).expect("a log").findings().count();
    assert_eq!(findings(&twice), findings(&bytes));
    for text in [
        &[100, 7, b'n', b'e', b'w', b'e', b'r'][..],
        &[2, 4, 99, b'n', b'o', b'w'],
    ] {
        assert!(has(&once, text) && has(&twice, text), "{text:?}");
        assert!(!has(&image(&twice, Hidden::Full, &[]), text), "{text:?}");
    }
}

/// The secrets of `tiny.memlog`, which has a text of each kind.
#[test]
fn secrets_are_nowhere() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden/v1/tiny.memlog");
    let bytes = std::fs::read(path).expect("a log");
    let has = |bytes: &[u8], text: &[u8]| bytes.windows(text.len()).any(|it| it == text);
    let partly: [&[u8]; 6] = [
        b"node7",
        b"/home",
        b"user\x02",
        b"/usr/bin",
        b"/lib",
        b"home/user",
    ];
    let fully: [&[u8]; 5] = [b"12345", b"made by hand", b"libc.so.6", b"phase 2", b"-v\0"];
    let partial = image(&bytes, Hidden::Partial, &[]);
    let full = image(&bytes, Hidden::Full, &[]);
    for secret in partly {
        let text = String::from_utf8_lossy(secret);
        assert!(!has(&partial, secret) && !has(&full, secret), "{text}");
    }
    for secret in fully {
        let text = String::from_utf8_lossy(secret);
        assert!(has(&bytes, secret) && has(&partial, secret), "{text}");
        assert!(!has(&full, secret), "{text}");
    }
    assert!(!has(&full, b"tiny") && !has(&full, &[0xc0, 0xff, 0xee, 0x01]));
    let log = Log::open(&full).expect("a log");
    assert_eq!(log.text(Key::Anonymized), Some(&b"full"[..]));
    assert_eq!(log.text(Key::Executable), Some(log.modules()[0].path));
    assert_eq!(log.text(Key::Rank), Some(&b"3"[..]));
}

/// Any bytes of a log may be wrong: what can be read of it is still hidden.
#[test]
fn a_bent_log_is_hidden_too() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden/v1/tiny.memlog");
    let bytes = std::fs::read(path).expect("a log");
    let used = (0..bytes.len()).filter(|&at| bytes[at] != 0);
    for at in used.step_by(3) {
        let mut bent = bytes.clone();
        bent[at] ^= 0xff;
        let full = image(&bent, Hidden::Full, &[]);
        assert!(!full.windows(7).any(|it| it == b"libc.so"), "byte {at}");
        image(&bent[..at], Hidden::Partial, &[]);
    }
}
