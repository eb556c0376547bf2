//! The places that asked for memory, as a list.

use memlog_analysis::{Sites, percentage, without_names as nameless};

use crate::names::Name;
use crate::page::places::{PlaceList, PlaceRow, What};
use crate::words::Sizes;

/// A list; the first of the titles that fits is told.
pub fn list((what, titles): (What, Vec<String>), sites: Sites, names: &[Name]) -> PlaceList {
    let name = |label: u32| names[label as usize].clone();
    let rows = sites.list.iter().map(|site| PlaceRow {
        name: name(site.label),
        caller: site.caller.map(name),
        held: site.held,
        share: site.share,
        sum: site.sum,
    });
    PlaceList {
        what,
        titles,
        total: sites.total,
        rows: rows.collect(),
        is_past_library: sites.past_library.blocks > 0,
        through: sites.through,
        is_told: true,
        has_counts: true,
    }
}

/// What to do where most is of places without names.
pub fn without_names(sites: &Sites, what: &str, names: &[Name], sizes: Sizes) -> Option<String> {
    let (percent, file) = sites.without_names(names)?;
    let bytes = sizes.of(sites.total.bytes);
    advice(percent, &format!("the {bytes} {what}"), &file)
}

/// The same of groups by the names of functions, and what they have of all bytes.
pub fn groups_without_names<'g>(
    groups: impl Iterator<Item = (&'g str, u64)>,
    all: u64,
    sizes: Sizes,
) -> Option<String> {
    let (percent, file) = nameless(groups.map(|(name, bytes)| (name, percentage(bytes, all))))?;
    advice(
        percent,
        &format!("these {} were asked for", sizes.of(all)),
        &file,
    )
}

fn advice(percent: f64, what: &str, file: &str) -> Option<String> {
    const MOST_PERCENT: f64 = 50.0;
    (percent >= MOST_PERCENT).then(|| {
        format!(
            "{percent:.0} % of {what} by code without names, most in {file}: install its debug \
             symbols (Debian: -dbg or -dbgsym), or keep it from being stripped"
        )
    })
}
