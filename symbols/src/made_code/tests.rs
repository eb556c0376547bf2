use super::*;

fn all(names: &MadeNames) -> Vec<(u64, String, String, u32)> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    names
        .all()
        .map(|(address, made)| (address, text(made.name), text(made.file), made.line))
        .collect()
}

fn shown(names: &MadeNames) -> Vec<(u64, String)> {
    let all = all(names).into_iter();
    all.map(|(address, name, ..)| (address, name)).collect()
}

#[test]
fn a_perf_map_names_what_lies_in_its_lines() {
    let mut names = MadeNames::of([0xfff, 0x1000, 0x100f, 0x1010, 0x2000, 0x3000]);
    names.take_perf_map(
        b"1000 10 first\n0x2000 0x1 second with blanks\r\nnonsense\n\n3000 0 empty\n\
          3000 10\nffffffffffffffff 2 beyond\n1_0 1 no\n+3000 10 no\n",
    );
    let expected = [
        (0x1000, "first"),
        (0x100f, "first"),
        (0x2000, "second with blanks"),
    ];
    let expected = expected.map(|(address, name)| (address, name.to_owned()));
    assert_eq!(shown(&names), expected);
    assert_eq!(
        names.nameless().collect::<Vec<_>>(),
        [0xfff, 0x1010, 0x3000]
    );
}

#[test]
fn an_address_that_was_used_again_has_all_names() {
    let mut names = MadeNames::of([5]);
    names.take_perf_map(b"0 9 a\n1 9 b\n2 9 a\n");
    assert_eq!(shown(&names), [(5, "a or b".to_owned())]);
    names.take_perf_map(b"0 9 c\n0 9 d\n");
    assert_eq!(shown(&names), [(5, "a or b or c or others".to_owned())]);
}

/// A dump in either order of bytes.
struct Dump {
    bytes: Vec<u8>,
    is_big: bool,
}

impl Dump {
    fn new(is_big: bool) -> Self {
        let mut dump = Self {
            bytes: Vec::new(),
            is_big,
        };
        [0x4A69_5444, 1, 40, 62, 0, 7]
            .into_iter()
            .for_each(|number| dump.u32(number));
        [0, 0].into_iter().for_each(|number| dump.u64(number));
        dump
    }

    fn u32(&mut self, number: u32) {
        let bytes = match self.is_big {
            true => number.to_be_bytes(),
            false => number.to_le_bytes(),
        };
        self.bytes.extend(bytes);
    }

    fn u64(&mut self, number: u64) {
        let bytes = match self.is_big {
            true => number.to_be_bytes(),
            false => number.to_le_bytes(),
        };
        self.bytes.extend(bytes);
    }

    fn record(&mut self, kind: u32, fill: impl FnOnce(&mut Self)) {
        let at = self.bytes.len();
        self.u32(kind);
        self.u32(0);
        self.u64(0);
        fill(self);
        let size = (self.bytes.len() - at) as u32;
        let size = match self.is_big {
            true => size.to_be_bytes(),
            false => size.to_le_bytes(),
        };
        self.bytes[at + 4..at + 8].copy_from_slice(&size);
    }

    fn load(&mut self, low: u64, size: u64, index: u64, name: &str) {
        self.record(0, |dump| {
            [7, 8].into_iter().for_each(|number| dump.u32(number));
            [low, low, size, index]
                .into_iter()
                .for_each(|number| dump.u64(number));
            dump.bytes.extend(name.as_bytes());
            dump.bytes.push(0);
            dump.bytes.extend(vec![0xCC; size as usize]);
        });
    }
}

fn example(is_big: bool) -> Vec<u8> {
    let mut dump = Dump::new(is_big);
    dump.record(2, |dump| {
        [0x1000, 3].into_iter().for_each(|number| dump.u64(number));
        for (at, line, file) in [
            (0x1000, 10, &b"a.js"[..]),
            (0x1008, 11, b"\xFF"),
            (0x100c, 20, b"b.js"),
        ] {
            dump.u64(at);
            dump.u32(line);
            dump.u32(0);
            dump.bytes.extend(file);
            dump.bytes.push(0);
        }
    });
    dump.load(0x1000, 0x10, 1, "first");
    dump.load(0x2000, 0x10, 2, "second");
    dump.record(9, |dump| dump.u64(0));
    dump.record(1, |dump| {
        [7, 8].into_iter().for_each(|number| dump.u32(number));
        [0x3000, 0x1000, 0x3000, 0x10, 1]
            .into_iter()
            .for_each(|number| dump.u64(number));
    });
    dump.record(3, |_| {});
    dump.load(0x4000, 0x10, 3, "behind the end");
    dump.bytes
}

const ASKED: [u64; 6] = [0x1004, 0x1008, 0x100f, 0x2000, 0x3009, 0x4000];

#[test]
fn a_jitdump_names_functions_and_lines_wherever_they_move() {
    for is_big in [false, true] {
        let mut names = MadeNames::of(ASKED);
        names.take_jitdump(&example(is_big)).expect("a jitdump");
        let expected = [
            (0x1004, "first", "a.js", 10),
            (0x1008, "first", "a.js", 11),
            (0x100f, "first", "b.js", 20),
            (0x2000, "second", "", 0),
            (0x3009, "first", "a.js", 11),
        ];
        let expected = expected
            .map(|(address, name, file, line)| (address, name.to_owned(), file.to_owned(), line));
        assert_eq!(all(&names), expected);
    }
}

#[test]
fn a_damaged_jitdump_is_an_error_and_what_came_before_counts() {
    let whole = example(false);
    for length in 0..whole.len() {
        let mut names = MadeNames::of(ASKED);
        let _ = names.take_jitdump(&whole[..length]);
        assert!(names.all().count() <= 5);
    }
    let mut names = MadeNames::of(ASKED);
    assert!(names.take_jitdump(&whole[..whole.len() / 2]).is_err());
    assert!(names.all().count() > 0);
    assert!(MadeNames::of([]).take_jitdump(b"no dump").is_err());
    // Every byte spoilt in turn, and all ones where a number was.
    for at in 0..whole.len() {
        let mut spoilt = whole.clone();
        let end = whole.len().min(at + 8);
        spoilt[at..end].fill(0xFF);
        let _ = MadeNames::of(ASKED).take_jitdump(&spoilt);
    }
}
