//! Pieces of answers, for who puts them together elsewhere: scripts.

use memlog_answers::{Choice, Of, Test, Unanswered, needs_names, test_of};
use memlog_export::flame::Flame;
use memlog_query::Expr;

use super::exported::allocated;
use super::{Desk, Failure};
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

    /// Chosen blocks as a flame graph, whose widths go by bytes.
    pub fn flame(&self, choice: &Choice, title: &str) -> Result<Flame, Failure> {
        let world = self.world(Of::Blocks, true)?;
        Ok(Flame {
            heading: vec![title.to_owned()],
            ..allocated(world, choice, "allocated")?
        })
    }
}
