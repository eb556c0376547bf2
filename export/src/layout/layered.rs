//! Arrows broken where they pass a layer, so that each piece leads from one
//! layer to the next. Between two layers of boxes lies one of labels, for
//! which every second layer is kept free of boxes.

use super::cycles::Call;

/// The least room to the sides of a line.
const LINE_ROOM: f64 = 3.0;
/// Between a line and its label.
pub(super) const LABEL_GAP: f64 = 5.0;

/// After a label, so that nobody takes the next line for its own.
const LABEL_END: f64 = 5.0;

/// What stands in a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Box,
    Bend,
    Label,
}

/// Something in a layer; it stands at an x, and takes room on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    pub kind: Kind,
    pub layer: usize,
    pub left: f64,
    pub right: f64,
    pub height: f64,
}

/// An arrow, from its upper end to its lower one.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// Index of the call.
    pub call: usize,
    /// The upper end is the callee.
    pub is_turned: bool,
    /// The boxes at both ends and what is between.
    pub vertices: Vec<usize>,
    /// Which of them stands for the label.
    pub label: Option<usize>,
    pub weight: i64,
    pub line_width: f64,
}

/// The vertices; the first are the boxes.
#[derive(Debug, Default)]
pub(super) struct Layered {
    pub vertices: Vec<Vertex>,
    pub chains: Vec<Chain>,
    pub layer_count: usize,
    /// The neighbours in the layer above and in the one below.
    pub above: Vec<Vec<usize>>,
    pub below: Vec<Vec<usize>>,
}

/// A size: how far to the left, to the right, and from top to bottom.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    pub left: f64,
    pub right: f64,
    pub height: f64,
}

/// A call with the size of its label and the width of its line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawn {
    pub call: Call,
    pub is_turned: bool,
    pub label: Option<Extent>,
    pub line_width: f64,
}

/// Puts boxes of these sizes into these layers, and breaks the arrows.
pub(super) fn build(boxes: &[Extent], ranks: &[usize], drawn: &[Drawn]) -> Layered {
    let has_labels = drawn.iter().any(|drawn| drawn.label.is_some());
    let step = if has_labels { 2 } else { 1 };
    let mut layered = Layered::default();
    for (extent, &rank) in boxes.iter().zip(ranks) {
        layered.add(Kind::Box, step * rank, *extent);
    }
    for (index, drawn) in drawn.iter().enumerate() {
        layered.add_chain(index, drawn);
    }
    layered.join();
    layered
}

impl Layered {
    fn add(&mut self, kind: Kind, layer: usize, extent: Extent) -> usize {
        self.layer_count = self.layer_count.max(layer + 1);
        self.vertices.push(Vertex {
            kind,
            layer,
            left: extent.left,
            right: extent.right,
            height: extent.height,
        });
        self.vertices.len() - 1
    }

    fn add_chain(&mut self, index: usize, drawn: &Drawn) {
        let Call { from, to, .. } = drawn.call;
        let (upper, lower) = if drawn.is_turned {
            (to, from)
        } else {
            (from, to)
        };
        let first = self.vertices[upper].layer + 1;
        let last = self.vertices[lower].layer;
        // The layers of labels are the odd ones, and at least one is passed.
        let middle = usize::midpoint(first - 1, last) | 1;
        let side = LINE_ROOM + drawn.line_width / 2.0;
        let mut vertices = vec![upper];
        let mut label_at = None;
        for layer in first..last {
            let mut extent = Extent {
                left: side,
                right: side,
                height: 0.0,
            };
            let label = drawn.label.filter(|_| layer == middle);
            if let Some(label) = label {
                extent.right = drawn.line_width / 2.0 + LABEL_GAP + label.right + LABEL_END;
                extent.height = label.height;
                label_at = Some(vertices.len());
            }
            let kind = if label.is_some() {
                Kind::Label
            } else {
                Kind::Bend
            };
            vertices.push(self.add(kind, layer, extent));
        }
        vertices.push(lower);
        self.chains.push(Chain {
            call: index,
            is_turned: drawn.is_turned,
            vertices,
            label: label_at,
            weight: drawn.call.weight,
            line_width: drawn.line_width,
        });
    }

    fn join(&mut self) {
        self.above = vec![Vec::new(); self.vertices.len()];
        self.below = vec![Vec::new(); self.vertices.len()];
        for chain in &self.chains {
            for pair in chain.vertices.windows(2) {
                self.below[pair[0]].push(pair[1]);
                self.above[pair[1]].push(pair[0]);
            }
        }
    }
}
