//! Attacks what the recorder takes from the environment: MEMLOG_* and the names
//! of launchers and batch systems, sizes, switches, lists of ranks, patterns of
//! names; LD_PRELOAD, out of which it takes itself; and the fields of files of
//! /proc that hold one number. The first byte says how large the buffer is.
//!
//! It fails where the recorder panics, stands still, or allocates; where a size
//! is another than wide numbers say; where a name holds a zero before its end or
//! is neither absolute nor empty; where LD_PRELOAD keeps our library, loses
//! another, or changes its length; and where pieces of a text tell another number
//! than the whole.
#![no_main]
#![allow(unsafe_code)]
//! # Safety
//! The memory file is this target's own.

use std::cell::RefCell;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;

use libfuzzer_sys::fuzz_target;
use memlog_fuzz::{Counting, Limit, limited};
use memlog_wrap::platform::sys::field::Field;
use memlog_wrap::process::exec::strip;
use memlog_wrap::process::naming::{self, Facts};
use memlog_wrap::process::settings::{Settings, size};

#[global_allocator]
static MEMORY: Counting = Counting;

/// The recorder calls no malloc; this target's copies are made outside.
const LIMIT: Limit = Limit {
    per_byte: 0,
    besides: 0,
};
/// What `session` reads the environment into, and what stresses its edges.
const BUFFERS: [usize; 4] = [4096, 64, 7, 1];

struct Attack {
    file: File,
    proc_path: Vec<u8>,
    settings: Box<Settings>,
    path: Box<naming::Path>,
    buffer: Vec<u8>,
}

thread_local! {
    static ATTACK: RefCell<Attack> = RefCell::new(Attack::new());
}

fuzz_target!(|input: &[u8]| {
    let Some((&how, text)) = input.split_first() else {
        return;
    };
    ATTACK.with_borrow_mut(|attack| match how & 3 {
        0 => attack.environment(text, BUFFERS[usize::from(how >> 2 & 3)]),
        1 => preloaded(text),
        2 => one_field(text, usize::from(how >> 2)),
        _ => one_size(text),
    });
});

impl Attack {
    fn new() -> Self {
        // SAFETY: a new descriptor, which nobody else has.
        let file = unsafe {
            let fd = libc::memfd_create(c"environ".as_ptr(), libc::MFD_CLOEXEC);
            assert!(fd >= 0, "a file in memory");
            File::from_raw_fd(fd)
        };
        Self {
            proc_path: format!("/proc/self/fd/{}\0", file.as_raw_fd()).into_bytes(),
            file,
            settings: Box::default(),
            path: Box::default(),
            buffer: vec![0; BUFFERS[0]],
        }
    }

    fn environment(&mut self, text: &[u8], room: usize) {
        self.file.set_len(0).expect("a file in memory");
        self.file.write_all_at(text, 0).expect("a file in memory");
        *self.settings = Settings::new();
        limited(text.len(), LIMIT, || {
            let buffer = &mut self.buffer[..room];
            self.settings.read_from(&self.proc_path, buffer);
        });
        let facts = Facts {
            host: b"host",
            pid: 7,
            seconds: 1_700_000_000,
        };
        for attempt in [1, 2, naming::MAX_ATTEMPTS] {
            limited(text.len(), LIMIT, || {
                let buffer = &mut self.buffer;
                naming::make(&mut self.path, &self.settings, &facts, attempt, buffer);
            });
            let path = self.path.get();
            match path.split_last() {
                Some((0, name)) => {
                    assert!(!name.contains(&0), "a name that ends early");
                    assert!(matches!(name.first(), None | Some(b'/')), "a relative name");
                }
                // Too long: no call accepts it, and that is told.
                _ => assert!(path.len() > 2000, "a name without an end"),
            }
        }
    }
}

/// Neither colons nor blanks count.
fn items(list: &[u8]) -> Vec<&[u8]> {
    let items = list.split(|byte| matches!(byte, b':' | b' '));
    items.filter(|item| !item.is_empty()).collect()
}

fn preloaded(list: &[u8]) {
    let is_ours =
        |item: &&[u8]| item.ends_with(b"libmemlog.so") || item.ends_with(b"libmemlog_new.so");
    let mut stripped = list.to_vec();
    limited(list.len(), LIMIT, || strip(&mut stripped));
    assert_eq!(stripped.len(), list.len());
    let mut others = items(list);
    others.retain(|item| !is_ours(item));
    assert_eq!(items(&stripped), others);
}

fn one_field(text: &[u8], piece: usize) {
    let of = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut field = Field::new(b"\nVmHWM:");
        for piece in pieces {
            if field.is_in(piece) {
                break;
            }
        }
        field.value()
    };
    limited(text.len(), LIMIT, || {
        let whole = of(&mut std::iter::once(text));
        assert_eq!(of(&mut text.chunks(piece.max(1))), whole);
    });
}

fn one_size(text: &[u8]) {
    let read = limited(text.len(), LIMIT, || size(text));
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.to_ascii_lowercase().as_slice() {
        b"" | b"b" => Some(0),
        b"k" | b"kb" | b"kib" => Some(10),
        b"m" | b"mb" | b"mib" => Some(20),
        b"g" | b"gb" | b"gib" => Some(30),
        b"t" | b"tb" | b"tib" => Some(40),
        _ => None,
    };
    let number = number.iter().try_fold(0u128, |sum, digit| {
        let sum = sum * 10 + u128::from(digit - b'0');
        (sum >> 64 == 0).then_some(sum)
    });
    let number = number.filter(|_| digits > 0);
    let expected = number.zip(shift).map(|(number, shift)| number << shift);
    let expected = expected.and_then(|bytes| u64::try_from(bytes).ok());
    assert_eq!(read, expected, "{:?}", String::from_utf8_lossy(text));
}
