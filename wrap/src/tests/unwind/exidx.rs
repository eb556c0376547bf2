//! ARM's unwind tables, made up here: what each instruction undoes, which entry
//! an address has, and that nothing written in them leads anywhere else.

use crate::platform::elf::image::ElfImage;
use crate::tests::random::Random;
use crate::unwind::cfi::Description;
use crate::unwind::exidx::{Undone, describe, follows_call, undo};

/// A file of two pages of words: functions where nobody looks, records, index.
struct File {
    words: Vec<u32>,
    entries: usize,
}

const INDEX: usize = 1024;
const WORDS: usize = 2048;
/// Nobody unwinds it.
const CANNOT: u32 = 1;

impl File {
    fn new() -> Self {
        Self {
            words: vec![0; WORDS],
            entries: 0,
        }
    }

    fn at(&self, word: usize) -> u64 {
        self.words.as_ptr() as u64 + 4 * word as u64
    }

    /// The distance from one word to another, in 31 bits.
    fn distance(from: usize, to: usize) -> u32 {
        (4 * (to as i32 - from as i32)) as u32 & 0x7fff_ffff
    }

    /// A function that begins at this word and has this for its second.
    fn function(&mut self, word: usize, second: impl FnOnce(usize) -> u32) {
        let index = INDEX + 2 * self.entries;
        self.words[index] = Self::distance(index, word);
        self.words[index + 1] = second(index + 1);
        self.entries += 1;
    }

    /// One whose instructions are these three.
    fn inline(&mut self, word: usize, instructions: [u8; 3]) {
        let [a, b, c] = instructions;
        self.function(word, |_| u32::from_be_bytes([0x80, a, b, c]));
    }

    /// One with a record of these words.
    fn record(&mut self, word: usize, at: usize, record: &[u32]) {
        self.words[at..at + record.len()].copy_from_slice(record);
        self.function(word, |from| Self::distance(from, at));
    }

    fn image(&self) -> ElfImage {
        let mut image = ElfImage::default();
        image.high = self.at(WORDS);
        (image.tables_start, image.tables_end) = (self.at(0), self.at(WORDS));
        image.entry = self.at(200);
        (image.header, image.header_bytes) = (self.at(INDEX), 8 * self.entries as u64);
        image
    }

    fn at_word(&self, word: usize) -> Option<Description> {
        describe(&self.image(), self.at(word))
    }
}

/// What three instructions undo.
fn undone(instructions: [u8; 3]) -> Option<Undone> {
    let mut file = File::new();
    file.inline(0, instructions);
    undo(&file.at_word(0).unwrap())
}

/// By hand: how far up, and which registers from where.
fn is(instructions: [u8; 3], up: i64, saved: &[(usize, i64)]) {
    let found = undone(instructions).unwrap();
    let named: Vec<_> = (0..16)
        .filter_map(|number| Some((number, found.saved[number]?)))
        .collect();
    assert_eq!(
        (found.up, named.as_slice()),
        (up, saved),
        "{instructions:x?}"
    );
}

const FINISH: u8 = 0xb0;

#[test]
fn each_instruction_undoes_what_the_abi_says() {
    is([FINISH; 3], 0, &[]);
    is([0x00, FINISH, FINISH], 4, &[]);
    is([0x3f, 0x3f, FINISH], 512, &[]);
    is([0x3f, 0x40, FINISH], 252, &[]);
    is([0xb2, 0x81, 0x01], 0x204 + (129 << 2), &[]);
    is([0xa0, FINISH, FINISH], 4, &[(4, 0)]);
    is(
        [0xab, FINISH, FINISH],
        20,
        &[(4, 0), (5, 4), (6, 8), (7, 12), (14, 16)],
    );
    is([0x84, 0x08, FINISH], 8, &[(7, 0), (14, 4)]);
    is(
        [0x02, 0x84, 0x0f],
        32,
        &[(4, 12), (5, 16), (6, 20), (7, 24), (14, 28)],
    );
    is([0x88, 0x01, FINISH], 8, &[(4, 0), (15, 4)]);
    is([0xb1, 0x0f, FINISH], 16, &[(0, 0), (1, 4), (2, 8), (3, 12)]);
    // Registers of floating point: by the load of a list, or by vpop.
    is([0xb3, 0x81, FINISH], 20, &[]);
    is([0xb9, FINISH, FINISH], 20, &[]);
    is([0xc9, 0x83, FINISH], 32, &[]);
    is([0xc8, 0x00, FINISH], 8, &[]);
    is([0xd3, 0xa8, FINISH], 40, &[(4, 32), (14, 36)]);
    is([0xc6, 0x01, FINISH], 16, &[]);
    is([0xc7, 0x05, FINISH], 8, &[]);
    is([0xb4, FINISH, FINISH], 4, &[]);
    assert_eq!(
        undone([0x97, 0x84, 0x08]).map(|undone| undone.base),
        Some(7)
    );
    assert!(undone([0x8f, 0xff, FINISH]).unwrap().takes_sp);
    for unknown in [
        [0x80, 0x00, FINISH],
        [0x9d, FINISH, FINISH],
        [0x9f, FINISH, FINISH],
        // What was saved by one register is not known from another.
        [0xa0, 0x97, FINISH],
        [0xb1, 0x00, FINISH],
        [0xb1, 0x10, FINISH],
        [0xb6, FINISH, FINISH],
        [0xca, FINISH, FINISH],
        [0xd8, FINISH, FINISH],
        [0xff, FINISH, FINISH],
        [FINISH - 1, FINISH - 1, 0x84],
    ] {
        assert_eq!(undone(unknown), None, "{unknown:x?}");
    }
}

#[test]
fn an_address_has_the_entry_before_it() {
    let mut file = File::new();
    file.inline(100, [0x00, FINISH, FINISH]);
    // By the second routine, with one word more than the first.
    file.record(120, 500, &[0x8101_a83f, 0x0102_b0b0]);
    // By a language's own routine, at no matter what distance.
    file.record(140, 510, &[0x0000_1234, 0x0103_0405, 0x06b0_b0b0]);
    file.function(180, |_| CANNOT);
    file.function(300, |_| CANNOT);
    file.inline(400, [0x01, FINISH, FINISH]);
    let up = |word| {
        let found = file.at_word(word)?;
        let span = [found.start, found.end].map(|at| (at - file.at(0)) / 4);
        Some((undo(&found).map(|undone| undone.up), span))
    };
    let known = |up, start, end| Some((Some(up), [start, end]));
    assert_eq!([up(0), up(99)], [None; 2]);
    assert_eq!([up(100), up(119)], [known(4, 100, 120); 2]);
    // r4 and lr, 256, then 8 and 12.
    assert_eq!(up(120), known(8 + 256 + 8 + 12, 120, 140));
    assert_eq!(up(150), known(16 + 20 + 24 + 28, 140, 180));
    // Where the program begins, and nowhere else: its neighbours have that entry
    // as well.
    assert_eq!(up(200), Some((None, [180, 300])));
    assert_eq!(up(215), Some((None, [180, 300])));
    assert_eq!([up(199), up(216), up(299), up(300)], [None; 4]);
    assert_eq!(up(WORDS - 1), known(8, 400, WORDS as u64));
}

/// As an assembler writes them.
#[test]
fn calls_are_told_from_others() {
    let arm = |word: u32| follows_call(word.to_le_bytes());
    let thumb = |first: u16, second: u16| arm(u32::from(second) << 16 | u32::from(first));
    for call in [
        0xeb00_0010,
        0x1bff_fffe,
        0xfa00_0001,
        0xfb12_3456,
        0xe12f_ff33,
    ] {
        assert!(arm(call), "{call:x}");
    }
    for call in [
        (0xf000, 0xf812),
        (0xf7ff, 0xfffe),
        (0xf000, 0xe802),
        (0xbf00, 0x4798),
    ] {
        assert!(thumb(call.0, call.1), "{call:x?}");
    }
    // b, bx, mov, push; b.w, bx, mov and others of Thumb's.
    for other in [0xea00_0010, 0xe12f_ff1e, 0xe1a0_0000, 0xe92d_4800] {
        assert!(!arm(other), "{other:x}");
    }
    for other in [
        (0xf000, 0xb812),
        (0xbf00, 0x4770),
        (0xbf00, 0x4618),
        (0xb580, 0xaf00),
    ] {
        assert!(!thumb(other.0, other.1), "{other:x?}");
    }
}

/// Whatever stands there, nothing is read outside of the tables; under the
/// sanitizers and Miri that would be seen, here at least a fault.
#[test]
fn damaged_tables_lead_nowhere() {
    let mut random = Random::new(32);
    let mut described = 0;
    for _ in 0..20_000 {
        let mut file = File::new();
        file.entries = 1 + random.below(8) as usize;
        for word in &mut file.words[INDEX - 8..INDEX + 16] {
            *word = random.next() as u32;
        }
        let mut start = 0;
        for entry in 0..file.entries {
            start += random.below(100) as usize;
            let index = INDEX + 2 * entry;
            file.words[index] = File::distance(index, start);
            if random.below(2) == 0 {
                let record = INDEX - 1 - random.below(8) as usize;
                file.words[index + 1] = File::distance(index + 1, record);
            }
        }
        let found = file.at_word(random.below(WORDS as u64) as usize);
        described += found.and_then(|found| undo(&found)).is_some() as usize;
    }
    assert!(described > 100, "{described}");
}
