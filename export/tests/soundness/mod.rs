//! What is wrong with a picture, if anything is.

use memlog_export::layout::{self, Arrow, Placed, Point, Rect};
use memlog_export::{Edge, Graph};

/// Points: less is not seen.
const TOLERANCE: f64 = 0.5;
/// Of each Bezier curve.
const STEPS: usize = 12;

fn shrunk(rect: Rect) -> Rect {
    Rect {
        left: rect.left + TOLERANCE,
        top: rect.top + TOLERANCE,
        right: rect.right - TOLERANCE,
        bottom: rect.bottom - TOLERANCE,
    }
}

fn is_inside(rect: &Rect, point: Point) -> bool {
    rect.left < point.x && point.x < rect.right && rect.top < point.y && point.y < rect.bottom
}

fn is_at_border(rect: &Rect, point: Point) -> bool {
    let grown = Rect {
        left: rect.left - TOLERANCE,
        top: rect.top - TOLERANCE,
        right: rect.right + TOLERANCE,
        bottom: rect.bottom + TOLERANCE,
    };
    is_inside(&grown, point) && !is_inside(&shrunk(*rect), point)
}

/// Points along an arrow, its head's tip included.
fn along(arrow: &Arrow) -> Vec<Point> {
    let mut points = vec![arrow.head[0]];
    for curve in arrow.curve.windows(4).step_by(3) {
        for step in 0..=STEPS {
            let t = step as f64 / STEPS as f64;
            let s = 1.0 - t;
            let parts = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
            points.push(Point {
                x: parts
                    .iter()
                    .zip(curve)
                    .map(|(part, point)| part * point.x)
                    .sum(),
                y: parts
                    .iter()
                    .zip(curve)
                    .map(|(part, point)| part * point.y)
                    .sum(),
            });
        }
    }
    points
}

fn around(points: &[Point]) -> Rect {
    let mut around = Rect {
        left: f64::INFINITY,
        top: f64::INFINITY,
        right: f64::NEG_INFINITY,
        bottom: f64::NEG_INFINITY,
    };
    for point in points {
        around.left = around.left.min(point.x - TOLERANCE);
        around.top = around.top.min(point.y - TOLERANCE);
        around.right = around.right.max(point.x + TOLERANCE);
        around.bottom = around.bottom.max(point.y + TOLERANCE);
    }
    around
}

/// What two things have in common that must not.
fn overlap(placed: &Placed) -> Option<String> {
    let boxes = placed
        .boxes
        .iter()
        .enumerate()
        .map(|(at, sheet)| (format!("box {at}"), sheet.rect));
    let labels = placed
        .arrows
        .iter()
        .filter_map(|arrow| Some((arrow.edge, arrow.label.as_ref()?)));
    let labels = labels.map(|(edge, label)| (format!("label {edge}"), label.rect));
    let legend = placed
        .legend
        .iter()
        .map(|sheet| ("legend".to_owned(), sheet.rect));
    let all: Vec<(String, Rect)> = boxes.chain(labels).chain(legend).collect();
    for (at, (name, rect)) in all.iter().enumerate() {
        let fits = rect.left >= 0.0
            && rect.top >= 0.0
            && rect.right <= placed.width
            && rect.bottom <= placed.height;
        if !fits {
            return Some(format!("{name} is not within the picture: {rect:?}"));
        }
        if let Some((other, _)) = all[..at].iter().find(|(_, other)| rect.overlaps(other)) {
            return Some(format!("{name} overlaps {other}"));
        }
    }
    let texts = placed.boxes.iter().chain(&placed.legend);
    for sheet in texts.chain(
        placed
            .arrows
            .iter()
            .filter_map(|arrow| arrow.label.as_ref()),
    ) {
        for line in &sheet.lines {
            let end = line.start.x + line.width;
            if line.start.x < sheet.rect.left - TOLERANCE || end > sheet.rect.right + TOLERANCE {
                return Some(format!("{:?} is wider than its box", line.text));
            }
        }
    }
    None
}

/// What is wrong with an arrow.
fn wrong(graph: &Graph, placed: &Placed, arrow: &Arrow) -> Option<String> {
    let edge = &graph.edges[arrow.edge];
    let (from, to) = (placed.boxes[edge.from].rect, placed.boxes[edge.to].rect);
    if arrow.curve.len() < 4 || arrow.curve.len() % 3 != 1 {
        return Some(format!("{} points", arrow.curve.len()));
    }
    if !is_at_border(&from, arrow.curve[0]) {
        return Some(format!("begins at {:?}, not at {from:?}", arrow.curve[0]));
    }
    if !is_at_border(&to, arrow.head[0]) {
        return Some(format!("ends at {:?}, not at {to:?}", arrow.head[0]));
    }
    let base = Point {
        x: f64::midpoint(arrow.head[1].x, arrow.head[2].x),
        y: f64::midpoint(arrow.head[1].y, arrow.head[2].y),
    };
    let end = arrow.curve[arrow.curve.len() - 1];
    if (base.x - end.x).abs() + (base.y - end.y).abs() > TOLERANCE {
        return Some(format!("ends at {end:?}, but its head is at {base:?}"));
    }
    let points = along(arrow);
    let bounds = around(&points);
    let boxes = placed.boxes.iter().map(|sheet| sheet.rect);
    let labels = placed
        .arrows
        .iter()
        .filter_map(|arrow| arrow.label.as_ref())
        .map(|label| label.rect);
    let others: Vec<Rect> = boxes
        .chain(labels)
        .chain(placed.legend.iter().map(|legend| legend.rect))
        .map(shrunk)
        .filter(|rect| rect.overlaps(&bounds))
        .collect();
    for point in points {
        if let Some(other) = others.iter().find(|other| is_inside(other, point)) {
            return Some(format!("runs through {other:?} at {point:?}"));
        }
        let fits =
            point.x >= 0.0 && point.y >= 0.0 && point.x <= placed.width && point.y <= placed.height;
        if !fits {
            return Some(format!("leaves the picture at {point:?}"));
        }
    }
    None
}

/// Places it, and sees that nothing is wrong.
pub fn check(graph: &Graph) -> Placed {
    let placed = layout::place(graph);
    assert_eq!(placed.boxes.len(), graph.nodes.len());
    let is_sound = |edge: &&Edge| edge.from.max(edge.to) < graph.nodes.len();
    assert_eq!(
        placed.arrows.len(),
        graph.edges.iter().filter(is_sound).count()
    );
    assert!(placed.width.is_finite() && placed.height.is_finite());
    assert_eq!(overlap(&placed), None);
    for arrow in &placed.arrows {
        assert_eq!(wrong(graph, &placed, arrow), None, "arrow {}", arrow.edge);
    }
    placed
}
