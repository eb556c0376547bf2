//! The lines of a tree: guides, figures, and a name in what is left of the
//! columns.

use memlog_analysis::{Held, brief};

use super::runs::Run;
use super::{LeftOut, Printer, What};
use crate::names::Name;
use crate::page::tree::{Direction, NO_FRAMES};
use crate::screen::{Role, Screen, fit, width};
use crate::words::{counted, grouped, percentage};

/// Guides of so many levels; on a terminal they, the figures and the name share
/// its columns, and guides take half of them at most.
const MAX_GUIDES: usize = 100;
const MIN_GUIDES: usize = 3;
/// The name of a run is worth more than its levels.
const LEAST_NAME: usize = 12;
/// How wide lines of several names are where they may have any width.
const COLUMNS: usize = 100;
/// What guides leave to a name.
const NAME: usize = 20;

/// How a place is told on a terminal.
#[derive(Clone, Copy)]
enum Places {
    Whole,
    /// Without its folders: several are to share a line.
    Files,
}

impl Printer<'_> {
    /// Guides to what is above, or the number of a level that has no room.
    pub(super) fn before(&self, guides: &[bool], level: usize) -> String {
        let most = match self.screen.columns() {
            Some(columns) => {
                let (_, figures) = self.cost("", self.tree.branches.total(), "");
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

    /// `->45.71% (4,096B, 2x): f [file:line]`, or with times `(4,096B, 2x, 0.100-2.500 s)`
    pub(super) fn first(&mut self, before: &str, (index, what): (u32, What), level: usize) {
        let held = match what {
            What::Branch(branch) => branch.held,
            What::Run(run) => run.held,
        };
        let times = self.tree.times.get(index as usize);
        let times = times.map_or_else(String::new, |(first, last)| {
            format!(", {first:.3}-{last:.3} s")
        });
        let (cost, long) = self.cost(before, held, &times);
        let name = self.name(what, level, long, Places::Whole);
        self.say(&format!("{cost}{name}"));
    }

    /// `<- f [file:line] <- g [file:line]`: each is as much as what is above.
    pub(super) fn passing_on(&mut self, guides: &[bool], all: &[(What, usize)]) {
        let arrow = match self.tree.direction {
            Direction::BottomUp => "<- ",
            Direction::TopDown => "-> ",
        };
        let guide = |text: &str| self.screen.colours.paint(Role::Guide, text);
        let columns = self.screen.columns().unwrap_or(COLUMNS);
        let (mut lines, mut column) = (String::new(), columns);
        for &(what, level) in all {
            let before = self.before(guides, level);
            let used = before.chars().count() + arrow.len();
            let name = self.name(what, level, used, Places::Files);
            let long = arrow.len() + width(&name);
            if column + 1 + long > columns {
                let end = if lines.is_empty() { "" } else { "\n" };
                lines += &format!("{end}{}", guide(&before));
                column = before.chars().count();
            } else {
                lines.push(' ');
                column += 1;
            }
            lines += &guide(arrow);
            lines += &name;
            column += long;
        }
        if !lines.is_empty() {
            self.say(&lines);
        }
    }

    /// What a line is of, where so many columns are used.
    fn name(&self, what: What, level: usize, used: usize, places: Places) -> String {
        match what {
            What::Branch(branch) => match self.tree.names.get(branch.label as usize) {
                Some(name) => self.named(name, used, places),
                None => NO_FRAMES.to_owned(),
            },
            What::Run(run) => self.run(run, level, used, places),
        }
    }

    /// See [`named`].
    fn named(&self, name: &Name, used: usize, places: Places) -> String {
        let folders = name.location.as_deref().and_then(|place| place.rfind('/'));
        match (places, self.screen.columns(), folders) {
            (Places::Files, Some(_), Some(folders)) => {
                let mut name = name.clone();
                name.location = name.location.map(|place| place[folders + 1..].to_owned());
                named(self.screen, &name, used)
            }
            _ => named(self.screen, name, used),
        }
    }

    /// `14,980 more of recurse [deep.c:12], levels 4 to 14,983`
    fn run(&self, run: &Run, level: usize, used: usize, places: Places) -> String {
        let count = grouped(run.levels as u64);
        let (first, last) = (
            grouped(level as u64),
            grouped((level + run.levels - 1) as u64),
        );
        let levels = format!(", levels {first} to {last}");
        let Some(name) = &run.name else {
            let words = format!("{count} more of these {} in turn", run.period);
            let words = [words.clone() + &levels, words];
            return self.fitting(used, &words).to_owned();
        };
        let words = format!("{count} more of ");
        let used = used + words.len();
        let levels = match self.room(used + levels.len()) {
            ..LEAST_NAME => "",
            _ => &levels,
        };
        let name = self.named(name, used + levels.len(), places);
        format!("{words}{name}{levels}")
    }

    pub(super) fn folded(&mut self, before: &str, places: u64, held: Held) {
        let threshold = self.tree.threshold;
        let (count, all) = match places {
            1 => ("1 place".to_owned(), ""),
            count => (format!("{} places", grouped(count)), ", all"),
        };
        let words = [
            format!("in {count}{all} below the {threshold:.2}% threshold"),
            format!("in {count} below {threshold:.2}%"),
            format!("in {count}"),
        ];
        self.words(before, held, &words);
    }

    /// A line of words; see [`Self::fitting`].
    pub(super) fn words(&mut self, before: &str, held: Held, words: &[impl AsRef<str>]) {
        let (cost, long) = self.cost(before, held, "");
        let words = self.fitting(long, words);
        self.say(&format!("{cost}{words}"));
    }

    /// The first of these that fits; the last is the shortest.
    fn fitting<'w>(&self, used: usize, words: &'w [impl AsRef<str>]) -> &'w str {
        let mut words = words.iter().map(AsRef::as_ref);
        let shortest = words.next_back().unwrap_or_default();
        let fits = |words: &&str| words.chars().count() <= self.room(used);
        words.find(fits).unwrap_or(shortest)
    }

    /// The sum of rows that are not there.
    pub(super) fn left_out(&mut self, rows: &LeftOut) {
        if rows.rows == 0 {
            return;
        }
        let count = counted(rows.rows, "row");
        let are = if rows.rows == 1 { "is" } else { "are" };
        let sum = self.sum(rows.held);
        let words = [
            format!("{count} of 0.00% {are} left out: {sum}"),
            format!("{count} of 0.00% left out"),
        ];
        let words = self.fitting(0, &words).to_owned();
        self.say(&words);
    }

    /// Columns that are left.
    pub(super) fn room(&self, used: usize) -> usize {
        let columns = self.screen.columns().unwrap_or(usize::MAX);
        columns.saturating_sub(used)
    }

    /// `| ->45.71% (4,096B, 2x): `, and how long it is.
    fn cost(&self, before: &str, held: Held, times: &str) -> (String, usize) {
        let measure = self.tree.by.measure();
        let percent = percentage(held.by(measure), self.tree.branches.total().by(measure));
        let share = format!("{percent:.2}%");
        let bytes = grouped(held.bytes);
        let blocks = match self.tree.has_counts {
            true => format!(", {}x", grouped(held.blocks)),
            false => String::new(),
        };
        let rest = format!(" ({bytes}B{blocks}{times}): ");
        let arrow = format!("{before}->");
        let long = arrow.len() + share.len() + rest.len();
        let colours = self.screen.colours;
        let (arrow, share) = (
            colours.paint(Role::Guide, arrow),
            colours.paint(Role::Share(percent), share),
        );
        (format!("{arrow}{share}{rest}"), long)
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
