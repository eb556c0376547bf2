//! Pieces of answers, for who puts them together elsewhere: scripts.

use memlog_analysis::{Held, Measure};
use memlog_answers::{Choice, Of, Test, Unanswered, held_of, needs_names, test_of};
use memlog_export::flame::{Flame, Metric, Series};
use memlog_query::Expr;

use super::{Desk, Failure};
use crate::calls::outermost_at_main;
use crate::rests::Rests;
use crate::world::unanswered;

impl Desk<'_, '_> {
    /// What a filter asks of rows.
    pub fn test(&self, of: Of, filter: &Expr) -> Result<Test, Failure> {
        Rests::default().filtered(Some(filter)).check(self.log())?;
        let world = self.world(of, needs_names(filter))?;
        match test_of(filter, world, self.start_unix_ns()) {
            Ok(test) => Ok(test),
            Err(Unanswered::Damaged) => Err(Failure::Damaged),
            Err(why) => Err(Failure::Said(unanswered("filter", &why))),
        }
    }

    /// When recording began, in nanoseconds since 1970.
    pub fn start_unix_ns(&self) -> u64 {
        self.log().start().map_or(0, |start| start.wall_ns)
    }

    /// Chosen blocks as a flame graph, whose widths go by bytes.
    pub fn flame(&self, choice: &Choice, title: &str) -> Result<Flame, Failure> {
        let world = self.world(Of::Blocks, true)?;
        let (nodes, end_of) = outermost_at_main(world);
        let mut own = vec![Held::default(); nodes.len()];
        for (stack, held) in held_of(world, choice)?.into_iter().enumerate() {
            if let Some(own) = end_of(stack).and_then(|end| own.get_mut(end)) {
                *own = own.plus(held);
            }
        }
        Ok(Flame {
            heading: vec![title.to_owned()],
            names: world.names.clone(),
            nodes,
            series: vec![Series {
                thing: "allocation",
                own,
            }],
            metrics: vec![Metric {
                key: "allocated",
                name: "allocated".to_owned(),
                series: 0,
                measure: Measure::Bytes,
            }],
            ..Flame::default()
        })
    }
}
