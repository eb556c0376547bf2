//! memtrail.data.

use memlog_import::Lack;

use super::{golden, import, seen, sentence, total};

/// What `memtrail report --show-maximum --show-leaks` printed of the file.
#[test]
fn the_sums_are_those_that_memtrail_prints() {
    let (made, seen) = seen(&golden("memtrail.data"));
    assert_eq!(total(&seen.live), (101, 156_811));
    assert_eq!(total(&seen.peak).1, 257_536);
    let stacks: Vec<_> = seen.live.keys().collect();
    // The innermost of the program's, and not memtrail's malloc.
    assert!(
        stacks.iter().all(|stack| stack.starts_with("tables+1")),
        "{stacks:?}"
    );
    assert!(made.lacks.contains(&Lack::Gone) && made.lacks.contains(&Lack::Times));
}

/// A file for machines of so many bytes to a pointer.
struct File(usize, Vec<u8>);

impl File {
    fn new(width: usize) -> Self {
        Self(width, vec![width as u8])
    }

    fn word(&mut self, word: i64) -> &mut Self {
        self.1.extend_from_slice(&word.to_le_bytes()[..self.0]);
        self
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.1.extend_from_slice(bytes);
        self
    }

    /// A block whose frames are in the first module, which has a path the first time.
    fn came(&mut self, address: i64, size: i64, frames: &[i64], path: Option<&[u8]>) {
        self.word(address).word(size).bytes(&[frames.len() as u8]);
        for (index, &frame) in frames.iter().enumerate() {
            self.word(0x1000_0000 + frame).word(frame).bytes(&[1]);
            if let (0, Some(path)) = (index, path) {
                self.word(path.len() as i64).bytes(path);
            }
        }
    }
}

#[test]
fn both_widths_are_read() {
    for width in [4, 8] {
        let mut file = File::new(width);
        file.word(0).word(0);
        file.came(0x7000_0010, 100, &[0x123, 0x456], Some(b"/opt/a.so"));
        file.came(0x7000_0020, 50, &[0x123, 0x456], None);
        file.word(0x7000_0010).word(-100);
        // It went before memtrail looked.
        file.word(0x7000_0990).word(-7);
        file.came(0x7000_0030, 7, &[0x456], None);
        let (made, seen) = seen(&file.1);
        assert_eq!((made.releases, made.unknown_releases), (1, 1));
        assert_eq!((total(&seen.came), total(&seen.live)), ((3, 157), (2, 57)));
        // A machine of 32 bits may link a program at so low an address.
        let stacks: Vec<_> = seen.live.keys().map(|stack| &**stack).collect();
        assert_eq!(stacks, ["a.so+10000123 < a.so+10000456", "a.so+10000456"]);
    }
}

#[test]
fn a_file_that_is_cut_has_what_is_whole() {
    let mut file = File::new(8);
    file.came(0x7000_0010, 100, &[0x123, 0x456], Some(b"/opt/a.so"));
    let whole = file.1.len();
    file.came(0x7000_0020, 50, &[0x123, 0x456], None);
    for end in whole + 1..file.1.len() {
        let (made, _) = import(&file.1[..end]).expect("a log");
        assert_eq!(made.live, (1, 100));
        let remark = "the file ends in the middle of record 2, which is left out";
        assert_eq!(made.remarks, [remark]);
    }
}

#[test]
fn what_memtrail_does_not_write_is_an_error() {
    let mut file = File::new(8);
    file.came(0x7000_0010, 100, &[0x123], Some(b"/opt/a.so"));
    let after = |records: &dyn Fn(&mut File)| {
        let mut file = File(8, file.1.clone());
        records(&mut file);
        sentence(&file.1)
    };
    let none = after(&|file| _ = file.word(0x7000_0020).word(0));
    assert!(
        none.contains("expected a block's address and size, or two zeros"),
        "{none}"
    );
    let module = after(&|file| {
        file.word(0x7000_0020)
            .word(5)
            .bytes(&[1])
            .word(1)
            .word(1)
            .bytes(&[129]);
    });
    assert!(
        module.contains("expected a module's number up to 128"),
        "{module}"
    );
    let path = after(&|file| {
        file.word(0x7000_0020)
            .word(5)
            .bytes(&[1])
            .word(1)
            .word(1)
            .bytes(&[2])
            .word(1 << 40);
    });
    assert!(
        path.contains("a path of no more than 4096 bytes, found '1099511627776'"),
        "{path}"
    );
}
