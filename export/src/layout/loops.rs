//! Arrows from a box to itself: at its right side, one around the other, each
//! with its label inside the next.

use super::boxes;
use super::curves;
use super::layered::LABEL_GAP;
use super::placed::{Arrow, Point, Rect, Sheet};

const RADIUS: f64 = 8.0;
/// How far a control point is from a corner, of the radius: a quarter circle.
const ROUND: f64 = 0.45;
/// Around a label.
const GAP: f64 = 6.0;

/// A call of a box to itself.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    /// Index in the graph's edges.
    pub edge: usize,
    pub line_width: f64,
    pub label: Option<Sheet>,
}

/// How far beyond its box each loop goes and half of how high it is.
fn sizes(loops: &[Loop]) -> Vec<(f64, f64)> {
    let label_heights = loops.iter().filter_map(|loop_| loop_.label.as_ref());
    let highest = label_heights
        .map(|label| label.rect.height())
        .fold(0.0, f64::max);
    let head = loops
        .iter()
        .map(|loop_| curves::head_length(loop_.line_width));
    let mut right = head.fold(0.0, f64::max) + RADIUS + GAP;
    let mut half = (highest / 2.0).max(RADIUS) + GAP;
    let mut sizes = Vec::new();
    for loop_ in loops {
        half += loop_.line_width / 2.0 + curves::head_half_width(loop_.line_width);
        right += loop_.line_width / 2.0;
        sizes.push((right, half));
        right += loop_.line_width / 2.0 + beside(loop_) + GAP;
        half += loop_.line_width / 2.0 + curves::head_half_width(loop_.line_width);
    }
    sizes
}

/// What the label takes.
fn beside(loop_: &Loop) -> f64 {
    loop_
        .label
        .as_ref()
        .map_or(0.0, |label| LABEL_GAP + label.rect.width())
}

/// The room beside the box, and how high the box must be.
pub(super) fn room(loops: &[Loop]) -> (f64, f64) {
    let (Some(last), Some(&(right, half))) = (loops.last(), sizes(loops).last()) else {
        return (0.0, 0.0);
    };
    let height = 2.0 * (half + GAP + curves::head_half_width(last.line_width));
    (right + last.line_width / 2.0 + beside(last), height)
}

/// The loops at this box.
pub(super) fn arrows(loops: Vec<Loop>, rect: Rect) -> Vec<Arrow> {
    let sizes = sizes(&loops);
    loops
        .into_iter()
        .zip(sizes)
        .map(|(loop_, size)| arrow(loop_, size, rect))
        .collect()
}

fn arrow(loop_: Loop, (beyond, half): (f64, f64), rect: Rect) -> Arrow {
    let middle = f64::midpoint(rect.top, rect.bottom);
    let (left, right) = (rect.right, rect.right + beyond);
    let (top, bottom) = (middle - half, middle + half);
    let head = curves::head_length(loop_.line_width);
    let side = curves::head_half_width(loop_.line_width);
    let at = |x, y| Point { x, y };
    let line = |from: Point, to: Point| {
        [
            between(from, to, 1.0 / 3.0),
            between(from, to, 2.0 / 3.0),
            to,
        ]
    };
    let turn = |from: Point, corner, to: Point| {
        [between(corner, from, ROUND), between(corner, to, ROUND), to]
    };
    let corners = [at(right, top), at(right, bottom)];
    let (start, end) = (at(left, top), at(left + head, bottom));
    let (first, second) = (at(right - RADIUS, top), at(right, top + RADIUS));
    let (third, fourth) = (at(right, bottom - RADIUS), at(right - RADIUS, bottom));
    let mut curve = vec![start];
    curve.extend(line(start, first));
    curve.extend(turn(first, corners[0], second));
    curve.extend(line(second, third));
    curve.extend(turn(third, corners[1], fourth));
    curve.extend(line(fourth, end));
    let label = loop_.label.map(|mut label| {
        let x = right + loop_.line_width / 2.0 + LABEL_GAP;
        label.shift(at(x, middle - label.rect.height() / 2.0));
        label
    });
    Arrow {
        edge: loop_.edge,
        curve,
        width: loop_.line_width,
        head: [
            at(left, bottom),
            at(left + head, bottom - side),
            at(left + head, bottom + side),
        ],
        label,
    }
}

fn between(from: Point, to: Point, part: f64) -> Point {
    Point {
        x: from.x + (to.x - from.x) * part,
        y: from.y + (to.y - from.y) * part,
    }
}

/// Widths of lines: those too thin are not seen, those too thick hide others.
pub(super) fn line_width(width: f64) -> f64 {
    boxes::sane(width, (1.0, 10.0))
}
