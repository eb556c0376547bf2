//! Sizes below each other, lifetimes beside each other.

use std::ops::Range;

use memlog_answers::{Class, Grid};

use super::{figures, lifetime, row, size, span, sum, title};
use crate::blocks::{Answer, Told};
use crate::page::rows::{Rows, titles};
use crate::words::grouped;

/// How many blocks there are of each size and lifetime.
pub fn both(told: &Told, grid: &Grid) -> Answer {
    let all = sum(&grid.sizes);
    let mut objects = Vec::new();
    for (of_size, cells) in grid.sizes.iter().zip(&grid.cells) {
        let known = grid.lifetimes.iter().zip(cells);
        for (of_lifetime, held) in known.filter(|(_, held)| held.blocks > 0) {
            let (size, bytes) = size(told, of_size);
            let (lifetime, seconds) = lifetime(told, of_lifetime);
            let bounds = bytes.into_iter().chain(seconds);
            objects.push(row(format!("{size}, {lifetime}"), *held, bounds));
        }
    }
    Answer {
        figures: figures("size-lifetime", all, objects),
        rows: Rows {
            title: title(told, all, "size and lifetime; how many of each"),
            ..as_wide_as_may_be(told, grid)
        },
        ..Answer::default()
    }
}

/// Neighbouring lifetimes are put together until the grid fits.
fn as_wide_as_may_be(told: &Told, grid: &Grid) -> Rows {
    const GAP: usize = 2;
    let mut joined = 1;
    loop {
        let rows = with_joined(told, grid, joined);
        let width = |at: usize| {
            let all = rows.rows.iter().chain([&rows.columns]);
            all.map(|row| row[at].chars().count()).max().unwrap_or(0)
        };
        let widths = (0..rows.columns.len()).map(|at| width(at) + GAP);
        let used = widths.sum::<usize>() - GAP;
        let is_narrow = told.columns.is_none_or(|columns| used <= columns);
        if is_narrow || joined >= grid.lifetimes.len() {
            return rows;
        }
        joined += 1;
    }
}

/// So many lifetimes are one column; what was never freed stays alone.
fn with_joined(told: &Told, grid: &Grid, joined: usize) -> Rows {
    let all = grid.lifetimes.len();
    let ends = grid.lifetimes.iter().filter(|class| class.to.is_some());
    let ends = ends.count();
    let parts = (0..ends).step_by(joined);
    let parts = parts.map(|from| from..(from + joined).min(ends));
    let parts: Vec<_> = parts.chain((ends < all).then_some(ends..all)).collect();
    let count = |blocks: u64| match blocks {
        0 => String::new(),
        blocks => grouped(blocks),
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (of_size, cells) in grid.sizes.iter().zip(&grid.cells) {
        let sums = parts.iter().map(|part| {
            let blocks = cells[part.clone()].iter().map(|held| held.blocks);
            count(blocks.sum())
        });
        let behind = [count(of_size.blocks), size(told, of_size).0];
        rows.push(sums.chain(behind).collect());
    }
    let sums = parts
        .iter()
        .map(|part| count(sum(&grid.lifetimes[part.clone()]).blocks));
    let behind = [count(sum(&grid.sizes).blocks), "all sizes".to_owned()];
    rows.push(sums.chain(behind).collect());
    let headings = parts.iter().map(|part| heading(told, grid, part));
    Rows {
        columns: headings.chain(titles(&["all", "size"])).collect(),
        rows,
        ..Rows::default()
    }
}

/// From when on; what comes next to it says until when.
fn heading(told: &Told, grid: &Grid, part: &Range<usize>) -> String {
    let classes = &grid.lifetimes[part.clone()];
    let (first, last) = (classes[0], classes[classes.len() - 1]);
    match (first.from, last.to) {
        (_, None) => "never freed".to_owned(),
        (0, to) => lifetime(told, &Class { to, ..first }).0,
        (from, _) => format!("from {}", span(told.world.seconds(from))),
    }
}
