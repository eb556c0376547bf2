//! What the ranks of a job held, put together. Two of these merge into one, in any order
//! and any grouping, to the same: logs may be read by as many threads and nodes as there
//! are. Of a rank a few figures are kept, of a place one row, of both together nothing.

mod spread;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use memlog_analysis::{Held, Name};

pub use spread::{Node, Outlier, Spread};

/// A rank's process.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// Its number in the job.
    pub rank: u64,
    /// The host's name.
    pub node: String,
    /// Its number there.
    pub pid: u32,
    /// When it began, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Its log, as it was found.
    pub log: String,
    /// Nothing where the log does not tell.
    pub rss_peak_bytes: Option<u64>,
    /// Of live blocks, asked for.
    pub heap_peak_bytes: Option<u64>,
    /// What the blocks in question hold.
    pub bytes: u64,
    /// How many those are; nothing where the log does not tell.
    pub blocks: Option<u64>,
    /// How it ended.
    pub end: End,
    /// Events that its recorder counted as lost.
    pub lost_events: u64,
    /// What is wrong with its log, if something is.
    pub finding: Option<String>,
}

/// How a log ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// In order.
    #[default]
    InOrder,
    /// Its process was killed, or executed another program.
    None,
    /// Its process runs.
    Runs,
}

/// What ranks held at a place: the rows of a table are by this.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// On how many ranks.
    pub ranks: u64,
    /// On all of them.
    pub bytes: u64,
    /// How many blocks those are; nothing where one rank's log does not tell.
    pub blocks: Option<u64>,
    /// The least of those that have some.
    pub least: u64,
    /// The most.
    pub most: u64,
    /// The rank that holds it; of several the first by number.
    pub most_rank: u64,
    /// The functions of a stack, from who asked outwards.
    pub frames: Vec<Arc<Name>>,
}

/// What tells places apart: the number of a stack, if it is of stacks, and what it is called.
pub type SiteKey = (i64, String);

/// Files that are not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// How many.
    pub count: u64,
    /// The first by name.
    pub first: String,
    /// What there is to say of that.
    pub says: String,
}

/// What the ranks of a job held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranks {
    processes: Vec<Process>,
    sites: BTreeMap<SiteKey, Site>,
    left_out: BTreeMap<String, LeftOut>,
    /// What was wrong with the names.
    pub notes: BTreeSet<String>,
    names: HashSet<Arc<Name>>,
}

impl Ranks {
    /// Adds a process with what its places hold, each once. `frames` are told of those that
    /// are new.
    pub fn add(
        &mut self,
        process: Process,
        places: impl IntoIterator<Item = (SiteKey, Held)>,
        frames: impl Fn(&SiteKey) -> Vec<Name>,
    ) {
        for (key, held) in places {
            let site = Site {
                ranks: 1,
                bytes: held.bytes,
                blocks: process.blocks.map(|_| held.blocks),
                least: held.bytes,
                most: held.bytes,
                most_rank: process.rank,
                frames: Vec::new(),
            };
            match self.sites.get_mut(&key) {
                Some(known) => known.add(&site),
                None => {
                    let frames = frames(&key).into_iter();
                    let frames = frames.map(|name| self.interned(Arc::new(name)));
                    let frames = frames.collect();
                    self.sites.insert(key, Site { frames, ..site });
                }
            }
        }
        self.processes.push(process);
    }

    /// Adds a place that others summed up.
    pub fn add_site(&mut self, key: SiteKey, site: Site) {
        match self.sites.get_mut(&key) {
            Some(known) => known.add(&site),
            None => {
                let frames = site.frames.into_iter();
                let frames = frames.map(|name| self.interned(name)).collect();
                self.sites.insert(key, Site { frames, ..site });
            }
        }
    }

    /// Adds a process without its places.
    pub fn add_process(&mut self, process: Process) {
        self.processes.push(process);
    }

    /// Counts a file that is left out.
    pub fn leave_out(&mut self, why: &str, file: LeftOut) {
        match self.left_out.get_mut(why) {
            Some(known) => known.add(file),
            None => {
                self.left_out.insert(why.to_owned(), file);
            }
        }
    }

    /// Both together.
    pub fn merge(mut self, mut other: Self) -> Self {
        if self.sites.len() < other.sites.len() {
            std::mem::swap(&mut self, &mut other);
        }
        self.processes.append(&mut other.processes);
        for (key, site) in other.sites {
            self.add_site(key, site);
        }
        for (why, files) in other.left_out {
            self.leave_out(&why, files);
        }
        self.notes.append(&mut other.notes);
        self
    }

    /// What all ranks held together: bytes, and how many blocks, if all logs tell.
    pub fn total(&self) -> (u64, Option<u64>) {
        let all = self.processes.iter();
        all.fold((0, Some(0)), |(bytes, blocks), one| {
            (bytes.saturating_add(one.bytes), sum(blocks, one.blocks))
        })
    }

    /// In the order of the ranks, whoever was merged first.
    pub fn sorted(mut self) -> Self {
        self.processes.sort();
        self
    }

    /// All processes, one for each rank unless [`Ranks::twice`] says otherwise.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// All places.
    pub fn sites(&self) -> impl Iterator<Item = (&SiteKey, &Site)> {
        self.sites.iter()
    }

    /// That of a key.
    pub fn site(&self, key: &SiteKey) -> Option<&Site> {
        self.sites.get(key)
    }

    /// What was left out, by why.
    pub fn left_out(&self) -> &BTreeMap<String, LeftOut> {
        &self.left_out
    }

    /// The least that ranks hold at a place: nothing where some do not have it.
    pub fn least(&self, site: &Site) -> u64 {
        match site.ranks < self.processes.len() as u64 {
            true => 0,
            false => site.least,
        }
    }

    /// The mean over all ranks.
    pub fn mean(&self, site: &Site) -> u64 {
        site.bytes / (self.processes.len() as u64).max(1)
    }

    fn interned(&mut self, name: Arc<Name>) -> Arc<Name> {
        if let Some(known) = self.names.get(&name) {
            return Arc::clone(known);
        }
        self.names.insert(Arc::clone(&name));
        name
    }
}

/// Nothing where one of both is not known.
fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.saturating_add(other?))
}

impl Site {
    fn add(&mut self, other: &Self) {
        self.ranks = self.ranks.saturating_add(other.ranks);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.blocks = sum(self.blocks, other.blocks);
        self.least = self.least.min(other.least);
        let is_first = other.most == self.most && other.most_rank < self.most_rank;
        if other.most > self.most || is_first {
            (self.most, self.most_rank) = (other.most, other.most_rank);
        }
    }
}

impl LeftOut {
    /// One file.
    pub fn one(file: String, says: String) -> Self {
        Self {
            count: 1,
            first: file,
            says,
        }
    }

    fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        if (&other.first, &other.says) < (&self.first, &self.says) {
            (self.first, self.says) = (other.first, other.says);
        }
    }
}
