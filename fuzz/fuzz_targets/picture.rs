//! Attacks the picture that memlog draws itself: any graph of up to some dozen
//! boxes with any names is laid out and written as SVG, PostScript, PDF and in
//! Graphviz's language.
//!
//! ```text
//! boxes      u8    so many, 16 at most; then for each its share u8, a length u8
//!                  and the name
//! arrows           from u8, to u8, share u8, flags u8: to the end
//! ```
//!
//! It fails where that panics, takes long, or takes more memory than is stated;
//! where a name ends its string or its element; and where a place is no number.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memlog_export::{Edge, Graph, Node, dot, draw, layout};
use memlog_fuzz::{Counting, Limit, limited};

#[global_allocator]
static MEMORY: Counting = Counting;

/// Per byte: an arrow of four bytes may cross every rank, and is then a chain of
/// boxes with curves in three files. Besides: fonts and the heads of files.
const LIMIT: Limit = Limit {
    per_byte: 16 << 10,
    besides: 4 << 20,
};
const MOST_BOXES: usize = 16;
const MOST_ARROWS: usize = 64;

fuzz_target!(|input: &[u8]| {
    let graph = graph_of(input);
    limited(input.len(), LIMIT, || draw_all(&graph));
});

fn graph_of(input: &[u8]) -> Graph {
    let mut graph = Graph::default();
    let (&count, mut rest) = input.split_first().unwrap_or((&0, &[]));
    while graph.nodes.len() < usize::from(count).min(MOST_BOXES)
        && let Some((&[share, length], after)) = rest.split_first_chunk::<2>()
    {
        let (name, after) = after.split_at(usize::from(length).min(after.len()));
        let name = String::from_utf8_lossy(name).into_owned();
        if graph.nodes.is_empty() {
            graph.legend.push(name.clone());
        }
        graph.nodes.push(Node {
            lines: vec![name, "1.0 MiB".to_owned()],
            names: 1,
            run: Vec::new(),
            share: f64::from(share) / 255.0,
            own_share: f64::from(share / 2) / 255.0,
            is_mapped: false,
            font_size: 8.0 + f64::from(share) / 8.0,
        });
        rest = after;
    }
    let boxes = graph.nodes.len();
    while boxes > 0
        && graph.edges.len() < MOST_ARROWS
        && let Some((&[from, to, share, flags], after)) = rest.split_first_chunk::<4>()
    {
        graph.edges.push(Edge {
            from: usize::from(from) % boxes,
            to: usize::from(to) % boxes,
            label: "1.0 MiB\n50.0%".to_owned(),
            share: f64::from(share) / 255.0,
            width: 1.0 + f64::from(share) / 64.0,
            font_size: 10.0,
            is_call: flags & 1 == 0,
            leads_back: flags & 2 != 0,
        });
        rest = after;
    }
    graph
}

fn draw_all(graph: &Graph) {
    let placed = layout::place(graph);
    assert!(placed.width.is_finite() && placed.height.is_finite());
    let svg = draw::svg(graph, &placed);
    is_balanced(&svg);
    let ps = draw::ps(graph, &placed, draw::Paper::A4);
    assert!(ps.starts_with(b"%!PS"));
    assert!(draw::pdf(graph, &placed, draw::Paper::A4).starts_with(b"%PDF"));
    let dot = dot(graph);
    for line in dot.lines() {
        let open = line
            .replace("\\\\", "")
            .replace("\\\"", "")
            .matches('"')
            .count();
        assert!(open % 2 == 0, "a string without an end: {line}");
    }
}

/// Elements are closed in the order of their opening, and nothing is in an
/// element's name or text that XML forbids.
fn is_balanced(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("an element's end");
        let name = tag.split([' ', '\n', '/']).find(|name| !name.is_empty());
        match tag.as_bytes() {
            [b'?' | b'!', ..] => {}
            [b'/', ..] => assert_eq!(open.pop(), name, "{tag}"),
            [.., b'/'] => {}
            _ => open.extend(name),
        }
        for entity in text.split('&').skip(1) {
            assert!(entity.contains(';'), "{entity}");
        }
        let forbidden = |c: char| c.is_control() && !"\n\t\r".contains(c);
        assert!(!text.contains(forbidden), "{text:?}");
    }
    assert!(open.is_empty(), "{open:?}");
}
