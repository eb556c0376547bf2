//! Series over time, one upon the other, as SVG: what scripts draw. No script, no clock.
//!
//! ```text
//!            time since the start
//!          +--------------------------+
//!   value  |   the second series,     |  names of the series stand
//!          |   upon the first         |  in the upper left corner
//!          +--------------------------+
//!                 time of day
//! ```

mod around;
mod time;

use std::fmt::{self, Write};

use crate::curves::{step, stepped};
use crate::draw::{Colour, Escaped, FONTS, Hex, Short};
use crate::layout::text;
use crate::sheet::{INK, PAPER, TEXT, close};
use around::{axes, grid, legend};

/// What a picture is of.
#[derive(Clone, Debug, Default)]
pub struct Stacked {
    /// For who cannot see it.
    pub title: String,
    /// What is counted.
    pub value: String,
    /// Whether that is bytes.
    pub is_bytes: bool,
    /// When each value was, in seconds since the start, ascending.
    pub seconds: Vec<f64>,
    /// From below.
    pub series: Vec<Series>,
    /// What is shown, in seconds since the start.
    pub shown: (f64, f64),
    /// When recording began, in seconds since 1970; nothing where nobody knows.
    pub start_unix_seconds: Option<f64>,
    /// What stands around it.
    pub around: Around,
    /// The colours of the first and the last series; others lie between them.
    pub gradient: Option<[[u8; 3]; 2]>,
}

/// A series.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Its name, if it is told.
    pub name: Option<String>,
    /// At each moment.
    pub values: Vec<u64>,
}

/// What stands around the series.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// The names of the series.
    pub legend: bool,
    /// The same of series without any value.
    pub empty_too: bool,
    /// Times and values.
    pub axes: bool,
    /// Lines across.
    pub grid: bool,
}

impl Default for Around {
    fn default() -> Self {
        Self {
            legend: true,
            empty_too: true,
            axes: true,
            grid: true,
        }
    }
}

/// Pixels, all of them.
const WIDTH: f64 = 1024.0;
const HEIGHT: f64 = 768.0;
/// Neighbours differ for those who do not see red and green too.
const COLOURS: [[u8; 3]; 12] = [
    [0x1F, 0x77, 0xB4],
    [0xFF, 0x7F, 0x0E],
    [0x2C, 0xA0, 0x2C],
    [0xC5, 0x3A, 0x3A],
    [0x94, 0x67, 0xBD],
    [0x8C, 0x56, 0x4B],
    [0xE3, 0x77, 0xC2],
    [0x7F, 0x7F, 0x7F],
    [0xBC, 0xBD, 0x22],
    [0x17, 0xBE, 0xCF],
    [0x1B, 0x4F, 0x72],
    [0xF5, 0xC2, 0x42],
];

/// The picture.
pub fn svg(stacked: &Stacked) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut out, stacked);
    out
}

/// The place of the series, and what is how long there.
struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    from: f64,
    to: f64,
    most: u64,
    step: u64,
}

impl Plot {
    fn of(stacked: &Stacked, most: u64) -> Self {
        let (left, right, top, bottom) = match stacked.around.axes {
            true => (88.0, WIDTH - 40.0, 56.0, HEIGHT - 64.0),
            false => (0.0, WIDTH, 0.0, HEIGHT),
        };
        let (from, to) = stacked.shown;
        Self {
            left,
            right,
            top,
            bottom,
            from,
            to: to.max(from + 1e-9),
            most: most.max(1),
            step: step(most, stacked.is_bytes),
        }
    }

    fn x(&self, seconds: f64) -> f64 {
        let part = (seconds - self.from) / (self.to - self.from);
        self.left + (self.right - self.left) * part.clamp(0.0, 1.0)
    }

    fn y(&self, value: u64) -> f64 {
        // A little room is left above the highest.
        let part = value as f64 / (self.most as f64 * 1.02);
        self.bottom - (self.bottom - self.top) * part
    }
}

fn write(out: &mut String, stacked: &Stacked) -> fmt::Result {
    // Each series with all those below it.
    let mut sums = vec![0u64; stacked.seconds.len()];
    let mut tops = Vec::with_capacity(stacked.series.len());
    for series in &stacked.series {
        for (sum, value) in sums.iter_mut().zip(&series.values) {
            *sum = sum.saturating_add(*value);
        }
        tops.push(sums.clone());
    }
    let within = |at: usize| {
        let seconds = stacked.seconds[at];
        (stacked.shown.0..=stacked.shown.1).contains(&seconds)
    };
    let most = (0..sums.len()).filter(|&at| within(at)).map(|at| sums[at]);
    let plot = Plot::of(stacked, most.max().unwrap_or(0));
    open(out, stacked)?;
    if stacked.around.grid {
        grid(out, &plot)?;
    }
    let colours: Vec<Colour> = (0..stacked.series.len())
        .map(|index| colour(stacked, index))
        .collect();
    for ((series, tops), colour) in stacked.series.iter().zip(&tops).zip(&colours).rev() {
        if series.values.iter().any(|value| *value > 0) {
            area(out, stacked, &plot, tops, *colour)?;
        }
    }
    if stacked.around.axes {
        axes(out, stacked, &plot)?;
    }
    if stacked.around.legend {
        legend(out, stacked, &plot, &colours)?;
    }
    close(out)
}

fn open(out: &mut String, stacked: &Stacked) -> fmt::Result {
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">"#
    )?;
    let title = text::clean(&stacked.title);
    writeln!(out, "<title>{}</title>", Escaped(&title))?;
    writeln!(
        out,
        r#"<rect width="{WIDTH}" height="{HEIGHT}" fill="{}"/>"#,
        Hex(PAPER)
    )?;
    writeln!(
        out,
        r#"<g font-family="{FONTS}" font-size="{TEXT}" fill="{}">"#,
        Hex(INK)
    )
}

fn colour(stacked: &Stacked, index: usize) -> Colour {
    let Some([first, last]) = stacked.gradient else {
        return Colour(COLOURS[index % COLOURS.len()]);
    };
    let part = index as f64 / (stacked.series.len().max(2) - 1) as f64;
    let between = |at: usize| {
        let (first, last) = (f64::from(first[at]), f64::from(last[at]));
        (first + (last - first) * part).round() as u8
    };
    Colour([between(0), between(1), between(2)])
}

/// Where each series ends above, down to the floor: what lies below is drawn over it.
fn area(
    out: &mut String,
    stacked: &Stacked,
    plot: &Plot,
    tops: &[u64],
    colour: Colour,
) -> fmt::Result {
    let floor = Short(plot.bottom);
    let (from, to) = stacked.shown;
    let points = stacked.seconds.iter().zip(tops);
    let points = points.filter(|(seconds, _)| (from..=to).contains(*seconds));
    let points = points.map(|(seconds, top)| (plot.x(*seconds), plot.y(*top)));
    let corners: Vec<_> = stepped(points).collect();
    let (Some(first), Some(last)) = (corners.first(), corners.last()) else {
        return Ok(());
    };
    let left = Short(first.0);
    write!(out, r#"<polygon class="series" points="{left},{floor}"#)?;
    for (x, y) in &corners {
        write!(out, " {},{}", Short(*x), Short(*y))?;
    }
    // What there is at the last moment is there until the end.
    let (x, y) = (Short(plot.x(to)), Short(last.1));
    writeln!(
        out,
        r#" {x},{y} {x},{floor}" fill="{0}" stroke="{0}"/>"#,
        Hex(colour)
    )
}
