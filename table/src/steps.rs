//! The ticks in which anything happened: from events to time, and back.
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
}

/// Steps that are packed together.
const GROUP: usize = 4096;

/// Takes steps down. Both their numbers rise, so what is packed is by how much.
#[derive(Default)]
pub(crate) struct StepsWriter {
    last: Option<Step>,
    events: Vec<u64>,
    ticks: Vec<u64>,
    packed: Vec<u8>,
    groups: u64,
}

impl StepsWriter {
    /// An event.
    #[inline]
    pub(crate) fn at(&mut self, event: u64, tick: u64) {
        if self.last.is_none_or(|step| tick > step.tick) {
            self.add(Step { event, tick });
        }
    }

    #[cold]
    fn add(&mut self, step: Step) {
        let before = self.last.replace(step).unwrap_or_default();
        self.events.push(step.event - before.event);
        self.ticks.push(step.tick - before.tick);
        if self.events.len() == GROUP {
            self.pack_group();
        }
    }

    fn pack_group(&mut self) {
        let mut bytes = Vec::new();
        put_var(&mut self.packed, self.events.len() as u64);
        for column in [&mut self.events, &mut self.ticks] {
            pack(column, &mut bytes);
            column.clear();
        }
        bytes.extend_from_slice(&[0; SLACK]);
        put_text(&mut self.packed, &bytes);
        self.groups += 1;
    }

    pub(crate) fn finish(mut self, out: &mut Vec<u8>) {
        if !self.events.is_empty() {
            self.pack_group();
        }
        put_var(out, self.groups);
        out.append(&mut self.packed);
    }
}

/// The steps of a log.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    events: Vec<u64>,
    ticks: Vec<u64>,
    /// Of every 2^`shift` events the step of the first.
    coarse: Vec<u32>,
    shift: u32,
}

/// So many events have one place in the coarse index at least, as a power of two.
const LEAST_SHIFT: u32 = 10;

impl Steps {
    pub(crate) fn read(bytes: &mut Bytes) -> Option<Self> {
        let mut steps = Self::default();
        for _ in 0..bytes.var()? {
            let count = usize::try_from(bytes.var()?).ok();
            let count = count.filter(|&count| count <= GROUP)?;
            let mut packed = Bytes(bytes.text()?);
            for column in [&mut steps.events, &mut steps.ticks] {
                let first = column.len();
                let mut sum = column.last().copied().unwrap_or(0);
                unpack(&mut packed, count, column)?;
                for value in column.get_mut(first..)? {
                    sum = sum.checked_add(*value)?;
                    *value = sum;
                }
            }
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
        let first = start.map_or(0, |&step| step as usize);
        // Where time is fine nearly every event is a step of its own.
        let next = self.coarse.get(place + 1).map(|&step| step as usize + 1);
        let end = next.unwrap_or(self.events.len()).min(self.events.len());
        let near = self.events.get(first + 1..end).unwrap_or(&[]);
        first + near.partition_point(|&next| next <= event)
    }

    /// When an event was; 0 for what came before the first.
    #[inline]
    pub fn tick_of(&self, event: u64) -> u64 {
        match self.events.first() {
            Some(&first) if event >= first => self.ticks[self.step_of(event)],
            _ => 0,
        }
    }

    /// Of those in each so many ticks only the first: what comes after it is in it.
    pub fn thinned(&self, ticks: u64) -> Self {
        let mut thinned = Self::default();
        let mut last = None;
        for Step { event, tick } in self.iter() {
            let place = tick / ticks.max(1);
            if last.replace(place) != Some(place) {
                thinned.events.push(event);
                thinned.ticks.push(tick);
            }
        }
        thinned.make_coarse();
        thinned
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
        let steps = self.events.iter().zip(&self.ticks);
        steps.map(|(&event, &tick)| Step { event, tick })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_the_tick_of_their_step() {
        let mut writer = StepsWriter::default();
        let mut naive = Vec::new();
        let (mut event, mut tick) = (0, 3);
        for round in 0..20_000u64 {
            tick += u64::from(round % 7 == 0) * (round % 5);
            for _ in 0..round % 4 {
                event += 1;
                naive.push(tick);
                writer.at(event, tick);
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
        let mut ticks = naive.clone();
        ticks.dedup();
        assert_eq!(all.iter().map(|step| step.tick).collect::<Vec<_>>(), ticks);
        assert!(
            all.iter()
                .all(|step| naive[step.event as usize - 1] == step.tick)
        );
        assert_eq!((steps.len(), steps.grain()), (ticks.len(), 1));
    }

    /// With a step for nearly every event, with one for very many, and before the first.
    #[test]
    fn a_step_is_found_however_many_there_are() {
        for (per_step, steps) in [(1, 5000), (3, 5000), (1_000_000, 9)] {
            let mut writer = StepsWriter::default();
            for step in 0..steps {
                writer.at(7 + step * per_step, 100 + 3 * step);
            }
            let mut bytes = Vec::new();
            writer.finish(&mut bytes);
            let all = Steps::read(&mut Bytes(&bytes)).expect("what was written");
            for event in (0..20).chain((0..steps).map(|step| step * per_step)) {
                let naive = all.iter().take_while(|step| step.event <= event).count();
                assert_eq!(all.step_of(event), naive.saturating_sub(1), "{event}");
            }
            let last = 7 + steps * per_step + 5000;
            assert_eq!(all.step_of(last), steps as usize - 1);
        }
    }

    #[test]
    fn thinned_steps_are_the_first_of_their_ticks() {
        let mut writer = StepsWriter::default();
        let ticks = [0, 3, 9, 10, 11, 19, 35, 36, 70];
        for (event, tick) in (1..).zip(ticks) {
            writer.at(event, tick);
        }
        let mut bytes = Vec::new();
        writer.finish(&mut bytes);
        let all = Steps::read(&mut Bytes(&bytes)).expect("what was written");
        let told = |steps: Steps| steps.iter().map(|step| step.tick).collect::<Vec<_>>();
        assert_eq!(told(all.thinned(10)), [0, 10, 35, 70]);
        assert_eq!(all.thinned(10).step_of(6), 1);
        assert_eq!(told(all.thinned(1)), ticks);
        assert_eq!(told(all.thinned(0)), ticks);
        assert!(told(Steps::default().thinned(10)).is_empty());
    }
}
