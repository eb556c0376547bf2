//! What stacks hold of the blocks that a filter chooses, for trees and pictures: they
//! count by stack, and the rows of the table are counted by theirs.

use std::path::Path;

use memlog_analysis::{Held, Instant, Moment, Snapshots};
use memlog_answers::{Choice, Damaged, Of, Test, Unanswered, World, held_at, held_of, test_of};
use memlog_export::When;
use memlog_query::{Expr, parse};
use memlog_symbols::Options;
use memlog_table::{Column, Table};

use super::{Found, Named, damaged, find, named, peaks};
use crate::names::{NameStore, Names, SymbolFiles};
use crate::open::{Analysis, Chosen, Family, Over, Sidecar, Watch};
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
    /// Which blocks.
    pub blocks: &'r Where,
}

/// Everything that a log tells, with what stacks hold of chosen blocks if a filter
/// chooses any. `when` is a moment of interest. Snapshots are of all blocks: with a
/// filter there are none.
pub fn analyse(
    family: &Family,
    reading: &Reading,
    (when, snapshots): (Option<When>, Option<Snapshots>),
    watch: &Watch,
) -> anyhow::Result<Analysis> {
    let chosen = when.and_then(|when| when.instant(family.own().tick_ns()));
    if reading.blocks.filter().is_none() {
        return Ok(family.analyse_with(chosen, snapshots, watch));
    }
    let is_running = crate::facts::is_running(family.own());
    let sidecar = Sidecar::of(reading.file, family, is_running);
    for is_again in [false, true] {
        let at = (chosen, is_again);
        let log = (family, reading.file);
        let Found { bytes, analysis } = find(log, reading.symbol_files, &sidecar, watch, at)?;
        let mut analysis = analysis.unwrap_or_else(|| family.analyse(chosen, watch));
        if let Ok(table) = Table::open(&bytes, sidecar.key())
            && let Some(found) = choose(&table, family, reading, &analysis, when, watch)?
        {
            analysis.chosen = Some(found);
            return Ok(analysis);
        }
        sidecar.forget();
    }
    Err(damaged())
}

/// Nothing if the table is damaged.
fn choose(
    table: &Table,
    family: &Family,
    reading: &Reading,
    analysis: &Analysis,
    when: Option<When>,
    watch: &Watch,
) -> anyhow::Result<Option<Chosen>> {
    let log = family.own();
    let names = reading.blocks.needs_names().then(|| {
        let over = match analysis.part {
            Some(_) => Over::default(),
            None => watch.over(),
        };
        Names::new(reading.store, reading.options, log, reading.file).until(over)
    });
    let known = analysis.tally.stacks().clone();
    let of = (Of::Blocks, peaks(analysis));
    let Ok(Named { world, stacks, .. }) = named(table, of, family, names, known) else {
        return Ok(None);
    };
    let start = log.start().map_or(0, |start| start.wall_ns);
    let Some(test) = reading.blocks.test(&world, start)? else {
        return Ok(None);
    };
    let choice = Choice::of(test);
    // A part that was read ends sooner than the table may.
    let end = analysis.tally.events();
    let chosen = when.map_or(end, |when| event_of(&world, when).min(end));
    let filter = reading.blocks.filter().map(ToString::to_string);
    let filter = filter.unwrap_or_default();
    Ok(held(&world, &stacks, &choice, filter, (chosen, end)).ok())
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

fn held(
    world: &World,
    stacks: &[u32],
    choice: &Choice,
    filter: String,
    (chosen, end): (u64, u64),
) -> Result<Chosen, Damaged> {
    let by_stack = |held: Vec<Held>| {
        let held = stacks.iter().copied().zip(held);
        held.filter(|(_, held)| held.blocks > 0).collect::<Vec<_>>()
    };
    let moments = [
        (Moment::RssPeak, world.moments.rss_peak),
        (Moment::HeapPeak, world.moments.heap_peak),
        (Moment::Chosen, chosen),
        (Moment::End, end),
    ];
    let live = held_at(world, choice, &moments.map(|(_, event)| event))?;
    // What was there before the log was not allocated in it.
    let allocated = choice.clone().and(Test::Between(Column::Born, 1, end));
    let temporary = allocated.clone().and(Test::Temporary);
    let temporary = temporary.and(Test::Died(1, end));
    let moments = moments.into_iter().map(|(moment, _)| moment);
    Ok(Chosen {
        filter,
        live: moments.zip(live.into_iter().map(by_stack)).collect(),
        allocated: by_stack(held_of(world, &allocated)?),
        temporary: by_stack(held_of(world, &temporary)?),
    })
}
