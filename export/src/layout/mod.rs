//! Where everything stands: boxes in layers, callers above what they call,
//! arrows between them that run through no other box. After Sugiyama:
//!
//! * `text`, `fonts`: how large the boxes are
//! * `cycles`, `ranks`: turns arrows until there is no circle, then finds layers
//! * `layered`: breaks arrows where they pass a layer, with room for the label
//! * `order`, `crossings`: the order within each layer
//! * `columns`, `simplex`, `tight`, `spacing`: places within each layer
//! * `rows`, `ports`, `lanes`, `curves`, `loops`, `assembly`: the arrows
//! * `pack`: parts that nothing connects side by side, and the heading
//!
//! Equal graphs are placed equally, to the last bit: nothing here depends on
//! addresses, hashes or time.

mod assembly;
mod boxes;
mod columns;
mod component;
mod crossings;
mod curves;
mod cycles;
pub(crate) mod fonts;
mod lanes;
mod layered;
mod loops;
mod order;
mod pack;
mod placed;
mod ports;
mod ranks;
mod rows;
mod simplex;
mod spacing;
pub(crate) mod text;
mod tight;

pub use placed::{Arrow, Line, Placed, Point, Rect, Sheet};

use crate::graph::Graph;

/// Finds a place for everything. Edges whose ends are no nodes are left out.
pub fn place(graph: &Graph) -> Placed {
    let sheets: Vec<Sheet> = graph.nodes.iter().map(boxes::of_node).collect();
    let parts = component::split(graph);
    let parts = parts.iter().map(|part| part.place(graph, &sheets));
    pack::together(parts.collect(), boxes::of_legend(graph), graph.nodes.len())
}
