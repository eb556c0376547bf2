//! Figures over time as a picture: panels above one axis of time, as SVG. No script;
//! what was shortened is said in full where the mouse is.
//!
//! ```text
//! title, heading
//!   bytes    |  heap as an area, resident memory as a line, peaks with their names
//!   blocks   |  live blocks as a line
//!   rate     |  allocations a second as bars
//!            +---------------- seconds; marks of the program across all
//! notes
//! ```

use std::fmt::{self, Write};

use crate::draw::{Colour, Escaped, Hex, Short};
use crate::layout::fonts;
use crate::layout::text;
use crate::numbers::{grouped, sized};
use crate::sheet::{self, FAINT, INK, LINE, MARGIN, PAPER, TEXT, TITLE, fitted};

/// What a picture is of.
#[derive(Clone, Debug, Default)]
pub struct Curves {
    /// The first is the title.
    pub heading: Vec<String>,
    /// By time.
    pub points: Vec<CurvePoint>,
    /// Where the time axis ends.
    pub end_seconds: f64,
    /// Whether resident memory is the most that it had been by then.
    pub is_highest_rss: bool,
    /// Names of moments, with where they are, and how high.
    pub peaks: Vec<(String, f64, u64)>,
    /// The program's marks, by time.
    pub marks: Vec<(String, f64)>,
    /// What a reader has to know besides, in sentences.
    pub notes: Vec<String>,
}

/// What there was at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct CurvePoint {
    /// When.
    pub seconds: f64,
    /// Live.
    pub heap_bytes: u64,
    /// Live.
    pub blocks: u64,
    /// Resident, if it was known by then.
    pub rss_bytes: Option<u64>,
    /// Since the point before.
    pub allocations: u64,
}

/// Pixels, all of them.
const WIDTH: f64 = 1200.0;
/// Room for the numbers of an axis.
const LEFT: f64 = 96.0;
const RIGHT: f64 = WIDTH - 24.0;
/// Between panels, with the name of the next.
const BETWEEN: f64 = 40.0;
const HIGH: f64 = 260.0;
const LOW: f64 = 130.0;
/// Bars of the rate at most.
const BARS: f64 = 200.0;
/// More marks have no names.
const MOST_NAMES: usize = 24;
const GRID: Colour = Colour([0xDD, 0xDD, 0xDD]);
const HEAP: Colour = Colour([0x1F, 0x77, 0xB4]);
const HEAP_AREA: Colour = Colour([0xC6, 0xDD, 0xEE]);
const RSS: Colour = Colour([0xC4, 0x4E, 0x00]);
const MARK: Colour = Colour([0x6A, 0x3D, 0x9A]);

/// The picture.
pub fn svg(curves: &Curves) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut out, curves);
    out
}

/// A part of the picture with an axis of its own.
struct Panel {
    top: f64,
    height: f64,
    most: u64,
    step: u64,
    /// Where the log ends, and where the axis does.
    log_seconds: f64,
    end_seconds: f64,
}

impl Panel {
    fn x(&self, seconds: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (seconds / self.end_seconds).clamp(0.0, 1.0)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom() - self.height * value / self.most as f64
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

fn write(out: &mut String, curves: &Curves) -> fmt::Result {
    let lines = curves.heading.len().max(1) as f64;
    let mut top = MARGIN + TITLE + (lines - 1.0) * LINE;
    let of = |value: fn(&CurvePoint) -> u64| curves.points.iter().map(value).max().unwrap_or(0);
    let bytes = of(|point| point.heap_bytes.max(point.rss_bytes.unwrap_or(0)));
    let (bars, wide) = bars(curves);
    let fastest = bars.iter().copied().fold(0.0, f64::max).ceil() as u64;
    let mut panels = Vec::new();
    for (height, most, is_bytes) in [
        (HIGH, bytes, true),
        (LOW, of(|point| point.blocks), false),
        (LOW, fastest, false),
    ] {
        top += BETWEEN;
        let step = step(most, is_bytes);
        panels.push(Panel {
            top,
            height,
            most: most.max(1).div_ceil(step) * step,
            step,
            log_seconds: curves.end_seconds,
            // The last step of the clock has room too.
            end_seconds: curves.end_seconds.max(1e-9) + wide,
        });
        top += height;
    }
    let [memory, blocks, rate] = &panels[..] else {
        return Ok(());
    };
    let notes = sheet::notes(&curves.notes, WIDTH - 2.0 * MARGIN);
    let height = top + 2.0 * LINE + notes.len() as f64 * LINE + MARGIN + LINE;
    open(out, curves, height)?;
    for (panel, name, told) in [
        (memory, "", sized as fn(u64) -> String),
        (blocks, "live blocks", grouped),
        (rate, "allocations a second", grouped),
    ] {
        axis(out, panel, name, told)?;
    }
    keys(out, memory, curves)?;
    area(out, memory, curves)?;
    let heap = curves.points.iter();
    let heap = heap.map(|point| (point.seconds, point.heap_bytes));
    line(out, memory, "heap", HEAP, heap)?;
    let resident = curves.points.iter();
    let resident = resident.filter_map(|point| Some((point.seconds, point.rss_bytes?)));
    line(out, memory, "rss", RSS, resident)?;
    let live = curves.points.iter();
    line(
        out,
        blocks,
        "blocks",
        HEAP,
        live.map(|point| (point.seconds, point.blocks)),
    )?;
    for (index, &height) in bars.iter().enumerate().filter(|(_, height)| **height > 0.0) {
        let from = index as f64 * wide;
        let (x, y) = (rate.x(from), rate.y(height));
        writeln!(
            out,
            r#"<rect class="rate" x="{}" y="{}" width="{}" height="{}" fill="{}"/>"#,
            Short(x),
            Short(y),
            Short(rate.x(from + wide) - x),
            Short(rate.bottom() - y),
            Hex(HEAP)
        )?;
    }
    times(out, rate)?;
    marks(out, memory, rate, &curves.marks)?;
    peaks(out, memory, &curves.peaks)?;
    for (index, note) in (2..).zip(&notes) {
        let y = rate.bottom() + f64::from(index) * LINE + LINE;
        label(out, (MARGIN, y), note, FAINT, "start")?;
    }
    sheet::close(out)
}

fn open(out: &mut String, curves: &Curves, height: f64) -> fmt::Result {
    let title = curves.heading.first();
    let title = title.map_or("Memory over time", String::as_str);
    sheet::open(out, (WIDTH, height), title)?;
    for (index, words) in (1..).zip(curves.heading.iter().skip(1)) {
        let y = MARGIN + TITLE + f64::from(index) * LINE;
        let words = fitted(words, WIDTH - 2.0 * MARGIN, TEXT, false);
        label(out, (MARGIN, y), &words, FAINT, "start")?;
    }
    Ok(())
}

/// Lines across at round numbers.
fn axis(out: &mut String, panel: &Panel, name: &str, told: fn(u64) -> String) -> fmt::Result {
    label(out, (LEFT, panel.top - 8.0), name, INK, "start")?;
    let mut value = 0;
    while value <= panel.most {
        let y = panel.y(value as f64);
        writeln!(
            out,
            r#"<path d="M{LEFT},{y} H{RIGHT}" stroke="{}"/>"#,
            Hex(GRID),
            y = Short(y)
        )?;
        let told = if value == 0 {
            "0".to_owned()
        } else {
            told(value)
        };
        label(out, (LEFT - 8.0, y + 4.0), &told, FAINT, "end")?;
        value = value.saturating_add(panel.step);
    }
    Ok(())
}

/// Four or five lines across: 1, 2 or 5 of a unit, which is 1024 for bytes.
pub(crate) fn step(most: u64, is_bytes: bool) -> u64 {
    let mut unit = 1;
    while is_bytes && unit < 1 << 60 && most / unit >= 1024 {
        unit *= 1024;
    }
    let of_unit = most.div_ceil(unit);
    let mut ten = 1;
    loop {
        for digit in [1, 2, 5] {
            if of_unit <= 5 * digit * ten {
                return digit * ten * unit;
            }
        }
        ten *= 10;
    }
}

/// The corners of what stays as it is until its next point.
pub(crate) fn stepped(
    points: impl Iterator<Item = (f64, f64)>,
) -> impl Iterator<Item = (f64, f64)> {
    let mut level = None;
    points.flat_map(move |(x, y)| {
        let corner = level.replace(y).map(|level| (x, level));
        corner.into_iter().chain([(x, y)])
    })
}

/// What each curve is.
fn keys(out: &mut String, panel: &Panel, curves: &Curves) -> fmt::Result {
    let mut x = LEFT;
    let has_rss = curves.points.iter().any(|point| point.rss_bytes.is_some());
    let resident = match curves.is_highest_rss {
        true => "resident memory, the most so far",
        false => "resident memory",
    };
    let all = [("live heap", HEAP, true), (resident, RSS, has_rss)];
    for (name, colour, _) in all.into_iter().filter(|(_, _, is_there)| *is_there) {
        let y = panel.top - 8.0;
        writeln!(
            out,
            r#"<path d="M{},{} h18" stroke="{}" stroke-width="3"/>"#,
            Short(x),
            Short(y - 4.0),
            Hex(colour)
        )?;
        label(out, (x + 24.0, y), name, INK, "start")?;
        x += 24.0 + fonts::width(name, TEXT, false) + 24.0;
    }
    Ok(())
}

fn area(out: &mut String, panel: &Panel, curves: &Curves) -> fmt::Result {
    let (Some(first), Some(last)) = (curves.points.first(), curves.points.last()) else {
        return Ok(());
    };
    // What was live at the last event is live until the log ends.
    let last = (panel.x(panel.log_seconds), panel.y(last.heap_bytes as f64));
    let bottom = Short(panel.bottom());
    write!(
        out,
        r#"<polygon points="{},{bottom}"#,
        Short(panel.x(first.seconds))
    )?;
    let points = curves.points.iter();
    let points = points.map(|point| (panel.x(point.seconds), panel.y(point.heap_bytes as f64)));
    for (x, y) in stepped(points) {
        write!(out, " {},{}", Short(x), Short(y))?;
    }
    let (x, y) = (Short(last.0), Short(last.1));
    writeln!(out, r#" {x},{y} {x},{bottom}" fill="{}"/>"#, Hex(HEAP_AREA))
}

fn line(
    out: &mut String,
    panel: &Panel,
    class: &str,
    colour: Colour,
    points: impl Iterator<Item = (f64, u64)>,
) -> fmt::Result {
    write!(out, r#"<polyline class="{class}" points=""#)?;
    let mut last = None;
    let points = points.map(|(seconds, value)| (panel.x(seconds), panel.y(value as f64)));
    for (x, y) in stepped(points) {
        let space = if last.is_some() { " " } else { "" };
        write!(out, "{space}{},{}", Short(x), Short(y))?;
        last = Some((x, y));
    }
    let colour = Hex(colour);
    let stroke = format!(r#"fill="none" stroke="{colour}" stroke-width="1.5""#);
    writeln!(out, r#"" {stroke}/>"#)?;
    let Some((x, y)) = last else {
        return Ok(());
    };
    let end = Short(panel.x(panel.log_seconds));
    writeln!(
        out,
        r#"<path d="M{},{} H{end}" {stroke}/>"#,
        Short(x),
        Short(y)
    )
}

/// Allocations a second in stretches of equal length, and how long those are: steps of
/// the clock, for within one all of them are told as from its beginning.
fn bars(curves: &Curves) -> (Vec<f64>, f64) {
    let times = curves.points.iter().map(|point| point.seconds);
    let steps = times.clone().skip(1).zip(times).map(|(to, from)| to - from);
    let step = steps.filter(|step| *step > 0.0).fold(f64::MAX, f64::min);
    let step = step.clamp(1e-9, curves.end_seconds.max(1e-9));
    let wide = (curves.end_seconds / BARS / step).ceil().max(1.0) * step;
    let mut bars = Vec::new();
    for point in &curves.points {
        // What is at the edge of two belongs to the later one.
        let bar = (point.seconds / wide + 1e-6) as usize;
        bars.resize(bars.len().max(bar + 1), 0.0);
        bars[bar] += point.allocations as f64 / wide;
    }
    (bars, wide)
}

fn times(out: &mut String, panel: &Panel) -> fmt::Result {
    let end = panel.end_seconds;
    let mut step = 10f64.powf((end / 10.0).log10().floor());
    while end / step > 10.0 {
        // 1, 2, 5, 10
        let digit = step / 10f64.powf(step.log10().floor());
        step *= if (1.5..4.0).contains(&digit) {
            2.5
        } else {
            2.0
        };
    }
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    for index in 0..=(end / step + 1e-9) as u32 {
        let seconds = f64::from(index) * step;
        let x = panel.x(seconds);
        let (from, told) = (Short(panel.bottom()), format!("{seconds:.decimals$} s"));
        writeln!(
            out,
            r#"<path d="M{},{from} v5" stroke="{}"/>"#,
            Short(x),
            Hex(FAINT)
        )?;
        label(
            out,
            (x, panel.bottom() + LINE + 2.0),
            &told,
            FAINT,
            "middle",
        )?;
    }
    Ok(())
}

fn marks(out: &mut String, top: &Panel, bottom: &Panel, marks: &[(String, f64)]) -> fmt::Result {
    for (index, (name, seconds)) in marks.iter().enumerate() {
        let x = Short(top.x(*seconds));
        let told = format!("mark \"{name}\" at {seconds:.3} s");
        writeln!(
            out,
            r#"<g class="mark"><title>{}</title><path d="M{x},{} V{}" stroke="{}" stroke-dasharray="4 3"/></g>"#,
            Escaped(&text::clean(&told)),
            Short(top.top),
            Short(bottom.bottom()),
            Hex(MARK)
        )?;
        // Names of neighbours stand below each other.
        if index < MOST_NAMES {
            let y = top.top + 12.0 + (index % 6) as f64 * LINE;
            let is_right = top.x(*seconds) > RIGHT - 160.0;
            let (side, anchor) = if is_right {
                (-4.0, "end")
            } else {
                (4.0, "start")
            };
            let name = fitted(name, 150.0, TEXT, false);
            label(out, (top.x(*seconds) + side, y), &name, MARK, anchor)?;
        }
    }
    Ok(())
}

fn peaks(out: &mut String, panel: &Panel, peaks: &[(String, f64, u64)]) -> fmt::Result {
    let mut before: Option<(f64, f64)> = None;
    for (name, seconds, bytes) in peaks {
        let (x, y) = (panel.x(*seconds), panel.y(*bytes as f64));
        writeln!(
            out,
            r#"<circle class="peak" cx="{}" cy="{}" r="4" fill="{}" stroke="{}" stroke-width="1.5"/>"#,
            Short(x),
            Short(y),
            Hex(PAPER),
            Hex(INK)
        )?;
        let told = format!("{name}: {} at {seconds:.3} s", sized(*bytes));
        let is_right = x > (LEFT + RIGHT) / 2.0;
        let (side, anchor) = if is_right {
            (-10.0, "end")
        } else {
            (10.0, "start")
        };
        let mut at = (x + side, y.max(panel.top + 10.0) + 4.0);
        // Both may be at the same place.
        if before.is_some_and(|(x, y)| (x - at.0).abs() < 400.0 && (y - at.1).abs() < LINE) {
            at.1 += LINE;
        }
        label(out, at, &told, INK, anchor)?;
        before = Some(at);
    }
    Ok(())
}

fn label(
    out: &mut String,
    (x, y): (f64, f64),
    words: &str,
    colour: Colour,
    anchor: &str,
) -> fmt::Result {
    if words.is_empty() {
        return Ok(());
    }
    // What it stands on shall not cross it.
    writeln!(
        out,
        r#"<text x="{}" y="{}" text-anchor="{anchor}" fill="{}" stroke="{}" stroke-width="3" paint-order="stroke">{}</text>"#,
        Short(x),
        Short(y),
        Hex(colour),
        Hex(PAPER),
        Escaped(&text::clean(words))
    )
}
