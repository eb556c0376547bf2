//! What of a call graph goes onto a page, and how large.
//!
//! Sizes follow the share of the whole, so that who holds most is seen first.
//! An eighth root is three square roots, which are exact: the same log gives
//! the same bytes on every machine.

use super::shown::{Arrow, Shown};
use super::{CallGraph, Entry, Place, back, fold};
use crate::brief::short_path;
use crate::graph::{Edge, Graph, Node};
use crate::size::{counted, percentage, share, size};

/// What holds nothing at all has text nevertheless, in points.
const SMALLEST_TEXT: f64 = 5.0;

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
    /// Whether the boxes show the linker's symbols.
    pub with_symbols: bool,
    /// Whether a run of places that only pass on is one box.
    pub folds: bool,
}

/// The picture of a call graph.
pub fn picture(calls: &CallGraph, wanted: Picture) -> Graph {
    let whole = calls.total.bytes;
    let shown = Shown::of(calls, wanted.least_percent);
    // In a box of several there is no room for them.
    let folds = wanted.folds && !wanted.with_symbols;
    let boxes = fold::boxes(&shown, calls, folds);
    let mut legend = wanted.legend;
    legend.extend(shown.left_out(calls, wanted.least_percent));
    legend.extend(folded(&boxes));
    let node = |run: &Vec<usize>| {
        let entry = |&place: &usize| &calls.entries[shown.places[place]];
        match &run[..] {
            [place] => node(entry(place), whole, wanted.with_symbols),
            _ => node_of_run(&run.iter().map(entry).collect::<Vec<_>>(), whole),
        }
    };
    Graph {
        legend,
        nodes: boxes.iter().map(node).collect(),
        edges: edges(&shown, &boxes, whole),
    }
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
fn folded(boxes: &[Vec<usize>]) -> Option<String> {
    let runs = || boxes.iter().filter(|run| run.len() > 1);
    let places: usize = runs().map(Vec::len).sum();
    (places > 0).then(|| {
        let boxes = match runs().count() {
            1 => "one box".to_owned(),
            count => format!("{count} boxes"),
        };
        format!(
            "folded: {places} places that only pass on stand in {boxes}, callers first; the .txt \
             has their lines"
        )
    })
}

fn font_size(largest: f64, share: f64) -> f64 {
    let eighth_root = share.sqrt().sqrt().sqrt();
    (largest * eighth_root).max(SMALLEST_TEXT)
}

fn node(entry: &Entry, whole: u64, with_symbols: bool) -> Node {
    let (held, own) = (entry.held.bytes, entry.own.bytes);
    let mut lines = vec![entry.place.function.clone()];
    lines.extend(entry.place.location.as_deref().map(short_path));
    lines.extend(entry.place.module.as_deref().map(short));
    if with_symbols {
        lines.extend(symbols(entry));
    }
    lines.push(format!("{} ({}%)", size(held), percentage(held, whole)));
    if own > 0 && own < held {
        lines.push(format!("own {} ({}%)", size(own), percentage(own, whole)));
    }
    Node {
        lines,
        names: 1,
        run: Vec::new(),
        share: share(held, whole),
        own_share: share(own, whole),
        font_size: font_size(50.0, share(held, whole)),
    }
}

/// The box of several places, which hold about the same and nothing of their own.
fn node_of_run(run: &[&Entry], whole: u64) -> Node {
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
    lines.extend((!modules.is_empty()).then(|| modules.join(", ")));
    let (held, at_end) = (run[0].held.bytes, run[run.len() - 1].held.bytes);
    let percent = |bytes| percentage(bytes, whole);
    lines.push(format!("{} ({}%)", size(held), percent(held)));
    if percent(at_end) != percent(held) {
        lines.push(format!(
            "at its end {} ({}%)",
            size(at_end),
            percent(at_end)
        ));
    }
    Node {
        lines,
        names,
        run: run.iter().map(|entry| entry.place.line()).collect(),
        share: share(held, whole),
        own_share: 0.0,
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
    let mut label = size(arrow.bytes);
    if !arrow.is_call() {
        label.push_str(&through(arrow.through));
    }
    Edge {
        from,
        to,
        label,
        share: part,
        width: 8.0 * part.sqrt(),
        font_size: font_size(40.0, part),
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
