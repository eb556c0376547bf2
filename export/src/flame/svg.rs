//! The picture: no script, and what was shortened is said in full where the
//! mouse is.

use std::fmt::{self, Write};

use memlog_analysis::{Held, Measure, short_path};

use super::colours::{MODULES, Modules, NONE, OTHERS};
use super::layout::{Frame, layout};
use super::{Flame, Label, Metric, Series, View, compared};
use crate::draw::{Colour, Escaped, Hex, Short};
use crate::layout::fonts;
use crate::layout::text;
use crate::numbers::{both_ways, counted, percentage};
use crate::sheet::{self, FAINT, LINE, MARGIN, TEXT, TITLE, fitted};

/// Pixels, all of them.
const ROW: f64 = 19.0;
/// Between frames, of which each has half.
const GAP: f64 = 1.0;
/// What is narrower is not seen.
const NARROWEST: f64 = 1.0;
/// A frame that is narrower has no text.
const NARROWEST_TEXT: f64 = 26.0;
/// Fewer tell nothing.
const FEWEST_LETTERS: usize = 3;
/// From the edge of a frame to its text.
const INSET: f64 = 4.0;
/// A square of the legend.
const SQUARE: f64 = 11.0;
/// Deeper than that nobody scrolls.
const MOST_ROWS: usize = 400;

/// The tree by its first metric, as wide as is asked.
pub fn svg(flame: &Flame, view: View, width: f64) -> String {
    let inner = (width - 2.0 * MARGIN).max(1.0);
    let mut frames = layout(flame, view, NARROWEST / inner);
    let rows = frames.iter().map(|frame| frame.row + 1).max().unwrap_or(0);
    let mut both = compared::both(flame, &frames);
    // Row by row: those that go are the last.
    frames.retain(|frame| frame.row < MOST_ROWS);
    both.truncate(frames.len());
    let picture = Picture {
        flame,
        view,
        width,
        inner,
        rows: rows.min(MOST_ROWS),
        modules: Modules::of(flame),
    };
    let mut out = String::new();
    // Writing to a string cannot fail.
    let frames: Vec<_> = frames.into_iter().zip(both).collect();
    let _ = picture.write(&mut out, &frames, rows);
    out
}

/// A frame, and what it holds by two metrics where they are compared.
type Drawn = (Frame, Option<[Held; 2]>);

struct Picture<'f> {
    flame: &'f Flame,
    view: View,
    width: f64,
    inner: f64,
    rows: usize,
    modules: Modules,
}

impl Picture<'_> {
    fn write(&self, out: &mut String, frames: &[Drawn], rows: usize) -> fmt::Result {
        let heading = self.heading(rows);
        let top = MARGIN + TITLE + heading.len() as f64 * LINE + 6.0;
        let bottom = top + self.rows as f64 * ROW;
        let legend = self.legend(bottom + LINE + 4.0);
        let below = legend.last().map_or(bottom, |key| key.1.1);
        let notes = sheet::notes(&self.flame.notes, self.inner);
        let height = below + notes.len() as f64 * LINE + MARGIN;
        sheet::open(out, (self.width, height), self.flame.title())?;
        let lines = (1..).zip(&heading);
        for (line, words) in lines {
            let y = MARGIN + TITLE + f64::from(line) * LINE - 4.0;
            self.text(out, (MARGIN, y), words)?;
        }
        for frame in frames {
            self.frame(out, frame, top)?;
        }
        for (colour, (x, y), name) in &legend {
            square(out, *colour, *x, y - SQUARE + 1.5)?;
            self.text(out, (x + SQUARE + 5.0, *y), name)?;
        }
        for (line, note) in (1..).zip(&notes) {
            self.text(out, (MARGIN, below + f64::from(line) * LINE), note)?;
        }
        sheet::close(out)
    }

    /// What it shows, in lines below the title.
    fn heading(&self, rows: usize) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some((metric, series)) = self.flame.first() {
            let from = match self.view.is_reversed {
                true => "from those who called the allocator to their callers",
                false => "from main to those who called the allocator",
            };
            let amount = self.amount(metric, series, series.total());
            lines.push(format!("{}: {amount}; {from}", metric.name));
        }
        if let Some((metric, series)) = self.flame.second() {
            let amount = self.amount(metric, series, series.total());
            lines.push(format!("compared with {}: {amount}", metric.name));
        }
        lines.extend(self.flame.heading.iter().skip(1).cloned());
        if rows > self.rows {
            let more = counted((rows - self.rows) as u64, "row");
            lines.push(format!("{more} more, deeper than {MOST_ROWS}, not drawn"));
        }
        lines
    }

    /// Colours with their modules and where these stand, from `y` on.
    fn legend(&self, mut y: f64) -> Vec<(Colour, (f64, f64), String)> {
        let keys = self.keys();
        let mut x = MARGIN;
        let mut placed = Vec::new();
        for (colour, name) in keys {
            let name = fitted(&name, 220.0, TEXT, false);
            let wide = SQUARE + 5.0 + fonts::width(&name, TEXT, false) + 18.0;
            if x + wide > self.width && x > MARGIN {
                (x, y) = (MARGIN, y + LINE);
            }
            placed.push((colour, (x, y), name));
            x += wide;
        }
        placed
    }

    /// What colours mean.
    fn keys(&self) -> Vec<(Colour, String)> {
        if let (Some((first, _)), Some((second, _))) = (self.flame.first(), self.flame.second()) {
            return vec![
                (compared::MORE, format!("more {}", first.name)),
                (compared::LESS, format!("more {}", second.name)),
                (
                    compared::STILL,
                    "as much; widths are of both together".to_owned(),
                ),
            ];
        }
        let modules = self.modules.names.iter().take(self.modules.seen);
        let mut keys: Vec<(Colour, String)> = MODULES.into_iter().zip(modules.cloned()).collect();
        if self.modules.seen > keys.len() {
            keys.push((OTHERS, "other files".to_owned()));
        }
        keys
    }

    /// A line of the heading or the legend, as long as there is room.
    fn text(&self, out: &mut String, (x, y): (f64, f64), words: &str) -> fmt::Result {
        let words = fitted(words, self.width - MARGIN - x, TEXT, false);
        let (x, y, words) = (Short(x), Short(y), Escaped(&words));
        let faint = Hex(FAINT);
        writeln!(
            out,
            r#"<text x="{x}" y="{y}" fill="{faint}">{words}</text>"#
        )
    }

    fn frame(&self, out: &mut String, (frame, both): &Drawn, top: f64) -> fmt::Result {
        let row = match self.view.is_inverted {
            true => frame.row,
            false => self.rows - 1 - frame.row,
        };
        let (x, y) = (MARGIN + frame.left * self.inner, top + row as f64 * ROW);
        let width = (frame.right - frame.left) * self.inner;
        // What is narrow keeps its width: gaps would hide it.
        let gap = if width > 3.0 { GAP } else { 0.0 };
        let radius = if width > 6.0 { r#" rx="2""# } else { "" };
        let colour = match (frame.label, both) {
            (Some(Label::Named(_)), Some(both)) => compared::colour(*both),
            (Some(Label::Named(name)), None) => self.modules.colour(name),
            (Some(Label::Lesser(_)) | None, _) => NONE,
        };
        write!(
            out,
            "<g><title>{}</title>",
            Escaped(&self.title(frame, *both))
        )?;
        write!(
            out,
            r#"<rect x="{}" y="{}" width="{}" height="{}"{radius} fill="{}"/>"#,
            Short(x + gap / 2.0),
            Short(y),
            Short(width - gap),
            Short(ROW - GAP),
            Hex(colour)
        )?;
        let room = width - 2.0 * INSET;
        let words = match width >= NARROWEST_TEXT {
            true => self.words_within(frame, room),
            false => String::new(),
        };
        if words.chars().filter(|&letter| letter != '…').count() >= FEWEST_LETTERS {
            let length = fonts::width(&words, TEXT, false);
            // With its width, so that it fits with any font.
            write!(
                out,
                r#"<text x="{}" y="{}" textLength="{}" lengthAdjust="spacingAndGlyphs">{}</text>"#,
                Short(x + INSET),
                Short(y + ROW - 6.0),
                Short(length),
                Escaped(&words)
            )?;
        }
        out.write_str("</g>\n")
    }

    /// What there is room for: with file and line, or the name alone, shortened.
    fn words_within(&self, frame: &Frame, room: f64) -> String {
        let words = self.words(frame);
        let name = frame.label.and_then(|label| self.flame.name(label));
        if let Some(location) = name.and_then(|name| name.location.as_deref()) {
            let whole = text::clean(&format!("{words} [{}]", short_path(location)));
            if fonts::width(&whole, TEXT, false) <= room {
                return whole;
            }
        }
        fitted(&words, room, TEXT, false)
    }

    /// `1.5 MiB (1,572,864B) in 12 blocks`; what widths go by comes first.
    fn amount(&self, metric: &Metric, series: &Series, held: Held) -> String {
        let (bytes, things) = (both_ways(held.bytes), counted(held.blocks, series.thing));
        match metric.measure {
            Measure::Bytes if self.flame.lacks_counts => bytes,
            Measure::Bytes => format!("{bytes} in {things}"),
            Measure::Blocks => format!("{things} of {bytes}"),
        }
    }

    /// What stands on a frame.
    fn words(&self, frame: &Frame) -> String {
        match frame.label {
            None if self.flame.other.is_some() => "all of both".to_owned(),
            None => match self.flame.first() {
                Some((metric, series)) => {
                    format!("all: {}", self.amount(metric, series, frame.held))
                }
                None => "all".to_owned(),
            },
            Some(Label::Lesser(0)) => "too small to be named".to_owned(),
            Some(Label::Lesser(count)) => format!("{count} more"),
            Some(label) => match self.flame.name(label) {
                Some(name) => name.function.clone(),
                None => "?".to_owned(),
            },
        }
    }

    /// All there is to say of it.
    fn title(&self, frame: &Frame, both: Option<[Held; 2]>) -> String {
        let mut lines = vec![text::clean(&self.words(frame))];
        let name = frame.label.and_then(|label| self.flame.name(label));
        if let Some(name) = name {
            let more = [&name.location, &name.module];
            lines.extend(more.into_iter().flatten().map(|line| text::clean(line)));
        }
        let metrics = [self.flame.first(), self.flame.second()];
        if let Some(both) = both {
            let told = metrics.into_iter().flatten().zip(both);
            let told = told.map(|((metric, series), held)| {
                format!("{} {}", self.amount(metric, series, held), metric.name)
            });
            lines.extend(told);
        } else if let Some((metric, series)) = self.flame.first() {
            lines.push(self.amount(metric, series, frame.held));
            let part = frame.held.by(metric.measure);
            let of = |whole| percentage(part, whole);
            if frame.row > 0 {
                let whole = series.total().by(metric.measure);
                let caller = frame.of.by(metric.measure);
                let below = match self.view.is_reversed {
                    true => "the frame below it",
                    false => "its caller",
                };
                lines.push(format!(
                    "{:.2}% of all, {:.2}% of {below}",
                    of(whole),
                    of(caller)
                ));
            }
        }
        lines.join("\n")
    }
}

fn square(out: &mut String, colour: Colour, x: f64, y: f64) -> fmt::Result {
    let (x, y, colour) = (Short(x), Short(y), Hex(colour));
    writeln!(
        out,
        r#"<rect x="{x}" y="{y}" width="{SQUARE}" height="{SQUARE}" rx="2" fill="{colour}"/>"#
    )
}
