//! Questions to a desk that are no command's: each says what it is a matter of, and makes
//! of it what it likes.

use memlog_answers::Of;
use memlog_format::meta::Lack;
use memlog_query::Expr;

use super::ask::{Failure, Question, Told};
use super::desk::Desk;
use crate::names::machine;
use crate::rests::Rests;
use crate::screen::Screen;

/// What a question is a matter of: not every import knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matter {
    /// Single blocks, with their addresses and times.
    Blocks,
    /// Addresses.
    Addresses,
    /// Groups of blocks, with the times at which they came.
    Groups,
    /// What groups of blocks come to.
    Sums,
    /// And how many blocks those are.
    Numbers,
    /// The heap over time.
    Course,
    /// The same drawn over a clock.
    Curves,
    /// What the program mapped itself.
    Mappings,
    /// Which block grew out of which.
    Chains,
    /// Whose they are.
    Threads,
}

impl Matter {
    fn of(self) -> Of {
        match self {
            Self::Mappings => Of::Mappings,
            _ => Of::Blocks,
        }
    }

    fn rests(self) -> Rests {
        use Lack::{Addresses, Counts, Course, Gone, Live, Order, Reallocs, Sizes, Threads, Times};
        let rests = Rests::from(true);
        match self {
            Self::Blocks => rests.on(&[Sizes, Counts, Addresses, Times, Order, Gone]),
            Self::Addresses => rests.on(&[Sizes, Counts, Addresses, Gone]),
            Self::Groups => rests.on(&[Times, Order, Gone, Course, Live]),
            Self::Sums => rests.on(&[Gone]),
            Self::Numbers => rests.on(&[Gone, Counts]),
            Self::Course => rests.on(&[Course, Live]),
            Self::Curves => rests.on(&[Course, Live, Times]),
            Self::Mappings => rests.on_mappings(),
            Self::Chains => rests.on(&[Reallocs, Order]),
            Self::Threads => rests.on(&[Threads]),
        }
    }
}

impl Desk<'_, '_> {
    /// What machine its program was for.
    pub fn machine(&self) -> Option<&'static str> {
        self.log().start().map(|start| machine(start).name())
    }

    /// What brk held at the moments when the kernel was asked for all mappings, from its
    /// first byte to behind its last: where glibc's main heap is.
    pub fn break_area(&self) -> Option<(u64, u64)> {
        let residents = self.log().censuses().iter();
        let mapped = residents.flat_map(|resident| &resident.mapped);
        let areas = mapped.filter(|mapped| mapped.path == b"[heap]");
        let areas = areas.map(|mapped| {
            let end_kb = mapped.low_kb.saturating_add(mapped.length_kb);
            (mapped.low_kb, end_kb)
        });
        let wider = |one: (u64, u64), other: (u64, u64)| (one.0.min(other.0), one.1.max(other.1));
        let (low_kb, end_kb) = areas.reduce(wider)?;
        Some((low_kb.saturating_mul(1024), end_kb.saturating_mul(1024)))
    }

    /// Whether the log's source knew that.
    pub fn knows(&self, matter: Matter) -> bool {
        self.check(matter).is_ok()
    }

    /// A sentence where it did not.
    pub fn check(&self, matter: Matter) -> anyhow::Result<()> {
        matter.rests().check(self.log())
    }

    /// What is made of the blocks, or mappings, that a filter lets through.
    pub fn told<A>(
        &self,
        matter: Matter,
        filter: Option<&Expr>,
        make: impl FnOnce(&Told) -> Result<A, Failure>,
    ) -> Result<A, Failure> {
        let rests = matter.rests();
        rests.clone().filtered(filter).check(self.log())?;
        let question = Question::of(filter.cloned());
        let asked = (matter.of(), &question);
        let (answer, _) = self.answer(asked, &rests, Screen::plain(), make)?;
        Ok(answer)
    }
}
