//! Draws a few graphs of different kinds into a folder: to look at, and to
//! compare with what Graphviz makes of the same.
//!
//! `cargo run --release -p memlog-export --example gallery FOLDER`

use std::fs;
use std::path::Path;
use std::time::Instant;

use memlog_export::draw::{self, Paper};
use memlog_export::{Edge, Graph, Node, layout};

#[path = "../tests/samples/mod.rs"]
mod samples;

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let folder = Path::new(&folder);
    for (name, graph) in samples::all() {
        let start = Instant::now();
        let placed = layout::place(&graph);
        let millis = start.elapsed().as_secs_f64() * 1e3;
        println!(
            "{name:10} {:4} nodes {:4} edges {:6.0} x {:6.0} points {millis:8.1} ms",
            graph.nodes.len(),
            graph.edges.len(),
            placed.width,
            placed.height
        );
        fs::write(
            folder.join(format!("{name}.svg")),
            draw::svg(&graph, &placed),
        )?;
        fs::write(
            folder.join(format!("{name}.ps")),
            draw::ps(&graph, &placed, Paper::A4),
        )?;
        fs::write(
            folder.join(format!("{name}.pdf")),
            draw::pdf(&graph, &placed, Paper::A4),
        )?;
        fs::write(folder.join(format!("{name}.dot")), dot(&graph))?;
    }
    Ok(())
}

/// The same for Graphviz.
fn dot(graph: &Graph) -> String {
    let mut out =
        "digraph {\nnode [shape=box, fontname=Helvetica]\nedge [fontname=Helvetica]\n".to_owned();
    for (
        index,
        Node {
            lines, font_size, ..
        },
    ) in graph.nodes.iter().enumerate()
    {
        out += &format!(
            "{index} [label={:?}, fontsize={font_size}]\n",
            lines.join("\n")
        );
    }
    for edge in &graph.edges {
        let Edge {
            from,
            to,
            label,
            share,
            width,
            font_size,
            ..
        } = edge;
        let weight = (100.0 * share.sqrt()).round();
        out += &format!(
            "{from} -> {to} [label={label:?}, penwidth={width}, fontsize={font_size}, weight={weight}]\n"
        );
    }
    out + "}\n"
}
