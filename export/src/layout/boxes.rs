//! How large boxes and labels are: as large as their text.

use super::fonts;
use super::placed::{Line, Point, Rect, Sheet};
use super::text::{self, Room};
use crate::graph::{Graph, Node};

/// What is legible, and what leaves room for others.
const FONT_SIZES: (f64, f64) = (4.0, 96.0);
/// Details are smaller than the name of the function.
const DETAIL: f64 = 0.8;
/// Of the font size: from line to line, down to the baseline, and the borders.
const LINE_HEIGHT: f64 = 1.2;
const BASELINE: f64 = 0.9;
const MARGIN_X: f64 = 0.5;
const MARGIN_Y: f64 = 0.3;
/// Of the font size: how wide text may become; some 30 characters.
const NODE_WIDTH: f64 = 16.0;
const LABEL_WIDTH: f64 = 18.0;
const LEGEND_WIDTH: f64 = 60.0;
const MOST_LINES: usize = 12;
/// The heading's font, as a part of the largest in a box: of few boxes, for a
/// picture of many is looked at from farther away.
const LEGEND_FONT: f64 = 0.5;
const LEGEND_SIZES: (f64, f64) = (12.0, 72.0);
const FEW: f64 = 48.0;

/// A number that can be drawn with, whatever it was.
pub(crate) fn sane(number: f64, (low, high): (f64, f64)) -> f64 {
    if number.is_nan() {
        low
    } else {
        number.clamp(low, high)
    }
}

/// The box of a node, its corner at the origin.
pub(super) fn of_node(node: &Node) -> Sheet {
    let size = sane(node.font_size, FONT_SIZES);
    let mut rows = Vec::new();
    for (index, line) in node.lines.iter().take(MOST_LINES).enumerate() {
        let is_name = index < node.names;
        let is_title = is_name && node.names == 1;
        let room = Room {
            width: size * NODE_WIDTH,
            most_lines: if is_title { 3 } else { 2 },
            size: if is_title { size } else { size * DETAIL },
            bold: is_name,
        };
        add_rows(&mut rows, line, room);
    }
    sheet(&rows, size, true)
}

/// The label of an edge; nothing if it is empty.
pub(super) fn of_label(label: &str, font_size: f64) -> Option<Sheet> {
    let size = sane(font_size, FONT_SIZES);
    let mut rows = Vec::new();
    for line in label.split('\n').take(MOST_LINES) {
        let room = Room {
            width: size * LABEL_WIDTH,
            most_lines: 1,
            size,
            bold: false,
        };
        add_rows(&mut rows, line, room);
    }
    (!rows.is_empty()).then(|| sheet(&rows, 0.0, false))
}

/// The heading; nothing if it is empty.
pub(super) fn of_legend(graph: &Graph) -> Option<Sheet> {
    let sizes = graph
        .nodes
        .iter()
        .map(|node| sane(node.font_size, FONT_SIZES));
    let distance = (1.0 + graph.nodes.len() as f64 / FEW).sqrt();
    let size = sane(
        sizes.fold(0.0, f64::max) * LEGEND_FONT * distance,
        LEGEND_SIZES,
    );
    let mut rows = Vec::new();
    for (index, line) in graph.heading().enumerate() {
        let room = Room {
            width: size * LEGEND_WIDTH,
            most_lines: 2,
            size,
            bold: index == 0,
        };
        add_rows(&mut rows, line, room);
    }
    (!rows.is_empty()).then(|| sheet(&rows, size, false))
}

/// Lines that are empty show nothing and take no room.
fn add_rows(rows: &mut Vec<(String, Room)>, line: &str, room: Room) {
    let lines = text::fit(line, &room).into_iter();
    rows.extend(
        lines
            .filter(|line| !line.is_empty())
            .map(|line| (line, room)),
    );
}

fn sheet(rows: &[(String, Room)], margin: f64, centred: bool) -> Sheet {
    let widths = rows
        .iter()
        .map(|(text, room)| fonts::width(text, room.size, room.bold));
    let widths: Vec<f64> = widths.collect();
    let widest = widths.iter().copied().fold(margin, f64::max);
    let right = widest + 2.0 * MARGIN_X * margin;
    let mut y = margin * MARGIN_Y;
    let mut lines = Vec::new();
    for ((text, room), &width) in rows.iter().zip(&widths) {
        let before = if centred {
            (right - width) / 2.0
        } else {
            margin * MARGIN_X
        };
        lines.push(Line {
            text: text.clone(),
            start: Point {
                x: before,
                y: y + room.size * BASELINE,
            },
            width,
            size: room.size,
            bold: room.bold,
        });
        y += room.size * LINE_HEIGHT;
    }
    let rect = Rect {
        right,
        bottom: y.max(margin) + margin * MARGIN_Y,
        ..Rect::default()
    };
    Sheet { rect, lines }
}

/// Makes a box as large as this at least; its text stays in the middle.
pub(super) fn grow(sheet: &mut Sheet, width: f64, height: f64) {
    let more_x = (width - sheet.rect.width()).max(0.0);
    let more_y = (height - sheet.rect.height()).max(0.0);
    sheet.shift(Point {
        x: more_x / 2.0,
        y: more_y / 2.0,
    });
    sheet.rect = Rect {
        left: 0.0,
        top: 0.0,
        right: sheet.rect.width() + more_x,
        bottom: sheet.rect.height() + more_y,
    };
}
