//! A tree as text:
//!
//! ```text
//! TITLE: 1,234B in 5 blocks
//! ->45.71% (564B, 2x): innermost [file:line]
//! | ->45.71% (564B, 2x): its caller [file:line]
//! ```
//!
//! What goes deeper than there are columns for has the number of its level in
//! place of the guides, and long recursion is a line, see `runs`: so a page
//! grows with the number of branches and not with that times their depth.

use std::io::{Result, Write};

use memlog_analysis::{Branch, CallTree, Callers, Held};
use memlog_export::brief;

use super::grow::Direction;
use super::paths::NO_FRAMES;
use super::runs::{Run, Runs};
use crate::names::Name;
use crate::open::{counted, grouped};
use crate::screen::{Role, Screen, fit, wrapped};
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

/// Guides of so many levels; on a terminal they, the figures and the name share
/// its columns, and guides take half of them at most.
const MAX_GUIDES: usize = 100;
const MIN_GUIDES: usize = 3;
/// The name of a run is worth more than its levels.
const LEAST_NAME: usize = 12;
/// What guides leave to a name.
const NAME: usize = 20;

/// A line that is still to be printed.
#[derive(Clone, Copy)]
enum Line {
    Branch(u32),
    /// What a place of a top-down tree allocated itself.
    Own(Held),
    Folded(u64, Held),
}

struct Pending {
    line: Line,
    /// How far it is indented.
    depth: usize,
    /// How deep it is in the tree, from 1 on: more, where a run is above.
    level: usize,
    is_last: bool,
}

impl<W: Write> Printer<'_, W> {
    /// Prints it below its title.
    pub fn print(&mut self, title: &str) -> Result<()> {
        let (tree, total) = (self.tree, self.tree.total());
        let (bytes, blocks) = (grouped(total.bytes), counted(total.blocks, "block"));
        let sum = format!("{bytes}B in {blocks}");
        let is_short = title.chars().count() + 2 + sum.len() <= self.room(0);
        let title = match self.screen.columns() {
            Some(columns) => wrapped(title, 0, columns - 1, 2),
            None => title.to_owned(),
        };
        let title = self.screen.colours.paint(Role::Title, title);
        let between = if is_short { " " } else { "\n  " };
        writeln!(self.out, "\n{title}:{between}{sum}")?;
        let runs = Runs::find(tree, self.names);
        // Whether the branch at each depth has more beside it below.
        let mut guides: Vec<bool> = Vec::new();
        let mut work = Vec::new();
        let roots = tree.roots();
        self.push(
            &mut work,
            &roots.shown,
            Held::default(),
            folded(roots),
            0,
            1,
        );
        while let Some(Pending {
            line,
            depth,
            level,
            is_last,
        }) = work.pop()
        {
            guides.truncate(depth);
            let before = self.before(&guides, level);
            guides.push(!is_last);
            match line {
                Line::Branch(index) => match runs.from(index) {
                    Some(run) => {
                        self.run(&before, run, level)?;
                        let (shown, below) = (self.shown(run.last), level + run.levels);
                        self.push(&mut work, shown, run.own, run.folded, depth + 1, below);
                    }
                    None => {
                        let Some(branch) = tree.get(index) else {
                            continue;
                        };
                        self.branch(&before, branch)?;
                        let (own, callers) = (own(tree, branch), &branch.callers);
                        let folded = folded(callers);
                        self.push(&mut work, &callers.shown, own, folded, depth + 1, level + 1);
                    }
                },
                Line::Own(held) => {
                    self.words(&before, held, &["allocated here itself", "here itself"])?
                }
                Line::Folded(places, held) => self.folded(&before, places, held)?,
            }
        }
        Ok(())
    }

    fn shown(&self, branch: u32) -> &'_ [u32] {
        self.tree
            .get(branch)
            .map_or(&[], |branch| &branch.callers.shown)
    }

    /// Guides to what is above, or the number of a level that has no room.
    fn before(&self, guides: &[bool], level: usize) -> String {
        let most = match self.screen.columns() {
            Some(columns) => {
                let (_, figures) = self.cost("", self.tree.total());
                let room = columns.saturating_sub(figures + NAME) / 2;
                room.min(columns / 4).clamp(MIN_GUIDES, MAX_GUIDES)
            }
            None => MAX_GUIDES,
        };
        if guides.len() > most {
            return format!("[{}]", grouped(level as u64));
        }
        let guide = |&guide: &bool| if guide { "| " } else { "  " };
        guides.iter().map(guide).collect()
    }

    fn branch(&mut self, before: &str, branch: &Branch) -> Result<()> {
        let Some(name) = self.names.get(branch.label as usize) else {
            return self.words(before, branch.held, &[NO_FRAMES]);
        };
        let (cost, long) = self.cost(before, branch.held);
        let name = named(self.screen, name, long);
        writeln!(self.out, "{cost}{name}")
    }

    /// `14,980 more of recurse [deep.c:12], levels 4 to 14,983`
    fn run(&mut self, before: &str, run: &Run, level: usize) -> Result<()> {
        let count = grouped(run.levels as u64);
        let (first, last) = (
            grouped(level as u64),
            grouped((level + run.levels - 1) as u64),
        );
        let levels = format!(", levels {first} to {last}");
        let (cost, long) = self.cost(before, run.held);
        let Some(name) = &run.name else {
            let words = format!("{count} more of these {} in turn", run.period);
            let words = [words.clone() + &levels, words];
            return self.words(before, run.held, &words);
        };
        let words = format!("{count} more of ");
        let used = long + words.len();
        let levels = match self.room(used + levels.len()) {
            ..LEAST_NAME => "",
            _ => &levels,
        };
        let name = named(self.screen, name, used + levels.len());
        writeln!(self.out, "{cost}{words}{name}{levels}")
    }

    fn folded(&mut self, before: &str, places: u64, held: Held) -> Result<()> {
        let threshold = self.threshold;
        let (count, all) = match places {
            1 => ("1 place".to_owned(), ""),
            count => (format!("{} places", grouped(count)), ", all"),
        };
        let words = [
            format!("in {count}{all} below the {threshold:.2}% threshold"),
            format!("in {count} below {threshold:.2}%"),
            format!("in {count}"),
        ];
        self.words(before, held, &words)
    }

    /// The first of these that fits; the last is the shortest.
    fn words(&mut self, before: &str, held: Held, words: &[impl AsRef<str>]) -> Result<()> {
        let (cost, long) = self.cost(before, held);
        let mut words = words.iter().map(AsRef::as_ref);
        let shortest = words.next_back().unwrap_or_default();
        let fits = |words: &&str| words.chars().count() <= self.room(long);
        let words = words.find(fits).unwrap_or(shortest);
        writeln!(self.out, "{cost}{words}")
    }

    /// Columns that are left.
    fn room(&self, used: usize) -> usize {
        let columns = self.screen.columns().unwrap_or(usize::MAX);
        columns.saturating_sub(used)
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

    /// Puts what is below a branch on the pile so that the first comes off first.
    fn push(
        &self,
        work: &mut Vec<Pending>,
        shown: &[u32],
        own: Held,
        (folded, folded_held): (u64, Held),
        depth: usize,
        level: usize,
    ) {
        let first = work.len();
        let mut put = |line| {
            work.push(Pending {
                line,
                depth,
                level,
                is_last: false,
            });
        };
        if folded > 0 {
            put(Line::Folded(folded, folded_held));
        }
        let has_more = folded > 0 || !shown.is_empty();
        if self.direction == Direction::TopDown && has_more && own.blocks > 0 {
            put(Line::Own(own));
        }
        for &branch in shown.iter().rev() {
            put(Line::Branch(branch));
        }
        if let Some(last) = work.get_mut(first) {
            last.is_last = true;
        }
    }
}

/// What was too small to be shown below a place.
fn folded(callers: &Callers) -> (u64, Held) {
    (callers.folded, callers.folded_held)
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
            tree: &CallTree::grow(paths, 90, 10_000, step).expect("a small one"),
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

    /// `run` and `main` call each other 15 times, and `run` makes two blocks.
    #[test]
    fn recursion_is_a_line_that_loses_nothing() {
        let path: &'static [u8] = Box::leak(b"dc".repeat(15).into_boxed_slice());
        let paths = vec![
            (path, held(9700, 1)),
            (&path[..9], held(200, 1)),
            (&path[..11], held(100, 2)),
        ];
        let expected = "
maximum: 10,000B in 4 blocks
->100.00% (10,000B, 4x): run
  ->100.00% (10,000B, 4x): main [a.c:9]
    ->100.00% (10,000B, 4x): run
      ->100.00% (10,000B, 4x): 27 more of these 2 in turn, levels 4 to 30
";
        assert_eq!(printed(Direction::TopDown, paths.clone()), expected);
        let mut paths = paths;
        let made: &'static [u8] = Box::leak([path, b"a"].concat().into_boxed_slice());
        paths[0].0 = made;
        let last = "        ->97.00% (9,700B, 1x): make [a.c:1]
        ->3.00% (300B, 3x): allocated here itself
";
        assert_eq!(
            printed(Direction::TopDown, paths),
            expected.to_owned() + last
        );
    }

    /// What is deeper than guides go has the number of its level.
    #[test]
    fn deep_levels_have_numbers() {
        // No part of this repeats itself.
        let path = (0..150u32).map(|level| b"abcd"[level.count_ones() as usize % 4]);
        let path: &'static [u8] = Box::leak(path.collect());
        let text = printed(Direction::BottomUp, vec![(path, held(100, 1))]);
        let lines: Vec<_> = text.lines().skip(2).collect();
        assert!(lines[100].starts_with(&format!("{:200}->100.00%", "")));
        assert!(lines[101].starts_with("[102]->100.00%"), "{}", lines[101]);
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
