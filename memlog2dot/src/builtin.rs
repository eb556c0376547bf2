//! memlog's own drawing.

use memlog_export::draw::{self, Paper};
use memlog_export::{Graph, layout};

use crate::args::Format;
use crate::draw::Drawings;

/// A name that is smaller on paper is hard to read, in points.
const LEGIBLE: f64 = 5.0;

/// The picture, laid out once.
pub(crate) fn draw(graph: &Graph, formats: &[Format], paper: Paper) -> Drawings {
    let placed = layout::place(graph);
    let drawn = formats.iter().filter_map(|&format| {
        let bytes = match format {
            Format::Dot | Format::Txt => return None,
            Format::Ps => draw::ps(graph, &placed, paper),
            Format::Pdf => draw::pdf(graph, &placed, paper),
            Format::Svg => draw::svg(graph, &placed).into_bytes(),
        };
        Some((format, bytes))
    });
    let has_page = formats.contains(&Format::Ps) || formats.contains(&Format::Pdf);
    let smallest = paper.smallest_name(&placed).filter(|_| has_page);
    let small = smallest.filter(|&points| points < LEGIBLE);
    let remarks = small.map(|points| {
        format!(
            "on paper the smallest names are {points:.1} points high: look at the SVG, or draw \
             less with --max-boxes 30 or -t 5"
        )
    });
    Drawings {
        drawn: drawn.collect(),
        remarks: remarks.into_iter().collect(),
    }
}
