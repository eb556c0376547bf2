//! What is drawn, in order: what comes later lies over what came before.

use crate::graph::{Edge, Graph, Node};
use crate::layout::text;
use crate::layout::{Arrow, Line, Placed, Point, Rect, Sheet};

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Colour(pub [u8; 3]);

pub(super) const BLACK: Colour = Colour([0; 3]);
pub(super) const WHITE: Colour = Colour([255; 3]);
/// A box that holds nothing, and one that holds everything: on paper a light grey.
const COLD: Colour = Colour([255, 253, 249]);
const WARM: Colour = Colour([250, 178, 112]);
/// The same of what the program mapped itself.
const COOL: Colour = Colour([140, 190, 240]);
/// An arrow that carries nothing, and one that carries everything.
const FAINT: Colour = Colour([105, 105, 105]);
const FIRM: Colour = Colour([35, 35, 35]);
const BORDER: Colour = Colour([60, 50, 45]);

const LEGEND_BORDER: f64 = 0.8;
/// The length of a dash: of a line without width, and more by its width.
const DASH: (f64, f64) = (8.0, 2.0);

/// A shape.
pub(super) enum Shape<'a> {
    /// What follows until `End` is one thing, called this.
    Begin(String),
    End,
    Box {
        rect: Rect,
        fill: Colour,
        border: Colour,
        border_width: f64,
    },
    Curve {
        points: &'a [Point],
        colour: Colour,
        width: f64,
        /// The lengths of a dash and of a gap; none where the line is whole.
        dash: Option<(f64, f64)>,
    },
    Head {
        corners: &'a [Point; 3],
        colour: Colour,
    },
    /// Always black.
    Text(&'a Line),
}

/// Light arrows with their labels first, then heavy ones, and boxes last.
pub(super) fn shapes<'a>(graph: &Graph, placed: &'a Placed) -> Vec<Shape<'a>> {
    let mut shapes = Vec::new();
    let edge = |arrow: &Arrow| graph.edges.get(arrow.edge);
    let mut arrows: Vec<&Arrow> = placed.arrows.iter().collect();
    arrows.sort_by(|a, b| a.width.total_cmp(&b.width));
    for arrow in arrows {
        add_arrow(&mut shapes, graph, edge(arrow), arrow);
    }
    for (node, sheet) in graph.nodes.iter().zip(&placed.boxes) {
        add_box(&mut shapes, node, sheet);
    }
    if let Some(legend) = &placed.legend {
        shapes.push(Shape::Box {
            rect: legend.rect,
            fill: WHITE,
            border: FAINT,
            border_width: LEGEND_BORDER,
        });
        shapes.extend(legend.lines.iter().map(Shape::Text));
    }
    shapes
}

fn add_arrow<'a>(
    shapes: &mut Vec<Shape<'a>>,
    graph: &Graph,
    edge: Option<&Edge>,
    arrow: &'a Arrow,
) {
    let name = |node: usize| graph.nodes.get(node).and_then(|node| node.lines.first());
    let name = |node: usize| name(node).map_or(String::new(), |name| text::clean(name));
    let share = edge.map_or(0.0, |edge| edge.share);
    let title = edge.map(|edge| {
        let label: Vec<String> = edge.label.split('\n').map(text::clean).collect();
        format!(
            "{} → {}\n{}",
            name(edge.from),
            name(edge.to),
            label.join("\n")
        )
    });
    let colour = blend(FAINT, FIRM, share);
    shapes.push(Shape::Begin(title.unwrap_or_default()));
    shapes.push(Shape::Curve {
        points: &arrow.curve,
        colour,
        width: arrow.width,
        dash: edge.is_some_and(|edge| !edge.is_call).then(|| {
            let length = DASH.0 + DASH.1 * arrow.width;
            (length, 0.6 * length)
        }),
    });
    shapes.push(Shape::Head {
        corners: &arrow.head,
        colour,
    });
    let labels = arrow.label.iter().flat_map(|label| &label.lines);
    shapes.extend(labels.map(Shape::Text));
    shapes.push(Shape::End);
}

fn add_box<'a>(shapes: &mut Vec<Shape<'a>>, node: &Node, sheet: &'a Sheet) {
    // Of a run all that is in it.
    let lines = match node.run.is_empty() {
        true => node.lines.iter().chain(&[]),
        false => node.run.iter().chain(&node.lines[node.names..]),
    };
    let lines: Vec<String> = lines.map(|line| text::clean(line)).collect();
    shapes.push(Shape::Begin(lines.join("\n")));
    let full = if node.is_mapped { COOL } else { WARM };
    shapes.push(Shape::Box {
        rect: sheet.rect,
        fill: blend(COLD, full, node.share),
        border: BORDER,
        border_width: 0.8 + 3.2 * part(node.own_share),
    });
    shapes.extend(sheet.lines.iter().map(Shape::Text));
    shapes.push(Shape::End);
}

/// Small shares are to be told apart too.
fn part(share: f64) -> f64 {
    if share.is_nan() {
        0.0
    } else {
        share.clamp(0.0, 1.0).sqrt()
    }
}

fn blend(none: Colour, all: Colour, share: f64) -> Colour {
    let part = part(share);
    let mix = |at: usize| f64::from(none.0[at]) * (1.0 - part) + f64::from(all.0[at]) * part;
    Colour([0, 1, 2].map(|at| mix(at).round() as u8))
}
