//! Attacks the readers of ELF headers inside the profiled program: of an image
//! in memory, which names its unwind tables and its build-id, and of the section
//! table of a file. Other bytes stand for the file than for the memory only in
//! that the file ends where the input does.
//!
//! It fails where the recorder panics, stands still, or allocates; where an image
//! is not the one that was read just now; and where tables that lie in the image
//! make their reader fail in the same ways.
#![no_main]
#![allow(unsafe_code)]
//! # Safety
//! The memory file is this target's own.

use std::cell::RefCell;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{FileExt, MetadataExt};

use libfuzzer_sys::fuzz_target;
use memlog_fuzz::{Counting, Edge, Limit, Zeroed, limited};
use memlog_wrap::platform::elf::image::{self, ElfImage};
use memlog_wrap::platform::sys::FileId;
use memlog_wrap::unwind::cfi::{FrameIndexes, describe};
use memlog_wrap::unwind::modules::Module;
use memlog_wrap::unwind::row::Machine;

#[global_allocator]
static MEMORY: Counting = Counting;

/// The recorder calls no malloc.
const LIMIT: Limit = Limit {
    per_byte: 0,
    besides: 0,
};
const MOST_INPUT: usize = 1 << 14;

struct Attack {
    edge: Edge,
    file: File,
    path: Vec<u8>,
    id: FileId,
    room: Vec<u8>,
    machine: Box<Machine>,
    indexes: Box<FrameIndexes>,
}

thread_local! {
    static ATTACK: RefCell<Attack> = RefCell::new(Attack::new());
}

fuzz_target!(|input: &[u8]| {
    let input = &input[..input.len().min(MOST_INPUT)];
    ATTACK.with_borrow_mut(|attack| {
        attack.file.set_len(0).expect("a file in memory");
        attack
            .file
            .write_all_at(input, 0)
            .expect("a file in memory");
        limited(input.len(), LIMIT, || attack.run(input));
        attack.indexes.forget();
    });
});

impl Attack {
    fn new() -> Self {
        // SAFETY: a new descriptor, which nobody else has.
        let file = unsafe {
            let fd = libc::memfd_create(c"image".as_ptr(), libc::MFD_CLOEXEC);
            assert!(fd >= 0, "a file in memory");
            File::from_raw_fd(fd)
        };
        let metadata = file.metadata().expect("a file in memory");
        Self {
            path: format!("/proc/self/fd/{}\0", file.as_raw_fd()).into_bytes(),
            id: FileId {
                device: metadata.dev(),
                inode: metadata.ino(),
            },
            file,
            edge: Edge::new(MOST_INPUT),
            room: vec![0; 4096],
            machine: Machine::zeroed(),
            indexes: FrameIndexes::zeroed(),
        }
    }

    fn run(&mut self, input: &[u8]) {
        let memory = self.edge.at_start(input).as_ptr_range();
        let (low, end) = (memory.start as u64, memory.end as u64);
        let mut found = ElfImage::default();
        if !image::read(low, &mut found, &mut self.room) {
            return;
        }
        let mut other = ElfImage::default();
        assert!(
            image::is_same(&found, low, &mut other, &mut self.room),
            "another image in the same place"
        );
        assert!(found.build_id.get().len() <= 64);
        self.ask(&found, low, end);
        image::find_frames_by_section(&mut found, &self.path, self.id);
        self.ask(&found, low, end);
    }

    /// The loader maps what the headers name, here nobody did: only tables in
    /// the image can be asked.
    fn ask(&mut self, found: &ElfImage, low: u64, end: u64) {
        let (start, stop) = (found.tables_start, found.tables_end);
        if !(low <= start && start <= stop && stop <= end) {
            return;
        }
        let mut module = Module::default();
        (module.id, module.low, module.image) = (1, low, *found);
        for address in [low, low + 0x100, start, found.high.wrapping_sub(1)] {
            if let Some(description) = describe(&module, address, &mut self.indexes) {
                let row = self.machine.run(&description, address);
                row.map(|row| row.pack());
            }
        }
        self.indexes.forget();
    }
}
