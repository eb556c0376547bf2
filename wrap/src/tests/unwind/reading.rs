//! Frames proven by their instructions, against the unwind tables of the same
//! code: compilers' own words on what their code does. `MEMLOG_LONG=1` compares
//! more functions of each file, and those of the files in `MEMLOG_FILES`, which
//! has blanks between them.

use super::bound::bind;
use super::judge::files_to_judge;
use super::loaded::Loaded;
use crate::platform::arch::{self, code};
use crate::platform::rules::Effect;
use crate::platform::rules::Saved;
use crate::tests::memory::Zeroed;
use crate::unwind::cfi::{Description, FrameIndexes, describe};
use crate::unwind::reading::{Candidate, Reader};
use crate::unwind::row::{Cfa, Machine, Row};
use gimli::{BaseAddresses, CieOrFde, EhFrame, NativeEndian, UnwindSection};
use std::path::Path;
use std::time::{Duration, Instant};

/// Functions of one file, at most.
const SOME_FUNCTIONS: usize = 60;
const MANY_FUNCTIONS: usize = 2_000;
/// Functions before one that it may be taken for a part of.
const BEFORE: usize = 6;

/// Of so many frames one is claimed for other functions.
const SOME: usize = 8;

/// Instructions that are read for one candidate.
const BUDGET: usize = 10_000;

/// What came out.
#[derive(Default, Debug)]
struct Counts {
    /// Words that a loader would write.
    bound: usize,
    /// Functions whose instructions ended where the tables say.
    whole: usize,
    torn: usize,
    compared: usize,
    /// Frames that were proven, and those that were not: interrupted, and left by a call.
    proven: usize,
    unproven: usize,
    proven_left: usize,
    unproven_left: usize,
    /// What the proofs took: time, and instructions with what the kernel's answers
    /// count as.
    took: Duration,
    read: usize,
    /// Claims that a frame is of another function: where a word of the stack
    /// had to be at the only wrong place that is believed, and all of them.
    believed: usize,
    refused: usize,
    wrong: Vec<String>,
}

/// Where functions begin, in order.
pub(super) fn functions(loaded: &Loaded) -> Vec<u64> {
    let section = EhFrame::new(loaded.frames(), NativeEndian);
    let bases = BaseAddresses::default().set_eh_frame(loaded.frames);
    let mut found = Vec::new();
    let mut entries = section.entries(&bases);
    while let Some(entry) = entries.next().unwrap() {
        if let CieOrFde::Fde(partial) = entry {
            let whole = partial.parse(EhFrame::cie_from_offset).unwrap();
            if whole.len() > 0 && !whole.is_signal_trampoline() {
                found.push(whole.initial_address());
            }
        }
    }
    found.sort_unstable();
    found
}

/// What differs: an offset of the CFA, or where a register is.
fn difference(ours: &Row, tables: &Row) -> Option<String> {
    if ours.cfa != tables.cfa {
        return Some(format!("CFA {:?} for {:?}", ours.cfa, tables.cfa));
    }
    let preserved = code::PRESERVED.iter();
    preserved.copied().find_map(|register| {
        let (mine, right) = (ours.of(register), tables.of(register));
        let is_same = match (mine, right) {
            // Popped already: tables do not take back where it was.
            (Saved::Unset, Saved::At(at)) => is_below_sp(tables, at),
            // The tables need not say where it lies before it is changed.
            (Saved::At(_), Saved::Unset) => true,
            (mine, right) => mine == right,
        };
        (!is_same).then(|| format!("register {register}: {mine:?} for {right:?}"))
    })
}

/// Whether what lies there, from the CFA, is no part of the stack any more.
fn is_below_sp(row: &Row, at: i64) -> bool {
    matches!(row.cfa, Cfa::Register(register, offset) if register == arch::SP as u64 && offset + at < 0)
}

struct Judge<'a> {
    loaded: &'a Loaded,
    functions: Vec<u64>,
    reader: Box<Reader>,
    machine: Box<Machine>,
    counts: Counts,
}

impl Judge<'_> {
    /// A frame that was left by a call, or interrupted.
    fn compare(&mut self, description: &Description, pc: u64, is_left: bool) {
        let lookup = pc - u64::from(is_left);
        let Some(tables) = self.machine.run(description, lookup).copied() else {
            return;
        };
        let Cfa::Register(register, offset) = tables.cfa else {
            return;
        };
        let word = arch::WORD as i64;
        let mut candidate = Candidate {
            pc,
            start: description.start,
            // Never so where it is not asked for.
            sp: i64::MIN,
            fp: i64::MIN,
            returns: true,
            is_left,
        };
        match register as usize {
            arch::SP => candidate.sp = word - offset,
            arch::FP => candidate.fp = word - offset,
            _ => return,
        }
        let place = pc.wrapping_sub(self.loaded.module.image.bias);
        self.reader.renew(BUDGET);
        let began = Instant::now();
        let is_proven = self.reader.proves(&candidate);
        if is_proven {
            self.counts.took += began.elapsed();
            self.counts.read += BUDGET - self.reader.left();
        }
        if is_proven && let Some(what) = self.difference(&tables) {
            self.counts.wrong.push(format!("{place:#x}: {what}"));
        }
        match (is_proven, is_left) {
            (true, false) => self.counts.proven += 1,
            (false, false) => self.counts.unproven += 1,
            (true, true) => self.counts.proven_left += 1,
            (false, true) => self.counts.unproven_left += 1,
        }
        self.counts.compared += 1;
        if register as usize == arch::SP && self.counts.compared.is_multiple_of(SOME) {
            self.claim_others(&candidate);
        }
    }

    fn difference(&self, tables: &Row) -> Option<String> {
        let base = |row: &Row| match row.cfa {
            Cfa::Register(register, _) => Some(register),
            _ => None,
        };
        // The same frame, by the other register.
        (base(&self.reader.row) == base(tables))
            .then(|| difference(&self.reader.row, tables))
            .flatten()
    }

    /// The same frame, as one of each function before it and with its return
    /// address anywhere else: what a stale word of the stack could candidate.
    fn claim_others(&mut self, right: &Candidate) {
        let own = self.functions.partition_point(|start| *start <= right.pc);
        let others: Vec<_> = self.functions[own.saturating_sub(BEFORE)..own].to_vec();
        for start in others {
            for words in (1..64).step_by(2) {
                let sp = words * -(arch::WORD as i64);
                if sp == right.sp {
                    continue;
                }
                let candidate = Candidate {
                    start,
                    sp,
                    ..*right
                };
                self.reader.renew(BUDGET);
                match self.reader.proves(&candidate) {
                    true => self.counts.believed += 1,
                    false => self.counts.refused += 1,
                }
            }
        }
    }

    /// Reads a function from its beginning to its end.
    fn walk(&mut self, description: &Description) {
        let mut at = description.start;
        let (mut index, mut is_padding) = (0usize, false);
        while at < description.end {
            let length = ((description.end - at) as usize).min(code::LONGEST);
            // The function lies in the mapped file.
            let Some((bytes, effect)) = code::decode(&super::loaded::bytes_at(at, length)) else {
                break;
            };
            index += 1;
            if index.is_multiple_of(7) && !is_padding {
                self.compare(description, at, false);
            }
            at += bytes as u64;
            // Behind these there may be bytes that never run, of which tables
            // say whatever held before.
            is_padding = matches!(
                effect,
                Effect::Return
                    | Effect::Jump(_)
                    | Effect::Away(_)
                    | Effect::Dead
                    | Effect::Call(_)
                    | Effect::CallAt(_)
            ) || is_padding && effect == Effect::Nothing;
            if matches!(effect, Effect::Call(_) | Effect::CallAt(_)) && at < description.end {
                self.compare(description, at, true);
            }
        }
        match at == description.end {
            true => self.counts.whole += 1,
            false => self.counts.torn += 1,
        }
    }
}

fn judge(path: &Path) -> Option<Counts> {
    let loaded = Loaded::map(path)?;
    let bound = bind(&loaded, path);
    let mut index = FrameIndexes::zeroed();
    let functions = functions(&loaded);
    let mut judge = Judge {
        loaded: &loaded,
        functions: functions.clone(),
        reader: Reader::zeroed(),
        machine: Machine::zeroed(),
        counts: Counts {
            bound,
            ..Counts::default()
        },
    };
    let most = match std::env::var_os("MEMLOG_LONG") {
        Some(_) => MANY_FUNCTIONS,
        None => SOME_FUNCTIONS,
    };
    let every = functions.len().div_ceil(most).max(1);
    for start in functions.iter().step_by(every) {
        let description = describe(&loaded.module, *start, &mut index).expect("it was listed");
        judge.walk(&description);
    }
    println!("{}: {:?}", path.display(), judge.counts);
    let proven = (judge.counts.proven + judge.counts.proven_left).max(1);
    println!(
        "    a proof took {} microseconds and {} instructions",
        judge.counts.took.as_micros() / proven as u128,
        judge.counts.read / proven
    );
    Some(judge.counts)
}

#[test]
fn proofs_say_what_the_tables_say() {
    if !code::READS_CODE {
        println!("SKIPPED this processor's instructions are not read");
        return;
    }
    let files = files_to_judge();
    let counts: Vec<_> = files.iter().filter_map(|path| judge(path)).collect();
    assert!(
        counts.len() >= 4,
        "the test, libc, ld.so, libgcc_s: {}",
        counts.len()
    );
    let sum = |of: fn(&Counts) -> usize| counts.iter().map(of).sum::<usize>();
    let wrong: Vec<_> = counts.iter().flat_map(|counts| &counts.wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(sum(|counts| counts.believed), 0, "{counts:?}");
    assert!(sum(|counts| counts.refused) > 10_000, "{counts:?}");
    assert!(sum(|counts| counts.bound) > 1_000, "{counts:?}");
    assert!(
        sum(|counts| counts.torn) * 50 < sum(|counts| counts.whole),
        "{counts:?}"
    );
    let proven = sum(|counts| counts.proven + counts.proven_left);
    let unproven = sum(|counts| counts.unproven + counts.unproven_left);
    assert!(proven * 3 > unproven * 2, "{counts:?}");
}
