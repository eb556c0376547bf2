//! What of a call graph goes onto a page, and how large.
//!
//! Sizes follow the share of the whole, so that who holds most is seen first.
//! An eighth root is three square roots, which are exact: the same log gives
//! the same bytes on every machine.

use std::collections::BTreeMap;

use memlog_analysis::short_path;

use super::shown::{Arrow, MOST_PLACES, Shown};
use super::{CallGraph, Entry, Place, back, runs};
use crate::graph::{Edge, Graph, Node};
use crate::numbers::{counted, percentage, share, sized};

/// What holds next to nothing has text that can be read nevertheless, in points.
const SMALLEST_TEXT: f64 = 16.0;

/// Of a run so many functions are named; of a longer one those at its ends.
const MOST_NAMED: usize = 8;
const NAMED_FIRST: usize = 2;
const NAMED_LAST: usize = 5;

/// What is wanted of a picture.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The heading.
    pub legend: Vec<String>,
    /// What holds less of the whole is left out and counted, in percent.
    pub least_percent: f64,
    /// So many boxes at most, the heaviest; 0: all that hold enough.
    pub most_boxes: usize,
    /// Whether each line of a function is a place of its own.
    pub by_lines: bool,
    /// Whether the boxes show the linker's symbols; each line is a place then.
    pub with_symbols: bool,
    /// Whether a run of places that only pass on is one box.
    pub joins_runs: bool,
}

/// So many boxes have room for what they repeat.
const FEW_BOXES: usize = 20;

/// A place of so many characters has room beside it for what it holds.
const SHORT_PLACE: usize = 14;

/// What stands below a picture with mappings in it.
const COLOURS: &str = "blue: what the program mapped itself; orange: the heap, and who called for \
                       either";

/// The picture of a call graph.
pub fn picture(calls: &CallGraph, wanted: Picture) -> Graph {
    let by_lines = wanted.by_lines || wanted.with_symbols;
    match by_lines {
        true => drawn(calls, wanted, "place"),
        false => drawn(&calls.by_function(), wanted, "function"),
    }
}

/// The same of what is to be drawn; `thing` is what each is called.
fn drawn(calls: &CallGraph, wanted: Picture, thing: &str) -> Graph {
    let whole = calls.total.bytes;
    let (shown, boxes) = filled(calls, &wanted);
    let mut legend = wanted.legend;
    let told = (thing, wanted.most_boxes);
    legend.extend(shown.left_out(calls, wanted.least_percent, told));
    legend.extend(joined(&boxes, thing));
    let entry = |&place: &usize| &calls.entries[shown.places[place]];
    let usual = usual_module(boxes.iter().map(|run| entry(&run[0])));
    let mut key: Vec<String> = Vec::new();
    key.extend(
        usual.map(|module| format!("module: {}, where a box names no other", short(module))),
    );
    let style = Style {
        whole,
        usual,
        with_symbols: wanted.with_symbols,
        is_dense: boxes.len() > FEW_BOXES,
    };
    let node = |run: &Vec<usize>| match &run[..] {
        [place] => node(entry(place), &style),
        _ => node_of_run(&run.iter().map(entry).collect::<Vec<_>>(), &style),
    };
    let nodes: Vec<Node> = boxes.iter().map(node).collect();
    let has_mapped = nodes.iter().any(|node| node.is_mapped);
    key.extend(has_mapped.then(|| COLOURS.to_owned()));
    Graph {
        legend,
        key,
        nodes,
        edges: edges(&shown, &boxes, whole),
    }
}

/// The places that fill so many boxes. Where a run of them is one box there is
/// room for others.
fn filled(calls: &CallGraph, wanted: &Picture) -> (Shown, Vec<Vec<usize>>) {
    /// Each has all arrows found anew.
    const MOST_TRIES: usize = 8;
    let most = match wanted.most_boxes {
        0 => MOST_PLACES,
        most => most.min(MOST_PLACES),
    };
    // In a box of several there is no room for symbols.
    let joins_runs = wanted.joins_runs && !wanted.with_symbols;
    let of = |places: usize| {
        let shown = Shown::of(calls, wanted.least_percent, places);
        let boxes = runs::boxes(&shown, calls, joins_runs);
        (shown, boxes)
    };
    let mut places = most;
    let mut best = of(places);
    for _ in 0..MOST_TRIES {
        let room = most - best.1.len();
        if room == 0 || !best.0.is_crowded || places == MOST_PLACES {
            break;
        }
        places = (places + room).min(MOST_PLACES);
        let next = of(places);
        // A place more may part a run.
        if next.1.len() > most {
            break;
        }
        best = next;
    }
    best
}

/// How boxes are written.
struct Style<'u> {
    /// What shares are of, in bytes.
    whole: u64,
    /// A module that is not said.
    usual: Option<&'u str>,
    with_symbols: bool,
    /// Whether places share a line with what they hold, for there are many.
    is_dense: bool,
}

/// The module that most of many boxes would name.
fn usual_module<'e>(entries: impl ExactSizeIterator<Item = &'e Entry>) -> Option<&'e str> {
    let boxes = entries.len();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for module in entries.filter_map(|entry| entry.place.module.as_deref()) {
        *counts.entry(module).or_default() += 1;
    }
    let named: usize = counts.values().sum();
    let (module, count) = counts.into_iter().max_by_key(|&(_, count)| count)?;
    (boxes > FEW_BOXES && 2 * count > named).then_some(module)
}

/// The arrows from box to box.
fn edges(shown: &Shown, boxes: &[Vec<usize>], whole: u64) -> Vec<Edge> {
    let mut box_of = vec![0; shown.places.len()];
    for (number, run) in boxes.iter().enumerate() {
        run.iter().for_each(|&place| box_of[place] = number);
    }
    // Within a run an arrow leads down; from its end to its begin, it goes round.
    let is_within = |arrow: &Arrow| {
        let run = &boxes[box_of[arrow.from]];
        let mut steps = run.windows(2);
        steps.any(|step| step == [arrow.from, arrow.to])
    };
    let arrows: Vec<&Arrow> = shown
        .arrows
        .iter()
        .filter(|arrow| !is_within(arrow))
        .collect();
    let ends = arrows
        .iter()
        .map(|arrow| (box_of[arrow.from], box_of[arrow.to]));
    let ends: Vec<(usize, usize)> = ends.collect();
    let depths = boxes.iter().map(|run| shown.depths[run[0]]);
    let leads_back = back::leads_back(&depths.collect::<Vec<_>>(), &ends);
    let edges = arrows.iter().zip(&ends).zip(leads_back);
    edges
        .map(|((arrow, &ends), leads_back)| edge(arrow, ends, leads_back, whole))
        .collect()
}

/// How many places stand in boxes of several. On paper there is no pointing at
/// a box for its lines.
fn joined(boxes: &[Vec<usize>], thing: &str) -> Option<String> {
    let runs = || boxes.iter().filter(|run| run.len() > 1);
    let places: usize = runs().map(Vec::len).sum();
    (places > 0).then(|| {
        let boxes = match runs().count() {
            1 => "one box".to_owned(),
            count => format!("{count} boxes"),
        };
        format!(
            "folded: {places} {thing}s that only pass on stand in {boxes}, callers first; the .txt \
             has their lines"
        )
    })
}

fn font_size(largest: f64, share: f64) -> f64 {
    let eighth_root = share.sqrt().sqrt().sqrt();
    (largest * eighth_root).max(SMALLEST_TEXT)
}

fn node(entry: &Entry, style: &Style) -> Node {
    let whole = style.whole;
    let (held, own) = (entry.held.bytes, entry.own.bytes);
    let module = entry.place.module.as_deref();
    let mut details: Vec<String> = Vec::new();
    details.extend(entry.place.location.as_deref().map(short_path));
    details.extend(module.filter(|_| module != style.usual).map(short));
    if style.with_symbols {
        details.extend(symbols(entry));
    }
    if entry.is_mapped {
        details.push(format!("in {}", counted(entry.own.blocks, "mapping")));
    }
    let size = format!("{} ({:.2}%)", sized(held), percentage(held, whole));
    let mut lines = vec![entry.place.function.clone()];
    match details.pop() {
        Some(last) if style.is_dense && last.chars().count() <= SHORT_PLACE => {
            details.push(format!("{last} · {size}"));
        }
        last => details.extend(last.into_iter().chain([size])),
    }
    lines.extend(details);
    lines.extend(own_part(own, held, whole));
    Node {
        lines,
        names: 1,
        run: Vec::new(),
        share: share(held, whole),
        own_share: share(own, whole),
        is_mapped: entry.is_mapped,
        font_size: font_size(50.0, share(held, whole)),
    }
}

/// What it allocated itself, where that is a part.
fn own_part(own: u64, held: u64, whole: u64) -> Option<String> {
    let is_part = own > 0 && own < held;
    is_part.then(|| format!("own {} ({:.2}%)", sized(own), percentage(own, whole)))
}

/// The box of several places, which hold about the same and nothing of their own.
fn node_of_run(run: &[&Entry], style: &Style) -> Node {
    let whole = style.whole;
    let mut lines: Vec<String> = run
        .iter()
        .map(|entry| entry.place.function.clone())
        .collect();
    if lines.len() > MOST_NAMED {
        let end = lines.len() - NAMED_LAST;
        let more = format!("… {} more …", end - NAMED_FIRST);
        lines.splice(NAMED_FIRST..end, [more]);
    }
    let names = lines.len();
    let mut modules: Vec<String> = Vec::new();
    for module in run.iter().filter_map(|entry| entry.place.module.as_deref()) {
        let module = short(module);
        if !modules.contains(&module) {
            modules.push(module);
        }
    }
    if style.usual.is_some_and(|usual| modules == [short(usual)]) {
        modules.clear();
    }
    lines.extend((!modules.is_empty()).then(|| modules.join(", ")));
    let (held, at_end) = (run[0].held.bytes, run[run.len() - 1].held.bytes);
    let percent = |bytes| format!("{:.2}", percentage(bytes, whole));
    lines.push(format!("{} ({}%)", sized(held), percent(held)));
    if percent(at_end) != percent(held) {
        lines.push(format!(
            "at its end {} ({}%)",
            sized(at_end),
            percent(at_end)
        ));
    }
    Node {
        lines,
        names,
        run: run.iter().map(|entry| entry.place.line()).collect(),
        share: share(held, whole),
        own_share: 0.0,
        is_mapped: false,
        font_size: font_size(50.0, share(held, whole)),
    }
}

/// The first symbol, and how many there are besides.
fn symbols(entry: &Entry) -> Option<String> {
    let (first, others) = entry.symbols.split_first()?;
    Some(match others.len() {
        0 => first.clone(),
        more => format!("{first} and {more} more"),
    })
}

fn edge(arrow: &Arrow, (from, to): (usize, usize), leads_back: bool, whole: u64) -> Edge {
    let part = share(arrow.bytes, whole);
    let mut label = sized(arrow.bytes);
    if !arrow.is_call() {
        label.push_str(&through(arrow.through));
    }
    Edge {
        from,
        to,
        label,
        share: part,
        width: 8.0 * part.sqrt(),
        font_size: font_size(34.0, part),
        is_call: arrow.is_call(),
        leads_back,
    }
}

/// Two more lines of a label.
fn through((least, most): (u32, u32)) -> String {
    let places = match most {
        _ if least < most => format!("{least} to {most} places"),
        most => counted(most.into(), "place"),
    };
    format!("\nthrough {places}\nnot shown")
}

/// A path without its folders.
pub(super) fn short(path: &str) -> String {
    let name = path.rsplit('/').find(|part| !part.is_empty());
    name.unwrap_or(path).to_owned()
}

impl Place {
    /// In a line: the function, and where it is.
    pub fn line(&self) -> String {
        let module = self.module.as_deref().map(short);
        match self.location.clone().or(module) {
            Some(place) => format!("{} [{place}]", self.function),
            None => self.function.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_folders() {
        assert_eq!(short("/usr/lib/libc.so.6"), "libc.so.6");
        assert_eq!(short("sites.c:23"), "sites.c:23");
        assert_eq!(short("/"), "/");
    }
}
