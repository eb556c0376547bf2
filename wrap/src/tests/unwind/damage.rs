//! Broken tables: whatever stands in them, the recorder neither panics nor
//! loops nor reads outside their range. Beside the range lie pages that nobody
//! may touch, and tests are built with overflow checks.

use super::loaded::{Copy, Loaded};
use crate::platform::arch::REGISTERS;
use crate::platform::bounds::Bounds;
use crate::tests::memory::Zeroed;
use crate::tests::random::Random;
use crate::unwind::cfi::{Description, FrameIndexes, describe, describe_in_table};
use crate::unwind::full::step;
use crate::unwind::row::Machine;
use std::path::PathBuf;

/// How a round damages the bytes.
fn damage(bytes: &mut [u8], random: &mut Random) -> Vec<(usize, u8)> {
    let count = 1 + random.below(64);
    let mut kept = Vec::new();
    for _ in 0..count {
        let at = random.below(bytes.len() as u64) as usize;
        kept.push((at, bytes[at]));
        bytes[at] = match random.below(4) {
            0 => 0,
            1 => 0xff,
            2 => bytes[at] ^ 1 << random.below(8),
            _ => random.next() as u8,
        };
    }
    kept
}

/// Takes the damage back, in the opposite order.
fn mend(bytes: &mut [u8], kept: Vec<(usize, u8)>) {
    for (at, byte) in kept.into_iter().rev() {
        bytes[at] = byte;
    }
}

/// A machine on a small stack of random words.
struct Victim {
    machine: Box<Machine>,
    stack: Vec<u64>,
    random: Random,
    rows: usize,
}

impl Victim {
    fn new() -> Self {
        let mut random = Random::new(3);
        Self {
            machine: Machine::zeroed(),
            stack: (0..512).map(|_| random.next()).collect(),
            random,
            rows: 0,
        }
    }

    /// Uses a description as a walk would.
    fn step(&mut self, description: &Description, address: u64) {
        if let Some(row) = self.machine.run(description, address) {
            let _ = row.pack();
            self.rows += 1;
        }
        let low = self.stack.as_ptr() as u64;
        let bounds = Bounds {
            low,
            high: low + 8 * self.stack.len() as u64,
        };
        let mut registers = [0; REGISTERS];
        for register in &mut registers {
            *register = low + self.random.below(8 * 512);
        }
        let _ = step(
            self.machine.run(description, address),
            &mut registers,
            &bounds,
        );
    }
}

/// The damaged copy of one of this process's files.
fn copy_of(name: &str) -> Copy {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.contains(name)).unwrap();
    let path = PathBuf::from(line.split_whitespace().nth(5).unwrap());
    Loaded::map(&path).unwrap().copy()
}

/// Damages, asks about many addresses, mends; so many times.
fn torment(mut copy: Copy, rounds: u32, header: bool) {
    let mut random = Random::new(7);
    let mut victim = Victim::new();
    let mut index = FrameIndexes::zeroed();
    let code = copy.code.clone();
    if !header {
        (copy.module.image.header, copy.module.image.frames) = (0, copy.frames.start);
        copy.module.image.frames_bytes = copy.frames.end - copy.frames.start;
    }
    let mut described = 0;
    for round in 0..rounds {
        let kept = damage(copy.bytes(), &mut random);
        // Another instance each time, so that no index is used twice.
        copy.module.id = round + 1;
        for _ in 0..100 {
            let address = code.start + random.below(code.end - code.start);
            if let Some(found) = describe(&copy.module, address, &mut index) {
                victim.step(&found, address);
                described += 1;
            }
        }
        let address = code.start + random.below(code.end - code.start);
        if let Some(found) = describe_in_table(copy.frames.start, copy.tables.end, address) {
            victim.step(&found, address);
        }
        mend(copy.bytes(), kept);
    }
    println!("{described} described, {} rows", victim.rows);
    assert!(
        victim.rows > rounds as usize,
        "the test reaches the instructions"
    );
}

#[test]
fn damaged_search_tables() {
    torment(copy_of("/libgcc_s.so"), 2_000, true);
}

#[test]
fn damaged_tables_that_must_be_indexed() {
    torment(copy_of("/libgcc_s.so"), 300, false);
}
