//! A flame graph: every stack as a tower of its functions, as wide as what it
//! holds. It is handed a tree with figures and knows no log.
//!
//! ```text
//! Flame ── layout ──> svg     a picture: one metric, from either end
//!     └─── lesser ──> html    a page with all metrics; its script lays out what is seen
//! ```
//!
//! * `layout`: where each function stands on a picture
//! * `lesser`: what is too small to be kept, summed up
//! * `colours`: of modules; `compared`: of what there is more or less of
//! * `svg`; `html` with `json`, what is embedded

mod colours;
mod compared;
mod html;
mod json;
mod layout;
mod lesser;
mod svg;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use memlog_analysis::{Held, Measure, Name, nameless_in};

pub use html::html;
pub use json::harmless;
pub use lesser::Least;
pub use svg::svg;

/// A tree of calls and what was counted in it.
#[derive(Clone, Debug, Default)]
pub struct Flame {
    /// What it is of, a line each; the first is the title.
    pub heading: Vec<String>,
    /// What there is to know besides, in sentences.
    pub notes: Vec<String>,
    /// What functions are called; among equals the first stands first.
    pub names: Vec<Name>,
    /// The places of the tree: callers before callees, no two of the same
    /// label with the same caller.
    pub nodes: Vec<Node>,
    /// What was counted.
    pub series: Vec<Series>,
    /// What can be looked at.
    pub metrics: Vec<Metric>,
    /// Which of them is shown first.
    pub shown: usize,
    /// Which of them that is compared with, of the same measure: widths are then of both
    /// together, and colours say of which there is more.
    pub other: Option<usize>,
    /// Whether nobody knows how many blocks there were: numbers of them are of sums.
    pub lacks_counts: bool,
    /// What ends at nodes by the scopes that threads were in, all of it; nothing where that
    /// was not asked for, or the program told of none. Of the whole run and of the moment
    /// that is shown, or else the RSS peak.
    pub scoped: Vec<Scoped>,
}

/// What ends at a node, of one scope.
#[derive(Clone, Debug)]
pub struct Scoped {
    /// The node.
    pub node: u32,
    /// The names of all scopes; nothing where there was none.
    pub scope: Option<String>,
    /// Of the whole run.
    pub allocated: Held,
    /// Of the moment.
    pub live: Held,
}

/// A function below its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub label: Label,
    /// Index of its caller; none of an outermost function.
    pub caller: Option<u32>,
}

/// What stands in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// A function, by its index in the names.
    Named(u32),
    /// So many that are too small.
    Lesser(u64),
}

/// What was counted at a moment, or in the whole run.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// What there are so many of: block, allocation.
    pub thing: &'static str,
    /// What ends at each node, by its index.
    pub own: Vec<Held>,
}

/// One way to look at the tree.
#[derive(Clone, Debug)]
pub struct Metric {
    /// As it is typed.
    pub key: &'static str,
    /// As it is told: `live at the RSS peak`.
    pub name: String,
    /// Index of what was counted.
    pub series: usize,
    /// What widths go by.
    pub measure: Measure,
}

/// How the tree is drawn first.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// From those who called the allocator to their callers.
    pub is_reversed: bool,
    /// The outermost above, as icicles hang.
    pub is_inverted: bool,
}

impl Flame {
    /// The metric that is shown first, and its series.
    pub(crate) fn first(&self) -> Option<(&Metric, &Series)> {
        let metric = self.metrics.get(self.shown)?;
        Some((metric, self.series.get(metric.series)?))
    }

    /// The series that the first is compared with, and its metric.
    fn second(&self) -> Option<(&Metric, &Series)> {
        let metric = self.metrics.get(self.other?)?;
        Some((metric, self.series.get(metric.series)?))
    }

    /// What widths go by.
    fn widths(&self) -> Option<(&Metric, Cow<'_, Series>)> {
        let (metric, series) = self.first()?;
        let Some((_, other)) = self.second() else {
            return Some((metric, Cow::Borrowed(series)));
        };
        let own = series.own.iter().zip(&other.own);
        let both = Series {
            thing: series.thing,
            own: own.map(|(one, other)| one.plus(*other)).collect(),
        };
        Some((metric, Cow::Owned(both)))
    }

    /// What ends at each place, of a metric that there is.
    pub(crate) fn own(&self, key: &str) -> Option<&[Held]> {
        let mut metrics = self.metrics.iter();
        let metric = metrics.find(|metric| metric.key == key)?;
        Some(&self.series.get(metric.series)?.own)
    }

    /// The places where stacks end that any of these counted.
    pub(crate) fn ends<'o>(&self, counted: impl Iterator<Item = &'o [Held]>) -> Vec<u32> {
        let mut is_end = vec![false; self.nodes.len()];
        for own in counted {
            for (is_end, held) in is_end.iter_mut().zip(own) {
                *is_end |= held.blocks > 0;
            }
        }
        let ends = (0..).zip(is_end).filter(|(_, is_end)| *is_end);
        ends.map(|(at, _)| at).collect()
    }

    /// What a function is called.
    fn name(&self, label: Label) -> Option<&Name> {
        match label {
            Label::Named(name) => self.names.get(name as usize),
            Label::Lesser(_) => None,
        }
    }

    pub(crate) fn title(&self) -> &str {
        self.heading.first().map_or("Flame graph", String::as_str)
    }
}

impl Series {
    /// What ends at each node or is called from there.
    pub(crate) fn totals(&self, nodes: &[Node]) -> Vec<Held> {
        let mut totals = self.own.clone();
        totals.resize(nodes.len(), Held::default());
        for (index, node) in nodes.iter().enumerate().rev() {
            if let Some(caller) = node.caller {
                totals[caller as usize] = totals[caller as usize].plus(totals[index]);
            }
        }
        totals
    }

    fn total(&self) -> Held {
        self.own.iter().copied().fold(Held::default(), Held::plus)
    }
}

/// The file of code that a place is in, which is all that some are called by.
pub(crate) fn module_of(name: &Name) -> Option<&str> {
    name.module
        .as_deref()
        .or_else(|| nameless_in(&name.function))
}
