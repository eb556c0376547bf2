//! From the tree of a filter to what rows are asked: all that only a log can say is
//! put in, such as when the heap was largest, and which stacks have a function.

mod frames;
mod mapped;
mod moments;

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use foldhash::fast::RandomState;
use memlog_query::{
    Amount, CountField, Expr, Field, Flag, Length, LengthField, Matcher, OrderedField, SizeField,
    Span, Test as Asked, TextField,
};
use memlog_table::Column;

pub use mapped::in_mappings_of;

use crate::chain::{ChainFacts, ChainTest};
use crate::chains;
use crate::choice::{Choice, Test};
use crate::group::sums_of_stacks;
use crate::place::line_of;
use crate::sums::Sums;
use crate::unanswered::{NO_RELEASE_STACKS, Unanswered, has_release_stacks};
use crate::world::{Of, World};

/// Whether names are looked up for a filter.
pub fn needs_names(expr: &Expr) -> bool {
    match expr {
        Expr::Or(list) | Expr::And(list) => list.iter().any(needs_names),
        Expr::Not(one) => needs_names(one),
        Expr::Test(Asked::Text { field, .. }) => !matches!(
            field,
            TextField::Kind
                | TextField::Thread
                | TextField::FreedBy
                | TextField::LastMark
                | TextField::Scope
        ),
        Expr::Test(Asked::Count { field, .. }) => {
            matches!(field, CountField::Line | CountField::Depth)
        }
        Expr::Test(Asked::FirstMatch(_) | Asked::Flag(Flag::StaticInit)) => true,
        Expr::Test(_) => false,
    }
}

/// What rows are asked for a filter. `start_unix_ns`: when recording began.
pub fn test_of(expr: &Expr, world: &World, start_unix_ns: u64) -> Result<Test, Unanswered> {
    let mut maker = Maker {
        world,
        start_unix_ns,
        chains: None,
        groups: None,
    };
    maker.of(expr)
}

struct Maker<'w, 't, 'b> {
    world: &'w World<'t, 'b>,
    start_unix_ns: u64,
    /// Read once, if at all.
    chains: Option<Arc<HashMap<u64, ChainFacts, RandomState>>>,
    groups: Option<Vec<Sums>>,
}

const NOTHING: Test = Test::Always(false);

impl Maker<'_, '_, '_> {
    fn of(&mut self, expr: &Expr) -> Result<Test, Unanswered> {
        let mut all = |list: &[Expr]| -> Result<Vec<Test>, Unanswered> {
            list.iter().map(|one| self.of(one)).collect()
        };
        Ok(match expr {
            Expr::Or(list) => Test::Any(all(list)?),
            Expr::And(list) => Test::All(all(list)?),
            Expr::Not(one) => Test::Not(Box::new(self.of(one)?)),
            Expr::Test(asked) => self.one(asked)?,
        })
    }

    fn one(&mut self, asked: &Asked) -> Result<Test, Unanswered> {
        let field = asked.field();
        match self.world.of {
            Of::Mappings if !is_of_mappings(field) => return Err(Unanswered::OfBlocks(field)),
            Of::Blocks if access_of(field).is_some() => {
                return Err(Unanswered::OfMappings(field));
            }
            _ => {}
        }
        Ok(match asked {
            Asked::All => Test::Always(true),
            Asked::Size { field, span } => self.size(*field, span.resolved(|bytes| bytes.0))?,
            Asked::Length { field, span } => self.length(*field, span)?,
            Asked::Moment { field, span } => self.moment(*field, span)?,
            Asked::Text {
                field: TextField::FreedFunction | TextField::FreedFile | TextField::FreedModule,
                ..
            }
            | Asked::Count {
                field: CountField::FreedStack,
                ..
            } if !has_release_stacks(self.world)? => return Err(NO_RELEASE_STACKS),
            Asked::Count { field, span } => self.count(*field, span.resolved(|count| *count))?,
            Asked::Text { field, matcher } => self.text(*field, matcher),
            Asked::Flag(flag) => self.flag(*flag)?,
            Asked::Address(span) => between(Column::Address, span.resolved(|address| address.0)),
            Asked::Contains(address) => Test::Contains(address.0),
            Asked::Alive { from, to } => {
                let (from, to) = (self.instant(from)?.last, self.instant(to)?.last);
                // Only the log says which of a peak and a mark is first.
                match from <= to {
                    true => Test::LiveFrom(from, to),
                    false => NOTHING,
                }
            }
            Asked::GroupLeaked(span) => self.group_leaked(span)?,
            Asked::FirstMatch(rules) => self.first_match(rules),
        })
    }

    fn size(
        &mut self,
        field: SizeField,
        range: Option<RangeInclusive<u64>>,
    ) -> Result<Test, Unanswered> {
        let Some(range) = range else {
            return Ok(NOTHING);
        };
        let (from, to) = (*range.start(), *range.end());
        Ok(match field {
            SizeField::Size => Test::Between(Column::Size, from, to),
            SizeField::Usable => Test::Usable(from, to),
            SizeField::Waste => Test::Between(Column::Waste, from, to),
            // Where none was asked for there is nothing to compare.
            SizeField::Alignment => Test::Alignment(from.max(1), to),
            SizeField::FirstSize => self.chain(ChainTest::FirstSize(from, to))?,
            SizeField::LastSize => self.chain(ChainTest::LastSize(from, to))?,
            SizeField::GroupBytes => self.group(|sums| range.contains(&sums.bytes))?,
        })
    }

    fn count(
        &mut self,
        field: CountField,
        range: Option<RangeInclusive<u64>>,
    ) -> Result<Test, Unanswered> {
        let Some(range) = range else {
            return Ok(NOTHING);
        };
        let (from, to) = (*range.start(), *range.end());
        let world = self.world;
        let is_tid = |place: usize| {
            let thread = world.table.threads().get(place);
            thread.is_some_and(|thread| range.contains(&thread.tid.into()))
        };
        let numbered = || {
            let mut set = vec![false; world.stack_count()];
            for (&number, key) in world.numbers.iter().zip(world.table.stacks()) {
                set[number as usize] |= range.contains(&key.id.0.into());
            }
            Arc::new(set)
        };
        Ok(match field {
            CountField::LifetimeEvents => Test::LifetimeEvents(from, to),
            CountField::Tid => Test::Thread(self.threads(is_tid)),
            CountField::FreedByTid => Test::Releaser(self.threads(is_tid)),
            CountField::Map => match world.mappings {
                Some(mappings) => self.in_mappings(mappings, range)?,
                None => Test::Between(Column::Born, from, to),
            },
            CountField::ChainLength => self.chain(ChainTest::Length(from, to))?,
            CountField::ChainPosition => Test::Between(Column::ChainPlace, from, to),
            CountField::Line => self.any_frame(|name| {
                let line = name.location.as_deref().and_then(line_of);
                line.is_some_and(|line| range.contains(&line))
            }),
            CountField::Depth => self.depth(&range),
            CountField::Stack => Test::Stack(numbered()),
            CountField::FreedStack => Test::ReleaseStack(numbered()),
            CountField::GroupAllocations => self.group(|sums| range.contains(&sums.blocks))?,
        })
    }

    fn length(&mut self, field: LengthField, span: &Span<Length>) -> Result<Test, Unanswered> {
        let world = self.world;
        let tick_ns = world.tick_ns.max(1);
        let run_ns = u128::from(world.table.end_tick()) * u128::from(tick_ns);
        let run_ns = u64::try_from(run_ns).unwrap_or(u64::MAX);
        let range = span.resolved(|length| match length {
            Length::Ns(ns) => *ns,
            Length::Share(share) => share.of(run_ns),
        });
        // A lifetime of so many ticks is that many times their length.
        let ticks = range.map(|range| (range.start().div_ceil(tick_ns), range.end() / tick_ns));
        let Some((from, to)) = ticks.filter(|(from, to)| from <= to) else {
            return Ok(NOTHING);
        };
        Ok(match field {
            LengthField::Lifetime => Test::Lifetime(from, to),
            LengthField::ChainLifetime => self.chain(ChainTest::Lifetime(from, to))?,
            LengthField::GroupInterval => self.group(|sums| {
                let tick = |event| world.table.steps().tick_of(event);
                (from..=to).contains(&(tick(sums.born.1) - tick(sums.born.0)))
            })?,
        })
    }

    /// By its name, or by its number where that is asked for.
    fn is_thread(&self, place: usize, matcher: &Matcher) -> bool {
        let Some(thread) = self.world.table.threads().get(place) else {
            return false;
        };
        let is_number = matches!(matcher, Matcher::Is(text) if *text == thread.tid.to_string());
        is_number || matcher.fits(&String::from_utf8_lossy(&thread.name))
    }

    /// Blocks whose thread was in such a scope. A name is that of one in any other, and
    /// of one in which others are.
    fn scope(&self, matcher: &Matcher) -> Test {
        let fits = |tag: &Vec<u8>| {
            let tag = String::from_utf8_lossy(tag);
            let is_in = |name: &str| format!("/{tag}/").contains(&format!("/{name}/"));
            matches!(matcher, Matcher::Is(name) if is_in(name)) || matcher.fits(&tag)
        };
        let set = self.world.table.scopes().iter().map(fits);
        Test::Scope(Arc::new(set.collect()))
    }

    /// Blocks that came after such a mark and before the next.
    fn last_mark(&self, matcher: &Matcher) -> Test {
        let marks = self.world.table.marks();
        let ends = marks
            .iter()
            .skip(1)
            .map(|mark| mark.event)
            .chain([u64::MAX]);
        let fits = marks
            .iter()
            .zip(ends)
            .filter(|(mark, _)| matcher.fits(&String::from_utf8_lossy(&mark.name)));
        Test::Any(
            fits.map(|(mark, end)| Test::Between(Column::Born, mark.event + 1, end))
                .collect(),
        )
    }

    fn flag(&mut self, flag: Flag) -> Result<Test, Unanswered> {
        Ok(match flag {
            Flag::Leaked => Test::Leaked,
            Flag::Temporary => Test::Temporary,
            Flag::Moved => Test::Moved,
            Flag::StaticInit => self.static_init(),
            Flag::Mmapped => Test::Mmapped,
            Flag::MainArena => {
                let instead = "the main arena is what brk holds: address in A..B";
                return Err(Unanswered::Unknown("main-arena", instead));
            }
            Flag::ChainLeaked => self.chain(ChainTest::Leaked)?,
            Flag::Readable | Flag::Writable | Flag::Executable => {
                access_of(Field::Flag(flag)).map_or(NOTHING, Test::Access)
            }
            Flag::GroupAllLeaked => self.group(|sums| sums.leaked_blocks == sums.blocks)?,
        })
    }

    fn chain(&mut self, asked: ChainTest) -> Result<Test, Unanswered> {
        let chains = match &self.chains {
            Some(chains) => chains.clone(),
            None => {
                let chains = Arc::new(chains::facts(self.world)?);
                self.chains.insert(chains).clone()
            }
        };
        Ok(Test::Chain(asked, chains))
    }

    fn group_leaked(&mut self, span: &Span<Amount>) -> Result<Test, Unanswered> {
        self.group(|sums| span.holds_of(sums.leaked_blocks, sums.blocks))
    }

    /// Blocks whose stack's blocks answer so.
    fn group(&mut self, fits: impl Fn(&Sums) -> bool) -> Result<Test, Unanswered> {
        let groups = match &self.groups {
            Some(groups) => groups,
            None => {
                let groups = sums_of_stacks(self.world, &Choice::all())?;
                self.groups.insert(groups)
            }
        };
        let fits = groups.iter().map(|sums| sums.blocks > 0 && fits(sums));
        Ok(Test::Stack(Arc::new(fits.collect())))
    }

    fn threads(&self, fits: impl Fn(usize) -> bool) -> Arc<Vec<bool>> {
        let places = 0..self.world.table.threads().len();
        Arc::new(places.map(fits).collect())
    }
}

/// The bit of mmap's protection that a field asks for.
fn access_of(field: Field) -> Option<u32> {
    match field {
        Field::Flag(Flag::Readable) => Some(1),
        Field::Flag(Flag::Writable) => Some(2),
        Field::Flag(Flag::Executable) => Some(4),
        _ => None,
    }
}

/// Whether a mapping has that too.
fn is_of_mappings(field: Field) -> bool {
    use OrderedField::{Count, Length, Size};
    !matches!(
        field,
        Field::Flag(
            Flag::Temporary | Flag::Moved | Flag::Mmapped | Flag::MainArena | Flag::ChainLeaked
        ) | Field::Ordered(
            Size(
                SizeField::Usable
                    | SizeField::Waste
                    | SizeField::Alignment
                    | SizeField::FirstSize
                    | SizeField::LastSize
            ) | Count(CountField::ChainLength | CountField::ChainPosition)
                | Length(LengthField::ChainLifetime)
        )
    )
}

fn between(column: Column, range: Option<RangeInclusive<u64>>) -> Test {
    range.map_or(NOTHING, |range| {
        Test::Between(column, *range.start(), *range.end())
    })
}
