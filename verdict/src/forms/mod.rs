//! A report as others read it. Names come from logs, and who makes a program may give it any:
//! each form escapes what would mean something in it.
//!
//! * [`text`]: for people
//! * [`json`]: for scripts, schema `memlog-check-1`
//! * [`junit`]: for test reports
//! * [`sarif`]: for code scanners
//! * [`markdown`]: for comments on changes
//! * [`github`]: annotations, as commands of GitHub's runner

mod github;
mod json;
mod junit;
mod markdown;
mod sarif;
#[cfg(test)]
mod tests;
mod text;

use memlog_export::numbers::{grouped, sized};

use crate::measure::Measure;
use crate::report::{Place, Verdict};

pub use github::github;
pub use json::json;
pub use junit::junit;
pub use markdown::markdown;
pub use sarif::sarif;
pub use text::text;

/// `58.3%    7.6 MiB           1x  daily_summary [server.c:67]`
fn place_line(place: &Place, root: &str) -> String {
    let blocks = place
        .blocks
        .map_or_else(String::new, |blocks| format!(" {:>11}x", grouped(blocks)));
    format!(
        "{:5.1}% {:>10}{blocks}  {}",
        place.share,
        sized(place.bytes),
        place.frame.told(root)
    )
}

/// What the places of a verdict are a list of.
fn places_title(verdict: &Verdict) -> &'static str {
    match verdict.measure {
        Measure::Peak => "live at the heap peak, by place:",
        Measure::Leaked => "never freed, by place:",
        Measure::Rss => "live heap at the RSS peak, by place:",
        Measure::Allocations => "who allocated most often:",
        Measure::Total => "who allocated most:",
    }
}

/// A verdict with its places, in lines.
fn lines(verdict: &Verdict, root: &str) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", verdict.title(), verdict.sentence())];
    if let Some(filter) = &verdict.filter {
        lines.push(format!("of blocks where {filter}"));
    }
    if !verdict.places.is_empty() {
        lines.push(places_title(verdict).to_owned());
        let places = verdict.places.iter();
        lines.extend(places.map(|place| place_line(place, root)));
    }
    lines
}
