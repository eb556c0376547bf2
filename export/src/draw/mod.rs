//! A picture as a file: SVG, PostScript or PDF, all from one list of shapes.
//!
//! * `scene`: the shapes and their colours, for all three
//! * `page`: the paper, and how the picture lies on it
//! * `svg`, `ps`, `pdf`: how each is written

mod page;
mod pdf;
mod ps;
mod scene;
mod svg;

pub use page::Paper;
pub use pdf::pdf;
pub use ps::ps;
pub(crate) use scene::Colour;
pub use svg::svg;
pub(crate) use svg::{Escaped, FONTS, Hex};

use std::fmt;

use crate::graph::Graph;
use crate::layout::text;

/// What the document is called.
fn title(graph: &Graph) -> String {
    let first = graph.legend.iter().map(|line| text::clean(line));
    let mut named = first.filter(|line| !line.is_empty());
    named.next().unwrap_or_else(|| "Call graph".to_owned())
}

/// A number as short as hundredths allow.
pub(crate) struct Short(pub f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let hundredths = (self.0 * 100.0).round() as i64;
        let sign = if hundredths < 0 { "-" } else { "" };
        let (whole, part) = (hundredths.abs() / 100, hundredths.abs() % 100);
        match part {
            0 => write!(f, "{sign}{whole}"),
            _ if part % 10 == 0 => write!(f, "{sign}{whole}.{}", part / 10),
            _ => write!(f, "{sign}{whole}.{part:02}"),
        }
    }
}
