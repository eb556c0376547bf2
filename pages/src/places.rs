//! The places that asked for memory, as a list.

use memlog_analysis::Sites;

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
    const MOST_PERCENT: f64 = 50.0;
    let (percent, file) = sites.without_names(names)?;
    (percent >= MOST_PERCENT).then(|| {
        let bytes = sizes.of(sites.total.bytes);
        format!(
            "{percent:.0} % of the {bytes} {what} by code without names, most in {file}: \
             install its debug symbols (Debian: -dbg or -dbgsym), or keep it from being stripped"
        )
    })
}
