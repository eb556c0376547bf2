//! What a picture is made of when everything has its place. Points, from the
//! top left corner to the right and down.

/// A point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

impl Point {
    pub(super) fn shifted(self, by: Self) -> Self {
        Self {
            x: self.x + by.x,
            y: self.y + by.y,
        }
    }
}

/// An upright rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Rect {
    /// From left to right.
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    /// From top to bottom.
    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// Whether the two have more than a border in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    pub(super) fn shifted(self, by: Point) -> Self {
        Self {
            left: self.left + by.x,
            top: self.top + by.y,
            right: self.right + by.x,
            bottom: self.bottom + by.y,
        }
    }
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Fit to be shown: without control characters.
    pub text: String,
    /// Where it begins, on the baseline.
    pub start: Point,
    /// How wide it is in Helvetica.
    pub width: f64,
    /// The size of the font.
    pub size: f64,
    /// In Helvetica-Bold.
    pub bold: bool,
}

/// A rectangle with text in it: a box, a label or the heading.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Sheet {
    pub rect: Rect,
    pub lines: Vec<Line>,
}

impl Sheet {
    pub(super) fn shift(&mut self, by: Point) {
        self.rect = self.rect.shifted(by);
        for line in &mut self.lines {
            line.start = line.start.shifted(by);
        }
    }
}

/// An edge of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrow {
    /// Which one, by its index in the graph's edges.
    pub edge: usize,
    /// Bezier curves that are joined: a point, then three for each curve. From
    /// the caller's box to where the head begins.
    pub curve: Vec<Point>,
    /// How thick the line is.
    pub width: f64,
    /// The head: its tip, at the box, and its two other corners.
    pub head: [Point; 3],
    /// Its label, unless that is empty.
    pub label: Option<Sheet>,
}

impl Arrow {
    pub(super) fn shift(&mut self, by: Point) {
        for point in self.curve.iter_mut().chain(&mut self.head) {
            *point = point.shifted(by);
        }
        if let Some(label) = &mut self.label {
            label.shift(by);
        }
    }
}

/// A picture in which everything has its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placed {
    /// A box for each node of the graph.
    pub boxes: Vec<Sheet>,
    /// The edges.
    pub arrows: Vec<Arrow>,
    /// The heading, unless it is empty.
    pub legend: Option<Sheet>,
    /// How wide it all is.
    pub width: f64,
    /// How high it all is.
    pub height: f64,
}
