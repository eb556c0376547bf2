//! Which numbers order which addresses.
//!
//! A cell's unnumbered events come first, made by one stream; then come the
//! numbered ones, each after the number below. A first pass over the log
//! counts both, so that the merge knows when a cell's first part is through
//! and which number it begins with. It also finds the cells that lack numbers:
//! lost events, and in a killed program the numbers that were taken and not
//! yet written down. For those cells alone a second pass notes which numbers
//! there are, one bit each, so that the merge never waits for one that never
//! comes, and never passes over one that does. To count needs no order, so two
//! threads share the first pass.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;

use crate::cursor::Cursor;
use crate::error::Findings;
use crate::step::{Gate, places};

/// Where one cell stands in the merge.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// The number that is to come next.
    next: u64,
    /// Unnumbered events that are still to come, and those of numbers that come late.
    unnumbered: u64,
    /// Lower numbers come late: others passed them over at an earlier look.
    late_below: u64,
    /// Set while a stream waits here.
    awaited: bool,
    /// Set when numbers are missing, and `Cells::present` knows which.
    gapped: bool,
    /// The highest number that came, plus one; 0 where none came. A number that is to come
    /// next may have been found by passing over others, which may yet come in their order.
    passed: u64,
}

/// The highest number that came at a place when a part of the log was read, plus one; 0 where
/// none came.
pub(crate) type Known = u64;

/// What the first pass counts.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    low: u64,
    high: u64,
    count: u64,
}

/// The ledger, the stamps, and all cells.
pub(crate) struct Cells {
    cells: Vec<Cell>,
    present: HashMap<u32, Present>,
}

/// With more numbers missing for each one present a list takes less memory than bits.
const MAX_SPARSE: u64 = 64;

impl Cells {
    /// Looks through all streams; nothing if `goes_on`, which is told how many
    /// bytes that was so far, wants no more.
    pub(crate) fn survey(
        cursors: &[Cursor],
        cell_bits: u32,
        findings: &mut Findings,
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Option<Self> {
        let Counted { mut cells, numbers } = count_all(cursors, cell_bits, goes_on)?;
        let mut censuses = HashMap::new();
        for (place, census) in (0..).zip(numbers) {
            let Some(census): Option<Numbers> = census else {
                continue;
            };
            cells[place as usize].next = census.low;
            let missing = (census.high - census.low).saturating_sub(census.count - 1);
            if missing == 0 {
                continue;
            }
            let has_gaps = |cursor: &Cursor| cursor.has_gaps(place);
            if !cursors.iter().any(has_gaps) {
                findings.order_gaps = findings.order_gaps.saturating_add(missing);
            }
            cells[place as usize].gapped = true;
            censuses.insert(place, census);
        }
        let present = note_present(cursors, &censuses, goes_on)?;
        Some(Self { cells, present })
    }

    /// The same where part of the log was read before: `known` has what was known of each
    /// place then, or nothing, and `ahead` what was read and waits. A number that is missing
    /// may come yet, and is no finding.
    pub(crate) fn go_on(
        cursors: &[Cursor],
        ahead: &[Gate],
        known: &[Known],
        cell_bits: u32,
    ) -> Option<Self> {
        let mut goes_on = |_| true;
        let mut counted = Counted::of(cursors, cell_bits, known, &mut goes_on)?;
        ahead.iter().for_each(|&gate| counted.note(gate, known));
        let Counted { mut cells, numbers } = counted;
        let mut censuses = HashMap::new();
        for (place, (cell, census)) in (0..).zip(cells.iter_mut().zip(numbers)) {
            let known = known.get(place as usize).copied().unwrap_or_default();
            (cell.next, cell.passed, cell.late_below) = (known, known, known);
            let Some(mut census) = census else {
                continue;
            };
            match known > 0 {
                true => census.low = known,
                false => cell.next = census.low,
            }
            cell.gapped = (census.high - census.low).saturating_add(1) > census.count;
            if cell.gapped {
                censuses.insert(place, census);
            }
        }
        let mut present = note_present(cursors, &censuses, &mut goes_on)?;
        for &gate in ahead {
            if let Gate::Numbered(place, number) = gate
                && let Some(present) = present.get_mut(&place)
            {
                present.add(number);
            }
        }
        present.values_mut().for_each(Present::sort);
        for (&place, present) in &present {
            let cell = &mut cells[place as usize];
            cell.next = present.at_or_after(cell.next);
        }
        Some(Self { cells, present })
    }

    /// What is known of each place now.
    pub(crate) fn into_known(self) -> Vec<Known> {
        self.cells.iter().map(|cell| cell.passed).collect()
    }

    /// Whether a step may come now.
    #[inline]
    pub(crate) fn is_open(&self, gate: Gate) -> bool {
        match gate {
            Gate::Open | Gate::Unnumbered(_) => true,
            Gate::Numbered(cell, number) => {
                let cell = &self.cells[cell as usize];
                number < cell.late_below || number <= cell.next && cell.unnumbered == 0
            }
        }
    }

    /// Takes note that a step came; tells the cell and the number that may
    /// come next if somebody waits for it.
    #[inline]
    pub(crate) fn pass(&mut self, gate: Gate) -> Option<(u32, u64)> {
        let (place, cell) = match gate {
            Gate::Open => return None,
            Gate::Unnumbered(place) => {
                let cell = &mut self.cells[place as usize];
                cell.unnumbered = cell.unnumbered.saturating_sub(1);
                (place, cell)
            }
            Gate::Numbered(place, number) => {
                let cell = &mut self.cells[place as usize];
                if number < cell.late_below {
                    cell.unnumbered = cell.unnumbered.saturating_sub(1);
                }
                cell.next = cell.next.max(number.saturating_add(1));
                cell.passed = cell.passed.max(number.saturating_add(1));
                if cell.gapped
                    && let Some(present) = self.present.get(&place)
                {
                    cell.next = present.at_or_after(cell.next);
                }
                (place, cell)
            }
        };
        (cell.awaited && cell.unnumbered == 0).then_some((place, cell.next))
    }

    /// Somebody waits at a cell, or nobody does any more.
    pub(crate) fn set_awaited(&mut self, place: u32, awaited: bool) {
        self.cells[place as usize].awaited = awaited;
    }

    /// Lets a step through whose number contradicts others.
    pub(crate) fn force(&mut self, gate: Gate) {
        if let Gate::Numbered(place, number) = gate {
            let cell = &mut self.cells[place as usize];
            cell.unnumbered = 0;
            cell.next = cell.next.max(number);
        }
    }
}

/// Steps between two looks at whether to go on.
const STRIDE: u64 = 1 << 13;

fn each_gate(
    cursors: &[Cursor],
    goes_on: &mut dyn FnMut(u64) -> bool,
    mut take: impl FnMut(Gate),
) -> Option<()> {
    // The merge reads the same bytes again and tells what is wrong with them.
    let mut unheard = Findings::default();
    let mut bytes = 0;
    for cursor in cursors {
        let mut cursor = cursor.clone();
        cursor.skip_checksums();
        let mut is_through = false;
        while !is_through {
            let mut left = STRIDE;
            while left > 0 && !is_through {
                cursor.usuals(|_, _, gate| {
                    take(gate);
                    left -= 1;
                    left > 0
                });
                if left > 0 {
                    let step = cursor.next(&mut unheard);
                    step.iter().for_each(|step| take(step.gate));
                    is_through = step.is_none();
                    left -= 1;
                }
            }
            if !goes_on(bytes + cursor.opened_bytes()) {
                return None;
            }
        }
        bytes += cursor.opened_bytes();
    }
    Some(())
}

/// What was counted of all places.
struct Counted {
    cells: Vec<Cell>,
    numbers: Vec<Option<Numbers>>,
}

/// So many bytes of events are worth a thread: it counts in some 4 MB, which have to be
/// made and put together.
const BESIDE_FROM: u64 = 1 << 22;

/// Counts what is in all streams, one half of their chunks beside the other: a chunk can
/// be read by itself.
fn count_all(
    cursors: &[Cursor],
    cell_bits: u32,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Option<Counted> {
    if cursors.iter().map(Cursor::bytes_ahead).sum::<u64>() < BESIDE_FROM {
        return Counted::of(cursors, cell_bits, &[], goes_on);
    }
    let halves = cursors.iter().map(Cursor::halves);
    let (first, second): (Vec<_>, Vec<_>) = halves.unzip();
    let (bytes_beside, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let other = || {
            Counted::of(&second, cell_bits, &[], &mut |bytes| {
                bytes_beside.store(bytes, Relaxed);
                !is_over.load(Relaxed)
            })
        };
        let Ok(other) = thread::Builder::new().spawn_scoped(scope, other) else {
            // No more threads may be made.
            return Counted::of(cursors, cell_bits, &[], goes_on);
        };
        let mut goes_on = |bytes| goes_on(bytes + bytes_beside.load(Relaxed));
        let counted = Counted::of(&first, cell_bits, &[], &mut goes_on);
        is_over.store(counted.is_none(), Relaxed);
        let other = other.join().unwrap_or_else(|panic| resume_unwind(panic));
        let mut counted = counted?;
        counted.add(other?);
        Some(counted)
    })
}

impl Counted {
    /// Numbers below those that are known come late.
    fn of(
        cursors: &[Cursor],
        cell_bits: u32,
        known: &[Known],
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Option<Self> {
        let mut counted = Self {
            cells: vec![Cell::default(); places(cell_bits)],
            numbers: vec![None; places(cell_bits)],
        };
        each_gate(cursors, goes_on, |gate| counted.note(gate, known))?;
        Some(counted)
    }

    #[inline]
    fn note(&mut self, gate: Gate, known: &[Known]) {
        match gate {
            Gate::Open => {}
            Gate::Unnumbered(cell) => self.cells[cell as usize].unnumbered += 1,
            Gate::Numbered(cell, number) => {
                let known = known.get(cell as usize);
                if known.is_some_and(|known| number < *known) {
                    self.cells[cell as usize].unnumbered += 1;
                    return;
                }
                let one = Numbers {
                    low: number,
                    high: number,
                    count: 1,
                };
                add(&mut self.numbers[cell as usize], one);
            }
        }
    }

    fn add(&mut self, other: Self) {
        for (cell, other) in self.cells.iter_mut().zip(other.cells) {
            cell.unnumbered += other.unnumbered;
        }
        for (numbers, other) in self.numbers.iter_mut().zip(other.numbers) {
            other.into_iter().for_each(|other| add(numbers, other));
        }
    }
}

#[inline]
fn add(census: &mut Option<Numbers>, other: Numbers) {
    match census {
        None => *census = Some(other),
        Some(census) => {
            census.low = census.low.min(other.low);
            census.high = census.high.max(other.high);
            census.count += other.count;
        }
    }
}

/// Which numbers there are in the cells that lack some.
fn note_present(
    cursors: &[Cursor],
    censuses: &HashMap<u32, Numbers>,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Option<HashMap<u32, Present>> {
    let mut present: HashMap<u32, Present> = censuses
        .iter()
        .map(|(&place, census)| (place, Present::new(census)))
        .collect();
    if !present.is_empty() {
        each_gate(cursors, goes_on, |gate| {
            if let Gate::Numbered(place, number) = gate
                && let Some(present) = present.get_mut(&place)
            {
                present.add(number);
            }
        })?;
        present.values_mut().for_each(Present::sort);
    }
    Some(present)
}

/// The numbers that a cell has.
enum Present {
    /// Most of those between the lowest and the highest.
    Most(Bits),
    /// Few of them, in the end in their order.
    Few(Vec<u64>),
}

impl Present {
    fn new(census: &Numbers) -> Self {
        match (census.high - census.low) / MAX_SPARSE <= census.count {
            true => Self::Most(Bits::new(census.low, census.high)),
            false => Self::Few(Vec::new()),
        }
    }

    fn add(&mut self, number: u64) {
        match self {
            Self::Most(bits) => bits.set(number),
            Self::Few(numbers) => numbers.push(number),
        }
    }

    fn sort(&mut self) {
        if let Self::Few(numbers) = self {
            numbers.sort_unstable();
        }
    }

    /// The first of them from `number` on; `number` if there is none.
    fn at_or_after(&self, number: u64) -> u64 {
        match self {
            Self::Most(bits) => bits.at_or_after(number),
            Self::Few(numbers) => {
                let below = numbers.partition_point(|&other| other < number);
                numbers.get(below).copied().unwrap_or(number)
            }
        }
    }
}

/// A set of numbers from a range.
struct Bits {
    low: u64,
    words: Vec<u64>,
}

impl Bits {
    fn new(low: u64, high: u64) -> Self {
        let words = (high - low) / 64 + 1;
        Self {
            low,
            words: vec![0; words as usize],
        }
    }

    fn set(&mut self, number: u64) {
        // What comes late in a log that grows is below the lowest.
        let Some(place) = number.checked_sub(self.low) else {
            return;
        };
        if let Some(word) = self.words.get_mut((place / 64) as usize) {
            *word |= 1 << (place % 64);
        }
    }

    /// The first number of the set from `number` on; `number` if there is none.
    fn at_or_after(&self, number: u64) -> u64 {
        let place = number.saturating_sub(self.low);
        let mut index = (place / 64) as usize;
        let mut keep = u64::MAX << (place % 64);
        while let Some(word) = self.words.get(index) {
            let word = word & keep;
            if word != 0 {
                return self.low + index as u64 * 64 + u64::from(word.trailing_zeros());
            }
            keep = u64::MAX;
            index += 1;
        }
        number
    }
}
