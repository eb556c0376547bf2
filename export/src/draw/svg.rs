//! SVG: text is text, and what was shortened is said in full where the mouse is.

use std::fmt::{self, Write};

use super::scene::{self, BLACK, Colour, Shape, WHITE};
use super::{Short, title};
use crate::graph::Graph;
use crate::layout::{Line, Placed, Point};

/// Of equal widths, as far as the reader has one of them.
pub(crate) const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'Nimbus Sans', sans-serif";

/// On a screen: the largest names are of 50 points in the picture's own.
const SCREEN: f64 = 0.3;

/// The picture as SVG: as wide as its window, but no larger than is read well.
pub fn svg(graph: &Graph, placed: &Placed) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut out, graph, placed);
    out
}

fn write(out: &mut String, graph: &Graph, placed: &Placed) -> fmt::Result {
    let (width, height) = (Short(placed.width), Short(placed.height));
    let shown = (Short(placed.width * SCREEN), Short(placed.height * SCREEN));
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{}pt" height="{}pt" style="max-width:100%;height:auto">"#,
        shown.0, shown.1
    )?;
    writeln!(out, "<title>{}</title>", Escaped(&title(graph)))?;
    writeln!(
        out,
        r#"<rect width="{width}" height="{height}" fill="{}"/>"#,
        Hex(WHITE)
    )?;
    writeln!(out, r#"<g font-family="{FONTS}" fill="{}">"#, Hex(BLACK))?;
    for shape in scene::shapes(graph, placed) {
        write_shape(out, &shape)?;
    }
    out.write_str("</g>\n</svg>\n")
}

fn write_shape(out: &mut String, shape: &Shape) -> fmt::Result {
    match shape {
        Shape::Begin(title) => writeln!(out, "<g><title>{}</title>", Escaped(title)),
        Shape::End => writeln!(out, "</g>"),
        Shape::Box {
            rect,
            fill,
            border,
            border_width,
        } => writeln!(
            out,
            r#"<rect x="{}" y="{}" width="{}" height="{}" fill="{}" stroke="{}" stroke-width="{}"/>"#,
            Short(rect.left),
            Short(rect.top),
            Short(rect.width()),
            Short(rect.height()),
            Hex(*fill),
            Hex(*border),
            Short(*border_width)
        ),
        Shape::Curve {
            points,
            colour,
            width,
            dash,
        } => write_curve(out, points, (*colour, *width), *dash),
        Shape::Head { corners, colour } => {
            let [tip, left, right] = corners.each_ref().map(Pair);
            writeln!(
                out,
                r#"<polygon points="{tip} {left} {right}" fill="{}"/>"#,
                Hex(*colour)
            )
        }
        Shape::Text(line) => write_text(out, line),
    }
}

fn write_curve(
    out: &mut String,
    points: &[Point],
    (colour, width): (Colour, f64),
    dash: Option<(f64, f64)>,
) -> fmt::Result {
    out.write_str(r#"<path d=""#)?;
    for (index, point) in points.iter().enumerate() {
        let command = match index {
            0 => "M",
            1 => " C",
            _ => " ",
        };
        write!(out, "{command}{}", Pair(point))?;
    }
    let (colour, width) = (Hex(colour), Short(width));
    write!(
        out,
        r#"" fill="none" stroke="{colour}" stroke-width="{width}""#
    )?;
    if let Some((dash, gap)) = dash {
        let (dash, gap) = (Short(dash), Short(gap));
        write!(out, r#" stroke-dasharray="{dash} {gap}""#)?;
    }
    out.write_str("/>\n")
}

/// With its width, so that it fits with any font.
fn write_text(out: &mut String, line: &Line) -> fmt::Result {
    let weight = if line.bold {
        r#" font-weight="bold""#
    } else {
        ""
    };
    writeln!(
        out,
        r#"<text x="{}" y="{}" font-size="{}"{weight} textLength="{}" lengthAdjust="spacingAndGlyphs">{}</text>"#,
        Short(line.start.x),
        Short(line.start.y),
        Short(line.size),
        Short(line.width),
        Escaped(&line.text)
    )
}

struct Pair<'a>(&'a Point);

impl fmt::Display for Pair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{},{}", Short(self.0.x), Short(self.0.y))
    }
}

pub(crate) struct Hex(pub Colour);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [red, green, blue] = self.0.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

pub(crate) struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
