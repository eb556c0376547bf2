//! Parts side by side in shelves, and the heading at the top left, in a corner
//! that is free if there is one.

use super::component::Piece;
use super::placed::{Placed, Point, Rect, Sheet};

/// Between parts, and between them and the heading.
const GAP: f64 = 40.0;
/// Beyond everything, for lines have a width.
const MARGIN: f64 = 6.0;
/// How much wider than high shelves make it.
const ASPECT: f64 = 1.5;

/// The whole picture.
pub(super) fn together(pieces: Vec<Piece>, legend: Option<Sheet>, node_count: usize) -> Placed {
    let mut pieces: Vec<Piece> = pieces
        .into_iter()
        .filter(|piece| !piece.boxes.is_empty())
        .collect();
    shelve(&mut pieces);
    let mut by = Point {
        x: MARGIN,
        y: MARGIN,
    };
    if let Some(legend) = &legend {
        let below = beside_legend(&pieces, legend.rect);
        by = Point {
            x: below.x + MARGIN,
            y: below.y + MARGIN,
        };
    }
    let mut placed = Placed {
        boxes: vec![Sheet::default(); node_count],
        ..Placed::default()
    };
    for mut piece in pieces {
        piece.shift(by);
        placed.include(piece.bounds());
        for (node, sheet) in piece.boxes {
            placed.boxes[node] = sheet;
        }
        placed.arrows.append(&mut piece.arrows);
    }
    placed.arrows.sort_by_key(|arrow| arrow.edge);
    placed.legend = legend.map(|mut legend| {
        legend.shift(Point {
            x: MARGIN,
            y: MARGIN,
        });
        placed.include(legend.rect);
        legend
    });
    placed.width += MARGIN;
    placed.height += MARGIN;
    placed
}

impl Placed {
    fn include(&mut self, rect: Rect) {
        self.width = self.width.max(rect.right);
        self.height = self.height.max(rect.bottom);
    }
}

impl Piece {
    fn shift(&mut self, by: Point) {
        self.boxes.iter_mut().for_each(|(_, sheet)| sheet.shift(by));
        self.arrows.iter_mut().for_each(|arrow| arrow.shift(by));
    }

    /// Of everything that is drawn, something that holds it.
    fn rects(&self) -> impl Iterator<Item = Rect> {
        let boxes = self.boxes.iter().map(|(_, sheet)| sheet.rect);
        let labels = self
            .arrows
            .iter()
            .filter_map(|arrow| arrow.label.as_ref())
            .map(|label| label.rect);
        let curves = self.arrows.iter().flat_map(|arrow| {
            let pieces = arrow
                .curve
                .windows(4)
                .step_by(3)
                .map(move |points| around(points, arrow.width / 2.0));
            pieces.chain([around(&arrow.head, 0.0)])
        });
        boxes.chain(labels).chain(curves)
    }

    fn bounds(&self) -> Rect {
        self.rects()
            .reduce(|a, b| Rect {
                left: a.left.min(b.left),
                top: a.top.min(b.top),
                right: a.right.max(b.right),
                bottom: a.bottom.max(b.bottom),
            })
            .unwrap_or_default()
    }
}

fn around(points: &[Point], by: f64) -> Rect {
    let xs = || points.iter().map(|point| point.x);
    let ys = || points.iter().map(|point| point.y);
    Rect {
        left: xs().fold(f64::INFINITY, f64::min) - by,
        top: ys().fold(f64::INFINITY, f64::min) - by,
        right: xs().fold(f64::NEG_INFINITY, f64::max) + by,
        bottom: ys().fold(f64::NEG_INFINITY, f64::max) + by,
    }
}

/// From left to right, and where a shelf is full on the next one.
fn shelve(pieces: &mut [Piece]) {
    let bounds: Vec<Rect> = pieces.iter().map(Piece::bounds).collect();
    let area: f64 = bounds
        .iter()
        .map(|b| (b.width() + GAP) * (b.height() + GAP))
        .sum();
    let widest = bounds.iter().map(Rect::width).fold(0.0, f64::max);
    let full = widest.max((area * ASPECT).sqrt());
    let (mut x, mut y, mut next_y) = (0.0, 0.0, 0.0_f64);
    for (piece, bounds) in pieces.iter_mut().zip(bounds) {
        if x > 0.0 && x + bounds.width() > full {
            (x, y) = (0.0, next_y);
        }
        piece.shift(Point {
            x: x - bounds.left,
            y: y - bounds.top,
        });
        x += bounds.width() + GAP;
        next_y = next_y.max(y + bounds.height() + GAP);
    }
}

/// How far the parts must go to the right or down to leave the heading its
/// room: whichever makes the picture less larger.
fn beside_legend(pieces: &[Piece], legend: Rect) -> Point {
    let (width, height) = (legend.width() + GAP, legend.height() + GAP);
    let rects = || pieces.iter().flat_map(Piece::rects);
    let right = rects()
        .filter(|rect| rect.top < height)
        .map(|rect| width - rect.left);
    let down = rects()
        .filter(|rect| rect.left < width)
        .map(|rect| height - rect.top);
    let (right, down) = (right.fold(0.0, f64::max), down.fold(0.0, f64::max));
    let all_width = rects().map(|rect| rect.right).fold(0.0, f64::max);
    let all_height = rects().map(|rect| rect.bottom).fold(0.0, f64::max);
    if right * all_height < down * all_width {
        Point { x: right, y: 0.0 }
    } else {
        Point { x: 0.0, y: down }
    }
}
