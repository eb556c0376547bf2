//! A tree as text:
//!
//! ```text
//! TITLE: 1,234B in 5 blocks
//! ->45.71% (564B, 2x): innermost [file:line]
//! | ->45.71% (564B, 2x): its caller [file:line]
//! ```

use std::io::{Result, Write};

use memlog_analysis::{Branch, CallTree, Callers, Held};
use memlog_export::brief;

use super::grow::Direction;
use crate::names::Name;
use crate::open::{counted, grouped};
use crate::screen::{Role, Screen, fit};
use crate::words::percentage;

/// A tree on its way to the reader.
pub struct Printer<'a, W> {
    pub out: W,
    pub screen: &'a Screen,
    pub direction: Direction,
    pub threshold: f64,
    pub tree: &'a CallTree,
    pub names: &'a [Name],
}

/// A line that is still to be printed.
enum Line<'t> {
    Branch(u32),
    /// What a place of a top-down tree allocated itself.
    Own(Held),
    Folded(&'t Callers),
}

struct Pending<'t> {
    line: Line<'t>,
    depth: usize,
    is_last: bool,
}

impl<W: Write> Printer<'_, W> {
    /// Prints it below its title.
    pub fn print(&mut self, title: &str) -> Result<()> {
        let (tree, total) = (self.tree, self.tree.total());
        let title = self.screen.colours.paint(Role::Title, title);
        let (bytes, blocks) = (grouped(total.bytes), counted(total.blocks, "block"));
        writeln!(self.out, "\n{title}: {bytes}B in {blocks}")?;
        // Whether the branch at each depth has more beside it below.
        let mut guides: Vec<bool> = Vec::new();
        let mut work = Vec::new();
        self.push(&mut work, None, tree.roots(), 0);
        while let Some(Pending {
            line,
            depth,
            is_last,
        }) = work.pop()
        {
            guides.truncate(depth);
            let guide = |&guide: &bool| if guide { "| " } else { "  " };
            let before: String = guides.iter().map(guide).collect();
            guides.push(!is_last);
            match line {
                Line::Branch(index) => {
                    let Some(branch) = tree.get(index) else {
                        continue;
                    };
                    self.branch(&before, branch)?;
                    self.push(&mut work, Some(branch), &branch.callers, depth + 1);
                }
                Line::Own(held) => self.words(&before, held, "allocated here itself")?,
                Line::Folded(callers) => {
                    let places = match callers.folded {
                        1 => "1 place".to_owned(),
                        count => format!("{} places, all", grouped(count)),
                    };
                    let words = format!("in {places} below the {:.2}% threshold", self.threshold);
                    self.words(&before, callers.folded_held, &words)?;
                }
            }
        }
        Ok(())
    }

    fn branch(&mut self, before: &str, branch: &Branch) -> Result<()> {
        let Some(name) = self.names.get(branch.label as usize) else {
            return self.words(before, branch.held, "?");
        };
        let (cost, long) = self.cost(before, branch.held);
        let name = named(self.screen, name, long);
        writeln!(self.out, "{cost}{name}")
    }

    fn words(&mut self, before: &str, held: Held, words: &str) -> Result<()> {
        let (cost, _) = self.cost(before, held);
        writeln!(self.out, "{cost}{words}")
    }

    /// `| ->45.71% (4,096B, 2x): `, and how long it is.
    fn cost(&self, before: &str, held: Held) -> (String, usize) {
        let percent = percentage(held.bytes, self.tree.total().bytes);
        let share = format!("{percent:.2}%");
        let (bytes, blocks) = (grouped(held.bytes), grouped(held.blocks));
        let rest = format!(" ({bytes}B, {blocks}x): ");
        let arrow = format!("{before}->");
        let long = arrow.len() + share.len() + rest.len();
        let colours = self.screen.colours;
        let (arrow, share) = (
            colours.paint(Role::Guide, arrow),
            colours.paint(Role::Share(percent), share),
        );
        (format!("{arrow}{share}{rest}"), long)
    }

    /// Puts callers on the pile so that the first comes off first.
    fn push<'t>(
        &self,
        work: &mut Vec<Pending<'t>>,
        above: Option<&Branch>,
        callers: &'t Callers,
        depth: usize,
    ) {
        let first = work.len();
        let mut put = |line| {
            work.push(Pending {
                line,
                depth,
                is_last: false,
            });
        };
        if callers.folded > 0 {
            put(Line::Folded(callers));
        }
        let own = above
            .map(|branch| own(self.tree, branch))
            .unwrap_or_default();
        let has_more = callers.folded > 0 || !callers.shown.is_empty();
        if self.direction == Direction::TopDown && has_more && own.blocks > 0 {
            put(Line::Own(own));
        }
        for &branch in callers.shown.iter().rev() {
            put(Line::Branch(branch));
        }
        if let Some(last) = work.get_mut(first) {
            last.is_last = true;
        }
    }
}

/// How wide a function's name is at most where lines may have any width.
const WIDEST: usize = 100;

/// `function [file:line]`, cut to what a terminal has left of its width.
pub fn named(screen: &Screen, name: &Name, used: usize) -> String {
    let function = name.function.as_str();
    let place = name.place().map_or("", |place| screen.path(place));
    let (function, place) = match screen.columns() {
        Some(columns) => fit(function, place, columns.saturating_sub(used)),
        None => (brief(function, WIDEST), place.to_owned()),
    };
    let function = screen.colours.paint(Role::Function, function);
    if place.is_empty() {
        return function;
    }
    let place = screen.colours.paint(Role::Place, format_args!("[{place}]"));
    format!("{function} {place}")
}

/// What ends at a branch and is in none below it.
pub fn own(tree: &CallTree, branch: &Branch) -> Held {
    let below = branch
        .callers
        .shown
        .iter()
        .filter_map(|&index| tree.get(index));
    let below = below.map(|branch| branch.held);
    let below = below.chain([branch.callers.folded_held]);
    below.fold(branch.held, |rest, held| Held {
        bytes: rest.bytes.saturating_sub(held.bytes),
        blocks: rest.blocks.saturating_sub(held.blocks),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Look;
    use clap::Parser;

    #[derive(Parser)]
    struct Options {
        #[command(flatten)]
        look: Look,
    }

    fn printed(direction: Direction, paths: Vec<(&'static [u8], Held)>) -> String {
        let step = |path: &'static [u8]| {
            let (&label, rest) = path.split_first()?;
            Some((u32::from(label - b'a'), rest))
        };
        let texts = ["make [a.c:1]", "take [b.c:2]", "main [a.c:9]", "run"];
        let name = |text: &str| Name {
            function: text.split(' ').next().unwrap_or_default().into(),
            location: text
                .split_once(" [")
                .map(|(_, place)| place.replace(']', "")),
            module: None,
        };
        let mut out = Vec::new();
        let screen = Screen::new(&Options::parse_from(["x", "--color", "never"]).look);
        let mut printer = Printer {
            out: &mut out,
            screen: &screen,
            direction,
            threshold: 1.0,
            tree: &CallTree::grow(paths, 90, step),
            names: &texts.map(name),
        };
        printer.print("maximum").unwrap();
        String::from_utf8(out).unwrap()
    }

    fn held(bytes: u64, blocks: u64) -> Held {
        Held { bytes, blocks }
    }

    #[test]
    fn the_tree_has_its_form() {
        let paths: Vec<(&[u8], _)> = vec![
            (b"ac", held(6000, 1)),
            (b"ad", held(2192, 1)),
            (b"b", held(768, 3)),
            (b"x", held(20, 1)),
            (b"y", held(20, 1)),
        ];
        let expected = "
maximum: 9,000B in 7 blocks
->91.02% (8,192B, 2x): make [a.c:1]
| ->66.67% (6,000B, 1x): main [a.c:9]
| ->24.36% (2,192B, 1x): run
->8.53% (768B, 3x): take [b.c:2]
->0.44% (40B, 2x): in 2 places, all below the 1.00% threshold
";
        assert_eq!(printed(Direction::BottomUp, paths), expected);
    }

    #[test]
    fn from_main_down_everything_adds_up() {
        let paths: Vec<(&[u8], _)> = vec![
            (b"cda", held(6000, 1)),
            (b"cd", held(1000, 2)),
            (b"cb", held(2000, 1)),
        ];
        let expected = "
maximum: 9,000B in 4 blocks
->100.00% (9,000B, 4x): main [a.c:9]
  ->77.78% (7,000B, 3x): run
  | ->66.67% (6,000B, 1x): make [a.c:1]
  | ->11.11% (1,000B, 2x): allocated here itself
  ->22.22% (2,000B, 1x): take [b.c:2]
";
        assert_eq!(printed(Direction::TopDown, paths), expected);
    }
}
