//! What pictures of flame graphs and of curves have in common: the paper, a title, lines
//! of text, and notes.

use std::fmt::{self, Write};

use crate::draw::{Colour, Escaped, FONTS, Hex, Short};
use crate::layout::text::{self, Room};

/// Pixels, all of them.
pub(crate) const MARGIN: f64 = 16.0;
pub(crate) const TITLE: f64 = 17.0;
pub(crate) const TEXT: f64 = 12.0;
pub(crate) const LINE: f64 = 17.0;
pub(crate) const INK: Colour = Colour([0x1C, 0x1C, 0x1C]);
pub(crate) const FAINT: Colour = Colour([0x59, 0x59, 0x59]);
pub(crate) const PAPER: Colour = Colour([0xFF, 0xFF, 0xFF]);

/// Begins a picture with its title, so wide and so high.
pub(crate) fn open(out: &mut String, (wide, high): (f64, f64), title: &str) -> fmt::Result {
    let (width, height) = (Short(wide), Short(high));
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">"#
    )?;
    writeln!(out, "<title>{}</title>", Escaped(&text::clean(title)))?;
    let paper = Hex(PAPER);
    writeln!(
        out,
        r#"<rect width="{width}" height="{height}" fill="{paper}"/>"#
    )?;
    let ink = Hex(INK);
    writeln!(
        out,
        r#"<g font-family="{FONTS}" font-size="{TEXT}" fill="{ink}">"#
    )?;
    let (x, y) = (Short(MARGIN), Short(MARGIN + TITLE - 4.0));
    let title = fitted(title, wide - 2.0 * MARGIN, TITLE, true);
    let title = Escaped(&title);
    writeln!(
        out,
        r#"<text x="{x}" y="{y}" font-size="{TITLE}" font-weight="bold">{title}</text>"#
    )
}

/// Ends it.
pub(crate) fn close(out: &mut String) -> fmt::Result {
    out.write_str("</g>\n</svg>\n")
}

/// As much of some words as there is room for on a line.
pub(crate) fn fitted(words: &str, width: f64, size: f64, bold: bool) -> String {
    let room = Room {
        width,
        most_lines: 1,
        size,
        bold,
    };
    text::fit(words, &room).concat()
}

/// The lines of notes.
pub(crate) fn notes(notes: &[String], width: f64) -> Vec<String> {
    let room = Room {
        width,
        most_lines: 3,
        size: TEXT,
        bold: false,
    };
    let lines = notes
        .iter()
        .flat_map(|note| text::fit(&format!("note: {note}"), &room));
    lines.collect()
}
