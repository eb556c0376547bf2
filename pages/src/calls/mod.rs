//! Who called for memory, as a tree: grown from stacks, filtered, printed.

mod filter;
mod form;
mod grow;
mod json;
mod outside;
mod paths;
mod runs;
mod text;
mod title;

use std::io::{Result, Write};

use memlog_export::When;

use crate::names::Labels;
use crate::subject::Subject;
use crate::words::grouped;
pub use filter::Filter;
pub use form::Form;
pub use grow::{Direction, Shape, grow};
pub use json::tree as json_tree;
use text::Printer;
pub use text::named;

/// Grows a tree and prints it. `part` is which it is on its page, and of how many.
pub fn print_tree(
    out: &mut impl Write,
    subject: &Subject,
    (when, part): (When, (usize, usize)),
    shape: &Shape,
    labels: &mut Labels,
) -> Result<()> {
    let grown = grow(subject.analysis, when, shape, labels);
    let mut printer = Printer {
        out,
        screen: subject.screen,
        direction: shape.direction,
        form: shape.form,
        threshold: grown.threshold,
        tree: &grown.tree,
        names: &grown.names,
    };
    printer.print(&title::title(subject, (when, part), shape, &grown))?;
    if grown.threshold > shape.threshold {
        let sentence = format!(
            "there are more than {} places: those below {:.3} % are summed up",
            grouped(grow::MOST as u64),
            grown.threshold
        );
        writeln!(printer.out, "{}", subject.screen.note(&sentence))?;
    }
    Ok(())
}
