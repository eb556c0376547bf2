//! All streams as one sequence in which the events on one address stand in
//! their true order.
//!
//! ```text
//! survey all streams: per cell, how many unnumbered events, which numbers
//! head of each stream := its first step
//! while there is a head:
//!     take the open head of the lowest (tick, stream), readings of resident
//!     memory behind all else of their tick
//!         open: it has no number, or its cell's unnumbered events are
//!         through and its number is the cell's next
//!     none open: the numbers contradict each other; force the lowest number
//!         in the cell that the lowest head waits for
//!     emit it, take note of it in its cell, wake who waits there for the
//!     number that is next now
//! ```
//!
//! * A stamp is a step whose number orders it among all stamps, and a reading
//!   of resident memory is one too. So what comes after stamp s in its stream
//!   comes after everything before a lower stamp in any other.
//! * Whoever does something after a reading was begun stamps first. So what is
//!   of the reading's tick and has no higher stamp before it was done before.
//! * Entries of the mmap ledger are ordered by their own numbers.
//! * A waiting stream lies in its cell's queue and costs nothing until the
//!   cell has come to its number. The queues hold each stream at most once.
//! * Numbers that the log lacks are known from the survey and passed over, so
//!   nobody waits for them.
//! * One stream is its own order: no survey, no queues, no look ahead.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use crate::cells::{Cells, Known};
use crate::cursor::Cursor;
use crate::error::Findings;
use crate::item::{Item, Place, Taker};
use crate::step::{Gate, Step, turn};
use crate::undecided::{Head, Undecided};
use memlog_format::event::Usual;

/// So many events at most are read before the first of them is handed out.
const AHEAD: usize = 32;

/// All events of a log in order.
#[derive(Default)]
pub struct EventStream<'a> {
    heads: Vec<Head<'a>>,
    /// What was read and not handed out yet, while `hand_out` runs.
    ahead: Vec<(Place, Usual)>,
    /// The stream that the next step comes from; its head is open.
    current: Option<usize>,
    order: Option<Order>,
    findings: Findings,
    /// Only of a log that grows.
    undecided: Undecided,
    /// What comes behind a release that turned out to have happened.
    delayed: Option<Item<'a>>,
    /// Whether more may come in the log.
    grows: bool,
}

/// A head that waits: its number, itself and its turn.
type Waiting = Reverse<(u64, usize, u64)>;

/// What several streams need to be one.
struct Order {
    cells: Cells,
    /// Open heads but the current one, by turn.
    ready: BinaryHeap<Reverse<(u64, usize)>>,
    /// Heads that wait, each in the queue of its cell.
    queues: HashMap<u32, BinaryHeap<Waiting>>,
    /// The same heads by turn.
    waiting: BTreeSet<(u64, usize)>,
    /// Whether the log grows: what came after the first look may lack what belongs before.
    grows: bool,
    /// Heads that are left to the next look for that.
    parked: usize,
}

impl<'a> EventStream<'a> {
    /// `goes_on` is asked now and then while the streams are surveyed; if it
    /// wants no more there are no events.
    pub(crate) fn new(
        mut cursors: Vec<Cursor<'a>>,
        cell_bits: u32,
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Self {
        let mut findings = Findings::default();
        for cursor in &mut cursors {
            cursor.set_cell_bits(cell_bits);
        }
        let mut order = None;
        if cursors.len() > 1 {
            match Cells::survey(&cursors, cell_bits, &mut findings, goes_on) {
                Some(cells) => order = Some(Order::new(cells)),
                None => cursors.clear(),
            }
        }
        let mut stream = Self {
            heads: Vec::with_capacity(cursors.len()),
            order,
            findings,
            ..Self::default()
        };
        for (index, mut cursor) in cursors.into_iter().enumerate() {
            let mut step = None;
            if let Some(order) = &mut stream.order {
                step = cursor.next(&mut stream.findings);
                if let Some(step) = &step {
                    order.place(index, step, false);
                }
            }
            stream.heads.push(Head { cursor, step });
        }
        stream.current = stream.choose();
        stream
    }

    /// What came since the last look at a log that grows: heads that may have read a step
    /// already, and `known` as [`Cells::go_on`] has it.
    pub(crate) fn go_on(
        heads: Vec<Head<'a>>,
        known: &[Known],
        cell_bits: u32,
        grows: bool,
    ) -> Self {
        let mut stream = Self {
            grows,
            ..Self::default()
        };
        let ahead: Vec<_> = heads.iter().filter_map(|head| head.step).collect();
        let mut cursors = Vec::with_capacity(heads.len());
        for mut head in heads {
            head.cursor.set_cell_bits(cell_bits);
            cursors.push(head.cursor.clone());
            stream.heads.push(head);
        }
        let is_new = |cursor: &Cursor| cursor.bytes_ahead() > 0 || cursor.undecided().is_some();
        let is_any = !ahead.is_empty() || cursors.iter().any(is_new);
        if cursors.len() > 1 && is_any {
            let gates: Vec<_> = ahead.iter().map(|step| step.gate).collect();
            let cells = Cells::go_on(&cursors, &gates, known, cell_bits);
            stream.order = cells.map(|cells| Order {
                grows,
                ..Order::new(cells)
            });
        }
        for index in 0..stream.heads.len() {
            let (Some(order), head) = (&mut stream.order, &mut stream.heads[index]) else {
                break;
            };
            stream.undecided.resume(index, head);
            if head.step.is_none() {
                head.step = head.cursor.next(&mut stream.findings);
            }
            if let Some(step) = &head.step {
                order.place(index, step, head.cursor.is_beyond());
            }
        }
        stream.current = stream.choose();
        stream
    }

    /// Where the streams stand in the end, and what is known of the places.
    pub(crate) fn into_heads(self) -> (Vec<Head<'a>>, Option<Vec<Known>>) {
        (self.heads, self.order.map(|order| order.cells.into_known()))
    }

    /// What was odd about the events so far; complete at the end.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// How much was read so far, chunk by chunk, of [`crate::Size::event_bytes`].
    pub fn bytes_read(&self) -> u64 {
        let cursors = self.heads.iter().map(|head| &head.cursor);
        cursors.map(Cursor::opened_bytes).sum()
    }

    /// Hands out the next events, so many at most; false once there are no more.
    #[inline]
    pub fn hand_out(&mut self, most: u64, taker: &mut impl Taker<'a>) -> bool {
        let mut left = most;
        while left > 0 {
            let room = left.min((AHEAD - self.ahead.len()) as u64);
            let count = match self.order {
                None => self.run_of_one(room),
                Some(_) => self.run_of_current(room),
            };
            left -= count;
            if count > 0 && self.ahead.len() < AHEAD {
                continue;
            }
            self.hand_ahead(taker);
            if count == 0 {
                match self.next() {
                    Some(item) => taker.item(&item),
                    None => return false,
                }
                left -= 1;
            }
        }
        self.hand_ahead(taker);
        true
    }

    #[inline]
    fn hand_ahead(&mut self, taker: &mut impl Taker<'a>) {
        taker.soon(&self.ahead);
        for (place, usual) in &self.ahead {
            match usual {
                Usual::Alloc(alloc) => taker.alloc(*place, alloc),
                Usual::Release(release) => taker.release(*place, release),
            }
        }
        self.ahead.clear();
    }

    /// Reads what is usual of a single stream, up to what is not; how many.
    #[inline]
    fn run_of_one(&mut self, most: u64) -> u64 {
        let Some(head) = self.heads.first_mut() else {
            return 0;
        };
        if head.step.is_some() {
            return 0;
        }
        let before = self.ahead.len();
        let full = before.saturating_add(usize::try_from(most).unwrap_or(AHEAD));
        let is_early = self.grows && head.cursor.is_beyond();
        head.cursor.usuals(|place, usual, gate| {
            if is_early && gate.is_shared() {
                head.step = Some(Step::of(usual, place.tick, gate));
                return false;
            }
            self.ahead.push((place, usual));
            self.ahead.len() < full
        });
        (self.ahead.len() - before) as u64
    }

    /// The same of the current stream, while its next step is the one to take.
    #[inline]
    fn run_of_current(&mut self, most: u64) -> u64 {
        let (Some(index), Some(order)) = (self.current, &mut self.order) else {
            return 0;
        };
        if !self.undecided.is_empty() || self.delayed.is_some() {
            return 0;
        }
        let Some(head) = self.heads.get_mut(index) else {
            return 0;
        };
        // The first was looked at already, when it was not known to be the next.
        let Some((first, usual)) = head.step.and_then(|step| Some((step, step.usual()?))) else {
            return 0;
        };
        let place = Place {
            tick: first.tick,
            ..head.cursor.place()
        };
        self.ahead.push((place, usual));
        order.pass(first.gate);
        let mut count = 1;
        let mut beyond = None;
        if count < most {
            let is_beyond = head.cursor.is_beyond();
            head.cursor.usuals(|place, usual, gate| {
                if !order.stays(index, turn(place.tick), gate, is_beyond) {
                    beyond = Some(Step::of(usual, place.tick, gate));
                    return false;
                }
                self.ahead.push((place, usual));
                order.pass(gate);
                count += 1;
                count < most
            });
        }
        // It may be what is read next that shows whose turn it is.
        head.step = beyond.or_else(|| head.cursor.next(&mut self.findings));
        self.settle(index);
        count
    }

    /// The next of a single stream, with no look ahead.
    #[inline]
    fn next_of_one(&mut self) -> Option<Item<'a>> {
        let head = self.heads.first_mut()?;
        loop {
            let step = head.step.take();
            let step = step.or_else(|| head.cursor.next(&mut self.findings))?;
            // Another stream, which is not found yet, may come before it.
            if self.grows && head.cursor.is_beyond() && step.gate.is_shared() {
                head.step = Some(step);
                return None;
            }
            if let Some(kind) = step.kind {
                return Some(head.cursor.item(step.tick, kind));
            }
        }
    }

    /// The open head of the lowest turn, or one that is forced open.
    fn choose(&mut self) -> Option<usize> {
        let order = self.order.as_mut()?;
        if let Some(Reverse((_, index))) = order.ready.pop() {
            return Some(index);
        }
        // What they wait for may lie behind what is left to the next look.
        if order.parked > 0 {
            return None;
        }
        let &(_, lowest) = order.waiting.first()?;
        self.findings.order_breaks += 1;
        let index = order.leave_queue(&self.heads.get(lowest)?.step?)?;
        let step = self.heads.get(index)?.step?;
        order.cells.force(step.gate);
        Some(index)
    }

    /// The current stream has come to its next step: is it still that stream's turn?
    #[inline]
    fn settle(&mut self, index: usize) {
        let (Some(head), Some(order)) = (self.heads.get(index), &mut self.order) else {
            return;
        };
        if let Some(step) = &head.step {
            let is_beyond = head.cursor.is_beyond();
            if order.stays(index, step.turn(), step.gate, is_beyond) {
                return;
            }
            order.place(index, step, is_beyond);
        }
        self.current = self.choose();
    }
}

impl<'a> Iterator for EventStream<'a> {
    type Item = Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Item<'a>> {
        if self.order.is_none() {
            return self.next_of_one();
        }
        if let Some(item) = self.delayed.take() {
            return Some(item);
        }
        loop {
            let index = self.current?;
            let head = self.heads.get_mut(index)?;
            let Some(step) = head.step else {
                self.current = None;
                return None;
            };
            // The item first: the next step may change the stream's thread.
            let item = step.kind.map(|kind| head.cursor.item(step.tick, kind));
            self.undecided.pass(index, head);
            head.step = head.cursor.next(&mut self.findings);
            self.order.as_mut()?.pass(step.gate);
            self.settle(index);
            if item.is_none() {
                continue;
            }
            let before = match &item {
                Some(item) => self.undecided.overtaken(item, &mut self.heads),
                None => None,
            };
            if before.is_some() {
                self.delayed = item;
                return before;
            }
            return item;
        }
    }
}

impl Order {
    fn new(cells: Cells) -> Self {
        Self {
            cells,
            ready: BinaryHeap::new(),
            queues: HashMap::new(),
            waiting: BTreeSet::new(),
            grows: false,
            parked: 0,
        }
    }

    /// Whether the current stream's next step is the one to take.
    #[inline]
    fn stays(&self, index: usize, turn: u64, gate: Gate, is_beyond: bool) -> bool {
        if self.is_early(gate, is_beyond) {
            return false;
        }
        let is_lowest = match self.ready.peek() {
            Some(Reverse(other)) => (turn, index) <= *other,
            None => true,
        };
        is_lowest && self.cells.is_open(gate)
    }

    /// Whether something that belongs before a step may not be there yet: only of what came
    /// after the first mark, for that was written before the second. What has no number
    /// has nothing of another stream before it.
    #[inline]
    fn is_early(&self, gate: Gate, is_beyond: bool) -> bool {
        is_beyond && self.grows && matches!(gate, Gate::Numbered(..))
    }

    /// Puts a head among the ready or the waiting, or leaves it to the next look.
    fn place(&mut self, index: usize, step: &Step, is_beyond: bool) {
        if self.is_early(step.gate, is_beyond) {
            self.parked += 1;
            return;
        }
        match step.gate {
            Gate::Numbered(place, number) if !self.cells.is_open(step.gate) => {
                let queue = self.queues.entry(place).or_default();
                queue.push(Reverse((number, index, step.turn())));
                self.waiting.insert((step.turn(), index));
                self.cells.set_awaited(place, true);
            }
            _ => self.ready.push(Reverse((step.turn(), index))),
        }
    }

    /// Takes note of a step and wakes who waited for it.
    #[inline]
    fn pass(&mut self, gate: Gate) {
        if let Some((place, next)) = self.cells.pass(gate) {
            self.wake(place, next);
        }
    }

    fn wake(&mut self, place: u32, next: u64) {
        let Some(queue) = self.queues.get_mut(&place) else {
            return;
        };
        while let Some(&Reverse((number, index, turn))) = queue.peek()
            && number <= next
        {
            queue.pop();
            self.waiting.remove(&(turn, index));
            self.ready.push(Reverse((turn, index)));
        }
        if queue.is_empty() {
            self.cells.set_awaited(place, false);
        }
    }

    /// Takes out who waits for the lowest number where this head waits.
    fn leave_queue(&mut self, step: &Step) -> Option<usize> {
        let Gate::Numbered(place, _) = step.gate else {
            return None;
        };
        let queue = self.queues.get_mut(&place)?;
        let Reverse((_, index, turn)) = queue.pop()?;
        self.cells.set_awaited(place, !queue.is_empty());
        self.waiting.remove(&(turn, index));
        Some(index)
    }
}
