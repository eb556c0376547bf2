//! How high each layer is, and how far below the one before.

use super::curves;
use super::layered::{Kind, Layered};

/// Between layers, where lines only go straight down.
const LEAST_GAP: f64 = 8.0;
/// Above a head, for the line to come down to it.
const HEAD_GAP: f64 = 8.0;
/// Lines that go far sideways are not to be too flat: of the way sideways,
/// less where that is much, for one line is not to stretch it all.
const SLANT: f64 = 0.3;
const FAR: f64 = 100.0;
const FAR_SLANT: f64 = 0.04;
const MOST_SLANT_GAP: f64 = 70.0;
/// More room where many go far: for each.
const CROWD: f64 = 2.0;
const MOST_CROWD_GAP: f64 = 120.0;

/// The upper and the lower border of each layer.
#[derive(Debug)]
pub(super) struct Rows {
    pub tops: Vec<f64>,
    pub bottoms: Vec<f64>,
}

/// The layers, when it is known where lines begin, bend and end.
pub(super) fn rows(layered: &Layered, columns: &[f64], ports: &[[f64; 2]]) -> Rows {
    let mut heights = vec![0.0_f64; layered.layer_count];
    for vertex in &layered.vertices {
        heights[vertex.layer] = heights[vertex.layer].max(vertex.height);
    }
    // Below each layer.
    let mut gaps = vec![LEAST_GAP; layered.layer_count];
    let mut crowds = vec![0.0_f64; layered.layer_count];
    for (chain, ports) in layered.chains.iter().zip(ports) {
        let x = |vertex: usize, port: f64| match layered.vertices[vertex].kind {
            Kind::Box => port,
            _ => columns[vertex],
        };
        let head = curves::head_length(chain.line_width);
        for pair in chain.vertices.windows(2) {
            let layer = layered.vertices[pair[0]].layer;
            let gap = &mut gaps[layer];
            let sideways = (x(pair[0], ports[0]) - x(pair[1], ports[1])).abs();
            let near = sideways.min(FAR) * SLANT + (sideways - FAR).max(0.0) * FAR_SLANT;
            let near = near.min(MOST_SLANT_GAP);
            crowds[layer] += if sideways > FAR { CROWD } else { 0.0 };
            let end = if chain.is_turned { pair[0] } else { pair[1] };
            let has_head = layered.vertices[end].kind == Kind::Box;
            *gap = gap.max(if has_head {
                near.max(HEAD_GAP) + head
            } else {
                near
            });
        }
    }
    let mut rows = Rows {
        tops: Vec::new(),
        bottoms: Vec::new(),
    };
    let mut y = 0.0;
    for ((height, gap), crowd) in heights.iter().zip(&gaps).zip(&crowds) {
        rows.tops.push(y);
        rows.bottoms.push(y + height);
        y += height + gap + crowd.min(MOST_CROWD_GAP);
    }
    rows
}
