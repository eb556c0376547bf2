//! Words of a process that lead to its allocator are made to lead to the recorder's
//! doors, and back.
//!
//! There are three kinds: what the loader has filled with addresses; the entries in the
//! tables of symbols by which it fills such words later, for a library that is loaded
//! then, a call that is bound late, or dlsym; and pointers that stand in data.

use std::collections::{HashMap, HashSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

use memlog_format::attach::Word;

use crate::arch::poke;
use crate::library::{Library, STOPPED};
use crate::memory::{LOOK, Memory, word_in};
use crate::process::Process;
use crate::threads::Threads;
use crate::{Outcome, Refusal, Wanted, patiently};

/// What was done.
pub struct Attached {
    /// The recorder was loaded just now, and not by an earlier attaching.
    pub is_new: bool,
    /// How many words were changed.
    pub changed: usize,
    /// How long the program stood still.
    pub stood: Duration,
}

/// What a recorder does that was attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has not been called yet.
    Waiting,
    /// It has a log.
    Alive,
    /// It could make none, or stopped for good.
    Stopped,
}

impl State {
    fn of(life: u32) -> Self {
        match life {
            0 | 1 => State::Waiting,
            STOPPED => State::Stopped,
            _ => State::Alive,
        }
    }
}

/// The doors of functions whose address programs keep in their data.
const FAMILY: usize = 13;

/// A word, and what is to become of it.
struct Change {
    at: u64,
    from: u64,
    to: u64,
}

impl Process {
    /// All words that lead to one of these, and are to lead to the other.
    fn changes(&self, library: &Library, from: &[u64], to: &[u64]) -> Vec<Change> {
        let index: HashMap<&str, usize> = library
            .names
            .iter()
            .enumerate()
            .map(|(at, name)| (&name[..], at))
            .collect();
        let pair = |name: &str| {
            let &at = index.get(name)?;
            let pair = (*from.get(at)?, *to.get(at)?);
            (pair.0 != 0 && pair.1 != 0).then_some(pair)
        };
        let mut changes = Vec::new();
        for object in &self.objects {
            for slot in &object.slots {
                if let Some((from, to)) = object
                    .symbols
                    .get(slot.symbol)
                    .and_then(|symbol| pair(&symbol.name))
                {
                    let at = slot.at;
                    changes.push(Change { at, from, to });
                }
            }
            for symbol in &object.symbols {
                if let Some((from, to)) = pair(&symbol.name)
                    && symbol.address == Some(from)
                {
                    let bias = object.bias;
                    changes.push(Change {
                        at: symbol.value_at,
                        from: from.wrapping_sub(bias),
                        to: to.wrapping_sub(bias),
                    });
                }
            }
        }
        self.add_data(&mut changes, from, to);
        // A word may be filled twice, and is changed once.
        let mut seen = HashSet::new();
        changes.retain(|change| seen.insert(change.at));
        changes
    }

    /// Those among the data of all objects.
    fn add_data(&self, changes: &mut Vec<Change>, from: &[u64], to: &[u64]) {
        let mut family = HashMap::new();
        for (&from, &to) in from.iter().zip(to).take(FAMILY) {
            if from != 0 && to != 0 {
                family.entry(from).or_insert(to);
            }
        }
        self.memory.begin(LOOK);
        for &(at, length) in self.objects.iter().flat_map(|object| &object.data) {
            let (low, high) = (at.wrapping_add(7) & !7, at.wrapping_add(length) & !7);
            let Ok(bytes) = self.memory.bytes(low, high.saturating_sub(low)) else {
                continue;
            };
            for (index, word) in bytes.chunks_exact(8).enumerate() {
                let word = word_in(word, 0).unwrap_or(0);
                if let Some(&to) = family.get(&word) {
                    let at = low.wrapping_add(8 * index as u64);
                    let from = word;
                    changes.push(Change { at, from, to });
                }
            }
        }
        // What was too long there is no reason to read nothing else.
        self.memory.begin(LOOK);
    }

    /// Makes the changes: if one comes in half of the time, at a moment when nobody is amid
    /// the loader; else at any, and again what was left.
    fn apply(
        &mut self,
        patience: Duration,
        words: Option<(u64, bool)>,
        plan: impl Fn(&Self) -> Outcome<Vec<Change>>,
    ) -> Outcome<(usize, Duration)> {
        let end = Instant::now() + patience;
        let mut pause = Duration::from_millis(1);
        loop {
            let mut changes = plan(self)?;
            let mut threads = Threads::of(self.pid);
            match threads.stop_all(&self.memory) {
                Err(refusal) if refusal.may_pass && Instant::now() < end => {
                    drop(threads);
                    sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(20));
                    continue;
                }
                outcome => outcome?,
            }
            // Who binds a call, or a library that comes, may have found the old address
            // by now, and write it down later.
            let is_amid = self.is_amid_loader(&threads);
            let is_late = Instant::now() + patience / 2 >= end;
            if !self.is_same(&self.nodes)? && self.look_once()? {
                changes = plan(self)?;
            }
            if is_late || !is_amid && self.is_same(&self.nodes)? {
                if let Some((words, is_new)) = words {
                    self.check_threads(&threads, words, is_new)?;
                }
                let mut changed = self.change(&threads, &changes)?;
                let stood = threads.since.map(|since| since.elapsed());
                threads.release();
                if is_late {
                    changed += self.apply_rest(patience, &plan)?;
                }
                return Ok((changed, stood.unwrap_or_default()));
            }
            drop(threads);
            sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Makes those changes that came to be while others were made.
    fn apply_rest(
        &mut self,
        patience: Duration,
        plan: &impl Fn(&Self) -> Outcome<Vec<Change>>,
    ) -> Outcome<usize> {
        const ROUNDS: u32 = 3;
        const BETWEEN: Duration = Duration::from_millis(20);
        let mut changed = 0;
        for _ in 0..ROUNDS {
            sleep(BETWEEN);
            self.look(patience)?;
            let mut rest = plan(self)?;
            let is_left = |change: &Change| {
                let word = self.memory.word(change.at);
                word.is_ok_and(|word| word == change.from)
            };
            rest.retain(is_left);
            if !rest.is_empty() {
                let mut threads = Threads::of(self.pid);
                let end = Instant::now() + patience;
                patiently(end, || {
                    threads.release();
                    threads.stop_all(&self.memory)
                })?;
                changed += self.change(&threads, &rest)?;
            }
        }
        Ok(changed)
    }

    /// Changes what is still as it was when it was read.
    fn change(&self, threads: &Threads, changes: &[Change]) -> Outcome<usize> {
        let Some(thread) = threads.all.first() else {
            return Ok(0);
        };
        let mut done: Vec<&Change> = Vec::new();
        for change in changes {
            // Of a library that is gone nothing can be read.
            if !(self.memory.word(change.at)).is_ok_and(|word| word == change.from) {
                continue;
            }
            if let Err(error) = poke(thread.tid, change.at, change.to) {
                // All or nothing.
                for change in done {
                    let _ = poke(thread.tid, change.at, change.from);
                }
                return Err(Refusal::new(
                    format!("the kernel does not let its memory be changed: {error}"),
                    "start the program with `memlog record`",
                ));
            }
            done.push(change);
        }
        Ok(done.len())
    }
}

/// See the head of this file.
pub fn attach(pid: u32, wanted: &Wanted) -> Outcome<Attached> {
    let mut process = Process::open(pid, wanted.patience)?;
    process.check()?;
    let old = Library::all(pid, &process.memory)?;
    let state = |library: &Library| library.life(&process.memory).map(State::of);
    let states = old.iter().map(state).collect::<Outcome<Vec<_>>>()?;
    if states.iter().any(|state| *state != State::Alive) {
        // Its calls must not go on to a new one. One that has not begun has other settings.
        detach_from(&mut process, wanted.patience)?;
        for (library, state) in old.iter().zip(&states) {
            if *state == State::Waiting {
                library.stop_waiting(&process.memory)?;
            }
        }
        process.look(wanted.patience)?;
    }
    let count = old.len();
    let is_alive = |library: &Library| {
        let life = library.life(&process.memory);
        life.is_ok_and(|life| State::of(life) == State::Alive)
    };
    let alive = old.into_iter().find(is_alive);
    let (library, is_new) = match alive {
        Some(library) => (library, false),
        None => (process.load(wanted, count)?, true),
    };
    // The two words are beside each other.
    let own = process.number_at() - library.word(&process.memory, Word::Number)?;
    let words = Some((own - 8, is_new));
    let (changed, stood) = process.apply(wanted.patience, words, |process| {
        let reals = library.reals(&process.memory)?;
        let mut changes = process.changes(&library, &reals, &library.doors);
        let after = library.word(&process.memory, Word::AfterLast)?;
        if let Some(at) = process.last().filter(|_| after != 0) {
            let to = library.word(&process.memory, Word::Last)?;
            let from = after;
            changes.push(Change { at, from, to });
        }
        Ok(changes)
    })?;
    Ok(Attached {
        is_new,
        changed,
        stood,
    })
}

/// Leads all calls past the recorders again.
///
/// `for_good`: a recorder that has not said that recording is off begins no more, or its
/// log would go on as if it had seen what happens from now on.
pub fn detach(pid: u32, patience: Duration, for_good: bool) -> Outcome<Attached> {
    let mut process = Process::open(pid, patience)?;
    if Library::all(pid, &process.memory)?.is_empty() {
        return Err(Refusal::new(
            "nobody has attached to it",
            "`memlog ctl PID stop` ends the recording of a program that was started with it",
        ));
    }
    let detached = detach_from(&mut process, patience)?;
    if for_good {
        for library in Library::all(pid, &process.memory)? {
            library.stop(&process.memory)?;
        }
    }
    Ok(detached)
}

fn detach_from(process: &mut Process, patience: Duration) -> Outcome<Attached> {
    let libraries = Library::all(process.pid, &process.memory)?;
    let (changed, stood) = process.apply(patience, None, |process| {
        let mut changes = Vec::new();
        for library in &libraries {
            let reals = library.reals(&process.memory)?;
            changes.extend(process.changes(library, &library.doors, &reals));
            if let Some(at) = process.last() {
                let from = library.word(&process.memory, Word::Last)?;
                let to = library.word(&process.memory, Word::AfterLast)?;
                changes.push(Change { at, from, to });
            }
        }
        Ok(changes)
    })?;
    Ok(Attached {
        is_new: false,
        changed,
        stood,
    })
}

/// What the recorder does in a process that was attached to.
pub fn state(pid: u32) -> Option<State> {
    let memory = Memory::of(pid).ok()?;
    let libraries = Library::all(pid, &memory).ok()?;
    let states = libraries
        .iter()
        .filter_map(|library| library.life(&memory).ok());
    let mut states: Vec<State> = states.map(State::of).collect();
    states.sort_by_key(|state| *state != State::Alive);
    states.first().copied()
}
