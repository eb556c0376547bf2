//! What a picture must be, whatever the graph: nothing overlaps, arrows begin
//! and end at their boxes and run through no other.

mod samples;
mod soundness;

use std::time::Instant;

use memlog_export::{Graph, Node, layout};
use proptest::prelude::*;
use samples::Random;
use soundness::check;

/// A graph of any form; without circles if `is_ordered`.
fn random_graph(nodes: usize, edges: usize, seed: u64, is_ordered: bool) -> Graph {
    let mut random = Random(seed);
    let shares = [
        0.0,
        1e-12,
        0.001,
        0.03,
        0.4,
        1.0,
        7.0,
        f64::NAN,
        -1.0,
        f64::INFINITY,
    ];
    let texts = [
        "",
        "f",
        "std::vector<int>::push_back(int)",
        "日本",
        "x x x x\u{7}",
        "src/a/b/c.cpp:1",
    ];
    let mut graph = Graph::default();
    for _ in 0..nodes {
        let lines: Vec<&str> = (0..random.below(5))
            .map(|_| texts[random.below(texts.len())])
            .collect();
        let mut node: Node =
            samples::node(&lines, shares[random.below(10)], shares[random.below(10)]);
        if random.below(20) == 0 {
            node.font_size = 1000.0;
        }
        graph.nodes.push(node);
    }
    // Few hubs have most of the edges.
    let hubs = 1 + random.below(nodes.max(1));
    for _ in 0..if nodes == 0 { 0 } else { edges } {
        let (a, b) = (random.below(hubs), random.below(nodes));
        let (from, to) = if is_ordered {
            (a.min(b), a.max(b))
        } else {
            (a, b)
        };
        let mut edge = samples::edge(from, to, shares[random.below(10)]);
        if random.below(4) == 0 {
            edge.label = texts[random.below(texts.len())].to_owned();
        }
        edge.leads_back = !is_ordered && random.below(4) == 0;
        graph.edges.push(edge);
    }
    if random.below(2) == 0 {
        graph.legend = samples::legend();
    }
    graph
}

#[test]
fn samples_are_sound() {
    for (name, graph) in samples::all() {
        let start = Instant::now();
        check(&graph);
        println!(
            "{name}: {:.0} ms with all checks",
            start.elapsed().as_secs_f64() * 1e3
        );
    }
}

#[test]
fn equal_graphs_are_placed_equally() {
    for (name, graph) in samples::all() {
        assert_eq!(
            layout::place(&graph),
            layout::place(&graph.clone()),
            "{name}"
        );
    }
}

#[test]
fn the_heading_is_at_the_top_left() {
    for graph in [samples::small(), samples::deep(), samples::wide()] {
        let legend = check(&graph).legend.expect("a heading").rect;
        assert!(legend.left < 10.0 && legend.top < 10.0, "{legend:?}");
    }
}

/// As many boxes as a page has at most, one below the other, and arrows past
/// half of them: no layout has more bends than that.
#[test]
fn long_arrows_are_placed_in_time() {
    let mut random = Random(3);
    let nodes = (0..300).map(|_| samples::node(&["f"], 0.5, 0.1)).collect();
    let mut edges: Vec<_> = (1..300).map(|to| samples::edge(to - 1, to, 0.5)).collect();
    while edges.len() < 500 {
        let (from, to) = (random.below(300), random.below(300));
        if from + 1 < to {
            edges.push(samples::edge(from, to, 0.1));
        }
    }
    let graph = Graph {
        nodes,
        edges,
        ..Graph::default()
    };
    let start = Instant::now();
    let placed = layout::place(&graph);
    println!("{:.1} s", start.elapsed().as_secs_f64());
    assert_eq!(placed.arrows.len(), 500);
    // Without a limit it takes minutes.
    assert!(start.elapsed().as_secs() < 60);
}

#[test]
fn edges_to_nowhere_are_left_out() {
    let graph = Graph {
        nodes: vec![samples::node(&["f"], 1.0, 1.0)],
        edges: vec![samples::edge(0, 1, 0.5), samples::edge(usize::MAX, 0, 0.5)],
        ..Graph::default()
    };
    assert!(check(&graph).arrows.is_empty());
}

#[test]
fn where_many_are_called_rows_are_not_endless() {
    let placed = check(&samples::wide());
    assert!(
        placed.width < 5.0 * placed.height,
        "{} x {}",
        placed.width,
        placed.height
    );
}

#[test]
fn recursion_comes_back_up() {
    let graph = samples::recursive();
    let placed = check(&graph);
    let top = |node: usize| placed.boxes[node].rect.top;
    let leads_down = |edge: usize| top(graph.edges[edge].from) < top(graph.edges[edge].to);
    assert!(
        leads_down(1) && !leads_down(2),
        "eval calls call, and that eval again"
    );
}

/// Which arrow of a circle leads up is as it was said, in both languages.
#[test]
fn what_leads_back_leads_up() {
    let mut graph = samples::recursive();
    // As if `call` had been there before `eval`.
    for edge in &mut graph.edges {
        edge.leads_back = (edge.from, edge.to) == (1, 2);
    }
    let placed = check(&graph);
    let top = |node: usize| placed.boxes[node].rect.top;
    assert!(top(2) < top(1), "call calls eval, and that call again");
    let dot = memlog_export::dot(&graph);
    assert!(dot.contains("n2 -> n1 [label=\" 409.6 MiB\"") && dot.contains(", dir=back];"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn small_graphs_are_sound(nodes in 0_usize..12, edges in 0_usize..24, seed: u64, is_ordered: bool) {
        check(&random_graph(nodes, edges, seed, is_ordered));
    }

    #[test]
    fn callers_are_above_what_they_call(nodes in 1_usize..40, edges in 0_usize..80, seed: u64) {
        let graph = random_graph(nodes, edges, seed, true);
        let placed = check(&graph);
        for edge in graph.edges.iter().filter(|edge| edge.from != edge.to) {
            let (from, to) = (placed.boxes[edge.from].rect, placed.boxes[edge.to].rect);
            prop_assert!(from.bottom < to.top);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn large_graphs_are_sound(nodes in 100_usize..=300, edges in 0_usize..=600, seed: u64, is_ordered: bool) {
        check(&random_graph(nodes, edges, seed, is_ordered));
    }
}
