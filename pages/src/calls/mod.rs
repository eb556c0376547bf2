//! Who called for memory, as a tree: grown from stacks, filtered, named.

mod filter;
mod flame;
mod form;
mod graph_file;
mod grow;
mod held;
mod paths;
mod snapshots;
mod sources;
mod times;
mod title;

use memlog_analysis::Moment;
use memlog_export::When;

use crate::names::Labels;
use crate::page::tree::{MOST_BRANCHES, Tree};
use crate::subject::Subject;
pub use filter::Filter;
pub use flame::{Stacks, flame, outermost_at_main};
pub use form::{Form, check};
pub use grow::Shape;
use grow::grow;
pub use grow::grow_from;
pub use held::{counted, keeps_stack};
pub use paths::Paths;
pub use snapshots::{SnapshotArgs, Taken};
pub use sources::{Sources, print_sources};

/// Grows a tree. `part` is which it is on its page, and of how many.
pub fn tree(
    subject: &Subject,
    (when, part): (When, (usize, usize)),
    shape: &Shape,
    labels: &mut Labels,
) -> Tree {
    let grown = grow(subject.analysis, when, shape, labels);
    let log = subject.family.own();
    let by = shape.form.by();
    let tick = subject.analysis.tick_of(when, log.tick_ns());
    Tree {
        title: title::title(subject, (when, part), shape, &grown),
        by,
        moment: by
            .is_of_moment()
            .then(|| (moment(when), title::seconds_of(subject, tick))),
        snapshot: None,
        direction: shape.direction,
        unfiltered: grown.whole,
        threshold: grown.threshold,
        asked_threshold: shape.threshold,
        no_fold: shape.form.no_fold,
        branches: grown.tree,
        most: MOST_BRANCHES,
        has_counts: true,
        names: grown.names,
        graph: grown.graph,
        times: grown.times,
    }
}

fn moment(when: When) -> &'static str {
    match when.moment() {
        Moment::RssPeak => "rss-peak",
        Moment::HeapPeak => "heap-peak",
        Moment::End => "end",
        Moment::Chosen => "chosen",
    }
}
