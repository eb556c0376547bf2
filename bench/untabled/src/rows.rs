//! The rows of a file, and the table that they make.

use crate::image::Image;
use crate::known::Class;
use crate::state::{Kept, State};
use crate::sure::Sure;
use crate::ways::{Flow, Function, Ways};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Bytes of the table for each change.
const ENTRY_BYTES: usize = 8;

/// What is known of an instruction.
#[derive(Clone, Copy)]
pub struct Row {
    pub state: State,
    pub bytes: u8,
    pub is_call: bool,
    pub class: Class,
    /// Where its function begins.
    pub start: u64,
}

impl Row {
    /// Whether it says where the caller's frame is, and all that is kept.
    pub fn is_whole(&self) -> bool {
        (self.state.sp.is_some() || self.state.fp.is_some())
            && !self.state.kept.contains(&Kept::Unsure)
    }
}

pub struct Rows {
    pub rows: BTreeMap<u64, Row>,
    /// Where functions begin that were not given up.
    pub starts: BTreeSet<u64>,
    pub decoded: u64,
}

/// Reads a file twice: the second time it is known where functions begin.
pub fn derive(image: &Image, is_strict: bool, why: Option<u64>) -> Rows {
    let mut first = Ways::new(image, BTreeSet::new());
    first.read();
    let known = rows_of(&first, false);
    let decoded = first.decoded;
    drop(first);
    let mut second = Ways::new(image, known.starts);
    second.read();
    for at in why.iter().flat_map(|at| second.way_to(*at)) {
        println!("    {at:#x}");
    }
    let mut rows = rows_of(&second, is_strict);
    rows.decoded = decoded + second.decoded;
    rows
}

fn rows_of(ways: &Ways, is_strict: bool) -> Rows {
    let sure = is_strict.then(|| Sure::new(ways));
    let mut rows = Rows {
        rows: BTreeMap::new(),
        starts: BTreeSet::new(),
        decoded: 0,
    };
    let mut order: Vec<usize> = (0..ways.functions.len()).collect();
    let is_weak =
        |function: &Function| function.class == Class::Pointed || function.finder.is_some();
    // Those that are found come behind their finders.
    order.sort_by_key(|index| (is_weak(&ways.functions[*index]), *index));
    let mut refuted = HashSet::new();
    for index in order {
        let function = &ways.functions[index];
        let is_lost = function
            .finder
            .is_some_and(|finder| refuted.contains(&finder));
        if is_weak(function) && (is_lost || rows.is_refuted(function)) {
            refuted.insert(index);
            if function.is_behind_call && !function.is_crooked {
                rows.starts.insert(function.start);
            }
            continue;
        }
        rows.starts.insert(function.start);
        let confirmed = sure.as_ref().map(|sure| sure.rows(function));
        rows.add(function, confirmed.as_ref());
    }
    rows
}

impl Rows {
    /// Whether what may be a place inside of a function is one: it does not end as
    /// functions do, or comes to what is known to be another's otherwise.
    fn is_refuted(&self, function: &Function) -> bool {
        let mut nodes = function.nodes.iter();
        function.is_crooked
            || nodes.any(|(at, node)| self.rows.get(at).is_some_and(|row| row.state != node.state))
    }

    fn add(&mut self, function: &Function, confirmed: Option<&HashSet<u64>>) {
        for (&at, node) in &function.nodes {
            if node.bytes == 0 || confirmed.is_some_and(|confirmed| !confirmed.contains(&at)) {
                continue;
            }
            let row = Row {
                state: node.state,
                bytes: node.bytes,
                is_call: matches!(node.flow, Flow::Call(_)),
                class: function.class,
                start: function.start,
            };
            let place = self.rows.entry(at).or_insert(row);
            place.state = place.state.joined(&node.state);
        }
    }

    /// Bytes of the table: an entry where the CFA or the place of rbp changes, and
    /// where nothing is known any more. Where it is asked for return addresses alone,
    /// only what holds at calls matters.
    pub fn table_bytes(&self, is_of_calls: bool) -> usize {
        let (mut entries, mut end, mut last) = (0, 0, None);
        for (at, row) in &self.rows {
            let what = row.is_whole().then_some((
                row.state.sp.or(row.state.fp),
                row.state.sp.is_some(),
                row.state.kept[1].at(),
            ));
            if end < *at && last.is_some() {
                (entries, last) = (entries + 1, None);
            }
            if what != last && (row.is_call || !is_of_calls) {
                (entries, last) = (entries + 1, what);
            }
            end = at + u64::from(row.bytes);
        }
        entries * ENTRY_BYTES
    }
}
