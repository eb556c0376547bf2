//! A call graph as text: every place, those that hold most first, whom it
//! called and who called it.

use std::fmt::Write;

use memlog_analysis::Held;

use crate::callgraph::{CallGraph, Entry};
use crate::numbers::{counted, exact, percentage, sized};

/// A place may be found at thousands of addresses.
const MAX_ADDRESSES: usize = 8;

/// What the percentages are of.
const SHARES: &str = "shares: of all that is live above a name; below it of what that place holds";
/// Where the program mapped memory itself.
const MAPPINGS: &str = "blocks: a mapping of the program's own counts as one";

/// What is told of a place besides its name and its bytes.
#[derive(Clone, Copy)]
pub struct Told {
    /// The symbols of its addresses.
    pub symbols: bool,
    /// How many blocks there were.
    pub counts: bool,
}

/// The heading, then the places.
pub fn text(heading: &[String], graph: &CallGraph, told: Told) -> String {
    let mut out = String::new();
    let shares = (!graph.entries.is_empty()).then_some(SHARES);
    let has_mappings = told.counts && graph.mapped.blocks > 0;
    let mappings = has_mappings.then_some(MAPPINGS);
    let lines = heading.iter().map(String::as_str);
    for line in lines.chain(shares).chain(mappings) {
        put(&mut out, format_args!("{line}\n"));
    }
    let (callers, callees) = neighbours(graph);
    for (index, entry) in graph.entries.iter().enumerate() {
        put(&mut out, format_args!("\n{}\n", "*".repeat(80)));
        place(&mut out, entry, graph.total.bytes, told);
        let held = entry.held.bytes;
        let title = "MEMORY ALLOCATED BY CALLEES:";
        list(&mut out, title, &callees[index], held, graph);
        list(&mut out, "CALLED FROM:", &callers[index], held, graph);
    }
    out
}

/// Another place, and the bytes on the way to it.
type Neighbour = (usize, u64);

/// By place: who calls it and whom it calls, those that carry most first.
fn neighbours(graph: &CallGraph) -> (Vec<Vec<Neighbour>>, Vec<Vec<Neighbour>>) {
    let none = vec![Vec::new(); graph.entries.len()];
    let (mut callers, mut callees) = (none.clone(), none);
    for call in &graph.calls {
        callers[call.callee].push((call.caller, call.held.bytes));
        callees[call.caller].push((call.callee, call.held.bytes));
    }
    for list in callers.iter_mut().chain(&mut callees) {
        list.sort_unstable_by_key(|&(place, bytes)| (std::cmp::Reverse(bytes), place));
    }
    (callers, callees)
}

fn place(out: &mut String, entry: &Entry, whole: u64, told: Told) {
    let held = entry.held;
    let (bytes, percent) = (sized(held.bytes), percentage(held.bytes, whole));
    put(
        out,
        format_args!("{bytes} - {percent:.2}% ({})\n", told.exactly(held)),
    );
    put(out, format_args!("{}\n", entry.place.function));
    let place = [&entry.place.location, &entry.place.module];
    for line in place.into_iter().flatten() {
        put(out, format_args!("    {line}\n"));
    }
    let symbols: &[String] = if told.symbols { &entry.symbols } else { &[] };
    for texts in [&entry.addresses, symbols] {
        for line in texts.iter().take(MAX_ADDRESSES) {
            put(out, format_args!("    {line}\n"));
        }
        if texts.len() > MAX_ADDRESSES {
            let more = texts.len() - MAX_ADDRESSES;
            put(out, format_args!("    and {more} more\n"));
        }
    }
    if entry.own.blocks > 0 {
        let own = entry.own;
        let (bytes, percent) = (sized(own.bytes), percentage(own.bytes, held.bytes));
        let (of_all, exactly) = (percentage(own.bytes, whole), told.exactly(own));
        let how = if entry.is_mapped {
            "MAPPED"
        } else {
            "ALLOCATED"
        };
        put(out, format_args!("\nMEMORY {how} HERE:\n"));
        put(
            out,
            format_args!("    {bytes} - {percent:.2}%, {of_all:.2}% of all ({exactly})\n"),
        );
    }
}

impl Told {
    /// `67,108,864B in 64 blocks`
    fn exactly(self, held: Held) -> String {
        let bytes = exact(held.bytes);
        match self.counts {
            true => format!("{bytes} in {}", counted(held.blocks, "block")),
            false => bytes,
        }
    }
}

fn list(out: &mut String, title: &str, list: &[Neighbour], whole: u64, graph: &CallGraph) {
    if list.is_empty() {
        return;
    }
    put(out, format_args!("\n{title}\n"));
    for &(place, bytes) in list {
        let (bytes, percent) = (sized(bytes), percentage(bytes, whole));
        let line = graph.entries[place].place.line();
        put(out, format_args!("    {bytes} - {percent:.2}% {line}\n"));
    }
}

fn put(out: &mut String, arguments: std::fmt::Arguments) {
    // A String takes everything.
    let _ = out.write_fmt(arguments);
}
