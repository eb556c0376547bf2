//! Attacks what the recorder reads inside the profiled program: .eh_frame_hdr,
//! .eh_frame, tables that a program registers, the instructions and expressions
//! in them, and the steps that follow. The input ends where a page ends that
//! nobody may touch.
//!
//! ```text
//! how        u8    low two bits: through the search table, through an index
//!                  made of .eh_frame, as a registered table, all three
//! addresses  u8    so many, 8 at most; then each as i32 from the tables' start
//! header     u16   bytes of .eh_frame_hdr; then it, then .eh_frame
//! ```
//!
//! It fails where the recorder panics, reads outside the tables or outside its
//! stack, stands still, or allocates; where a description does not cover what it
//! was asked for; and where a packed rule steps nowhere.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use memlog_fuzz::{Counting, Edge, Limit, Zeroed, limited};
use memlog_wrap::platform::arch::{self, REGISTERS};
use memlog_wrap::platform::bounds::Bounds;
use memlog_wrap::unwind::cfi::{Description, FrameIndexes, describe, describe_in_table};
use memlog_wrap::unwind::full::{Step, step};
use memlog_wrap::unwind::modules::Module;
use memlog_wrap::unwind::row::Machine;
use memlog_wrap::unwind::rule::Kind;

#[global_allocator]
static MEMORY: Counting = Counting;

/// The recorder calls no malloc. Its index of .eh_frame takes 16 bytes for each
/// description, of 13 bytes at least, from the kernel.
const LIMIT: Limit = Limit {
    per_byte: 0,
    besides: 0,
};
const MOST_INPUT: usize = 1 << 16;
const MOST_ADDRESSES: usize = 8;
const STACK_WORDS: usize = 64;
/// Steps from one address.
const MOST_STEPS: usize = 8;

struct Attack {
    edge: Edge,
    machine: Box<Machine>,
    indexes: Box<FrameIndexes>,
    stack: Box<[u64; STACK_WORDS]>,
}

thread_local! {
    static ATTACK: RefCell<Attack> = RefCell::new(Attack {
        edge: Edge::new(MOST_INPUT),
        machine: Machine::zeroed(),
        indexes: FrameIndexes::zeroed(),
        stack: Box::new([0; STACK_WORDS]),
    });
}

/// The input, taken apart.
struct Given<'i> {
    how: u8,
    offsets: Vec<i32>,
    header: usize,
    tables: &'i [u8],
}

fn taken_apart(input: &[u8]) -> Option<Given<'_>> {
    let (&[how, count], mut rest) = input.split_first_chunk::<2>()?;
    let mut offsets = Vec::new();
    for _ in 0..usize::from(count).min(MOST_ADDRESSES) {
        let (offset, after) = rest.split_first_chunk::<4>()?;
        offsets.push(i32::from_le_bytes(*offset));
        rest = after;
    }
    let (header, tables) = rest.split_first_chunk::<2>()?;
    let header = usize::from(u16::from_le_bytes(*header)).min(tables.len());
    Some(Given {
        how,
        offsets,
        header,
        tables,
    })
}

fuzz_target!(|input: &[u8]| {
    let Some(given) = taken_apart(input) else {
        return;
    };
    ATTACK.with_borrow_mut(|attack| {
        limited(given.tables.len(), LIMIT, || attack.run(&given));
        attack.indexes.forget();
    });
});

impl Attack {
    fn run(&mut self, given: &Given) {
        let tables = self.edge.at_end(given.tables).as_ptr_range();
        let (start, end) = (tables.start as u64, tables.end as u64);
        let frames = start + given.header as u64;
        for &offset in &given.offsets {
            let address = start.wrapping_add_signed(i64::from(offset));
            if matches!(given.how & 3, 0 | 3) {
                let mut module = module(start, end);
                (module.image.header, module.image.header_bytes) = (start, given.header as u64);
                self.ask(&module, address);
            }
            if matches!(given.how & 3, 1 | 3) {
                let mut module = module(start, end);
                module.id = 2;
                (module.image.frames, module.image.frames_bytes) = (frames, end - frames);
                self.ask(&module, address);
            }
            if matches!(given.how & 3, 2 | 3)
                && let Some(found) = describe_in_table(frames, end, address)
            {
                self.follow(&found, address);
            }
        }
    }

    fn ask(&mut self, module: &Module, address: u64) {
        if let Some(found) = describe(module, address, &mut self.indexes) {
            self.follow(&found, address);
        }
    }

    /// Uses a description as a walk would.
    fn follow(&mut self, found: &Description, address: u64) {
        assert!(
            (found.start..found.end).contains(&address),
            "another's description"
        );
        if let Some(row) = self.machine.run(found, address) {
            let rule = row.pack();
            // Of fp's the walk sees to it: its own may be the CFA, as on RISC-V.
            if matches!(rule.kind(), Kind::Sp) {
                assert!(rule.offset_words() > 0, "a step that leads nowhere");
            }
        }
        let low = self.stack.as_ptr() as u64;
        let bounds = Bounds {
            low,
            high: low + 8 * STACK_WORDS as u64,
        };
        for (index, word) in self.stack.iter_mut().enumerate() {
            *word = low + 8 * ((index as u64 * 7) % STACK_WORDS as u64);
        }
        let mut registers = [0; REGISTERS];
        for (index, register) in registers.iter_mut().enumerate() {
            *register = low + 8 * index as u64;
        }
        registers[arch::SP] = low;
        for _ in 0..MOST_STEPS {
            let row = self.machine.run(found, address);
            let result = step(row, &mut registers, &bounds);
            if result != Step::Caller {
                break;
            }
        }
    }
}

fn module(start: u64, end: u64) -> Module {
    let mut module = Module::default();
    module.id = 1;
    (module.image.tables_start, module.image.tables_end) = (start, end);
    module
}
