//! The places that asked for memory: found, listed, told.

mod lists;

use memlog_analysis::Sites;
use serde_json::{Value, json};

use crate::names::{Labels, Name};
use crate::words::Sizes;
pub use lists::{Lists, through};

/// A list of places, `blocks` by the name that they have there.
pub fn places(sites: &Sites, labels: &Labels, blocks: &str) -> Vec<Value> {
    let sites = sites.list.iter();
    let sites = sites.map(|site| {
        let name = &labels.names()[site.label as usize];
        json!({
            "function": name.function,
            "location": name.location,
            "module": name.module,
            "caller": site.caller.map(|label| &labels.names()[label as usize].function),
            "bytes": site.held.bytes,
            blocks: site.held.blocks,
            "share_percent": site.share,
            "sum_percent": site.sum,
        })
    });
    sites.collect()
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
