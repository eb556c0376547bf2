//! Finding the frame description of an address in a module's unwind tables.
//!
//! Through .eh_frame_hdr's binary search table; where a module has none, or
//! one of another kind, through a sorted index of .eh_frame made once.
//!
//! The tables are read by hand: every library for it can panic, and inside
//! the profiled program nothing may (see `doc/decisions/004-read-unwind-tables-by-hand.md`); gimli and framehop
//! are its judges in the tests.
#![allow(unsafe_code)]
//! # Safety
//! Cursors are made over the mapped range of a module; the index lies in
//! memory of the recorder that is never given back.

use super::exidx;
use crate::platform::arch;
use crate::platform::bytes::Cursor;
use crate::platform::sys::{Os, Sys};
use crate::unwind::modules::Module;

/// What all frames of a kind share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Common {
    /// What code offsets are multiples of.
    pub code_factor: u64,
    /// What data offsets are multiples of.
    pub data_factor: i64,
    /// The column of the return address.
    pub return_register: u64,
    /// How the description's pointers are encoded; of ARM's index, how many
    /// bytes of the first word are no instructions.
    pub encoding: u8,
    /// Whether this is the kernel's signal frame.
    pub is_signal: bool,
    has_data: bool,
    /// The instructions that come first.
    pub instructions: Cursor,
}

/// The description of the frames of one range of code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Description {
    /// What it shares with others.
    pub common: Common,
    /// First byte of the code.
    pub start: u64,
    /// First byte past it.
    pub end: u64,
    /// Its own instructions.
    pub instructions: Cursor,
}

/// A row of an index of .eh_frame: where code starts, where its record is.
#[derive(Clone, Copy)]
struct IndexRow {
    start: u64,
    record: u64,
}

/// Modules that can have an index at the same time.
const MAX_INDEXES: usize = 64;

/// The indexes of the modules that needed one. Zeros are none.
pub struct FrameIndexes {
    list: [FrameIndex; MAX_INDEXES],
    next: usize,
    /// Memory taken that nobody has asked after.
    new_bytes: u64,
}

impl FrameIndexes {
    /// How much memory was taken since this was asked last.
    pub fn take_new_bytes(&mut self) -> u64 {
        core::mem::take(&mut self.new_bytes)
    }
}

/// The index of one module.
#[derive(Clone, Copy)]
struct FrameIndex {
    module: u32,
    entries: *mut IndexRow,
    count: usize,
}

#[cfg(fuzzing)]
impl FrameIndexes {
    /// Gives the indexes back. The recorder never does, but it makes few.
    pub fn forget(&mut self) {
        for index in &mut self.list {
            if !index.entries.is_null() {
                let bytes = index.count * size_of::<IndexRow>();
                // SAFETY: `build_index` took these pages, and nobody else has them.
                unsafe { Os::unmap(index.entries.cast(), (bytes + 4095) & !4095) };
            }
            *index = FrameIndex {
                module: 0,
                entries: core::ptr::null_mut(),
                count: 0,
            };
        }
    }
}

/// The description of an address in a module.
pub fn describe(module: &Module, address: u64, indexes: &mut FrameIndexes) -> Option<Description> {
    if arch::HAS_EXIDX {
        return exidx::describe(&module.image, address);
    }
    let (frames, by_table) = look_up(module, address);
    let range = module.image.tables_start..module.image.tables_end;
    let record = match by_table {
        Lookup::Record(record) => record,
        Lookup::Nothing => return None,
        Lookup::Impossible if !range.contains(&frames) => return None,
        Lookup::Impossible => search_index(module, frames, address, indexes)?,
    };
    read_of(module, address, frames, record)
}

/// The same where the linker has made a table for the search; nothing else is
/// needed then.
pub fn describe_by_table(module: &Module, address: u64) -> Option<Description> {
    if arch::HAS_EXIDX {
        return exidx::describe(&module.image, address);
    }
    match look_up(module, address) {
        (frames, Lookup::Record(record)) => read_of(module, address, frames, record),
        _ => None,
    }
}

/// .eh_frame, and the record in it by the table.
fn look_up(module: &Module, address: u64) -> (u64, Lookup) {
    let range = module.image.tables_start..module.image.tables_end;
    match range.contains(&module.image.header) {
        true => search_header(module, address),
        false => (module.image.frames, Lookup::Impossible),
    }
}

fn read_of(module: &Module, address: u64, frames: u64, record: u64) -> Option<Description> {
    let found = read_description(record, frames, module.image.tables_end)?;
    (found.start..found.end).contains(&address).then_some(found)
}

/// Reads the records of a table registered by the program.
pub fn describe_in_table(start: u64, end: u64, address: u64) -> Option<Description> {
    let mut record = start;
    loop {
        if let Some(found) = read_description(record, start, end)
            && (found.start..found.end).contains(&address)
        {
            return Some(found);
        }
        record = next_record(record, end)?;
    }
}

enum Lookup {
    Record(u64),
    Nothing,
    Impossible,
}

/// Asks the binary search table: .eh_frame, and the record.
fn search_header(module: &Module, address: u64) -> (u64, Lookup) {
    let header = module.image.header;
    let end_of_tables = module.image.tables_end;
    let end = header
        .saturating_add(module.image.header_bytes)
        .min(module.image.tables_end);
    // SAFETY: a segment of a mapped module, inside its range.
    let mut bytes = unsafe { Cursor::new(header, end) };
    let mut read = || {
        let version = bytes.u8()?;
        let (pointer, count, table) = (bytes.u8()?, bytes.u8()?, bytes.u8()?);
        let frames = bytes.encoded(pointer, header)?;
        if version != 1 || !(module.image.tables_start..end_of_tables).contains(&frames) {
            return None;
        }
        // Only the one kind of table that linkers write can be searched.
        let rows = match table {
            0x3b => bytes.encoded(count, header),
            _ => None,
        };
        Some((frames, rows))
    };
    match read() {
        None => (module.image.frames, Lookup::Impossible),
        Some((frames, None)) => (frames, Lookup::Impossible),
        Some((frames, Some(rows))) => (frames, search_rows(bytes, rows, header, address)),
    }
}

/// The last row that starts at or before the address.
fn search_rows(table: Cursor, rows: u64, header: u64, address: u64) -> Lookup {
    let row = |index: u64| {
        let mut bytes = table;
        bytes.skip(index.checked_mul(8)?)?;
        let start = bytes.encoded(0x3b, header)?;
        Some((start, bytes.encoded(0x3b, header)?))
    };
    let (mut low, mut high) = (0, rows);
    while low < high {
        let middle = low + (high - low) / 2;
        match row(middle) {
            Some((start, _)) if start <= address => low = middle + 1,
            Some(_) => high = middle,
            None => return Lookup::Impossible,
        }
    }
    match low.checked_sub(1).and_then(row) {
        Some((_, record)) => Lookup::Record(record),
        None => Lookup::Nothing,
    }
}

fn search_index(
    module: &Module,
    frames: u64,
    address: u64,
    indexes: &mut FrameIndexes,
) -> Option<u64> {
    let known = indexes.list.iter().find(|index| index.module == module.id);
    let index = match known {
        Some(index) => *index,
        None => {
            let index = build_index(module, frames);
            indexes.new_bytes += (index.count * size_of::<IndexRow>()) as u64;
            let place = indexes.list.get_mut(indexes.next % MAX_INDEXES)?;
            indexes.next = indexes.next.wrapping_add(1);
            *place = index;
            index
        }
    };
    if index.count == 0 {
        return None;
    }
    // SAFETY: `build_index` wrote `count` entries there, for ever.
    let entries = unsafe { core::slice::from_raw_parts(index.entries, index.count) };
    let after = entries.partition_point(|entry| entry.start <= address);
    Some(entries.get(after.checked_sub(1)?)?.record)
}

/// The end of a module's .eh_frame: its own size, or else the module's end,
/// before which a record of length zero stands.
fn frames_end(module: &Module, frames: u64) -> u64 {
    match module.image.frames_bytes {
        0 => module.image.tables_end,
        bytes => frames.saturating_add(bytes).min(module.image.tables_end),
    }
}

/// Reads all of .eh_frame: first counting, then filling, then sorting. A module
/// for which that fails has an empty index, so that it is not tried again.
fn build_index(module: &Module, frames: u64) -> FrameIndex {
    let mut index = FrameIndex {
        module: module.id,
        entries: core::ptr::null_mut(),
        count: 0,
    };
    let end = frames_end(module, frames);
    let mut count = 0usize;
    each_description(frames, end, |_| count += 1);
    let bytes = count.saturating_mul(size_of::<IndexRow>());
    let whole_pages = bytes.saturating_add(4095) & !4095;
    if count == 0 {
        return index;
    }
    index.entries = Os::memory(whole_pages).cast::<IndexRow>();
    if index.entries.is_null() {
        return index;
    }
    each_description(frames, end, |entry| {
        if index.count < count {
            // SAFETY: below `count`, for which there is room.
            unsafe { index.entries.add(index.count).write(entry) };
            index.count += 1;
        }
    });
    // SAFETY: the first `count` entries were written just now.
    heap_sort(unsafe { core::slice::from_raw_parts_mut(index.entries, index.count) });
    index
}

fn each_description(frames: u64, end: u64, mut see: impl FnMut(IndexRow)) {
    let mut record = frames;
    loop {
        if let Some(found) = read_description(record, frames, end) {
            see(IndexRow {
                start: found.start,
                record,
            });
        }
        match next_record(record, end) {
            Some(next) => record = next,
            None => return,
        }
    }
}

/// A record's content: its bytes without the length, where they start.
fn open_record(record: u64, end: u64) -> Option<Cursor> {
    // SAFETY: inside the mapped range that the caller names.
    let mut bytes = unsafe { Cursor::new(record, end) };
    let length = match bytes.u32()? {
        0 => return None,
        u32::MAX => bytes.u64()?,
        short => u64::from(short),
    };
    bytes.take(length)
}

fn next_record(record: u64, end: u64) -> Option<u64> {
    open_record(record, end).map(|content| content.end)
}

/// Reads the description at a record, if it is one.
fn read_description(record: u64, frames: u64, end: u64) -> Option<Description> {
    if record < frames {
        return None;
    }
    let mut bytes = open_record(record, end)?;
    let place = bytes.at;
    let distance = u64::from(bytes.u32()?);
    if distance == 0 {
        return None;
    }
    let common = place.checked_sub(distance)?;
    if common < frames {
        return None;
    }
    let common = read_common(common, end)?;
    let start = bytes.encoded(common.encoding, 0)?;
    let length = bytes.encoded_value(common.encoding & 0x0f)?;
    if common.has_data {
        let skipped = bytes.uleb()?;
        bytes.skip(skipped)?;
    }
    Some(Description {
        common,
        start,
        end: start.checked_add(length)?,
        instructions: bytes,
    })
}

fn read_common(record: u64, end: u64) -> Option<Common> {
    let mut bytes = open_record(record, end)?;
    let (zero, version) = (bytes.u32()?, bytes.u8()?);
    if zero != 0 || !matches!(version, 1 | 3) {
        return None;
    }
    let mut letters = bytes;
    while bytes.u8()? != 0 {}
    letters.end = bytes.at.checked_sub(1)?;
    let augmented = letters.at != letters.end;
    let mut common = Common {
        code_factor: bytes.uleb()?,
        data_factor: bytes.sleb()?,
        return_register: match version {
            1 => u64::from(bytes.u8()?),
            _ => bytes.uleb()?,
        },
        ..Common::default()
    };
    if letters.u8() == Some(b'z') {
        common.has_data = true;
        let length = bytes.uleb()?;
        let mut data = bytes.take(length)?;
        while let Some(letter) = letters.u8() {
            match letter {
                b'R' => common.encoding = data.u8()?,
                b'S' => common.is_signal = true,
                b'L' => {
                    data.u8()?;
                }
                b'P' => {
                    let encoding = data.u8()?;
                    data.encoded_value(encoding)?;
                }
                b'B' | b'G' => {}
                _ => break,
            }
        }
    } else if augmented {
        // An augmentation without its size cannot be read past.
        return None;
    }
    common.instructions = bytes;
    Some(common)
}

/// Sorts in place: the core library's sorts take stack and can panic.
fn heap_sort(entries: &mut [IndexRow]) {
    let count = entries.len();
    for root in (0..count / 2).rev() {
        sift_down(entries, root, count);
    }
    for end in (1..count).rev() {
        swap(entries, 0, end);
        sift_down(entries, 0, end);
    }
}

fn sift_down(entries: &mut [IndexRow], mut root: usize, end: usize) {
    loop {
        let start = |at: usize| entries.get(at).map_or(0, |entry| entry.start);
        let mut child = 2 * root + 1;
        if child >= end {
            return;
        }
        if child + 1 < end && start(child) < start(child + 1) {
            child += 1;
        }
        if start(root) >= start(child) {
            return;
        }
        swap(entries, root, child);
        root = child;
    }
}

fn swap(entries: &mut [IndexRow], a: usize, b: usize) {
    if let (Some(&first), Some(&second)) = (entries.get(a), entries.get(b)) {
        if let Some(place) = entries.get_mut(a) {
            *place = second;
        }
        if let Some(place) = entries.get_mut(b) {
            *place = first;
        }
    }
}
