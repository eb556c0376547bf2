//! What a rank's log says, added to what others said.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::OnceLock;

use memlog_analysis::{Held, Name, PassedOver, StackTable, brief};
use memlog_answers::{
    By, Choice, Damaged, End, LeftOut, Of, Process, Ranks, SiteKey, Test, World, grouped, held_of,
    name_owners_past,
};
use memlog_export::dataset::stack_ids;
use memlog_export::flame::{Label, Node};
use memlog_format::meta::Lack;
use memlog_read::Log;
use memlog_symbols::Options;

use super::super::Failure;
use super::super::desk::kept_table;
use super::inputs::{self, UNANSWERED};
use crate::calls::outermost_at_main;
use crate::facts::{is_running, is_unknown};
use crate::moment::{At, Span, Times, check as check_moment};
use crate::names::{KnownNames, NameStore, Names, OpenFiles, SymbolFiles};
use crate::open::{Family, FileBytes, Files, Sidecar, Watch, gathered};
use crate::page::tree::NO_FRAMES;
use crate::words::{clean, typed};
use crate::world::{Kept, Named, Where, damaged, event_of, find, named, unanswered};

/// What is asked of each log.
pub struct Asked<'a> {
    pub by: By,
    pub at: &'a At,
    pub blocks: &'a Where,
    pub symbol_files: &'a SymbolFiles,
    pub options: Options,
    /// The functions that places of all ranks are named past, once one log has told them:
    /// by its own each rank would have another name for one place.
    pub passed_over: &'a OnceLock<PassedOver>,
}

/// What a log answers.
struct Answer {
    process: Process,
    places: Places,
    notes: Vec<String>,
}

/// What each place holds.
#[derive(Default)]
struct Places {
    held: BTreeMap<SiteKey, Held>,
    /// Of stacks their functions, by number.
    frames: HashMap<i64, Vec<Name>>,
}

/// What all of these logs answer.
pub fn all(asked: &Asked, logs: &[inputs::Log]) -> Ranks {
    let known = KnownNames::default();
    let read = |logs: &mut dyn Iterator<Item = &inputs::Log>| {
        let (store, mut ranks) = (NameStore::default(), Ranks::default());
        let files = OpenFiles::new(&store);
        for log in logs {
            match asked.answer(log, &files, &known) {
                Ok(answer) => {
                    ranks.notes.extend(answer.notes);
                    let Places { held, frames } = answer.places;
                    let frames = |key: &SiteKey| frames.get(&key.0).cloned().unwrap_or_default();
                    ranks.add(answer.process, held, frames);
                }
                Err(error) => {
                    let says = clean(format!("{error:#}").as_bytes());
                    ranks.leave_out(UNANSWERED, LeftOut::one(typed(&log.path), says));
                }
            }
        }
        ranks
    };
    // The first rank tells what is passed over, whichever thread is the fastest.
    let (mut ranks, mut others) = (Ranks::default(), logs);
    while asked.names_owners()
        && asked.passed_over.get().is_none()
        && let Some((first, behind)) = others.split_first()
    {
        ranks = ranks.merge(read(&mut std::iter::once(first)));
        ranks.notes.extend(asked.wrappers_note());
        others = behind;
    }
    ranks.merge(gathered(others, read, Ranks::merge))
}

impl Asked<'_> {
    /// Whether rows are by who asked.
    fn names_owners(&self) -> bool {
        self.by.is_of_stacks() && self.by != By::Stack
    }

    fn wrappers_note(&self) -> Option<String> {
        const MOST: usize = 4;
        let passed = self.passed_over.get().filter(|passed| !passed.is_empty())?;
        let names = passed.iter().take(MOST).map(|(name, _)| brief(name, 40));
        let names = names.collect::<Vec<_>>().join(", ");
        let more = match passed.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" ({more} more)"),
        };
        Some(format!(
            "wrappers skipped, on all ranks those of the first: {names}{more}"
        ))
    }

    fn answer<'s>(
        &self,
        log: &inputs::Log,
        opened: &OpenFiles<'s>,
        known: &'s KnownNames,
    ) -> anyhow::Result<Answer> {
        // A table that is kept may change while it is read; one that is made here does not.
        let kept = kept_table(&log.path);
        if let Some((files, table)) = kept
            && let Some(answer) = self.of_table(log, &files, Some(table), opened, known)?
        {
            return Ok(answer);
        }
        let files = Files::load(&log.path, &Watch::silent())?;
        let answer = self.of_table(log, &files, None, opened, known)?;
        answer.ok_or_else(damaged)
    }

    /// Nothing if the table is damaged.
    fn of_table<'s>(
        &self,
        log: &inputs::Log,
        files: &Files,
        table: Option<FileBytes>,
        opened: &OpenFiles<'s>,
        known: &'s KnownNames,
    ) -> anyhow::Result<Option<Answer>> {
        let family = files.family()?;
        // None is kept: thousands of ranks would fill the folder with them.
        let sidecar = Sidecar::of(&log.path, &family, true);
        let bytes = match table {
            Some(bytes) => bytes,
            None => {
                let (watch, at) = (Watch::silent(), ((None, None), true));
                let place = (&family, log.path.as_path());
                find(place, self.symbol_files, &sidecar, &watch, at)?.bytes
            }
        };
        let Ok(blocks) = sidecar.table(&bytes) else {
            return Ok(None);
        };
        let Ok(mappings) = sidecar.table(blocks.mappings()) else {
            return Ok(None);
        };
        let names = Names::of_files(opened, &self.options, family.own(), &log.path).with(known);
        let needs_names = self.by.is_of_stacks() || self.blocks.needs_names();
        let names = needs_names.then_some(names);
        let kept = Kept::read(blocks.figures());
        let of = (Of::Blocks, kept.moments(Of::Blocks));
        let Ok(mut found) = named(&blocks, of, &family, names, StackTable::default()) else {
            return Ok(None);
        };
        found.world.mappings = Some(&mappings);
        if self.names_owners() {
            let own = &found.world.passed_over;
            let passed_over = self.passed_over.get_or_init(|| own.clone());
            if own != passed_over {
                name_owners_past(&mut found.world, passed_over);
            }
        }
        match self.places(&found, &family, &kept) {
            Ok(places) => Ok(Some(Answer {
                process: process(log, family.own(), &kept, &places),
                places,
                notes: found.on_names.remarks,
            })),
            Err(Failure::Damaged) => Ok(None),
            Err(Failure::Said(error)) => Err(error),
        }
    }

    fn choice(&self, world: &World, family: &Family, kept: &Kept) -> Result<Choice, Failure> {
        let log = family.own();
        let when = self.at.when(log, &Times::of(world.table))?;
        let span = Span {
            from_seconds: kept.events_from(),
            end_seconds: log.seconds(world.table.end_tick()),
            has_end: log.end().is_some(),
            is_part: false,
        };
        check_moment(when, &span)?;
        let start_unix_ns = log.start().map_or(0, |start| start.wall_ns);
        let test = self.blocks.test(world, start_unix_ns)?.ok_or(Damaged)?;
        let live = Test::LiveAt(event_of(world, when));
        Ok(Choice::all().and(live).and(test))
    }

    fn places(&self, found: &Named, family: &Family, kept: &Kept) -> Result<Places, Failure> {
        let world = &found.world;
        let choice = self.choice(world, family, kept)?;
        if self.by == By::Stack {
            return Ok(by_stack(world, held_of(world, &choice)?));
        }
        let groups = grouped(world, &choice, self.by).map_err(|why| unanswered("--by", &why))?;
        let groups = groups.into_iter().filter(|group| group.own.blocks > 0);
        let held = groups.map(|group| ((0, group.name), group.own.held()));
        Ok(Places {
            held: held.collect(),
            ..Places::default()
        })
    }
}

/// By the stacks of a data set, which have lines in them.
fn by_stack(world: &World, held: Vec<Held>) -> Places {
    let (nodes, end_of) = outermost_at_main(world);
    let mut names = world.names.clone();
    names.push(Name {
        function: NO_FRAMES.to_owned(),
        location: None,
        module: None,
    });
    let ids = stack_ids(&nodes, &names);
    let mut by_id: BTreeMap<i64, Held> = BTreeMap::new();
    let mut frames: HashMap<i64, Vec<Name>> = HashMap::new();
    for (stack, held) in held.into_iter().enumerate() {
        let end = end_of(stack).filter(|_| held.blocks > 0);
        let Some((end, id)) = end.and_then(|end| Some((end, *ids.get(end)?))) else {
            continue;
        };
        let known = by_id.entry(id).or_default();
        *known = known.plus(held);
        frames
            .entry(id)
            .or_insert_with(|| chain(&nodes, &names, end));
    }
    let named = |id: &i64| {
        let frames = frames.get(id).into_iter().flatten();
        let functions: Vec<&str> = frames.map(|name| name.function.as_str()).collect();
        functions.join(" < ")
    };
    let held = by_id.iter().map(|(id, held)| ((*id, named(id)), *held));
    Places {
        held: held.collect(),
        frames,
    }
}

/// The functions from a place of the tree outwards.
fn chain(nodes: &[Node], names: &[Name], end: usize) -> Vec<Name> {
    let node = |place: usize| nodes.get(place);
    let outwards = std::iter::successors(node(end), |inner| node(inner.caller? as usize));
    let names = outwards.filter_map(|node| match node.label {
        Label::Named(name) => names.get(name as usize).cloned(),
        Label::Lesser(_) => None,
    });
    names.collect()
}

fn process(found: &inputs::Log, log: &Log, kept: &Kept, places: &Places) -> Process {
    let number = |key: &str| kept.stats[key].as_u64();
    let held = places
        .held
        .values()
        .copied()
        .fold(Held::default(), Held::plus);
    Process {
        rank: found.rank,
        node: found.node.clone(),
        pid: found.pid,
        start_unix_ns: found.start_unix_ns,
        log: shown_path(&found.path),
        // 0 where it was never read: no process has no memory.
        rss_peak_bytes: number("rss_peak_bytes").filter(|&bytes| bytes > 0),
        heap_peak_bytes: number("heap_peak_bytes"),
        bytes: held.bytes,
        blocks: (!is_unknown(log, Lack::Counts)).then_some(held.blocks),
        end: match log.end() {
            Some(_) => End::InOrder,
            None if is_running(log) => End::Runs,
            None => End::None,
        },
        lost_events: number("lost_events").unwrap_or(0),
        finding: kept.stats["findings"][0]
            .as_str()
            .map(|finding| clean(finding.as_bytes())),
    }
}

/// As it was given: a node's answer may be read elsewhere.
fn shown_path(path: &Path) -> String {
    clean(path.to_string_lossy().as_bytes())
}
