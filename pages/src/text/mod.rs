//! A page for people, on a screen or where there is none.
//!
//! * [`heading`], [`curve`]: the lines at the top
//! * [`tree`], [`places`], [`failed`], [`next`], [`records`],
//!   [`rows`]: the parts
//! * [`screenful`]: less of each, so that all fits on one screen

mod curve;
mod failed;
mod heading;
mod next;
mod places;
mod records;
mod rows;
mod screenful;
mod tree;

use crate::page::{OnNames, Page, Part};
use crate::screen::Screen;
use crate::words::counted;

/// As it is printed.
pub fn of(page: &Page, screen: &Screen) -> String {
    if page.is_screenful {
        return screenful::of(page, screen);
    }
    let mut text = heading::whole(&page.heading, screen);
    text += &notes(&page.notes, screen);
    if page.on_names.is_brief {
        text += &briefly(&page.on_names, screen);
    }
    let parts = page.parts.iter();
    text.extend(parts.map(|part| text_of(part, page, screen)));
    if !page.on_names.is_brief {
        text += &in_full(&page.on_names, screen);
    }
    text
}

fn text_of(part: &Part, page: &Page, screen: &Screen) -> String {
    match part {
        Part::Tree(tree) | Part::OneTree(tree) => tree::of(tree, screen),
        Part::Places(list) if list.is_told => places::of(list, places::MOST, screen),
        Part::Places(_) => String::new(),
        Part::Failed(list) => failed::of(list, screen),
        Part::Next(next) => next::of(next, usize::MAX, screen),
        Part::Records(records) => records::of(records),
        Part::Table(table) => records::table(table),
        Part::Rows(list) => rows::of(list, screen),
        Part::Figures => records::figures("", &page.figures),
    }
}

/// A line each.
fn notes<S: AsRef<str>>(sentences: impl IntoIterator<Item = S>, screen: &Screen) -> String {
    let sentences = sentences.into_iter();
    let lines = sentences.map(|sentence| screen.note(sentence.as_ref()) + "\n");
    lines.collect()
}

/// What was wrong with the names, below a page.
fn in_full(names: &OnNames, screen: &Screen) -> String {
    let sentences = names.remarks.iter().chain(&names.cut_short);
    let sentences = sentences.chain(&names.hint);
    match notes(sentences, screen) {
        lines if lines.is_empty() => lines,
        lines => format!("\n{lines}"),
    }
}

/// The same in a line or two.
fn briefly(names: &OnNames, screen: &Screen) -> String {
    let count = names.remarks.len() as u64;
    let counted = (count > 0).then(|| {
        let files = counted(count, "file");
        format!("{files} of names gone, rebuilt or not taken; memlog report says which")
    });
    notes(counted.iter().chain(&names.cut_short), screen)
}
