//! What was live at many moments, in one pass over the events: at equal distances in
//! time, or each time that so many bytes came and went, and at marks.
//!
//! Kept of a snapshot is what changed since the one before, by stack:
//!
//! ```text
//! before the first event:   base := what each stack holds
//! snapshot, of each stack that changed since the last:
//!                           came := its total, less that of then
//!                           went := what it held then + came, less what it holds
//! what it held at one:      base + came - went of all changes up to that one
//! ```
//!
//! So a snapshot takes memory for what happened before it, and never for what is live.
//! What was live when recording went off and on again went too; it is known apart, because
//! nobody freed it: [`Snapshots::forgotten`].
//!
//! There are at most [`MOST`] of them and [`MOST_CHANGES`] changes, 160 MiB; beyond
//! that no more are taken, and [`Snapshots::excess`] says so.

use crate::counts::{Held, Moment};
use crate::tally::Tally;

/// So many snapshots at most.
pub const MOST: usize = 10_000;
/// So many changes of all of them, of 40 bytes; what was forgotten of a stack counts as one.
pub const MOST_CHANGES: usize = 4 << 20;

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// Nanoseconds.
    Ns(u64),
    /// Bytes that came and went since the one before.
    Churn(u64),
}

/// Why there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It was due.
    Due,
    /// The program or its user marked the moment.
    Mark(Vec<u8>),
    /// The log ends: what happened since the last one.
    End,
}

/// A moment, and what happened between the one before and it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Why it was taken.
    pub cause: Cause,
    /// After so many events.
    pub event: u64,
    /// When.
    pub tick: u64,
    /// What came.
    pub came: Held,
    /// What went.
    pub went: Held,
    /// How many changes there are with its own.
    changes: usize,
    /// The same of what was forgotten.
    forgotten: usize,
}

impl Snapshot {
    /// Bytes that came or went.
    pub fn churn(&self) -> u64 {
        self.came.bytes.saturating_add(self.went.bytes)
    }
}

/// What came and went of a stack between two snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackChange {
    /// The stack's index.
    pub stack: u32,
    /// What came.
    pub came: Held,
    /// What went.
    pub went: Held,
}

/// What changed of chosen blocks.
#[derive(Clone, Debug, Default)]
pub struct ChosenChanges {
    /// What each stack held of them before the first snapshot.
    pub base: Vec<(u32, Held)>,
    /// What changed up to each snapshot, the end as the last one.
    pub changes: Vec<Vec<StackChange>>,
    /// What of that nobody freed; a block also whose address came again without a release.
    pub forgotten: Vec<Vec<(u32, Held)>>,
}

/// There were more than are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excess {
    /// Whether it is their number, or else the changes of all of them.
    pub is_of_snapshots: bool,
    /// A distance with which they are likely few enough; none where all are marks.
    pub fewer: Option<Every>,
}

/// A stack's figures when it was looked at last.
#[derive(Clone, Copy, Default)]
struct Known {
    live: Held,
    total: Held,
}

/// All of them.
#[derive(Clone)]
pub struct Snapshots {
    every: Option<Every>,
    tick_ns: u64,
    /// After which tick the next one is due, and which one in time it is.
    due: u64,
    count: u64,
    base: Vec<(u32, Held)>,
    taken: Vec<Snapshot>,
    changes: Vec<StackChange>,
    forgotten: Vec<(u32, Held)>,
    chosen: Option<ChosenChanges>,
    /// By the place of a stack's count.
    known: Vec<Known>,
    /// Since the last one.
    came: Held,
    went: Held,
    last_event: u64,
    /// Bytes that came and went in all.
    churn: u64,
    full_at: Option<u64>,
    /// Nanoseconds, where they are taken by bytes and by time.
    beside_ns: Option<u64>,
}

impl Snapshots {
    /// None yet. Without `every` there are those at marks only.
    pub fn new(every: Option<Every>, tick_ns: u64) -> Self {
        Self {
            every,
            tick_ns: tick_ns.max(1),
            due: u64::MAX,
            count: 0,
            base: Vec::new(),
            taken: Vec::new(),
            changes: Vec::new(),
            forgotten: Vec::new(),
            chosen: None,
            known: Vec::new(),
            came: Held::default(),
            went: Held::default(),
            last_event: 0,
            churn: 0,
            full_at: None,
            beside_ns: None,
        }
    }

    /// The same where one is due by time too, whichever comes first.
    pub fn and_every_ns(self, ns: Option<u64>) -> Self {
        Self {
            beside_ns: ns,
            ..self
        }
    }

    /// How long a tick is, where that was not known yet.
    pub fn set_tick_ns(&mut self, tick_ns: u64) {
        self.tick_ns = tick_ns.max(1);
    }

    /// How long a tick is.
    pub fn tick_ns(&self) -> u64 {
        self.tick_ns
    }

    fn ns(&self) -> Option<u64> {
        match self.every {
            Some(Every::Ns(ns)) => Some(ns),
            _ => self.beside_ns,
        }
    }

    /// Hands out those that were taken, each with its changes, and keeps none of them: a log
    /// that grows for months has no end of them.
    pub fn drain(&mut self, mut take: impl FnMut(&Snapshot, &[StackChange])) {
        for (one, changes) in self.recorded() {
            take(one, changes);
        }
        self.taken.clear();
        self.changes.clear();
        self.forgotten.clear();
        self.full_at = None;
    }

    /// The log's own events begin. What a flight recorder overwrote has no snapshots.
    pub fn begin(&mut self, tally: &Tally) {
        self.base = tally.held(Moment::End).collect();
        for (_, place, live, total) in tally.holders.stacks.each() {
            *at(&mut self.known, place) = Known { live, total };
        }
        if let Some(ns) = self.ns() {
            let since = u128::from(tally.heap.tick) * u128::from(self.tick_ns);
            self.count = (since.div_ceil(u128::from(ns.max(1))) as u64).max(1);
            self.due = self.due_tick(ns);
        }
    }

    fn due_tick(&self, ns: u64) -> u64 {
        let due_ns = u128::from(self.count) * u128::from(ns.max(1));
        u64::try_from(due_ns / u128::from(self.tick_ns)).unwrap_or(u64::MAX)
    }

    /// The next event is of this tick.
    #[inline]
    pub fn before(&mut self, tick: u64, tally: &Tally) {
        let now = tick.max(tally.heap.tick);
        if now > self.due {
            self.until(now, tally);
        }
    }

    /// Takes those that are due before a tick.
    #[cold]
    fn until(&mut self, tick: u64, tally: &Tally) {
        let Some(ns) = self.ns() else {
            return;
        };
        while self.due < tick {
            if self.full_at.is_some() {
                self.due = u64::MAX;
                return;
            }
            self.take(Cause::Due, self.due, tally);
            self.count += 1;
            self.due = self.due_tick(ns);
        }
    }

    /// An event came to the tally; `before` was live before it.
    #[inline]
    pub fn after(&mut self, before: Held, came: Held, tally: &Tally) {
        let went = before.plus(came).minus(tally.live());
        self.came = self.came.plus(came);
        self.went = self.went.plus(went);
        let bytes = came.bytes.saturating_add(went.bytes);
        self.churn = self.churn.saturating_add(bytes);
        if let Some(Every::Churn(most)) = self.every
            && self.came.bytes.saturating_add(self.went.bytes) >= most
        {
            self.take(Cause::Due, tally.heap.tick, tally);
        }
    }

    /// Recording goes on behind a pause: what is live is not followed any further.
    pub fn forget(&mut self, tally: &Tally) {
        if self.full_at.is_some() || self.is_full() {
            return;
        }
        let stacks = tally.holders.stacks.each();
        let live = stacks.map(|(stack, _, live, _)| (stack, live));
        self.forgotten
            .extend(live.filter(|(_, live)| live.blocks > 0));
    }

    fn is_full(&self) -> bool {
        self.changes.len() + self.forgotten.len() > MOST_CHANGES
    }

    /// The moment is marked.
    pub fn mark(&mut self, name: &[u8], tick: u64, tally: &Tally) {
        self.before(tick, tally);
        self.take(Cause::Mark(name.to_vec()), tick.max(tally.heap.tick), tally);
    }

    /// The log is through, or read so far that there may be more in its last tick.
    pub fn end(&mut self, tick: u64, is_whole: bool, tally: &Tally) {
        self.until(tick.saturating_add(u64::from(is_whole)), tally);
        self.take(Cause::End, tick, tally);
    }

    #[inline(never)]
    fn take(&mut self, cause: Cause, tick: u64, tally: &Tally) {
        let (came, went) = (
            std::mem::take(&mut self.came),
            std::mem::take(&mut self.went),
        );
        let is_full = self.is_full() || self.taken.len() >= MOST && cause != Cause::End;
        if self.full_at.is_some() || is_full {
            let so_far = self.progress(tick);
            self.full_at.get_or_insert(so_far);
            return;
        }
        let event = tally.heap.event;
        if event != self.last_event {
            self.look(tally);
            self.last_event = event;
        }
        self.taken.push(Snapshot {
            cause,
            event,
            tick,
            came,
            went,
            changes: self.changes.len(),
            forgotten: self.forgotten.len(),
        });
    }

    /// Finds what changed.
    fn look(&mut self, tally: &Tally) {
        for (stack, place, live, total) in tally.holders.stacks.each() {
            let known = at(&mut self.known, place);
            let came = total.minus(known.total);
            let went = known.live.plus(came).minus(live);
            if came != Held::default() || went != Held::default() {
                self.changes.push(StackChange { stack, came, went });
                *known = Known { live, total };
            }
        }
    }

    /// How far the reading is, in what the distance is counted in.
    fn progress(&self, tick: u64) -> u64 {
        match self.every {
            Some(Every::Churn(_)) => self.churn,
            _ => tick.saturating_mul(self.tick_ns),
        }
    }

    /// What they are, and when, whatever is chosen. The end is the last one.
    pub fn taken(&self) -> &[Snapshot] {
        &self.taken
    }

    /// They are of chosen blocks from now on; the moments stay as they are.
    pub fn choose(&mut self, chosen: ChosenChanges) {
        self.chosen = Some(chosen);
    }

    /// Whether blocks were chosen.
    pub fn is_of_chosen(&self) -> bool {
        self.chosen.is_some()
    }

    /// What each stack held before the first.
    pub fn base(&self) -> &[(u32, Held)] {
        self.chosen
            .as_ref()
            .map_or(&self.base, |chosen| &chosen.base)
    }

    /// They with the changes since the one before, the end as the last one.
    pub fn all(&self) -> impl Iterator<Item = (&Snapshot, &[StackChange])> {
        let all = self.recorded().enumerate();
        all.map(|(index, (one, changes))| match &self.chosen {
            None => (one, changes),
            Some(chosen) => (
                one,
                chosen.changes.get(index).map_or(&[][..], Vec::as_slice),
            ),
        })
    }

    /// The same of all blocks, whatever was chosen.
    pub fn recorded(&self) -> impl Iterator<Item = (&Snapshot, &[StackChange])> {
        let from = self.taken.iter().map(|one| one.changes);
        let from = std::iter::once(0).chain(from);
        let each = from.zip(&self.taken);
        each.map(|(from, one)| (one, &self.changes[from..one.changes]))
    }

    /// What nobody freed of what went before each, by stack; one may be there more than once.
    pub fn forgotten(&self) -> impl Iterator<Item = &[(u32, Held)]> {
        let from = self.taken.iter().map(|one| one.forgotten);
        let from = std::iter::once(0).chain(from);
        let each = from.zip(&self.taken).enumerate();
        each.map(|(index, (from, one))| match &self.chosen {
            None => &self.forgotten[from..one.forgotten],
            Some(chosen) => chosen.forgotten.get(index).map_or(&[][..], Vec::as_slice),
        })
    }

    /// What each stack held before the first, whatever was chosen.
    pub fn recorded_base(&self) -> &[(u32, Held)] {
        &self.base
    }

    /// How many there are without the end.
    pub fn count(&self) -> usize {
        self.taken
            .iter()
            .filter(|one| one.cause != Cause::End)
            .count()
    }

    /// That there were more; `end_tick` is where the log ends.
    pub fn excess(&self, end_tick: u64) -> Option<Excess> {
        let at = self.full_at?.max(1);
        let is_of_snapshots = self.taken.len() >= MOST;
        let whole = self.progress(end_tick);
        // A tenth of the most; of what changes, half as much as was kept up to there.
        let fewer = |distance: u64| {
            let tenth = whole / (MOST as u64 / 10);
            let times = whole.div_ceil(at).saturating_mul(2);
            match is_of_snapshots {
                true => tenth.max(distance),
                false => tenth.max(distance.saturating_mul(times)),
            }
        };
        Some(Excess {
            is_of_snapshots,
            fewer: self.every.map(|every| match every {
                Every::Ns(ns) => Every::Ns(fewer(ns)),
                Every::Churn(bytes) => Every::Churn(fewer(bytes)),
            }),
        })
    }
}

fn at(known: &mut Vec<Known>, place: usize) -> &mut Known {
    if known.len() <= place {
        known.resize(place + 1, Known::default());
    }
    &mut known[place]
}

#[cfg(test)]
mod tests;
