//! Frames found in their instructions, against the unwind tables of the same
//! code: compilers' own words on what their code does.

use super::judge::own_files;
use super::loaded::Loaded;
use crate::arch::{self, code};
use crate::modules::Module;
use crate::tests::memory::Zeroed;
use crate::unwind::cfi::{Description, FrameIndexes, describe};
use crate::unwind::code::{Effect, Reader};
use crate::unwind::row::{Cfa, Machine, Row, Saved};
use crate::unwind::walk::Pc;
use gimli::{BaseAddresses, CieOrFde, EhFrame, NativeEndian, UnwindSection};
use std::path::Path;

/// Functions of one file, at most.
const MOST: usize = 1_500;

/// What came out.
#[derive(Default, Debug)]
struct Counts {
    /// Functions whose instructions ended where the tables say.
    whole: usize,
    torn: usize,
    /// Frames left by calls whose rule was found, and those that had none.
    found: usize,
    unknown: usize,
    /// The same of any instruction.
    found_inside: usize,
    unknown_inside: usize,
    /// The tables count from another register.
    other_base: usize,
    wrong: Vec<String>,
}

/// Where functions begin.
fn functions(loaded: &Loaded) -> Vec<u64> {
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
    found
}

/// What differs: an offset of the CFA, or where a register is that both know.
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
    module: &'a Module,
    reader: Box<Reader>,
    machine: Box<Machine>,
    counts: Counts,
}

impl Judge<'_> {
    fn compare(&mut self, description: &Description, pc: Pc) {
        let Some(tables) = self.machine.run(description, pc.lookup()).copied() else {
            return;
        };
        let (low, high) = (self.module.low, self.module.image.high);
        let is_found = self.reader.read(pc, low, high);
        let counts = &mut self.counts;
        match (is_found, pc.is_exact()) {
            (true, false) => counts.found += 1,
            (true, true) => counts.found_inside += 1,
            (false, false) => counts.unknown += 1,
            (false, true) => counts.unknown_inside += 1,
        }
        if !is_found {
            return;
        }
        let base = |row: &Row| match row.cfa {
            Cfa::Register(register, _) => Some(register),
            _ => None,
        };
        if base(&self.reader.row) != base(&tables) {
            counts.other_base += 1;
        } else if let Some(what) = difference(&self.reader.row, &tables) {
            let place = pc.address().wrapping_sub(self.module.image.bias);
            let how = if pc.is_exact() { "inside" } else { "returned" };
            counts.wrong.push(format!("{place:#x} {how}: {what}"));
        }
    }

    /// Reads a function from its beginning to its end.
    fn walk(&mut self, description: &Description) {
        let mut at = description.start;
        let mut index = 0usize;
        let mut is_padding = false;
        while at < description.end {
            let length = ((description.end - at) as usize).min(code::LONGEST);
            // The function lies in the mapped file.
            let Some((bytes, effect)) = code::decode(&super::loaded::bytes_at(at, length)) else {
                break;
            };
            if index.is_multiple_of(5) && !is_padding {
                self.compare(description, Pc::interrupted(at));
            }
            at += bytes as u64;
            if matches!(effect, Effect::Call(_)) && at < description.end {
                self.compare(description, Pc::returned(at));
            }
            index += 1;
            // Behind these there may be bytes that never run, of which tables
            // say whatever held before.
            is_padding = matches!(
                effect,
                Effect::Return | Effect::Jump(_) | Effect::Away(_) | Effect::Dead | Effect::Call(_)
            ) || is_padding && effect == Effect::Nothing;
        }
        match at == description.end {
            true => self.counts.whole += 1,
            false => self.counts.torn += 1,
        }
    }
}

fn judge(path: &Path) -> Option<Counts> {
    let loaded = Loaded::map(path)?;
    let mut index = FrameIndexes::zeroed();
    let mut judge = Judge {
        module: &loaded.module,
        reader: Reader::zeroed(),
        machine: Machine::zeroed(),
        counts: Counts::default(),
    };
    let functions = functions(&loaded);
    let every = functions.len().div_ceil(MOST).max(1);
    for start in functions.iter().step_by(every) {
        let description = describe(&loaded.module, *start, &mut index).expect("it was listed");
        judge.walk(&description);
    }
    Some(judge.counts)
}

/// Compilers' tables are right wherever a call is made. Inside of functions
/// they are not always: glibc's own assembly has pushes that they are silent
/// about, and a register that was loaded again lies where they say as well.
#[test]
fn code_says_what_the_tables_say() {
    if !code::READS_CODE {
        println!("SKIPPED this processor's instructions are not read");
        return;
    }
    let counts: Vec<_> = own_files().iter().filter_map(|path| judge(path)).collect();
    assert!(counts.len() >= 4, "the test, libc, ld.so, libgcc_s: {}", counts.len());
    let sum = |of: fn(&Counts) -> usize| counts.iter().map(of).sum::<usize>();
    let wrong: Vec<_> = counts.iter().flat_map(|counts| &counts.wrong).collect();
    assert!(!wrong.iter().any(|what| what.contains("returned")), "{wrong:#?}");
    let found_inside = sum(|counts| counts.found_inside);
    assert!(wrong.len() * 1000 < found_inside, "{wrong:#?}");
    assert!(sum(|counts| counts.torn) * 50 < sum(|counts| counts.whole), "{counts:?}");
    assert!(sum(|counts| counts.found) > 3 * sum(|counts| counts.unknown), "{counts:?}");
    assert!(found_inside > 10 * sum(|counts| counts.unknown_inside), "{counts:?}");
    let all = sum(|counts| counts.found + counts.found_inside);
    assert!(all > 20_000 + sum(|counts| counts.other_base), "{counts:?}");
}
