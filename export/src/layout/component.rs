//! A part of the graph that hangs together, and where everything in it stands.

use super::assembly;
use super::boxes;
use super::cycles::{self, Call};
use super::layered::{self, Drawn, Extent};
use super::loops::{self, Loop};
use super::placed::{Arrow, Sheet};
use super::ports;
use super::ranks;
use crate::graph::{Edge, Graph};

/// A box is made wider for its arrows, but not for any number of them.
const MOST_WIDTH_FOR_PORTS: f64 = 600.0;
/// How heavy an edge is that carries everything.
const FULL_WEIGHT: f64 = 100.0;

/// Nodes that edges join, directly or by others.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// Indices in the graph's nodes.
    nodes: Vec<usize>,
    /// Their ends are indices in `nodes`.
    calls: Vec<Call>,
}

/// A part with its corner at the origin.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// With the index of each node.
    pub boxes: Vec<(usize, Sheet)>,
    pub arrows: Vec<Arrow>,
}

/// The parts, in the order of their first nodes.
pub(super) fn split(graph: &Graph) -> Vec<Part> {
    let count = graph.nodes.len();
    let is_sound = |edge: &&(usize, &Edge)| edge.1.from < count && edge.1.to < count;
    let edges = graph
        .edges
        .iter()
        .enumerate()
        .filter(|edge| is_sound(&edge));
    let mut near = vec![Vec::new(); count];
    for (_, edge) in edges.clone() {
        near[edge.from].push(edge.to);
        near[edge.to].push(edge.from);
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut part_of = vec![usize::MAX; count];
    for start in 0..count {
        if part_of[start] != usize::MAX {
            continue;
        }
        let mut waiting = vec![start];
        part_of[start] = parts.len();
        while let Some(node) = waiting.pop() {
            for &next in &near[node] {
                if part_of[next] == usize::MAX {
                    part_of[next] = parts.len();
                    waiting.push(next);
                }
            }
        }
        parts.push(Part::default());
    }
    let mut local = Vec::new();
    for &part in &part_of {
        local.push(parts[part].nodes.len());
        let node = local.len() - 1;
        parts[part].nodes.push(node);
    }
    for (index, edge) in edges {
        let share = boxes::sane(edge.share, (0.0, 1.0));
        parts[part_of[edge.from]].calls.push(Call {
            edge: index,
            from: local[edge.from],
            to: local[edge.to],
            weight: 1 + (FULL_WEIGHT * share.sqrt()).round() as i64,
            leads_back: edge.leads_back,
        });
    }
    parts
}

impl Part {
    /// Places it.
    pub(super) fn place(&self, graph: &Graph, sheets: &[Sheet]) -> Piece {
        let mut loops = vec![Vec::new(); self.nodes.len()];
        let mut calls = Vec::new();
        let mut labels = Vec::new();
        for call in &self.calls {
            let edge = &graph.edges[call.edge];
            let label = boxes::of_label(&edge.label, edge.font_size);
            let line_width = loops::line_width(edge.width);
            if call.from == call.to {
                loops[call.from].push(Loop {
                    edge: call.edge,
                    line_width,
                    label,
                });
            } else {
                calls.push(*call);
                labels.push((label, line_width));
            }
        }
        let turned = cycles::turned(self.nodes.len(), &calls);
        let drawn: Vec<Drawn> = calls
            .iter()
            .zip(&labels)
            .zip(&turned)
            .map(|((&call, (label, line_width)), &is_turned)| Drawn {
                call,
                is_turned,
                label: label.as_ref().map(extent_of_label),
                line_width: *line_width,
            })
            .collect();
        let sheets = self.sheets(sheets, &drawn, &loops);
        let ranks = ranks::ranks(&calls, &turned, &sheets);
        let extents: Vec<Extent> = sheets
            .iter()
            .zip(&loops)
            .map(|(sheet, loops)| extent(sheet, loops))
            .collect();
        let layered = layered::build(&extents, &ranks, &drawn);
        let labels = labels.into_iter().map(|(label, _)| label).collect();
        let (sheets, mut arrows) = assembly::assemble(&layered, sheets, labels, &calls);
        for (sheet, loops) in sheets.iter().zip(loops) {
            arrows.extend(loops::arrows(loops, sheet.rect));
        }
        arrows.sort_by_key(|arrow| arrow.edge);
        Piece {
            boxes: self.nodes.iter().copied().zip(sheets).collect(),
            arrows,
        }
    }

    /// The boxes, made as large as their arrows need them.
    fn sheets(&self, sheets: &[Sheet], drawn: &[Drawn], loops: &[Vec<Loop>]) -> Vec<Sheet> {
        let mut line_widths = vec![[Vec::new(), Vec::new()]; self.nodes.len()];
        for drawn in drawn {
            line_widths[drawn.call.from][usize::from(drawn.is_turned)].push(drawn.line_width);
            line_widths[drawn.call.to][usize::from(!drawn.is_turned)].push(drawn.line_width);
        }
        let grown = |((&node, sides), loops): ((&usize, &[Vec<f64>; 2]), &Vec<Loop>)| {
            let widths = sides
                .iter()
                .map(|side| ports::least_width(side.iter().copied()));
            let width = widths.fold(0.0, f64::max).min(MOST_WIDTH_FOR_PORTS);
            let mut sheet = sheets[node].clone();
            boxes::grow(&mut sheet, width, loops::room(loops).1);
            sheet
        };
        self.nodes
            .iter()
            .zip(&line_widths)
            .zip(loops)
            .map(grown)
            .collect()
    }
}

fn extent_of_label(label: &Sheet) -> Extent {
    Extent {
        left: 0.0,
        right: label.rect.width(),
        height: label.rect.height(),
    }
}

fn extent(sheet: &Sheet, loops: &[Loop]) -> Extent {
    let half = sheet.rect.width() / 2.0;
    Extent {
        left: half,
        right: half + loops::room(loops).0,
        height: sheet.rect.height(),
    }
}
