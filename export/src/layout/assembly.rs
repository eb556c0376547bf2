//! From the order in the layers to boxes and arrows with places.

use super::columns;
use super::curves;
use super::cycles::Call;
use super::lanes::{Gate, Lanes};
use super::layered::{Chain, LABEL_GAP, Layered};
use super::order;
use super::placed::{Arrow, Point, Rect, Sheet};
use super::ports;
use super::rows::{self, Rows};

/// The boxes in their places, and the arrows with their labels.
pub(super) fn assemble(
    layered: &Layered,
    sheets: Vec<Sheet>,
    mut labels: Vec<Option<Sheet>>,
    calls: &[Call],
) -> (Vec<Sheet>, Vec<Arrow>) {
    let mut assembly = Assembly::new(layered, sheets);
    // What is drawn first has the most room: heavy arrows are to be the straightest.
    let mut chains: Vec<usize> = (0..layered.chains.len()).collect();
    chains.sort_by_key(|&index| (-layered.chains[index].weight, index));
    let mut arrows = Vec::new();
    for index in chains {
        let call = layered.chains[index].call;
        arrows.push(assembly.arrow(index, calls[call].edge, labels[call].take()));
    }
    (assembly.sheets, arrows)
}

/// Everything has its place but for the arrows.
struct Assembly<'a> {
    layered: &'a Layered,
    sheets: Vec<Sheet>,
    rows: Rows,
    lanes: Lanes<'a>,
    ports: Vec<[f64; 2]>,
}

impl<'a> Assembly<'a> {
    fn new(layered: &'a Layered, mut sheets: Vec<Sheet>) -> Self {
        let layers = order::order(layered);
        let columns = columns::columns(layered, &layers);
        let half_widths: Vec<f64> = sheets
            .iter()
            .map(|sheet| sheet.rect.width() / 2.0)
            .collect();
        let ports = ports::ports(layered, &layers, &columns, &half_widths);
        let rows = rows::rows(layered, &columns, &ports);
        for (index, sheet) in sheets.iter_mut().enumerate() {
            let layer = layered.vertices[index].layer;
            let middle = f64::midpoint(rows.tops[layer], rows.bottoms[layer]);
            sheet.shift(Point {
                x: columns[index] - half_widths[index],
                y: middle - sheet.rect.height() / 2.0,
            });
        }
        let reach = half_widths
            .iter()
            .map(|half| (half - ports::INSET).max(0.0));
        let lanes = Lanes::new(layered, &layers, &columns, reach.collect());
        Self {
            layered,
            sheets,
            rows,
            lanes,
            ports,
        }
    }

    fn rect(&self, vertex: Option<&usize>) -> Rect {
        let sheet = vertex.and_then(|&vertex| self.sheets.get(vertex));
        sheet.map_or(Rect::default(), |sheet| sheet.rect)
    }

    fn arrow(&mut self, index: usize, edge: usize, label: Option<Sheet>) -> Arrow {
        let chain = &self.layered.chains[index];
        let [upper_x, lower_x] = self.ports[index];
        let upper_y = self.rect(chain.vertices.first()).bottom;
        let lower_y = self.rect(chain.vertices.last()).top;
        let head = curves::head_length(chain.line_width);
        let side = curves::head_half_width(chain.line_width);
        let at = |x, y| Point { x, y };
        let (tip, base) = match chain.is_turned {
            true => (at(upper_x, upper_y), upper_y + head),
            false => (at(lower_x, lower_y), lower_y - head),
        };
        let (start, end) = match chain.is_turned {
            true => (base, lower_y),
            false => (upper_y, base),
        };
        let ends = [Gate::point(upper_x, start), Gate::point(lower_x, end)];
        let gates = self.lanes.gates(&self.rows, &chain.vertices, ends);
        // A head comes straight to its box.
        let slopes = if chain.is_turned {
            [Some(0.0), None]
        } else {
            [None, Some(0.0)]
        };
        let mut curve = curves::through(&gates, slopes);
        if let [_, inner @ .., _] = &chain.vertices[..] {
            for &vertex in inner {
                let layer = self.layered.vertices[vertex].layer;
                let [top, bottom] = [self.rows.tops[layer], self.rows.bottoms[layer]];
                self.lanes.take(
                    vertex,
                    curves::x_on(&curve, top),
                    curves::x_on(&curve, bottom),
                );
            }
        }
        let label = label.map(|label| self.beside(chain, label, &curve));
        if chain.is_turned {
            curve.reverse();
        }
        Arrow {
            edge,
            curve,
            width: chain.line_width,
            head: [tip, at(tip.x - side, base), at(tip.x + side, base)],
            label,
        }
    }

    /// The label to the right of its line, which stays in its lane and so does it.
    fn beside(&self, chain: &Chain, mut label: Sheet, curve: &[Point]) -> Sheet {
        let Some(at) = chain.label else {
            return label;
        };
        let layer = self.layered.vertices[chain.vertices[at]].layer;
        let top = f64::midpoint(self.rows.tops[layer], self.rows.bottoms[layer])
            - label.rect.height() / 2.0;
        let bottom = top + label.rect.height();
        let x = curves::x_on(curve, top).max(curves::x_on(curve, bottom));
        label.shift(Point {
            x: x + chain.line_width / 2.0 + LABEL_GAP,
            y: top,
        });
        label
    }
}
