//! memlog's own drawing.

use memlog_export::{Graph, draw, layout};

use crate::draw::Drawings;

/// The picture, laid out once.
pub(crate) fn draw(graph: &Graph) -> Drawings {
    let placed = layout::place(graph);
    Drawings {
        ps: draw::ps(graph, &placed),
        pdf: draw::pdf(graph, &placed),
        svg: draw::svg(graph, &placed).into_bytes(),
        remarks: Vec::new(),
    }
}
