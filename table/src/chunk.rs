//! Some thousand rows, each column packed by itself.

use crate::column::{ALL, COUNT, Column, Columns};
use crate::layout::Piece;
use crate::pack::{Bytes, SLACK, pack, put_var, unpack};
use crate::table::NEVER;

/// The most rows of a chunk.
pub const CHUNK_ROWS: usize = 8192;

/// Rows by columns; those that were not asked for are empty.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub(crate) columns: [Vec<u64>; COUNT],
    pub(crate) count: usize,
}

impl Rows {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A column that was asked for.
    pub fn column(&self, column: Column) -> &[u64] {
        let values = self.values(column);
        debug_assert_eq!(values.len(), self.count, "{column:?} was not read");
        values
    }

    /// A column; nothing if it was not asked for.
    fn values(&self, column: Column) -> &[u64] {
        &self.columns[column as usize]
    }

    /// One value.
    #[inline]
    pub fn get(&self, column: Column, row: usize) -> u64 {
        self.column(column).get(row).copied().unwrap_or(0)
    }

    pub(crate) fn push(&mut self, row: &[u64; COUNT]) {
        for (column, &value) in self.columns.iter_mut().zip(row) {
            column.push(value);
        }
        self.count += 1;
    }

    /// Whether the columns that were read are such as a log's blocks have them.
    pub(crate) fn are_within(&self, bounds: &Bounds) -> bool {
        let below = |column, end| self.values(column).iter().all(|&value| value < end);
        let to = |column, last| self.values(column).iter().all(|&value| value <= last);
        let pairs = |one, other| self.values(one).iter().zip(self.values(other));
        to(Column::Born, bounds.events)
            && self
                .values(Column::Died)
                .iter()
                .all(|&died| died <= bounds.events || died == NEVER)
            && pairs(Column::Born, Column::Died).all(|(born, died)| born <= died)
            && pairs(Column::ChainAge, Column::Born).all(|(age, born)| age <= born)
            && below(Column::Stack, bounds.stacks)
            && to(Column::ReleaseStack, bounds.stacks)
            && below(Column::Thread, bounds.threads)
            && below(Column::Releaser, bounds.threads)
            && below(Column::Scope, bounds.scopes)
    }

    pub(crate) fn clear(&mut self) {
        self.columns.iter_mut().for_each(Vec::clear);
        self.count = 0;
    }
}

/// How many a table has of what rows name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub events: u64,
    pub stacks: u64,
    pub threads: u64,
    pub scopes: u64,
}

/// Where a chunk lies, and between which values its rows are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    pub(crate) piece: Piece,
    /// Rows.
    pub rows: u64,
    /// Whether its blocks never went.
    pub is_live: bool,
    /// The first and last event at which one came.
    pub born: (u64, u64),
    /// The same of going.
    pub died: (u64, u64),
    /// The smallest and largest size.
    pub size: (u64, u64),
}

impl Extent {
    /// Whether a block of it may be live after this event.
    pub fn may_live_at(&self, event: u64) -> bool {
        self.born.0 <= event && event < self.died.1
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        self.piece.put(out);
        let numbers = [
            self.rows,
            self.is_live.into(),
            self.born.0,
            self.born.1,
            self.died.0,
            self.died.1,
            self.size.0,
            self.size.1,
        ];
        numbers.iter().for_each(|&number| put_var(out, number));
    }

    pub(crate) fn read(bytes: &mut Bytes) -> Option<Self> {
        Some(Self {
            piece: Piece::read(bytes)?,
            rows: bytes.var().filter(|&rows| rows <= CHUNK_ROWS as u64)?,
            is_live: bytes.var()? != 0,
            born: (bytes.var()?, bytes.var()?),
            died: (bytes.var()?, bytes.var()?),
            size: (bytes.var()?, bytes.var()?),
        })
    }
}

/// Packs rows, all of which went or none of which did.
///
/// ```text
/// chunk := length:varint of each column, the columns, eight bytes of slack
/// ```
pub(crate) fn put(rows: &Rows, is_live: bool, out: &mut Vec<u8>) {
    let mut packed = Vec::new();
    let mut columns = Vec::new();
    for column in ALL {
        let before = columns.len();
        packed.clear();
        to_small(rows, column, is_live, &mut packed);
        pack(&packed, &mut columns);
        put_var(out, (columns.len() - before) as u64);
    }
    out.append(&mut columns);
    out.extend_from_slice(&[0; SLACK]);
}

/// The numbers that are packed for a column: smaller ones than its own.
fn to_small(rows: &Rows, column: Column, is_live: bool, out: &mut Vec<u64>) {
    let values = rows.column(column);
    let other = |column: Column| rows.column(column);
    match column {
        Column::Died if is_live => {}
        Column::Died => out.extend(differences(values)),
        Column::Born if is_live => out.extend(differences(values)),
        Column::Born => out.extend(
            values
                .iter()
                .zip(other(Column::Died))
                .map(|(born, died)| died - born),
        ),
        Column::Address => out.extend(values.iter().map(|value| value.rotate_right(4))),
        Column::Releaser => out.extend(
            values
                .iter()
                .zip(other(Column::Thread))
                .map(|(one, other)| one ^ other),
        ),
        _ => out.extend_from_slice(values),
    }
}

fn differences(values: &[u64]) -> impl Iterator<Item = u64> {
    let before = std::iter::once(0).chain(values.iter().copied());
    values
        .iter()
        .zip(before)
        .map(|(value, before)| value.wrapping_sub(before))
}

/// What a column's own numbers are made with.
fn needs(column: Column, is_live: bool) -> Option<Column> {
    match column {
        Column::Born if !is_live => Some(Column::Died),
        Column::Releaser => Some(Column::Thread),
        _ => None,
    }
}

/// Reads the columns that are wanted; nothing if they are not what was written.
pub(crate) fn read(file: &[u8], extent: &Extent, wanted: Columns, rows: &mut Rows) -> Option<()> {
    rows.clear();
    let chunk = file.get(extent.piece.range()?)?;
    let count = extent.rows as usize;
    let mut bytes = Bytes(chunk);
    let mut lengths = [0; COUNT];
    for length in &mut lengths {
        *length = usize::try_from(bytes.var()?).ok()?;
    }
    let mut all = wanted;
    for column in ALL.into_iter().filter(|&column| wanted.has(column)) {
        all = needs(column, extent.is_live).map_or(all, |other| all.with(other));
    }
    for (column, length) in ALL.into_iter().zip(lengths) {
        let mut packed = bytes;
        bytes.take(length)?;
        if !all.has(column) {
            continue;
        }
        let mut values = std::mem::take(&mut rows.columns[column as usize]);
        let is_whole = match column {
            Column::Died if extent.is_live => {
                values.resize(count, NEVER);
                Some(())
            }
            _ => unpack(&mut packed, count, &mut values),
        };
        rows.columns[column as usize] = values;
        is_whole?;
        from_small(rows, column, extent.is_live);
    }
    rows.count = count;
    Some(())
}

fn from_small(rows: &mut Rows, column: Column, is_live: bool) {
    let other =
        needs(column, is_live).map(|other| std::mem::take(&mut rows.columns[other as usize]));
    let values = &mut rows.columns[column as usize];
    match (column, &other) {
        (Column::Died, _) if is_live => {}
        (Column::Died | Column::Born, None) => {
            let mut sum = 0u64;
            for value in values {
                sum = sum.wrapping_add(*value);
                *value = sum;
            }
        }
        (Column::Born, Some(died)) => {
            for (value, died) in values.iter_mut().zip(died) {
                *value = died.wrapping_sub(*value);
            }
        }
        (Column::Address, _) => values
            .iter_mut()
            .for_each(|value| *value = value.rotate_left(4)),
        (Column::Releaser, Some(thread)) => {
            for (value, thread) in values.iter_mut().zip(thread) {
                *value ^= thread;
            }
        }
        _ => {}
    }
    if let (Some(other), Some(values)) = (needs(column, is_live), other) {
        rows.columns[other as usize] = values;
    }
}
