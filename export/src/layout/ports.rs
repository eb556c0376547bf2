//! Where along the border of its box an arrow begins or ends.
//!
//! ```text
//! for each side of each box, its arrows in the order of their next places:
//!     wanted := the x of the next place, as near as the box has it
//!     move them apart, heavy ones the least         (spacing.rs)
//! ```

use super::layered::Layered;
use super::order::Layers;
use super::spacing;

/// From the corner of a box.
pub(super) const INSET: f64 = 7.0;
/// Between arrows, besides the width of their lines.
const GAP: f64 = 9.0;

/// The x of the upper and of the lower end of each chain.
pub(super) fn ports(
    layered: &Layered,
    layers: &Layers,
    columns: &[f64],
    half_widths: &[f64],
) -> Vec<[f64; 2]> {
    let mut places = vec![0; layered.vertices.len()];
    for layer in layers {
        for (place, &vertex) in layer.iter().enumerate() {
            places[vertex] = place;
        }
    }
    // At the lower side of a box the upper ends of chains, and the reverse.
    let mut sides = vec![[Vec::new(), Vec::new()]; half_widths.len()];
    for (index, chain) in layered.chains.iter().enumerate() {
        if let [upper, first, ..] = chain.vertices[..] {
            sides[upper][0].push((places[first], index, columns[first]));
        }
        if let [.., last, lower] = chain.vertices[..] {
            sides[lower][1].push((places[last], index, columns[last]));
        }
    }
    let mut ports = vec![[0.0; 2]; layered.chains.len()];
    for (box_, sides) in sides.iter_mut().enumerate() {
        let half = (half_widths[box_] - INSET).max(0.0);
        let (low, high) = (columns[box_] - half, columns[box_] + half);
        for (end, side) in sides.iter_mut().enumerate() {
            side.sort_by_key(|&(place, index, _)| (place, index));
            let wanted = side
                .iter()
                .map(|&(_, index, x)| (x.clamp(low, high), layered.chains[index].weight as f64));
            let wanted: Vec<(f64, f64)> = wanted.collect();
            let room = |at: usize| layered.chains[side[at].1].line_width / 2.0;
            let gaps = (1..side.len()).map(|at| room(at - 1) + room(at) + GAP);
            let xs = spacing::apart(&wanted, &gaps.collect::<Vec<_>>(), low, high);
            for (&(_, index, _), x) in side.iter().zip(xs) {
                ports[index][end] = x;
            }
        }
    }
    ports
}

/// The least width of a box for its arrows to be apart.
pub(super) fn least_width(line_widths: impl Iterator<Item = f64>) -> f64 {
    line_widths.map(|width| width + GAP).sum::<f64>() + 2.0 * INSET
}
