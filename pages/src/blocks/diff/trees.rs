//! What grew and what shrank as trees of callers.

use std::rc::Rc;

use memlog_analysis::Held;
use memlog_answers::{Difference, changed_lines};

use crate::calls::{Filter, Form, Shape, grow_from};
use crate::page::Part;
use crate::page::tree::{By, Direction, MOST_BRANCHES, Snapshot, Tree};

/// How trees are shown.
#[derive(clap::Args)]
pub struct TreeArgs {
    /// Show what grew, and what shrank, as a tree of who called for it
    #[arg(long, conflicts_with_all = ["by", "sort", "top"])]
    pub tree: bool,
    /// From main down to the functions that asked for memory
    #[arg(long, requires = "tree")]
    top_down: bool,
    /// Sum up what is less than so many percent of a tree
    #[arg(
        short = 't',
        long,
        value_name = "PCT",
        default_value = "1",
        requires = "tree"
    )]
    #[arg(value_parser = memlog_export::percent)]
    threshold: f64,
    /// Give each place a line with its figures, also where it only passes on
    #[arg(long, requires = "tree")]
    no_fold: bool,
}

/// What grew, and what shrank if anything did: bytes and blocks each for themselves, so
/// that one less the other is the difference.
pub fn trees(found: &Difference, args: &TreeArgs, is_json: bool) -> Vec<Part> {
    let known = changed_lines(&found.rows);
    let names: Rc<[_]> = known.names.into();
    let direction = match args.top_down {
        true => Direction::TopDown,
        false => Direction::BottomUp,
    };
    let filter = Filter::default();
    let shape = Shape {
        direction,
        form: Form::default(),
        threshold: args.threshold,
        filter: &filter,
        has_graph: false,
    };
    let parts = [("grew", 1, 0), ("shrank", 0, 1)];
    let trees = parts.into_iter().filter_map(|(change, more, less)| {
        let mut held = vec![Held::default(); known.lines.len()];
        for (row, &end) in found.rows.iter().zip(&known.ends) {
            let sum = &mut held[end as usize];
            *sum = sum.plus(row.held[more].minus(row.held[less]));
        }
        let total = held.iter().copied().fold(Held::default(), Held::plus);
        if total == Held::default() {
            return None;
        }
        let (branches, threshold) = grow_from(&known.lines, &held, &shape, MOST_BRANCHES);
        Some(Part::OneTree(Tree {
            title: format!("what {change} (percentages are shares of it)"),
            by: By::Live,
            moment: None,
            snapshot: Some(Snapshot {
                label: "diff".to_owned(),
                change: Some(change),
            }),
            direction,
            unfiltered: total,
            threshold,
            asked_threshold: args.threshold,
            no_fold: args.no_fold || is_json,
            branches,
            most: MOST_BRANCHES,
            has_counts: true,
            names: Rc::clone(&names),
            graph: None,
            times: Vec::new(),
        }))
    });
    trees.collect()
}
