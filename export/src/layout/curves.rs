//! A smooth curve through the gates of an arrow.
//!
//! ```text
//! taut := the shortest way through all gates        (a string pulled tight)
//! knots := its ends and its bends
//! repeat:
//!     slope at a knot := the harmonic mean of the slopes beside it,
//!                        0 where it turns back
//!     a cubic from each knot to the next
//!     where it misses a gate, what is taut there becomes a knot
//! until it misses none
//! ```
//!
//! Why this cannot fail: the handles of a cubic are half as high as the cubic,
//! and no slope is more than twice that of the straight line from knot to knot.
//! Then x and y both only grow or only shrink along it, so between the two gates
//! of a layer it stays between where it passes them; and were every gate a knot,
//! it would be as good as the string.
//!
//! Liberty: handles of a third would make x a plain function of y, as Fritsch
//! and Carlson have it. Longer ones make rounder corners, and finding the x of a
//! y by halving is cheap.

use super::lanes::Gate;
use super::placed::Point;

const TOLERANCE: f64 = 1e-2;
/// Then the y of a point is exact to less than what is seen.
const HALVINGS: usize = 24;

/// How long the head of an arrow of this width is.
pub(super) fn head_length(line_width: f64) -> f64 {
    9.0 + 1.7 * line_width
}

/// Half of how wide it is.
pub(super) fn head_half_width(line_width: f64) -> f64 {
    3.4 + 0.95 * line_width
}

/// The curve from the first gate down to the last, which must be points.
pub(super) fn through(gates: &[Gate], end_slopes: [Option<f64>; 2]) -> Vec<Point> {
    let (taut, mut is_knot) = taut(gates);
    loop {
        let curve = beziers(&knots(gates, &taut, &is_knot, end_slopes));
        let mut has_missed = false;
        for (gate, is_knot) in gates.iter().zip(&mut is_knot) {
            let x = x_on(&curve, gate.y);
            let is_met = (gate.low - TOLERANCE..=gate.high + TOLERANCE).contains(&x);
            if !is_met && !*is_knot {
                *is_knot = true;
                has_missed = true;
            }
        }
        if !has_missed {
            return curve;
        }
    }
}

#[derive(Clone, Copy)]
struct Knot {
    x: f64,
    y: f64,
    /// Of x by y.
    slope: f64,
}

/// The x at each gate, and at which of them the string is bent.
fn taut(gates: &[Gate]) -> (Vec<f64>, Vec<bool>) {
    let last = gates.len() - 1;
    let mut xs = vec![gates[0].low; gates.len()];
    let mut is_knot = vec![false; gates.len()];
    is_knot[0] = true;
    let mut from = 0;
    while from < last {
        let (bend, x) = next_bend(gates, from, xs[from]);
        for between in from + 1..=bend {
            let part = (gates[between].y - gates[from].y) / (gates[bend].y - gates[from].y);
            let straight = xs[from] + (x - xs[from]) * part;
            xs[between] = straight.clamp(gates[between].low, gates[between].high);
        }
        is_knot[bend] = true;
        from = bend;
    }
    (xs, is_knot)
}

/// The gate up to which one sees from here, or at which one must turn.
fn next_bend(gates: &[Gate], from: usize, x: f64) -> (usize, f64) {
    let (mut low, mut high) = ((f64::NEG_INFINITY, from), (f64::INFINITY, from));
    for (at, gate) in gates.iter().enumerate().skip(from + 1) {
        let dy = gate.y - gates[from].y;
        let (gate_low, gate_high) = ((gate.low - x) / dy, (gate.high - x) / dy);
        if gate_low > high.0 {
            return (high.1, gates[high.1].high);
        }
        if gate_high < low.0 {
            return (low.1, gates[low.1].low);
        }
        if gate_low >= low.0 {
            low = (gate_low, at);
        }
        if gate_high <= high.0 {
            high = (gate_high, at);
        }
    }
    let last = gates.len() - 1;
    (last, gates[last].low)
}

fn knots(gates: &[Gate], xs: &[f64], is_knot: &[bool], end_slopes: [Option<f64>; 2]) -> Vec<Knot> {
    let chosen = (0..gates.len()).filter(|&at| is_knot[at]);
    let mut knots: Vec<Knot> = chosen
        .map(|at| Knot {
            x: xs[at],
            y: gates[at].y,
            slope: 0.0,
        })
        .collect();
    let slopes: Vec<f64> = knots
        .windows(2)
        .map(|pair| (pair[1].x - pair[0].x) / (pair[1].y - pair[0].y))
        .collect();
    for at in 1..knots.len() - 1 {
        let (before, after) = (slopes[at - 1], slopes[at]);
        if before * after > 0.0 {
            knots[at].slope = 2.0 * before * after / (before + after);
        }
    }
    let last = knots.len() - 1;
    knots[0].slope = end_slopes[0].unwrap_or(slopes[0]);
    knots[last].slope = end_slopes[1].unwrap_or(slopes[last - 1]);
    knots
}

/// Where a curve that leads down is at this y.
pub(super) fn x_on(curve: &[Point], y: f64) -> f64 {
    let mut at = 0;
    while at + 6 < curve.len() && curve[at + 3].y < y {
        at += 3;
    }
    let [a, b, c, d] = [curve[at], curve[at + 1], curve[at + 2], curve[at + 3]];
    let blend = |t: f64, [a, b, c, d]: [f64; 4]| {
        let s = 1.0 - t;
        s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let t = f64::midpoint(low, high);
        if blend(t, [a.y, b.y, c.y, d.y]) < y {
            low = t;
        } else {
            high = t;
        }
    }
    blend(high, [a.x, b.x, c.x, d.x])
}

fn beziers(knots: &[Knot]) -> Vec<Point> {
    let mut points = vec![Point {
        x: knots[0].x,
        y: knots[0].y,
    }];
    for pair in knots.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let handle = (b.y - a.y) / 2.0;
        let ends = [
            (a.x + a.slope * handle, a.y + handle),
            (b.x - b.slope * handle, b.y - handle),
            (b.x, b.y),
        ];
        points.extend(ends.map(|(x, y)| Point { x, y }));
    }
    points
}
