//! Moments as events.

use std::sync::Arc;

use memlog_query::{Moment, MomentField, Span};
use memlog_table::Column;

use super::{Maker, NOTHING, Unanswered};
use crate::choice::Test;

/// A place in time, between events.
#[derive(Clone, Copy)]
pub(super) struct Instant {
    /// The first event that is not before it.
    pub(super) first: u64,
    /// The last that is not after it.
    pub(super) last: u64,
}

impl Maker<'_, '_, '_> {
    pub(super) fn moment(
        &mut self,
        field: MomentField,
        span: &Span<Moment>,
    ) -> Result<Test, Unanswered> {
        let Some((from, to)) = self.events(span)? else {
            return Ok(NOTHING);
        };
        let is_in = |event: u64| (from..=to).contains(&event);
        Ok(match field {
            MomentField::Born => Test::Between(Column::Born, from, to),
            MomentField::Died => Test::Died(from, to),
            MomentField::GroupFirst => self.group(|sums| is_in(sums.born.0))?,
            MomentField::GroupLast => self.group(|sums| is_in(sums.born.1))?,
            MomentField::GroupPeak => {
                let peaks = self.world.peaks();
                Test::Stack(Arc::new(
                    peaks.iter().map(|&(_, event)| is_in(event)).collect(),
                ))
            }
        })
    }

    /// The events of a span, both ends included.
    fn events(&self, span: &Span<Moment>) -> Result<Option<(u64, u64)>, Unanswered> {
        const LAST: u64 = u64::MAX - 1;
        let range = match span {
            Span::AtLeast(moment) => Some((self.instant(moment)?.first, LAST)),
            Span::MoreThan(moment) => Some((self.instant(moment)?.last.saturating_add(1), LAST)),
            Span::AtMost(moment) => Some((0, self.instant(moment)?.last)),
            Span::LessThan(moment) => self.instant(moment)?.first.checked_sub(1).map(|to| (0, to)),
            Span::Between(from, to) => Some((self.instant(from)?.first, self.instant(to)?.last)),
        };
        Ok(range.filter(|(from, to)| from <= to))
    }

    pub(super) fn instant(&self, moment: &Moment) -> Result<Instant, Unanswered> {
        let world = self.world;
        let at = |event: u64| Instant {
            first: event,
            last: event,
        };
        let end_tick = world.table.end_tick();
        Ok(match moment {
            Moment::SinceStartNs(ns) => self.at_ns((*ns).into()),
            Moment::Share(share) => {
                let ns = u128::from(end_tick) * u128::from(world.tick_ns);
                self.at_ns(share.of(u64::try_from(ns).unwrap_or(u64::MAX)).into())
            }
            Moment::UnixNs(ns) => match ns.checked_sub(self.start_unix_ns) {
                Some(ns) => self.at_ns(ns.into()),
                // Before any event.
                None => at(0),
            },
            Moment::Start => self.at_ns(0),
            Moment::End => Instant {
                first: world.end(),
                last: u64::MAX - 1,
            },
            Moment::RssPeak => at(world.moments.rss_peak),
            Moment::HeapPeak => at(world.moments.heap_peak),
            Moment::Mark(name) => {
                let mut marks = world.table.marks().iter();
                let mark = marks.find(|mark| mark.name == name.as_bytes());
                let mark = mark.ok_or_else(|| Unanswered::NoMark(name.clone()))?;
                // It is between two events.
                Instant {
                    first: mark.event + 1,
                    last: mark.event,
                }
            }
        })
    }

    fn at_ns(&self, ns: u128) -> Instant {
        let tick_ns = u128::from(self.world.tick_ns.max(1));
        let tick = |tick: u128| u64::try_from(tick).unwrap_or(u64::MAX);
        let steps = self.world.table.steps();
        let before = tick(ns.div_ceil(tick_ns)).checked_sub(1);
        Instant {
            // What came before the log came at its start.
            first: before.map_or(0, |before| steps.event_at(before) + 1),
            last: steps.event_at(tick(ns / tick_ns)),
        }
    }
}
