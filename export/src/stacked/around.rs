//! What stands around the series: lines across, times and values, names.

use std::fmt::{self, Write};

use super::time::{Ticks, since, time_of_day};
use super::{Plot, Stacked};
use crate::draw::{Colour, Escaped, Hex, Short};
use crate::layout::{fonts, text};
use crate::numbers::{grouped, sized};
use crate::sheet::{FAINT, INK, LINE, PAPER, TEXT, fitted};

/// Names are no longer.
const MOST_NAME: f64 = 420.0;
/// More names do not fit.
const MOST_NAMES: usize = 38;
const GRID: Colour = Colour([0xDD, 0xDD, 0xDD]);

/// Round values up to the most.
fn values(plot: &Plot) -> impl Iterator<Item = u64> {
    let (most, step) = (plot.most, plot.step.max(1));
    (0..=most / step).map(move |count| count * step)
}

/// Lines at round values and times.
pub(super) fn grid(out: &mut String, plot: &Plot) -> fmt::Result {
    let (left, right) = (Short(plot.left), Short(plot.right));
    for value in values(plot) {
        let y = Short(plot.y(value));
        let grid = Hex(GRID);
        writeln!(out, r#"<path d="M{left},{y} H{right}" stroke="{grid}"/>"#)?;
    }
    for seconds in Ticks::new(plot.from, plot.to) {
        let (x, top, bottom) = (Short(plot.x(seconds)), Short(plot.top), Short(plot.bottom));
        let grid = Hex(GRID);
        writeln!(out, r#"<path d="M{x},{top} V{bottom}" stroke="{grid}"/>"#)?;
    }
    Ok(())
}

/// Times above and below, values on the left.
pub(super) fn axes(out: &mut String, stacked: &Stacked, plot: &Plot) -> fmt::Result {
    let (left, right) = (Short(plot.left), Short(plot.right));
    let (top, bottom) = (Short(plot.top), Short(plot.bottom));
    let ink = Hex(INK);
    writeln!(
        out,
        r#"<path d="M{left},{top} V{bottom} H{right} M{left},{top} H{right}" fill="none" stroke="{ink}"/>"#
    )?;
    for value in values(plot) {
        let told = match (value, stacked.is_bytes) {
            (0, _) => "0".to_owned(),
            (_, true) => sized(value),
            (_, false) => grouped(value),
        };
        label(out, (plot.left - 6.0, plot.y(value) + 4.0), &told, "end")?;
    }
    let ticks = Ticks::new(plot.from, plot.to);
    let step = ticks.step();
    for seconds in ticks {
        let x = plot.x(seconds);
        label(out, (x, plot.top - 8.0), &since(seconds, step), "middle")?;
        if let Some(start) = stacked.start_unix_seconds {
            let told = time_of_day(start + seconds, step);
            label(out, (x, plot.bottom + LINE), &told, "middle")?;
        }
    }
    let middle = (plot.left + plot.right) / 2.0;
    let time = match stacked.start_unix_seconds {
        Some(_) => "time of day (UTC) below, since the start above",
        None => "time since the start, above",
    };
    label(out, (middle, plot.bottom + 2.4 * LINE), time, "middle")?;
    let (x, y) = (16.0, (plot.top + plot.bottom) / 2.0);
    let value = text::clean(&stacked.value);
    writeln!(
        out,
        r#"<text x="{x}" y="{0}" text-anchor="middle" transform="rotate(-90 {x} {0})">{1}</text>"#,
        Short(y),
        Escaped(&value)
    )
}

/// The names of the series.
pub(super) fn legend(
    out: &mut String,
    stacked: &Stacked,
    plot: &Plot,
    colours: &[Colour],
) -> fmt::Result {
    let named = stacked.series.iter().zip(colours);
    let named = named.filter_map(|(series, colour)| {
        let is_empty = series.values.iter().all(|value| *value == 0);
        let name = series.name.as_deref()?;
        (stacked.around.empty_too || !is_empty).then_some((name, *colour))
    });
    let named: Vec<(&str, Colour)> = named.take(MOST_NAMES).collect();
    if named.is_empty() {
        return Ok(());
    }
    let (left, top) = (plot.left + 8.0, plot.top + 8.0);
    let names: Vec<String> = named
        .iter()
        .map(|(name, _)| fitted(name, MOST_NAME, TEXT, false))
        .collect();
    let widths = names.iter().map(|name| fonts::width(name, TEXT, false));
    let wide = widths.fold(0.0, f64::max) + 36.0;
    writeln!(
        out,
        r#"<rect class="legend" x="{}" y="{}" width="{}" height="{}" fill="{}" fill-opacity="0.8" stroke="{}"/>"#,
        Short(left),
        Short(top),
        Short(wide),
        Short(names.len() as f64 * LINE + 8.0),
        Hex(PAPER),
        Hex(INK)
    )?;
    for (index, (name, (_, colour))) in names.iter().zip(&named).enumerate() {
        let y = top + 4.0 + index as f64 * LINE;
        writeln!(
            out,
            r#"<rect x="{}" y="{}" width="12" height="10" fill="{}"/>"#,
            Short(left + 8.0),
            Short(y + 4.0),
            Hex(*colour)
        )?;
        label(out, (left + 26.0, y + 13.0), name, "start")?;
    }
    Ok(())
}

fn label(out: &mut String, (x, y): (f64, f64), words: &str, anchor: &str) -> fmt::Result {
    let colour = if anchor == "start" { INK } else { FAINT };
    writeln!(
        out,
        r#"<text x="{}" y="{}" text-anchor="{anchor}" fill="{}">{}</text>"#,
        Short(x),
        Short(y),
        Hex(colour),
        Escaped(&text::clean(words))
    )
}
