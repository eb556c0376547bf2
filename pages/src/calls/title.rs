//! What stands above a tree: what is counted, when, and what of it is missing.

use memlog_analysis::Moment;
use memlog_export::When;
use memlog_format::meta::Lack;

use super::grow::{Grown, Shape};
use crate::facts::{is_temporary_guessed, is_unknown};
use crate::page::tree::{By, Direction};
use crate::subject::Subject;
use crate::words::percentage;

/// `part` is which tree it is on its page, and of how many.
pub fn title(
    subject: &Subject,
    (when, part): (When, (usize, usize)),
    shape: &Shape,
    grown: &Grown,
) -> String {
    let by = shape.form.by();
    let recorded = match subject.analysis.summary.is_lossy() {
        false => "",
        true => " of what was recorded",
    };
    let from = match shape.direction {
        Direction::BottomUp if by == By::Freed => ", by the call that freed it",
        Direction::BottomUp => "",
        Direction::TopDown => ", from main down",
    };
    let analysis = subject.analysis;
    let chosen = analysis.chosen.as_ref();
    let of = of_chosen(subject);
    let what = match by {
        By::Live => format!("live heap {}", moment(subject, when)),
        By::Mapped => format!(
            "mapped by the program itself {}, touched or not, by the call that made it map more",
            moment(subject, when)
        ),
        By::Allocated => format!("allocated {}", run(subject)),
        By::Count => format!("allocations {}", run(subject)),
        By::Temporary => format!("temporary allocations {}", run(subject)),
        By::Freed => format!("freed {}", run(subject)),
    };
    let mut remarks = String::new();
    // Two trees may look alike.
    if let (index, count @ 2..) = part {
        remarks = format!("moment {index} of {count}{}, ", time(subject, when));
    }
    if by == By::Temporary {
        remarks += "freed before the thread's next allocation, ";
        if is_temporary_guessed(subject.family.own()) {
            remarks += "about so many, ";
        }
        remarks += &of_all(subject, grown);
    }
    if !shape.filter.is_none() || chosen.is_some() {
        let percent = grown.percent();
        remarks += &format!("{percent:.2}% that the filter let through, ");
    }
    if !subject.analysis.times.is_empty() {
        remarks += "seconds from the first allocation to the last, ";
    }
    let shares = match by {
        By::Live | By::Mapped => "it",
        By::Allocated | By::Freed => "the bytes",
        By::Count | By::Temporary => "their number",
    };
    format!("{what}{of}{recorded}{from} ({remarks}percentages are shares of {shares})")
}

/// Which blocks, if a filter chose some.
pub(super) fn of_chosen(subject: &Subject) -> String {
    let chosen = subject.analysis.chosen.as_ref();
    chosen.map_or_else(String::new, |chosen| {
        format!(" of blocks where {}", chosen.filter)
    })
}

/// Which moment it is.
pub(super) fn moment(subject: &Subject, when: When) -> String {
    let summary = &subject.analysis.summary;
    let rss_is_known = summary.shows_rss_peak();
    let so_far = if subject.is_running { " so far" } else { "" };
    match when {
        When::Seconds(_) | When::Mark { .. } if is_after(subject, when) => {
            "where reading ended".into()
        }
        When::Mark { .. } => {
            format!("at the mark at {}", time_of(subject, when))
        }
        When::Seconds(_) if !has_times(subject) => format!("at {}", time_of(subject, when)),
        When::Seconds(seconds) => format!("at {seconds} s"),
        When::Known(Moment::RssPeak) if rss_is_known => format!("at the RSS peak{so_far}"),
        When::Known(Moment::End) if subject.analysis.part.is_some() => "where reading ended".into(),
        When::Known(Moment::End) if subject.is_running => "now".into(),
        When::Known(Moment::End) => "at the end".into(),
        When::Known(_) if is_unknown(subject.family.own(), Lack::Peak) => {
            "at the one moment of the file".into()
        }
        When::Known(_) if summary.window.is_some() => "at its maximum in the window".into(),
        When::Known(_) => format!("at its maximum{so_far}"),
    }
}

/// How much of the run there is where all of it is counted.
pub(super) fn run(subject: &Subject) -> &'static str {
    let analysis = subject.analysis;
    match (analysis.part, analysis.summary.window) {
        (Some(_), _) => "up to where reading ended",
        (None, Some(_)) => "in the window",
        (None, None) if subject.is_running => "so far",
        (None, None) => "in the whole run",
    }
}

/// `12.3 % of all allocations, `
fn of_all(subject: &Subject, grown: &Grown) -> String {
    let all = subject.analysis.tally.allocated();
    let all: u64 = all.map(|(_, held)| held.blocks).sum();
    let percent = percentage(grown.whole.blocks, all);
    let which = match subject.analysis.summary.window {
        None => "all",
        Some(_) => "its",
    };
    format!("{percent:.1} % of {which} allocations, ")
}

/// When a moment was that is not named by its time.
fn time(subject: &Subject, when: When) -> String {
    if when.moment() == Moment::Chosen {
        return String::new();
    }
    format!(" at {}", time_of(subject, when))
}

/// When it was; of a source without times how much of its run had passed.
fn time_of(subject: &Subject, when: When) -> String {
    let log = subject.family.own();
    let tick = subject.analysis.tick_of(when, log.tick_ns());
    match has_times(subject) {
        true => format!("{:.3} s", log.seconds(tick)),
        false => {
            let passed = percentage(tick, subject.analysis.summary.end_tick);
            format!("{passed:.1}% of the run")
        }
    }
}

fn has_times(subject: &Subject) -> bool {
    !is_unknown(subject.family.own(), Lack::Times)
}

/// When a tick was, if it is known.
pub fn seconds_of(subject: &Subject, tick: u64) -> Option<f64> {
    has_times(subject).then(|| subject.family.own().seconds(tick))
}

/// Whether a log was read to an end that is before a moment.
fn is_after(subject: &Subject, when: When) -> bool {
    let (analysis, log) = (subject.analysis, subject.family.own());
    let tick = analysis.tick_of(when, log.tick_ns());
    analysis.part.is_some_and(|part| tick > part.tick)
}
