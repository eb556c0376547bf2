//! The ticks in which anything happened: from events to time, and back.
//!
//! The log's streams agree on time only as far as addresses that they share make them.
//! Here time never goes back: an event is in the latest tick of any before it.
//!
//! With fine time nearly every event is a step. So steps go into the file as they come,
//! in chunks, and where they are many they are found there (`packed`, by `line`). Few are
//! taken into memory (`plain`). `index` says where to look for an event in either.

mod index;
mod line;
mod packed;
mod plain;
#[cfg(test)]
mod tests;

use self::packed::Packed;
use self::plain::Plain;
use crate::layout::Piece;
use crate::pack::{Bytes, put_var};

pub(crate) use self::packed::put;

/// A tick in which something came or went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Its first event.
    pub event: u64,
    /// When.
    pub tick: u64,
}

/// Steps that are written together.
const CHUNK_STEPS: usize = 8192;
/// So many may take 16 bytes of memory each. Of a coarse clock's 4 ms they are more than
/// an hour in which no tick was without an event.
const FEW: usize = 1 << 20;

/// Gathers steps until a chunk is full.
#[derive(Default)]
pub(crate) struct Gatherer {
    last: Option<u64>,
    steps: Vec<Step>,
}

impl Gatherer {
    /// An event; a chunk that is full with it.
    #[inline]
    pub(crate) fn at(&mut self, event: u64, tick: u64) -> Option<Vec<Step>> {
        match self.last.is_none_or(|last| tick > last) {
            true => self.add(Step { event, tick }),
            false => None,
        }
    }

    fn add(&mut self, step: Step) -> Option<Vec<Step>> {
        self.last = Some(step.tick);
        self.steps.push(step);
        (self.steps.len() == CHUNK_STEPS).then(|| self.rest())
    }

    /// What is in no chunk yet.
    pub(crate) fn rest(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.steps)
    }
}

/// Where steps lie in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepsChunk {
    pub piece: Piece,
    /// How many.
    pub steps: u64,
}

/// Appends where all of them lie.
pub(crate) fn put_list(chunks: &[StepsChunk], out: &mut Vec<u8>) {
    put_var(out, chunks.len() as u64);
    for chunk in chunks {
        chunk.piece.put(out);
        put_var(out, chunk.steps);
    }
}

fn read_list(bytes: &mut Bytes) -> Option<Vec<StepsChunk>> {
    let (mut chunks, mut end) = (Vec::new(), 0);
    for _ in 0..bytes.var()? {
        let piece = Piece::read(bytes)?;
        // As with rows, what they take is bound by the file.
        end = piece.end_behind(end)?;
        let steps = bytes.var()?;
        chunks.push(StepsChunk { piece, steps });
    }
    Some(chunks)
}

/// The steps of a log.
#[derive(Clone, Debug, Default)]
pub struct Steps<'b>(Form<'b>);

#[derive(Clone, Debug)]
enum Form<'b> {
    Plain(Plain),
    Packed(Packed<'b>),
}

impl Default for Form<'_> {
    fn default() -> Self {
        Self::Plain(Plain::default())
    }
}

impl<'b> Steps<'b> {
    pub(crate) fn read(bytes: &mut Bytes, file: &'b [u8]) -> Option<Self> {
        Self::read_form(bytes, file, FEW)
    }

    /// Those that are no more than so many are plain.
    fn read_form(bytes: &mut Bytes, file: &'b [u8], few: usize) -> Option<Self> {
        let packed = Self(Form::Packed(Packed::read(&read_list(bytes)?, file)?));
        Some(match packed.len() <= few {
            true => Self(Form::Plain(Plain::new(packed.iter()))),
            false => packed,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Plain(plain) => plain.events.len(),
            Form::Packed(packed) => packed.count,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The step of an event; that of before the first is the first.
    #[inline]
    pub fn step_of(&self, event: u64) -> usize {
        match &self.0 {
            Form::Plain(plain) => plain.step_of(event),
            Form::Packed(packed) => packed.step_of(event),
        }
    }

    /// When an event was; 0 for what came before the first.
    #[inline]
    pub fn tick_of(&self, event: u64) -> u64 {
        match &self.0 {
            Form::Plain(plain) => plain.tick_of(event),
            Form::Packed(packed) => packed.tick_of(event),
        }
    }

    /// Of those in each so many ticks only the first: what comes after it is in it.
    pub fn thinned(&self, ticks: u64) -> Steps<'static> {
        let (ticks, mut last) = (ticks.max(1), None);
        let is_first = |step: &Step| {
            let place = step.tick / ticks;
            last.replace(place) != Some(place)
        };
        Steps(Form::Plain(match &self.0 {
            Form::Plain(_) => Plain::new(self.iter().filter(is_first)),
            Form::Packed(packed) => Plain::new(packed.thinned(ticks).filter(is_first)),
        }))
    }

    /// The fewest ticks between two steps: a clock that goes in larger steps than ticks
    /// says no more than that.
    pub fn grain(&self) -> u64 {
        let grain = match &self.0 {
            Form::Plain(plain) => plain.grain(),
            Form::Packed(packed) => packed.grain(),
        };
        grain.unwrap_or(1)
    }

    /// The last event of a tick or of those before it.
    pub fn event_at(&self, tick: u64) -> u64 {
        let after = match &self.0 {
            Form::Plain(plain) => plain.after(tick),
            Form::Packed(packed) => packed.after(tick),
        };
        after.map_or(u64::MAX - 1, |event| event.saturating_sub(1))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Step> {
        (0..self.len()).map(|at| match &self.0 {
            Form::Plain(plain) => Step {
                event: plain.events[at],
                tick: plain.ticks[at],
            },
            Form::Packed(packed) => packed.step(at),
        })
    }
}
