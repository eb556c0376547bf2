//! The frames of a log's stacks as they were recorded: their addresses, the files of code
//! they lie in, and which of their functions were inlined. Answers need no more than names;
//! this is for who asks for all that is known.

use memlog_analysis::{ModuleKey, StackTable};
use memlog_answers::{Choice, Damaged, Of, Sums, sums_of_stacks};
use memlog_read::Log;
use memlog_table::Table;

use super::desk::Desk;
use crate::names::{Names, Placed};
use crate::open::LogTables;
use crate::words::clean;

/// All of a log.
pub struct Frames {
    stacks: StackTable,
    /// By the number of a stack in the world what it is in the table of stacks.
    by_number: Vec<u32>,
    /// The same of each call of mallopt.
    of_tunings: Vec<u32>,
    /// By site its functions, the innermost first.
    sites: Vec<Vec<Placed>>,
    /// By site how many blocks came by way of it in the run.
    counts: Vec<u64>,
    /// By module its file.
    libraries: Vec<String>,
}

/// A function on a stack.
#[derive(Clone, Copy, Debug)]
pub struct FrameAt<'f> {
    /// The return address, or that of the instruction itself if nothing was called.
    pub address: u64,
    /// The file of code.
    pub library: Option<&'f str>,
    /// What is known of the function.
    pub placed: &'f Placed,
    /// Whether it was inlined into the next one outwards.
    pub is_inline: bool,
    /// How many blocks came by way of its address in the run.
    pub count: u64,
    /// Its site, and its place there: the same for the same function at the same address.
    pub key: (u32, u32),
}

impl Frames {
    fn of_table(table: &Table, logs: &[Log], sums: &[Sums], mut names: Names) -> Self {
        let (mut stacks, mut by_number) = (StackTable::default(), Vec::new());
        let (mut seen, mut of_key) = (std::collections::HashSet::new(), None);
        for key in table.stacks() {
            if of_key.as_ref().is_none_or(|(log, _)| *log != key.log) {
                stacks.change_log();
                let log = logs.get(key.log as usize);
                of_key = log.map(|log| (key.log, LogTables::new(log)));
            }
            let tables = of_key.as_ref();
            let stack = tables.map_or(0, |(_, tables)| stacks.stack(key.id, tables));
            // A stack that was written twice is one, as in the world.
            if seen.insert(stack) {
                by_number.push(stack);
            }
        }
        let own = logs.first().map(|log| (log, LogTables::new(log)));
        stacks.change_log();
        let tunings = own.iter().flat_map(|(log, tables)| {
            let stack = |id| stacks.stack(id, tables);
            let ids = log.tunings().iter().map(|tuned| tuned.stack);
            ids.map(stack).collect::<Vec<_>>()
        });
        let of_tunings: Vec<u32> = tunings.collect();
        names.expect(&stacks, by_number.iter().chain(&of_tunings).copied());
        let module = |place: u32| stacks.modules().get(place as usize);
        let sites = stacks.sites().iter();
        let sites = sites.map(|site| names.placed(site, site.module.and_then(module)));
        let path = |module: &ModuleKey| clean(&module.path);
        let mut counts = vec![0; stacks.sites().len()];
        for (&stack, sums) in by_number.iter().zip(sums) {
            for frame in stacks.frames(stack) {
                counts[frame.index as usize] += sums.blocks;
            }
        }
        Self {
            counts,
            sites: sites.collect(),
            libraries: stacks.modules().iter().map(path).collect(),
            stacks,
            by_number,
            of_tunings,
        }
    }

    /// Those of a stack by its number in the world, the innermost first.
    pub fn of(&self, number: u32) -> Vec<FrameAt<'_>> {
        let stack = self.by_number.get(number as usize);
        stack.map_or(Vec::new(), |&stack| self.at(stack))
    }

    /// Those of a call of mallopt by its place in the log.
    pub fn of_tuning(&self, place: usize) -> Vec<FrameAt<'_>> {
        let stack = self.of_tunings.get(place);
        stack.map_or(Vec::new(), |&stack| self.at(stack))
    }

    /// Their addresses alone, without those that were inlined.
    pub fn addresses(&self, number: u32) -> impl Iterator<Item = u64> {
        let stack = self.by_number.get(number as usize).copied();
        let frames = stack
            .into_iter()
            .flat_map(|stack| self.stacks.frames(stack));
        frames.map(|frame| frame.site.address)
    }

    /// How many stacks there are.
    pub fn count(&self) -> u32 {
        self.by_number.len() as u32
    }

    fn at(&self, stack: u32) -> Vec<FrameAt<'_>> {
        let frames = self.stacks.frames(stack).flat_map(|frame| {
            let placed = self.sites.get(frame.index as usize);
            let placed = placed.map_or(&[][..], Vec::as_slice);
            let module = frame.site.module;
            let library = module.and_then(|module| self.libraries.get(module as usize));
            (0u32..).zip(placed).map(move |(place, one)| FrameAt {
                address: frame.site.address,
                library: library.map(String::as_str),
                count: self.counts.get(frame.index as usize).copied().unwrap_or(0),
                placed: one,
                is_inline: place as usize + 1 < placed.len(),
                key: (frame.index, place),
            })
        });
        frames.collect()
    }
}

impl Desk<'_, '_> {
    /// The frames of its stacks, looked up when somebody asks first.
    pub fn frames(&self, of: Of) -> Result<&Frames, Damaged> {
        let place = &self.frames[usize::from(of == Of::Mappings)];
        if let Some(frames) = place.get() {
            return Ok(frames);
        }
        let sums = sums_of_stacks(self.world(of, false)?, &Choice::all())?;
        // Who comes second waits for the first one's names.
        let store = self.name_store();
        if place.get().is_none() {
            let names = Names::new(&store, &self.options, self.log(), self.file);
            let names = names.until(self.over.clone());
            let table = match of {
                Of::Blocks => self.blocks,
                Of::Mappings => self.mappings,
            };
            let _ = place.set(Frames::of_table(table, &self.family.logs, &sums, names));
        }
        place.get().ok_or(Damaged)
    }
}
