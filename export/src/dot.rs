//! A graph in Graphviz's language, laid out for a page of 8 by 11 inches.
//!
//! The colour of a box says what it holds, its border what it allocated itself.
//!
//! Nothing in a label is more than text: quotes, backslashes, entities and
//! control characters are written so that `dot` shows them and obeys none.

use std::fmt::Write;

use crate::graph::{Edge, Graph, Node};
use crate::layout::text::{Room, fit};

/// Of the font size: how wide text may become, some 32 characters.
const WIDTH: f64 = 17.0;
/// Around the text, to the sides and above: inches for each point of the font.
const MARGIN: (f64, f64) = (0.006, 0.003);
/// On a page of one box; a page of many is scaled down.
const LEGEND_POINTS: f64 = 24.0;

/// The whole file.
pub fn dot(graph: &Graph) -> String {
    let mut out = String::from("digraph \"memlog\" {\n");
    out.push_str("graph [size=\"8,11\", ranksep=0.6, fontname=\"Helvetica\"];\n");
    out.push_str("node [shape=box, style=filled, fillcolor=white, fontname=\"Helvetica\"];\n");
    out.push_str("edge [fontname=\"Helvetica\"];\n");
    legend(&mut out, graph);
    for (number, one) in graph.nodes.iter().enumerate() {
        node(&mut out, number, one);
    }
    for one in &graph.edges {
        edge(&mut out, one);
    }
    out.push_str("}\n");
    out
}

fn legend(out: &mut String, graph: &Graph) {
    if graph.heading().next().is_none() {
        return;
    }
    out.push_str("subgraph \"cluster_key\" {\nstyle=invis;\n");
    out.push_str("legend [label=\"");
    for line in graph.heading() {
        text(out, line);
        // Left-aligned.
        out.push_str("\\l");
    }
    let points = LEGEND_POINTS * (1.0 + graph.nodes.len() as f64 / 32.0).sqrt();
    put(out, format_args!("\", fontsize={points:.1}];\n}}\n"));
}

fn node(out: &mut String, number: usize, node: &Node) {
    put(out, format_args!("n{number} [label=\""));
    for (index, line) in lines(node).enumerate() {
        if index > 0 {
            out.push_str("\\n");
        }
        text(out, &line);
    }
    let saturation = 0.55 * node.share.sqrt();
    let hue = if node.is_mapped { 0.58 } else { 0.08 };
    let border = 0.8 + 3.2 * node.own_share.sqrt();
    put(
        out,
        format_args!(
            "\", fontsize={:.1}, margin=\"{:.2},{:.2}\", fillcolor=\"{hue:.3} {saturation:.3} 1.000\", penwidth={border:.2}",
            node.font_size,
            MARGIN.0 * node.font_size,
            MARGIN.1 * node.font_size
        ),
    );
    if !node.run.is_empty() {
        out.push_str(", tooltip=\"");
        for line in &node.run {
            text(out, line);
            out.push_str("\\n");
        }
        out.push('"');
    }
    out.push_str("];\n");
}

/// Its text as the other pictures break and shorten it.
fn lines(node: &Node) -> impl Iterator<Item = String> {
    let room = |most_lines| Room {
        width: WIDTH * node.font_size,
        most_lines,
        size: node.font_size,
        bold: false,
    };
    let title = if node.names == 1 { 3 } else { 2 };
    let most_lines = std::iter::once(title).chain(std::iter::repeat(2));
    let lines = node.lines.iter().zip(most_lines);
    lines.flat_map(move |(line, most_lines)| fit(line, &room(most_lines)))
}

fn edge(out: &mut String, edge: &Edge) {
    // dot turns whichever arrow of a circle it comes upon; here it is told which:
    // written from the callee, and drawn from the caller.
    let (from, to) = match edge.leads_back {
        true => (edge.to, edge.from),
        false => (edge.from, edge.to),
    };
    // The label begins at the line: a blank keeps it off.
    put(out, format_args!("n{from} -> n{to} [label=\" "));
    for (index, line) in edge.label.split('\n').enumerate() {
        if index > 0 {
            out.push_str("\\n");
        }
        text(out, line);
    }
    // Graphviz takes whole weights only, and 0 as no wish at all.
    let weight = (100.0 * edge.share.sqrt()).round().max(1.0);
    put(
        out,
        format_args!(
            "\", weight={weight}, penwidth={:.3}, fontsize={:.1}",
            edge.width, edge.font_size
        ),
    );
    if !edge.is_call {
        out.push_str(", style=dashed");
    }
    if edge.leads_back {
        out.push_str(", dir=back");
    }
    out.push_str("];\n");
}

/// Text between quotes, where a backslash escapes and `&amp;` is an entity.
fn text(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '&' => out.push_str("&amp;"),
            // Graphviz's PostScript has no such sign.
            '…' => out.push_str("..."),
            // Written out: a backslash and an n.
            character if character.is_control() => {
                for part in character.escape_default() {
                    if part == '\\' {
                        out.push(part);
                    }
                    out.push(part);
                }
            }
            character => out.push(character),
        }
    }
}

fn put(out: &mut String, arguments: std::fmt::Arguments) {
    // A String takes everything.
    let _ = out.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(given: &str) -> String {
        let mut out = String::new();
        text(&mut out, given);
        out
    }

    #[test]
    fn labels_are_text() {
        assert_eq!(escaped("f(char const&)"), "f(char const&amp;)");
        assert_eq!(
            escaped("operator\"\" _x \\N \\l"),
            "operator\\\"\\\" _x \\\\N \\\\l"
        );
        assert_eq!(escaped("a\nb\u{1b}"), "a\\\\nb\\\\u{1b}");
        assert_eq!(escaped("größe\u{fffd}"), "größe\u{fffd}");
    }

    #[test]
    fn a_name_that_is_too_long_is_shortened() {
        let node = Node {
            lines: vec![format!("f<{}>(int)", "a::b<c>, ".repeat(300))],
            names: 1,
            run: Vec::new(),
            share: 0.5,
            own_share: 0.0,
            is_mapped: false,
            font_size: 40.0,
        };
        let mut out = String::new();
        super::node(&mut out, 7, &node);
        assert!(
            out.starts_with("n7 [label=\"f<...>(...)\", fontsize=40.0, "),
            "{out}"
        );
    }

    #[test]
    fn an_empty_graph_is_one() {
        let text = dot(&Graph::default());
        assert!(text.starts_with("digraph \"memlog\" {\n") && text.ends_with("}\n"));
    }
}
