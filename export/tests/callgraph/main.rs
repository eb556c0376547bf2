//! The call graph against its naive twin, and its pictures.

mod given;
mod twin;

use std::collections::{BTreeMap, BTreeSet};

use memlog_analysis::{Frame, Options, Tally};
use memlog_export::{Edge, Graph, Named, Node as PageBox, Picture, Place, picture};
use memlog_format::table::StackId;
use proptest::prelude::*;

use given::{AT, Given, Stacks, block, built, graph, named};
use twin::{as_twin, functions, twin};

fn any_stacks() -> impl Strategy<Value = Vec<Given>> {
    let addresses = prop::collection::vec(0..14u8, 1..9);
    let sizes = prop::collection::vec(0..2000u64, 0..3);
    prop::collection::vec((any::<bool>(), addresses, sizes), 0..12)
}

proptest! {
    #[test]
    fn is_its_naive_twin(given in any_stacks()) {
        let graph = graph(&given);
        prop_assert_eq!(as_twin(&graph), twin(&given));
        let held: Vec<_> = graph.entries.iter().map(|entry| entry.held.bytes).collect();
        prop_assert!(held.is_sorted_by(|one, other| one >= other));
        prop_assert!(held.iter().all(|&bytes| bytes <= graph.total.bytes));
    }

    /// A picture's arrows join boxes that are there, and nobody's box is lost.
    #[test]
    fn pictures_hold_together(given in any_stacks(), least_percent in 0.0..60.0f64) {
        let graph = graph(&given);
        let page = picture(&graph, Picture { least_percent, ..Picture::default() });
        prop_assert!(page.nodes.len() <= graph.entries.len());
        prop_assert!(page.edges.iter().all(|edge| edge.from < page.nodes.len() && edge.to < page.nodes.len()));
        prop_assert!(page.nodes.iter().all(|node| node.share <= 1.0 && node.own_share <= node.share));
        let all = picture(&graph, Picture::default());
        prop_assert_eq!((all.nodes.len(), all.edges.len()), (graph.entries.len(), graph.calls.len()));
        prop_assert_eq!(page.legend.is_empty(), page.nodes.len() == all.nodes.len() && page.edges.len() == all.edges.len());
    }
}

/// By the functions of a page that joins nothing: what an arrow carries.
fn arrows(page: &Graph) -> BTreeMap<(String, String), String> {
    let name = |index: usize| page.nodes[index].lines[0].clone();
    let arrows = page.edges.iter();
    arrows
        .map(|edge| ((name(edge.from), name(edge.to)), edge.label.clone()))
        .collect()
}

/// What the arrow between two functions of such a page carries.
#[track_caller]
fn label(page: &Graph, from: &str, to: &str) -> String {
    let ends = (from.to_owned(), to.to_owned());
    arrows(page).remove(&ends).expect("an arrow")
}

/// The functions of a box, the outermost first.
fn in_box(node: &PageBox) -> Vec<String> {
    match node.run.is_empty() {
        true => vec![node.lines[0].clone()],
        false => node.run.clone(),
    }
}

/// Stacks that mostly pass on: few of their addresses ever fork.
fn chains() -> impl Strategy<Value = Vec<Given>> {
    let chain = prop_oneof![
        Just(vec![0, 1, 2, 3, 4, 5]),
        Just(vec![0, 1, 2, 3, 4, 5, 6, 10, 11]),
        Just(vec![6, 12, 13]),
        Just(vec![12, 13, 12]),
        prop::collection::vec(0..14u8, 1..9),
    ];
    let sizes = prop::collection::vec(0..2000u64, 0..3);
    prop::collection::vec((any::<bool>(), chain, sizes), 0..6)
}

proptest! {
    /// Each place is in one box, each arrow is within a run or on the page, and
    /// a run has one way in, one way out, and none beside.
    #[test]
    fn joining_loses_nothing(given in chains(), least_percent in 0.0..20.0f64) {
        let graph = graph(&given);
        let wanted = |joins_runs| Picture { least_percent, joins_runs, ..Picture::default() };
        let (plain, joined) = (picture(&graph, wanted(false)), picture(&graph, wanted(true)));
        let mut all: Vec<String> = plain.nodes.iter().flat_map(in_box).collect();
        let mut boxed: Vec<String> = joined.nodes.iter().flat_map(in_box).collect();
        all.sort_unstable();
        boxed.sort_unstable();
        prop_assert_eq!(all, boxed);

        let plain = arrows(&plain);
        let held = |name: &String| {
            let mut entries = graph.entries.iter();
            entries.find(|entry| entry.place.function == *name).expect("a place").held.bytes
        };
        let mut within = BTreeMap::new();
        for node in joined.nodes.iter().filter(|node| !node.run.is_empty()) {
            prop_assert!(node.run.len() >= 3);
            for name in &node.run {
                prop_assert!(plain.keys().filter(|(from, _)| from == name).count() == 1);
                prop_assert!(plain.keys().filter(|(_, to)| to == name).count() <= 1);
                let entry = graph.entries.iter().find(|entry| entry.place.function == *name);
                prop_assert_eq!(entry.expect("a place").own.blocks, 0);
                let (first, this) = (held(&node.run[0]), held(name));
                prop_assert!(first.abs_diff(this) as f64 <= 0.1 * first as f64);
            }
            for step in node.run.windows(2) {
                let ends = (step[0].clone(), step[1].clone());
                let label = plain.get(&ends).expect("a call");
                within.insert(ends, label.clone());
            }
        }
        // The rest are the arrows from ends of boxes to beginnings of boxes.
        let ends = |edge: &Edge| {
            let from = in_box(&joined.nodes[edge.from]).pop().expect("a place");
            let to = in_box(&joined.nodes[edge.to])[0].clone();
            ((from, to), edge.label.clone())
        };
        let mut together: BTreeMap<_, _> = joined.edges.iter().map(ends).collect();
        prop_assert_eq!(together.len(), joined.edges.len());
        together.append(&mut within);
        prop_assert_eq!(together, plain);
        let has_runs = joined.nodes.iter().any(|node| !node.run.is_empty());
        prop_assert_eq!(has_runs, joined.legend.iter().any(|line| line.starts_with("folded: ")));
    }

    /// From where stacks begin every place can be reached, whatever is left out.
    #[test]
    fn nothing_stands_detached(given in chains(), least_percent in 0.0..60.0f64) {
        let graph = graph(&given);
        let page = picture(&graph, Picture { least_percent, ..Picture::default() });
        let shown: BTreeSet<&String> = page.nodes.iter().map(|node| &node.lines[0]).collect();
        // The naive twin: stack by stack, only what is shown.
        let mut above: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (is_cut, addresses, _) in given.iter().filter(|given| !given.2.is_empty()) {
            let stack = functions(*is_cut, addresses).into_iter();
            let stack: Vec<_> = stack.filter(|name| shown.contains(name)).collect();
            for step in stack.windows(2).filter(|step| step[0] != step[1]) {
                above.entry(step[1].clone()).or_default().insert(step[0].clone());
            }
        }
        let arrows = arrows(&page);
        for name in &shown {
            let leads_here = |ends: &&(String, String)| ends.1 == **name && ends.0 != **name;
            let callers: Vec<_> = arrows.keys().filter(leads_here).collect();
            let known = above.get(*name);
            prop_assert_eq!(callers.is_empty(), known.is_none());
            prop_assert!(callers.iter().all(|ends| known.is_some_and(|above| above.contains(&ends.0))));
        }
        for edge in page.edges.iter().filter(|edge| !edge.is_call) {
            prop_assert!(edge.label.contains("\nthrough ") && edge.from != edge.to);
        }
    }
}

/// What leads down to a place is told, and how far it is.
#[test]
fn a_place_is_joined_to_the_nearest_of_its_stacks() {
    let graph = graph(&[
        (false, vec![0, 1], vec![1000]),
        (false, vec![0, 2, 3, 4], vec![100]),
        (false, vec![0, 3, 4], vec![50]),
        (false, vec![0, 5, 4], vec![10]),
    ]);
    // f2, f3 and f5 hold less than f4.
    let wanted = Picture {
        least_percent: 13.5,
        ..Picture::default()
    };
    let page = picture(&graph, wanted);
    assert_eq!(
        label(&page, "f0", "f4"),
        "160 bytes\nthrough 1 to 2 places\nnot shown"
    );
    let edge = page.edges.iter().find(|edge| !edge.is_call);
    assert!(edge.is_some_and(|edge| !edge.leads_back));
}

/// Whoever began is on top, and what comes back to it leads back.
#[test]
fn recursion_leads_back_to_the_outermost() {
    let graph = graph(&[
        (false, vec![0, 1, 2, 1, 2, 3], vec![1000]),
        (false, vec![4, 2, 1], vec![10]),
    ]);
    let page = picture(&graph, Picture::default());
    let back: Vec<_> = page.edges.iter().filter(|edge| edge.leads_back).collect();
    let name = |index: usize| page.nodes[index].lines[0].as_str();
    let back: Vec<_> = back
        .iter()
        .map(|edge| (name(edge.from), name(edge.to)))
        .collect();
    assert_eq!(back, [("f2", "f1")]);
}

/// A long run is named at its ends; the rest is counted.
#[test]
fn a_long_run_counts_what_it_does_not_name() {
    let graph = graph(&[(false, (0..7).chain([17, 18, 19]).collect(), vec![1000])]);
    let wanted = Picture {
        joins_runs: true,
        ..Picture::default()
    };
    let page = picture(&graph, wanted);
    assert_eq!((page.nodes.len(), page.edges.len()), (2, 1));
    let run = page.nodes.iter().find(|node| !node.run.is_empty());
    let run = run.expect("a run");
    assert_eq!(run.names, 8);
    assert_eq!(run.lines[..3], ["f0", "f1", "… 5 more …"]);
    assert_eq!(run.run.len(), 12);
    let told = "folded: 12 functions that only pass on stand in one box, callers first; the .txt \
                has their lines";
    assert_eq!(page.legend, [told]);
}

/// 200,000 steps deep, and every level holds something.
#[test]
fn deep_recursion_takes_no_square() {
    let mut stacks = Stacks::default();
    let mut tally = Tally::new(Options::default());
    let mut stack = StackId::COMPLETE;
    for depth in 0..200_000u64 {
        stack = stacks.add(stack, &[(depth % 3) as u8]);
        tally.alloc(AT, &block(16 * depth, 1, stack), &stacks);
    }
    let graph = built(&tally, named);
    let held: Vec<_> = graph.entries.iter().map(|entry| entry.held.bytes).collect();
    assert_eq!(held, [200_000, 199_999, 199_998]);
    assert_eq!(graph.calls.len(), 3);
}

/// Of a function at two lines, one of which calls the other, the bytes count once.
#[test]
fn the_lines_of_a_function_are_one_place() {
    let at_line = |frame: &Frame| {
        let address = frame.site.address;
        // 1 and 2 are lines of `f` in a file, 3 is an `f` of another file.
        let (function, location) = match address {
            1 | 2 => ("f", format!("/src/a.c:{}", 10 * address)),
            3 => ("f", "/src/b.c:30".to_owned()),
            _ => ("main", "/src/a.c:99".to_owned()),
        };
        Named {
            places: vec![Place {
                function: function.into(),
                location: Some(location),
                module: None,
            }],
            address: format!("{address:#x}"),
            symbol: None,
        }
    };
    let mut stacks = Stacks::default();
    let mut tally = Tally::new(Options::default());
    let paths: [&[u8]; 4] = [&[0, 1], &[0, 2], &[0, 1, 2], &[0, 3]];
    for (path, number) in paths.into_iter().zip(1u64..) {
        let stack = stacks.add(StackId::COMPLETE, path);
        tally.alloc(AT, &block(16 * number, 100, stack), &stacks);
    }
    let lines = built(&tally, at_line);
    assert_eq!(lines.entries.len(), 4);
    let functions = lines.by_function();
    let told = functions.entries.iter().map(|entry| {
        let location = entry.place.location.as_deref().expect("a file");
        (location, entry.held.bytes, entry.own.bytes)
    });
    let told: Vec<_> = told.collect();
    let expected = [
        ("/src/a.c:99", 400, 0),
        ("/src/a.c:10, 20", 300, 300),
        ("/src/b.c:30", 100, 100),
    ];
    assert_eq!(told, expected);
    assert_eq!(functions.total, lines.total);
    // main calls both, and the one calls itself.
    assert_eq!(functions.calls.len(), 3);
}

/// What seems to end in nothing is led on to who allocates.
#[test]
fn what_passes_on_is_seen_to() {
    let mut given = vec![(false, vec![0, 1, 2, 7], vec![1000])];
    given.push((false, vec![0, 3, 4, 7], vec![900]));
    given.push((false, vec![0, 5], vec![700]));
    let graph = graph(&given);
    // f0, f7, f1 and f2; f3 is the fifth, and what it calls is not shown.
    let wanted = Picture {
        most_boxes: 5,
        ..Picture::default()
    };
    let page = picture(&graph, wanted);
    assert_eq!(
        label(&page, "f3", "f7"),
        "900 bytes\nthrough 1 place\nnot shown"
    );
    let told = "not in the picture: 2 functions besides the 5 largest, where 700 bytes (26.92%) was \
                allocated; --max-boxes 0 shows more";
    assert_eq!(page.legend, [told]);
}

/// A run that is one box leaves room for others.
#[test]
fn boxes_are_counted_and_not_places() {
    let mut given = vec![(false, vec![0, 1, 2, 3, 4], vec![5000])];
    given.extend((5..8).map(|other| (false, vec![0, other], vec![1000])));
    let graph = graph(&given);
    let boxes = |most_boxes, joins_runs| {
        let wanted = Picture {
            most_boxes,
            joins_runs,
            ..Picture::default()
        };
        picture(&graph, wanted).nodes.len()
    };
    // f0, the run, f4 who allocates at its end, and the three others.
    assert_eq!((boxes(0, false), boxes(0, true)), (8, 6));
    for most in 1..=6 {
        assert_eq!((boxes(most, false), boxes(most, true)), (most, most));
    }
}

/// Sizes that only a damaged log has.
#[test]
fn sums_of_a_damaged_log_do_not_overflow() {
    let graph = graph(&[
        (false, vec![0, 1, 2, 3], vec![u64::MAX, u64::MAX]),
        (false, vec![0, 4, 5, 3], vec![u64::MAX]),
        (true, vec![6, 4, 5, 3, 6], vec![u64::MAX]),
    ]);
    assert_eq!(graph.total.bytes, u64::MAX);
    for most_boxes in 0..6 {
        for joins_runs in [false, true] {
            let wanted = Picture {
                most_boxes,
                joins_runs,
                ..Picture::default()
            };
            let page = picture(&graph, wanted);
            assert!(page.nodes.iter().all(|node| node.share <= 1.0));
        }
    }
}
