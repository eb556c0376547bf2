//! What happened in each tick in which anything did; and from events to time.
//!
//! The log's streams agree on time only as far as addresses that they share make them.
//! Here time never goes back: an event is in the latest tick of any before it.

use crate::pack::{Bytes, SLACK, pack, put_text, put_var, unpack};

/// A tick in which something came or went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Its first event.
    pub event: u64,
    /// When.
    pub tick: u64,
    /// How many blocks came.
    pub allocations: u64,
    /// Their bytes.
    pub allocated_bytes: u64,
    /// How many went.
    pub releases: u64,
    /// Their bytes.
    pub released_bytes: u64,
    /// Live at its end.
    pub live_bytes: u64,
    /// Live at its end.
    pub live_blocks: u64,
    /// The most that were live in it.
    pub high_bytes: u64,
}

const FIELDS: usize = 9;
/// Steps that are packed together.
const GROUP: usize = 4096;

impl Step {
    fn to_words(self) -> [u64; FIELDS] {
        [
            self.event,
            self.tick,
            self.allocations,
            self.allocated_bytes,
            self.releases,
            self.released_bytes,
            self.live_bytes,
            self.live_blocks,
            self.high_bytes,
        ]
    }

    fn of_words(words: [u64; FIELDS]) -> Self {
        let [
            event,
            tick,
            allocations,
            allocated_bytes,
            releases,
            released_bytes,
            live_bytes,
            live_blocks,
            high_bytes,
        ] = words;
        Self {
            event,
            tick,
            allocations,
            allocated_bytes,
            releases,
            released_bytes,
            live_bytes,
            live_blocks,
            high_bytes,
        }
    }
}

/// Takes steps down.
#[derive(Default)]
pub(crate) struct StepsWriter {
    open: Option<Step>,
    group: Vec<Step>,
    packed: Vec<u8>,
    groups: u64,
    live: (u64, u64),
}

impl StepsWriter {
    /// What is live before the first event.
    pub(crate) fn begin(&mut self, bytes: u64, blocks: u64) {
        self.live = (bytes, blocks);
    }

    #[inline]
    fn at(&mut self, event: u64, tick: u64) -> &mut Step {
        if self.open.is_none_or(|step| tick > step.tick) {
            self.close();
            self.open = Some(Step {
                event,
                tick,
                high_bytes: self.live.0,
                ..Step::default()
            });
        }
        self.open.get_or_insert_default()
    }

    #[inline]
    pub(crate) fn came(&mut self, event: u64, tick: u64, bytes: u64) {
        // The step before ends without it.
        self.at(event, tick);
        self.live = (self.live.0.saturating_add(bytes), self.live.1 + 1);
        let live = self.live.0;
        let step = self.open.get_or_insert_default();
        step.allocations += 1;
        step.allocated_bytes = step.allocated_bytes.saturating_add(bytes);
        step.high_bytes = step.high_bytes.max(live);
    }

    #[inline]
    pub(crate) fn went(&mut self, event: u64, tick: u64, bytes: u64) {
        let step = self.at(event, tick);
        step.releases += 1;
        step.released_bytes = step.released_bytes.saturating_add(bytes);
        self.live = (
            self.live.0.saturating_sub(bytes),
            self.live.1.saturating_sub(1),
        );
    }

    /// An event that changed nothing.
    pub(crate) fn passed(&mut self, event: u64, tick: u64) {
        self.at(event, tick);
    }

    fn close(&mut self) {
        if let Some(mut step) = self.open.take() {
            (step.live_bytes, step.live_blocks) = self.live;
            self.group.push(step);
            if self.group.len() == GROUP {
                self.pack_group();
            }
        }
    }

    fn pack_group(&mut self) {
        let mut bytes = Vec::new();
        let mut column = Vec::with_capacity(GROUP);
        for field in 0..FIELDS {
            column.clear();
            let values = self.group.iter().map(|step| step.to_words()[field]);
            match field {
                // Both rise.
                0 | 1 => {
                    let mut before = 0;
                    column
                        .extend(values.map(|value| value - std::mem::replace(&mut before, value)));
                }
                _ => column.extend(values),
            }
            pack(&column, &mut bytes);
        }
        bytes.extend_from_slice(&[0; SLACK]);
        put_var(&mut self.packed, self.group.len() as u64);
        put_text(&mut self.packed, &bytes);
        self.groups += 1;
        self.group.clear();
    }

    pub(crate) fn finish(mut self, out: &mut Vec<u8>) {
        self.close();
        if !self.group.is_empty() {
            self.pack_group();
        }
        put_var(out, self.groups);
        out.append(&mut self.packed);
    }
}

/// The steps of a log.
#[derive(Clone, Debug, Default)]
pub struct Steps<'b> {
    groups: Vec<(usize, &'b [u8])>,
    events: Vec<u64>,
    ticks: Vec<u64>,
    /// Of every 2^`shift` events the step of the first.
    coarse: Vec<u32>,
    shift: u32,
}

/// So many events have one place in the coarse index at least, as a power of two.
const LEAST_SHIFT: u32 = 10;

impl<'b> Steps<'b> {
    pub(crate) fn read(bytes: &mut Bytes<'b>) -> Option<Self> {
        let mut steps = Self::default();
        for _ in 0..bytes.var()? {
            let count = usize::try_from(bytes.var()?)
                .ok()
                .filter(|&count| count <= GROUP)?;
            let group = bytes.text()?;
            let mut packed = Bytes(group);
            for column in [&mut steps.events, &mut steps.ticks] {
                let first = column.len();
                unpack(&mut packed, count, column)?;
                let mut sum = 0u64;
                for value in column.get_mut(first..)? {
                    sum = sum.checked_add(*value)?;
                    *value = sum;
                }
            }
            steps.groups.push((count, group));
        }
        let rises = |values: &[u64]| values.is_sorted();
        if !rises(&steps.events) || !rises(&steps.ticks) {
            return None;
        }
        steps.make_coarse();
        Some(steps)
    }

    /// No larger than the steps, whatever a file says of events.
    fn make_coarse(&mut self) {
        let last = self.events.last().copied().unwrap_or(0);
        let most = 4 * self.events.len() as u64 + 1024;
        let mut shift = LEAST_SHIFT;
        while last >> shift > most {
            shift += 1;
        }
        let mut step = 0;
        for place in 0..=last >> shift {
            while self
                .events
                .get(step + 1)
                .is_some_and(|&event| event <= place << shift)
            {
                step += 1;
            }
            self.coarse.push(step as u32);
        }
        self.shift = shift;
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The step of an event; that of before the first is the first.
    #[inline]
    pub fn step_of(&self, event: u64) -> usize {
        let place = (event >> self.shift) as usize;
        let start = self.coarse.get(place).or(self.coarse.last());
        let mut step = start.map_or(0, |&step| step as usize);
        while self.events.get(step + 1).is_some_and(|&next| next <= event) {
            step += 1;
        }
        step
    }

    /// When an event was; 0 for what came before the first.
    #[inline]
    pub fn tick_of(&self, event: u64) -> u64 {
        match self.events.first() {
            Some(&first) if event >= first => self.ticks[self.step_of(event)],
            _ => 0,
        }
    }

    /// The fewest ticks between two steps: a clock that goes in larger steps than ticks
    /// says no more than that.
    pub fn grain(&self) -> u64 {
        let apart = self.ticks.windows(2).map(|pair| pair[1] - pair[0]);
        apart.filter(|&ticks| ticks > 0).min().unwrap_or(1)
    }

    /// The last event of a tick or of those before it.
    pub fn event_at(&self, tick: u64) -> u64 {
        let after = self.ticks.partition_point(|&other| other <= tick);
        match self.events.get(after) {
            Some(event) => event.saturating_sub(1),
            None => u64::MAX - 1,
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Step> {
        self.groups.iter().flat_map(|&(count, group)| {
            let mut columns: [Vec<u64>; FIELDS] = Default::default();
            let mut bytes = Bytes(group);
            let whole = columns
                .iter_mut()
                .try_for_each(|column| unpack(&mut bytes, count, column));
            for rising in &mut columns[..2] {
                let mut sum = 0u64;
                for value in rising {
                    sum = sum.wrapping_add(*value);
                    *value = sum;
                }
            }
            let count = whole.map_or(0, |()| count);
            (0..count).map(move |index| {
                Step::of_words(std::array::from_fn(|field| columns[field][index]))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_the_tick_of_their_step() {
        let mut writer = StepsWriter::default();
        writer.begin(100, 1);
        let mut naive = Vec::new();
        let (mut event, mut tick) = (0, 3);
        for round in 0..20_000u64 {
            tick += u64::from(round % 7 == 0) * (round % 5);
            for _ in 0..round % 4 {
                event += 1;
                naive.push(tick);
                match event % 2 {
                    0 => writer.went(event, tick, 10),
                    _ => writer.came(event, tick, 10),
                }
            }
        }
        let mut bytes = Vec::new();
        writer.finish(&mut bytes);
        let mut reader = Bytes(&bytes);
        let steps = Steps::read(&mut reader).expect("what was written");
        assert!(reader.0.is_empty());
        for (event, &tick) in (1..).zip(&naive) {
            assert_eq!(steps.tick_of(event), tick);
        }
        assert_eq!(steps.tick_of(0), 0);
        for tick in [0, 3, 4, 1000, tick] {
            let before = naive.iter().filter(|&&other| other <= tick).count() as u64;
            let found = steps.event_at(tick);
            assert_eq!(found.min(event), before, "{tick}");
        }
        let all: Vec<_> = steps.iter().collect();
        assert_eq!(all.len(), steps.len());
        let events: u64 = all
            .iter()
            .map(|step| step.allocations + step.releases)
            .sum();
        assert_eq!(events, event);
        assert_eq!(all.last().map(|step| step.live_blocks), Some(1 + event % 2));
        assert!(all.iter().all(|step| step.high_bytes <= 110));
    }
}
