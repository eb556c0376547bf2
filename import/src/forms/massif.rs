//! massif.out of valgrind: what was live at some moments. Of some of them it has a tree of
//! callers, of the others only the sum. It has bytes and no blocks.
//!
//! ```text
//! desc: --detailed-freq=1
//! cmd: ./v
//! time_unit: i
//! #-----------
//! snapshot=1
//! #-----------
//! time=134701
//! mem_heap_B=100012
//! mem_heap_extra_B=8
//! mem_stacks_B=0
//! heap_tree=detailed
//! n2: 100012 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
//!  n1: 100000 0x1091D0: table (v.c:5)
//!   n0: 100000 0x109249: main (v.c:7)
//!  n0: 12 in 1 place, below massif's threshold (1.00%)
//! ```
//!
//! A node's children are its callers, and a line's depth is the number of its blanks.
//!
//! At a moment without a tree, the tree before it still stands where the sum is as large
//! or larger: what is more is held by a place that says so. Where the sum is smaller,
//! nobody knows what went, and one place that says so holds it all.

use std::collections::HashMap;
use std::io::BufRead;

use memlog_format::meta::{Key, Lack};
use memlog_format::table::{CodeId, StackId};

use super::valgrind::Frames;
use super::{command, digits, split};
use crate::error::{At, Error};
use crate::lines::Lines;
use crate::places::Given;
use crate::writer::{Held, LogWriter};

pub(super) fn is(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n');
    let mut begins = |with: &[u8]| lines.next().is_some_and(|line| line.starts_with(with));
    begins(b"desc:") && begins(b"cmd:") && begins(b"time_unit:")
}

pub(super) fn read(input: &mut dyn BufRead, log: &mut LogWriter) -> Result<(), Error> {
    let unknown = [Lack::Counts, Lack::Sizes, Lack::Addresses, Lack::Lifetimes];
    let more = [Lack::Order, Lack::Threads, Lack::Functions, Lack::Gone];
    // Its last moment may be long before the end, and a heap that only grows has no peak.
    for lack in unknown
        .into_iter()
        .chain(more)
        .chain([Lack::End, Lack::Reallocs])
    {
        log.lacks(lack);
    }
    let mut lines = Lines::new(input);
    let mut massif = Massif::default();
    loop {
        let at = lines.next_at();
        let Some(line) = lines.next()? else { break };
        massif.line(log, line, at)?;
    }
    if let Some(cut) = lines.cut() {
        log.cut_off(cut);
    }
    massif.end(log, lines.at())
}

#[derive(Default)]
struct Massif {
    ns_of_unit: Option<u64>,
    moment: Moment,
    tree: Tree,
    live: Live,
    /// How many moments were begun.
    seen: u64,
    /// The largest, and the largest with a tree.
    largest: Largest,
    largest_tree: Largest,
}

#[derive(Clone, Copy, Default)]
struct Largest {
    number: u64,
    ns: u64,
    bytes: u64,
}

impl Largest {
    fn see(&mut self, other: Self) {
        // A tree of a later moment that is as large is as good.
        if other.bytes >= self.bytes {
            *self = other;
        }
    }
}

/// The moment that is being read.
#[derive(Default)]
struct Moment {
    number: u64,
    time: Option<u64>,
    bytes: Option<u64>,
}

impl Massif {
    fn line(&mut self, log: &mut LogWriter, line: &[u8], at: At) -> Result<(), Error> {
        if self.tree.is_open {
            self.tree.node(log, line, at)?;
            return match self.tree.is_open {
                true => Ok(()),
                false => self.moment_with_tree(log, at),
            };
        }
        if line.is_empty() || line.starts_with(b"#") {
            return Ok(());
        }
        if self.seen == 0 && self.header(log, line, at)? {
            return Ok(());
        }
        let Some((key, value)) = split(line, b'=') else {
            return Err(Error::malformed(at, "a line as massif writes it", line));
        };
        match key {
            b"snapshot" => {
                self.seen += 1;
                self.moment = Moment {
                    number: number(value, at)?,
                    ..Moment::default()
                };
            }
            b"time" => self.moment.time = Some(number(value, at)?),
            b"mem_heap_B" => self.moment.bytes = Some(number(value, at)?),
            b"heap_tree" => return self.heap_tree(log, value, at),
            // The allocator's own and the threads' stacks are no blocks.
            _ => {}
        }
        Ok(())
    }

    /// Whether the line is of the file's beginning.
    fn header(&mut self, log: &mut LogWriter, line: &[u8], at: At) -> Result<bool, Error> {
        let Some(colon) = line.windows(2).position(|two| two == b": ") else {
            return Ok(false);
        };
        let (key, value) = (&line[..colon], line[colon + 2..].trim_ascii());
        match key {
            b"cmd" => command(log, value),
            b"desc" if value != b"(none)" => {
                log.text(Key::Note, &[b"massif's options: ", value].concat());
            }
            b"desc" => {}
            b"time_unit" => {
                self.ns_of_unit = Some(match value {
                    b"ms" => 1_000_000,
                    b"i" | b"B" => 1,
                    _ => return Err(Error::malformed(at, "time_unit: i, ms or B", line)),
                });
                log.start().tick_ns = self.ns_of_unit.unwrap_or(1);
                if value != b"ms" {
                    log.lacks(Lack::Times);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn heap_tree(&mut self, log: &mut LogWriter, kind: &[u8], at: At) -> Result<(), Error> {
        let (Some(time), Some(bytes)) = (self.moment.time, self.moment.bytes) else {
            let expected = "time= and mem_heap_B= before heap_tree=";
            return Err(Error::malformed(at, expected, kind));
        };
        let moment = Largest {
            number: self.moment.number,
            ns: time.saturating_mul(self.ns_of_unit.unwrap_or(1)),
            bytes,
        };
        log.time(moment.ns);
        self.largest.see(moment);
        match kind {
            b"empty" => {
                self.live.sum(log, bytes);
                Ok(())
            }
            b"detailed" | b"peak" => {
                self.largest_tree.see(moment);
                self.tree.begin();
                Ok(())
            }
            _ => Err(Error::malformed(
                at,
                "heap_tree=empty, detailed or peak",
                kind,
            )),
        }
    }

    fn moment_with_tree(&mut self, log: &mut LogWriter, at: At) -> Result<(), Error> {
        let bytes = self.moment.bytes.unwrap_or(0);
        let found: u64 = self.tree.leaves.iter().map(|&(_, bytes)| bytes).sum();
        if found > bytes {
            let expected = format!("a tree of {bytes} bytes, as mem_heap_B says");
            return Err(Error::malformed(at, expected, found.to_string().as_bytes()));
        }
        self.live.tree(log, self.moment.number, &self.tree.leaves);
        self.live.sum(log, bytes);
        Ok(())
    }

    fn end(self, log: &mut LogWriter, at: At) -> Result<(), Error> {
        if self.seen == 0 {
            return Err(Error::malformed(at, "a snapshot", b""));
        }
        if self.tree.is_open {
            let number = self.moment.number;
            log.remark(format!(
                "the file ends in the tree of snapshot {number}, which is left out"
            ));
        }
        self.remark_on_peak(log);
        Ok(())
    }

    /// Who held the memory at the peak is what is asked first.
    fn remark_on_peak(&self, log: &mut LogWriter) {
        let Largest { number, bytes, .. } = self.largest;
        let tree = self.largest_tree;
        if bytes <= tree.bytes {
            return;
        }
        // What stands for a nanosecond where the unit is no time nobody would know.
        let when = match self.ns_of_unit {
            Some(1) => String::new(),
            _ => format!(", at {} s", tree.ns as f64 / 1e9),
        };
        let with = match tree.bytes {
            0 => "of no other either".to_owned(),
            bytes => format!(
                "its largest tree is that of snapshot {} with {bytes} bytes{when}",
                tree.number
            ),
        };
        log.remark(format!(
            "massif wrote no tree of its largest moment, snapshot {number} with {bytes} bytes; {with}"
        ));
    }
}

/// valgrind knows stacks of no more than 200 functions (--depth), which costs each line as
/// many blanks; packed, those take nothing.
const DEEPEST: usize = 1000;

/// A tree that is being read, along the path to its last line.
#[derive(Default)]
struct Tree {
    is_open: bool,
    path: Vec<Node>,
    frames: Frames,
    /// What each stack holds.
    leaves: Vec<(StackId, u64)>,
}

struct Node {
    /// None of the root, which stands for malloc.
    place: Option<CodeId>,
    bytes: u64,
    /// What its callers have so far, and how many are still to come.
    of_callers: u64,
    callers: u64,
}

impl Tree {
    fn begin(&mut self) {
        self.is_open = true;
        self.leaves.clear();
    }

    fn node(&mut self, log: &mut LogWriter, line: &[u8], at: At) -> Result<(), Error> {
        let text = line.trim_ascii_start();
        let depth = line.len() - text.len();
        let expected = || format!("a node of a tree at depth {}", self.path.len());
        let parsed = parse(text).filter(|_| depth == self.path.len() && depth <= DEEPEST);
        let Some((callers, bytes, text)) = parsed else {
            return Err(Error::malformed(at, expected(), line));
        };
        let place = (depth > 0).then(|| self.place(log, text));
        if let Some(parent) = self.path.last_mut() {
            parent.callers -= 1;
            parent.of_callers = parent.of_callers.saturating_add(bytes);
            if parent.of_callers > parent.bytes {
                let expected = format!("callers of {} bytes together", parent.bytes);
                return Err(Error::malformed(at, expected, line));
            }
        }
        self.path.push(Node {
            place,
            bytes,
            of_callers: 0,
            callers,
        });
        while self.path.last().is_some_and(|node| node.callers == 0) {
            self.close(log);
        }
        self.is_open = !self.path.is_empty();
        Ok(())
    }

    fn place(&mut self, log: &mut LogWriter, text: &[u8]) -> CodeId {
        match text.starts_with(b"in ") {
            // "in 3 places, all below massif's threshold (1.00%)"
            true => log.place(None, true, None, &[told(&[b"(", text, b")"].concat())]),
            false => self.frames.place(log, text),
        }
    }

    /// The last node has all its callers: what they have not is its own.
    fn close(&mut self, log: &mut LogWriter) {
        let own = self
            .path
            .last()
            .map_or(0, |node| node.bytes - node.of_callers);
        if own > 0 {
            let frames = self.path.iter().rev().filter_map(|node| node.place);
            let stack = frames.fold(StackId::COMPLETE, |caller, place| log.stack(caller, place));
            self.leaves.push((stack, own));
        }
        self.path.pop();
    }
}

fn number(text: &[u8], at: At) -> Result<u64, Error> {
    digits(text).ok_or_else(|| Error::malformed(at, "a number", text))
}

/// `n2: 100012 TEXT`
fn parse(text: &[u8]) -> Option<(u64, u64, &[u8])> {
    let (callers, rest) = split(text.strip_prefix(b"n")?, b':')?;
    let (bytes, text) = split(rest.trim_ascii_start(), b' ')?;
    Some((digits(callers)?, digits(bytes)?, text))
}

/// What is live, by stack in the order of their first appearance.
#[derive(Default)]
struct Live {
    held: Vec<(StackId, u64, Vec<Held>)>,
    at: HashMap<StackId, usize>,
    /// What the last tree says, and which moment had it.
    of_tree: u64,
    number: u64,
    rest: Option<(u64, Held)>,
}

impl Live {
    /// Makes what is live that of a tree.
    fn tree(&mut self, log: &mut LogWriter, number: u64, leaves: &[(StackId, u64)]) {
        let mut wanted: HashMap<StackId, u64> = HashMap::new();
        for &(stack, bytes) in leaves {
            *wanted.entry(stack).or_default() += bytes;
            self.at.entry(stack).or_insert_with(|| {
                self.held.push((stack, 0, Vec::new()));
                self.held.len() - 1
            });
        }
        self.let_rest_go(log);
        let wanted = |stack: &StackId| wanted.get(stack).copied().unwrap_or(0);
        // What went first: the heap is never larger in between than at one of the moments.
        for (stack, bytes, pieces) in &mut self.held {
            if wanted(stack) < *bytes {
                pieces.drain(..).for_each(|piece| log.let_go(piece));
                *bytes = 0;
            }
        }
        for (stack, bytes, pieces) in &mut self.held {
            let more = wanted(stack) - *bytes;
            if more > 0 {
                pieces.push(log.hold(*stack, 1, more));
                *bytes += more;
            }
        }
        self.of_tree = leaves.iter().map(|&(_, bytes)| bytes).sum();
        self.number = number;
    }

    /// Makes the sum of what is live that of a moment.
    fn sum(&mut self, log: &mut LogWriter, bytes: u64) {
        if bytes < self.of_tree {
            self.tree(log, self.number, &[]);
        }
        let rest = bytes - self.of_tree;
        if self.rest.as_ref().map_or(0, |&(bytes, _)| bytes) == rest {
            return;
        }
        self.let_rest_go(log);
        if rest > 0 {
            let text = match self.of_tree {
                0 => "(massif wrote the sum and no tree)".to_owned(),
                _ => format!("(more than in massif's tree of snapshot {})", self.number),
            };
            let place = log.place(None, true, None, &[told(text.as_bytes())]);
            let stack = log.stack(StackId::COMPLETE, place);
            self.rest = Some((rest, log.hold(stack, 1, rest)));
        }
    }

    fn let_rest_go(&mut self, log: &mut LogWriter) {
        if let Some((_, held)) = self.rest.take() {
            log.let_go(held);
        }
    }
}

/// A place that is a sentence.
fn told(sentence: &[u8]) -> Given<'_> {
    Given {
        function: sentence,
        ..Given::default()
    }
}
