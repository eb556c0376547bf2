//! What stacks hold of the blocks that a filter chooses, for trees and pictures: they
//! count by stack, and the rows of the table are counted by theirs.

use std::path::Path;

use memlog_analysis::{ChosenChanges, Held, Instant, Moment, Snapshots, StackChange};
use memlog_answers::{
    Choice, Damaged, Of, Scoped, Test, Unanswered, World, born_of, changes, held_at, held_by_scope,
    held_of, released_by, test_of,
};
use memlog_export::When;
use memlog_format::table::StackId;
use memlog_query::{Expr, parse};
use memlog_symbols::Options;
use memlog_table::{Column, Table};

use super::{Found, damaged, find, named, peaks};
use crate::names::{NameStore, Names, SymbolFiles};
use crate::open::{Analysis, Chosen, Family, Over, Sidecar, Times, Watch};
use crate::page::tree::By;
use crate::words::Advice;

/// Which blocks.
#[derive(clap::Args, Clone, Default)]
pub struct Where {
    /// Only blocks for which this holds, as 'size >= 1MiB and leaked'; doc/FILTERS.md
    /// has the language
    #[arg(short = 'w', long = "where", value_name = "EXPRESSION")]
    #[arg(value_parser = filter)]
    filter: Option<Expr>,
}

/// What is wrong with a filter is said with its place.
fn filter(text: &str) -> Result<Expr, String> {
    parse(text).map_err(|error| format!("{error}\n{}", error.caret()))
}

impl From<Expr> for Where {
    fn from(filter: Expr) -> Self {
        let filter = Some(filter);
        Self { filter }
    }
}

impl Where {
    /// The filter.
    pub fn filter(&self) -> Option<&Expr> {
        self.filter.as_ref()
    }

    /// Whether names are looked up for it.
    pub fn needs_names(&self) -> bool {
        self.filter().is_some_and(memlog_answers::needs_names)
    }

    /// What it asks of rows; nothing if the table is damaged.
    pub fn test(&self, world: &World, start_unix_ns: u64) -> anyhow::Result<Option<Test>> {
        let Some(filter) = self.filter() else {
            return Ok(Some(Test::Always(true)));
        };
        match test_of(filter, world, start_unix_ns) {
            Ok(test) => Ok(Some(test)),
            Err(Unanswered::Damaged) => Ok(None),
            Err(why) => Err(unanswered("--where", &why)),
        }
    }
}

/// What an option asks for is not in the log.
pub fn unanswered(option: &str, why: &Unanswered) -> anyhow::Error {
    Advice::error(format!("{option}: {why}"), "doc/FILTERS.md has all fields")
}

/// What a log is read with.
pub struct Reading<'r> {
    /// The log's file.
    pub file: &'r Path,
    /// Where the names are.
    pub symbol_files: &'r SymbolFiles,
    /// The same, for who looks them up.
    pub options: &'r Options,
    /// The names that are known.
    pub store: &'r NameStore,
    /// What is counted of which blocks.
    pub counted: Counted<'r>,
}

/// What is counted of which blocks.
#[derive(Clone, Copy)]
pub struct Counted<'r> {
    /// Which blocks.
    pub blocks: &'r Where,
    /// What of them.
    pub by: By,
    /// Whether it is told when they came.
    pub with_times: bool,
    /// Whether it is told in which scopes, if the log has any.
    pub with_scopes: bool,
}

impl<'r> From<&'r Where> for Counted<'r> {
    fn from(blocks: &'r Where) -> Self {
        Self {
            blocks,
            by: By::Live,
            with_times: false,
            with_scopes: false,
        }
    }
}

impl Counted<'_> {
    /// Whether the log's events tell it as they come.
    fn is_told_by_events(self) -> bool {
        self.blocks.filter().is_none() && self.by != By::Freed && !self.with_times
    }
}

/// Everything that a log tells, with what stacks hold of chosen blocks if a filter
/// chooses any. `when` is a moment of interest.
pub fn analyse(
    family: &Family,
    reading: &Reading,
    (when, snapshots): (Option<When>, Option<Snapshots>),
    watch: &Watch,
) -> anyhow::Result<Analysis> {
    let chosen = when.and_then(|when| when.instant(family.own().tick_ns()));
    if reading.counted.is_told_by_events() {
        let analysis = family.analyse_with(chosen, snapshots.clone(), watch);
        let is_all = !reading.counted.with_scopes || analysis.tally.scopes() == 0;
        if is_all || analysis.part.is_some() {
            return Ok(analysis);
        }
    }
    let is_running = crate::facts::is_running(family.own());
    let sidecar = Sidecar::of(reading.file, family, is_running);
    for is_again in [false, true] {
        let at = ((chosen, snapshots.clone()), is_again);
        let log = (family, reading.file);
        let Found { bytes, analysis } = find(log, reading.symbol_files, &sidecar, watch, at)?;
        let again = || family.analyse_with(chosen, snapshots.clone(), watch);
        let mut analysis = analysis.unwrap_or_else(again);
        if let Ok(table) = sidecar.table(&bytes)
            && choose(
                (&table, &sidecar),
                family,
                reading,
                &mut analysis,
                when,
                watch,
            )?
            .is_ok()
        {
            return Ok(analysis);
        }
        sidecar.forget();
    }
    Err(damaged())
}

fn choose(
    (table, sidecar): (&Table, &Sidecar),
    family: &Family,
    reading: &Reading,
    analysis: &mut Analysis,
    when: Option<When>,
    watch: &Watch,
) -> anyhow::Result<Result<(), Damaged>> {
    let log = family.own();
    let Counted { blocks, .. } = reading.counted;
    let names = blocks.needs_names().then(|| {
        let over = match analysis.part {
            Some(_) => Over::default(),
            None => watch.over(),
        };
        Names::new(reading.store, reading.options, log, reading.file).until(over)
    });
    let known = analysis.tally.stacks().clone();
    let of = (Of::Blocks, peaks(analysis));
    let (Ok(mut found), Ok(mappings)) = (
        named(table, of, family, names, known),
        sidecar.table(table.mappings()),
    ) else {
        return Ok(Err(Damaged));
    };
    found.world.mappings = Some(&mappings);
    let world = &found.world;
    let start = log.start().map_or(0, |start| start.wall_ns);
    let Some(test) = blocks.test(world, start)? else {
        return Ok(Err(Damaged));
    };
    // A part that was read ends sooner than the table may.
    let end = analysis.tally.events();
    let at = when.map_or(end, |when| event_of(world, when).min(end));
    let asked = Asked {
        world,
        stacks: &found.stacks,
        at,
        end,
        counted: reading.counted,
    };
    match asked.tell(blocks.filter(), &Choice::of(test), analysis) {
        Ok(()) => {}
        Err(Unanswered::Damaged) => return Ok(Err(Damaged)),
        Err(why) => return Err(unanswered("--by freed", &why)),
    }
    analysis.tally.know_stacks(found.known);
    Ok(Ok(()))
}

/// After which event a moment is.
pub fn event_of(world: &World, when: When) -> u64 {
    let event = match (when.instant(world.tick_ns), when.moment()) {
        (Some(Instant::Tick(tick)), _) => world.table.steps().event_at(tick),
        (Some(Instant::Mark { tick, .. }), _) if world.of == Of::Mappings => {
            world.table.steps().event_at(tick)
        }
        (Some(Instant::Mark { number, .. }), _) => {
            let mark = world.table.marks().get(number as usize);
            mark.map_or(u64::MAX, |mark| mark.event)
        }
        (None, Moment::RssPeak) => world.moments.rss_peak,
        (None, Moment::HeapPeak) => world.moments.heap_peak,
        (None, _) => u64::MAX,
    };
    event.min(world.end())
}

/// What is asked of a table, and its stacks as the analysis knows them.
struct Asked<'a, 't, 'b> {
    world: &'a World<'t, 'b>,
    stacks: &'a [u32],
    /// After which event the moment is that was asked for, and the end.
    at: u64,
    end: u64,
    counted: Counted<'a>,
}

impl Asked<'_, '_, '_> {
    fn by_stack(&self, held: Vec<Held>) -> Vec<(u32, Held)> {
        let held = self.stacks.iter().copied().zip(held);
        held.filter(|(_, held)| held.blocks > 0).collect()
    }

    /// All that the analysis lacks.
    fn tell(
        &self,
        filter: Option<&Expr>,
        choice: &Choice,
        analysis: &mut Analysis,
    ) -> Result<(), Unanswered> {
        analysis.freed = self.freed(&Choice::all())?;
        analysis.times = self.times(choice)?;
        analysis.scoped = self.scoped(choice)?;
        let Some(filter) = filter else {
            return Ok(());
        };
        analysis.chosen = Some(self.held(choice, filter.to_string())?);
        if let Some(snapshots) = &mut analysis.snapshots {
            let events = snapshots.taken().iter().map(|one| one.event);
            let changes = self.changes(choice, &events.collect::<Vec<_>>())?;
            snapshots.choose(changes);
        }
        Ok(())
    }

    /// When what is counted came, by stack.
    fn times(&self, choice: &Choice) -> Result<Vec<(u32, Times)>, Damaged> {
        if !self.counted.with_times {
            return Ok(Vec::new());
        }
        let choice = choice.clone().and(match self.counted.by {
            By::Live => Test::LiveAt(self.at),
            _ => Test::Between(Column::Born, 1, self.end),
        });
        let choice = match self.counted.by {
            By::Temporary => choice.and(Test::Temporary).and(Test::Died(1, self.end)),
            _ => choice,
        };
        let born = self.stacks.iter().zip(born_of(self.world, &choice)?);
        let seconds = |event| self.world.seconds_of(event);
        let times = born.filter_map(|(&stack, born)| {
            let (first, last) = born?;
            Some((stack, (seconds(first), seconds(last))))
        });
        Ok(times.collect())
    }

    /// What stacks have by scope: at the moment, if that is what is counted.
    fn scoped(&self, choice: &Choice) -> Result<Vec<(String, Scoped)>, Damaged> {
        if !self.counted.with_scopes {
            return Ok(Vec::new());
        }
        let at = match self.counted.by {
            By::Live => self.at,
            _ => self.world.moments.rss_peak,
        };
        let scoped = held_by_scope(self.world, choice, (at, self.end))?;
        let scoped = scoped.into_iter().filter_map(|one| {
            let stack = *self.stacks.get(one.stack as usize)?;
            Some((self.world.scope(one.scope), Scoped { stack, ..one }))
        });
        Ok(scoped.collect())
    }

    fn held(&self, choice: &Choice, filter: String) -> Result<Chosen, Unanswered> {
        let (world, end) = (self.world, self.end);
        let moments = [
            (Moment::RssPeak, world.moments.rss_peak),
            (Moment::HeapPeak, world.moments.heap_peak),
            (Moment::Chosen, self.at),
            (Moment::End, end),
        ];
        let live = held_at(world, choice, &moments.map(|(_, event)| event))?;
        let live = live.into_iter().map(|held| self.by_stack(held));
        // What was there before the log was not allocated in it.
        let allocated = choice.clone().and(Test::Between(Column::Born, 1, end));
        let temporary = allocated.clone().and(Test::Temporary);
        let temporary = temporary.and(Test::Died(1, end));
        let moments = moments.into_iter().map(|(moment, _)| moment);
        Ok(Chosen {
            filter,
            live: moments.zip(live).collect(),
            allocated: self.by_stack(held_of(world, &allocated)?),
            temporary: self.by_stack(held_of(world, &temporary)?),
            freed: self.freed(choice)?,
        })
    }

    /// What came and went of chosen blocks up to each of these events.
    fn changes(&self, choice: &Choice, events: &[u64]) -> Result<ChosenChanges, Damaged> {
        let ChosenChanges {
            base,
            changes,
            forgotten,
        } = changes(self.world, choice, events)?;
        let known = |stack: u32| self.stacks.get(stack as usize).copied().unwrap_or(stack);
        let of_one = |change: StackChange| StackChange {
            stack: known(change.stack),
            ..change
        };
        let each = changes.into_iter();
        let each = each.map(|list| list.into_iter().map(of_one).collect());
        let held = |list: Vec<(u32, Held)>| {
            let list = list.into_iter();
            list.map(|(stack, held)| (known(stack), held)).collect()
        };
        Ok(ChosenChanges {
            base: held(base),
            changes: each.collect(),
            forgotten: forgotten.into_iter().map(held).collect(),
        })
    }

    /// By the stacks that released; nothing where nobody asks for that.
    fn freed(&self, choice: &Choice) -> Result<Vec<(u32, Held)>, Unanswered> {
        if self.counted.by != By::Freed {
            return Ok(Vec::new());
        }
        let choice = choice.clone().and(Test::Died(1, self.end));
        let (held, unknown) = released_by(self.world, &choice)?;
        let mut freed = self.by_stack(held);
        if unknown.blocks > 0 {
            freed.push((StackId::NONE.0, unknown));
        }
        Ok(freed)
    }
}
