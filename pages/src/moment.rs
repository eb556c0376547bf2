//! The moments that a user asks for: one in the words of filters, or many.

pub mod snapshots;

use std::fmt;
use std::str::FromStr;

use memlog_analysis::Every;
use memlog_export::When;
use memlog_format::meta::Lack;
use memlog_query::{Moment, parse_moment};
use memlog_read::{Kind, Log};
use memlog_table::Table;

use crate::open::{Analysis, Family, Watch};
use crate::page::tree::By;
use crate::rests::Rests;
use crate::words::{Advice, clean};
use snapshots::Pace;

/// Times are shown to the millisecond: the end as it is shown is still in the
/// log.
const SHOWN_SECONDS: f64 = 0.001;

/// What a user wants to see.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// A moment.
    pub at: Option<&'a At>,
    /// Many.
    pub snapshots: Option<Pace>,
    /// What is counted, where an answer is of that alone.
    pub by: Option<By>,
}

impl Wanted<'_> {
    /// The same in a log that is read next.
    pub fn look(self, family: &Family, watch: &Watch) -> anyhow::Result<Moments> {
        let mut rests = Rests::default();
        if let Some(by) = self.by {
            rests = rests.counting(by);
        }
        if let Some(pace) = self.snapshots {
            rests = rests.on(&[Lack::Course, Lack::Live, Lack::Counts]);
            if matches!(pace, Pace::Every(Every::Ns(_))) {
                rests = rests.on(&[Lack::Times]);
            }
        }
        rests.check(family.own())?;
        let at = self.at.map(|at| at.look(family, watch));
        Ok(Moments {
            at: at.transpose()?,
            snapshots: self.snapshots,
        })
    }
}

impl<'a> From<Option<&'a At>> for Wanted<'a> {
    fn from(at: Option<&'a At>) -> Self {
        Self {
            at,
            ..Self::default()
        }
    }
}

/// What a reading has to look for.
#[derive(Clone, Copy, Default)]
pub struct Moments {
    /// A moment.
    pub at: Option<When>,
    /// Many.
    pub snapshots: Option<Pace>,
}

impl From<Option<When>> for Moments {
    fn from(at: Option<When>) -> Self {
        Self {
            at,
            snapshots: None,
        }
    }
}

/// A moment as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At(Moment);

impl At {
    /// The end of the log.
    pub const END: Self = Self(Moment::End);
    /// When resident memory was largest.
    pub const RSS_PEAK: Self = Self(Moment::RssPeak);

    /// What it rests on, of an import.
    pub fn rests_on(&self) -> &'static [Lack] {
        match &self.0 {
            Moment::Start => &[],
            Moment::RssPeak | Moment::End => &[Lack::Live],
            Moment::HeapPeak => &[Lack::Live, Lack::Peak],
            Moment::Share(_) | Moment::Mark(_) => &[Lack::Live, Lack::Course],
            Moment::SinceStartNs(_) | Moment::UnixNs(_) => &[Lack::Live, Lack::Course, Lack::Times],
        }
    }

    /// When that is in a log that is read next. What only its events tell takes a first
    /// look at them.
    pub fn look(&self, family: &Family, watch: &Watch) -> anyhow::Result<When> {
        let log = family.own();
        let times = match (&self.0, log.end()) {
            (Moment::Share(_), Some(end)) => Times {
                end_tick: end.tick,
                marks: Vec::new(),
            },
            (Moment::Share(_) | Moment::Mark(_), _) => Times::look(log, watch),
            _ => Times::default(),
        };
        self.when(log, &times)
    }

    /// When that is.
    pub fn when(&self, log: &Log, times: &Times) -> anyhow::Result<When> {
        use memlog_analysis::Moment as Known;
        // What is live at a mark stays in a stripped log.
        if !matches!(self.0, Moment::Mark(_)) || log.left_out().is_none() {
            Rests::default().on(self.rests_on()).check(log)?;
        }
        let seconds = |ns: u64| When::Seconds(ns as f64 / 1e9);
        Ok(match &self.0 {
            Moment::RssPeak => When::Known(Known::RssPeak),
            Moment::HeapPeak => When::Known(Known::HeapPeak),
            Moment::End => When::Known(Known::End),
            Moment::Start => seconds(0),
            Moment::SinceStartNs(ns) => seconds(*ns),
            Moment::Share(share) => {
                let run_ns = u128::from(times.end_tick) * u128::from(log.tick_ns());
                seconds(share.of(u64::try_from(run_ns).unwrap_or(u64::MAX)))
            }
            Moment::UnixNs(ns) => {
                let start_ns = log.start().map_or(0, |start| start.wall_ns);
                seconds(ns.checked_sub(start_ns).ok_or_else(|| {
                    Advice::error(
                        format!("--at {self} is before recording began"),
                        format!("it began at unix {}s", start_ns / 1_000_000_000),
                    )
                })?)
            }
            Moment::Mark(name) => {
                let mut marks = (0..).zip(&times.marks);
                let found = marks.find(|(_, (known, _))| known == name.as_bytes());
                let (number, &(_, tick)) = found.ok_or_else(|| {
                    let name = clean(name.as_bytes());
                    let sentence = format!("--at: the log has no mark that is called '{name}'");
                    Advice::error(sentence, known_marks(&times.marks))
                })?;
                When::Mark { number, tick }
            }
        })
    }
}

/// What else to ask for.
fn known_marks(marks: &[(Vec<u8>, u64)]) -> String {
    /// So many are named.
    const FEW: usize = 8;
    let mut names: Vec<String> = Vec::new();
    for (mark, _) in marks {
        let mark = format!("'{}'", clean(mark));
        if names.len() <= FEW && !names.contains(&mark) {
            names.push(mark);
        }
    }
    let few = names[..names.len().min(FEW)].join(", ");
    match names.len() {
        0 => "it has none; give a time, as 12.5s, or a part of the run, as 50%".into(),
        count if count > FEW => format!("it has {few} and others: memlog timeline FILE"),
        _ => format!("it has {few}"),
    }
}

impl FromStr for At {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Behind `mark ` there is nothing but its name, so it needs no quotes of its own.
        let name = text.strip_prefix("mark ").map(str::trim);
        let mark = name.filter(|name| !name.is_empty());
        let mark = || mark.map(|name| Moment::Mark(name.to_owned()));
        let moment = parse_moment(text).ok().or_else(mark);
        moment.map(Self).ok_or({
            "give rss-peak, heap-peak, start, end, a time since the start as 12.5, 12.5s, 300ms \
             or 2m, a part of the run as 50%, mark NAME, or unix TIME"
        })
    }
}

impl fmt::Display for At {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match &self.0 {
            Moment::SinceStartNs(ns) => write!(out, "{}s", *ns as f64 / 1e9),
            moment => moment.fmt(out),
        }
    }
}

/// What a log's events tell of time.
#[derive(Default)]
pub struct Times {
    /// The last tick.
    end_tick: u64,
    /// The marks in their order, by name, and their ticks.
    marks: Vec<(Vec<u8>, u64)>,
}

impl Times {
    fn look(log: &Log, watch: &Watch) -> Self {
        let mut times = Self {
            end_tick: log.end().map_or(0, |end| end.tick),
            marks: Vec::new(),
        };
        let mut events = watch.events(log);
        while let Some(item) = events.next() {
            times.end_tick = times.end_tick.max(item.tick);
            if let Kind::Mark(name) = item.kind {
                times.marks.push((name.to_vec(), item.tick));
            }
            if !watch.goes_on(&events) {
                break;
            }
        }
        times
    }

    /// Those of a table.
    pub fn of(table: &Table) -> Self {
        let marks = table.marks().iter();
        Self {
            end_tick: table.end_tick(),
            marks: marks.map(|mark| (mark.name.clone(), mark.tick)).collect(),
        }
    }
}
/// What a log has of time.
pub struct Span {
    /// Since when there are events; from the start unless older ones are overwritten.
    pub from_seconds: Option<f64>,
    /// When it ends.
    pub end_seconds: f64,
    /// Whether it says so itself.
    pub has_end: bool,
    /// Whether it was not read to its end.
    pub is_part: bool,
}

impl Span {
    /// That of a log that was read.
    pub fn of(log: &Log, analysis: &Analysis) -> Self {
        let summary = &analysis.summary;
        let from = summary.window.map(|window| window.horizon_tick);
        Self {
            from_seconds: from.map(|tick| log.seconds(tick)),
            end_seconds: log.seconds(summary.end_tick),
            has_end: log.end().is_some(),
            is_part: analysis.part.is_some(),
        }
    }
}

/// A time after the log's end is a slip, as of seconds for milliseconds: what
/// was live then nobody knows. Of a log that was not read to its end the part
/// that was is shown.
pub fn check(when: When, span: &Span) -> anyhow::Result<()> {
    let When::Seconds(seconds) = when else {
        return Ok(());
    };
    let end = span.end_seconds;
    if let Some(from) = span.from_seconds.filter(|from| seconds < *from) {
        return Err(Advice::error(
            format!("--at {seconds} s is before {from:.3} s: older events are overwritten"),
            format!("give a time from {from:.3} to {end:.3}"),
        ));
    }
    if seconds < end + SHOWN_SECONDS || span.is_part {
        return Ok(());
    }
    let (what, hint) = match span.has_end {
        true => ("the program ended", "the end"),
        false => ("the log's last event came", "the last event"),
    };
    Err(Advice::error(
        format!("--at {seconds} s is after {what} at {end:.3} s"),
        format!("give a time from 0 to {end:.3}, or --at end for {hint}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_an_unknown_mark_is_told_those_there_are() {
        let marks = |count: u64| {
            let marks = (0..count).map(|tick| (format!("m{tick}").into_bytes(), tick));
            marks.chain([(b"m0".to_vec(), count)]).collect::<Vec<_>>()
        };
        assert!(known_marks(&[]).starts_with("it has none;"));
        assert_eq!(known_marks(&marks(2)), "it has 'm0', 'm1'");
        let eight = known_marks(&marks(8));
        assert!(
            eight.contains("'m7'") && !eight.contains("others"),
            "{eight}"
        );
        let nine = known_marks(&marks(9));
        assert!(
            nine.contains("'m7' and others") && !nine.contains("m8"),
            "{nine}"
        );
    }

    #[test]
    fn moments_are_understood() {
        for (text, shown) in [
            ("end", "end"),
            ("rss-peak", "rss-peak"),
            ("12.5", "12.5s"),
            ("500ms", "0.5s"),
            ("950ms", "0.95s"),
            ("2m", "120s"),
            ("50%", "50%"),
            ("start", "start"),
            ("mark load", "mark \"load\""),
            ("unix 1700000000s", "unix 1700000000s"),
        ] {
            let at: At = text.parse().expect(text);
            assert_eq!(at.to_string(), shown, "{text}");
            assert_eq!(shown.parse(), Ok(at), "{shown}");
        }
        let quoted: At = "mark \"half way\"".parse().expect("a mark");
        assert_eq!("mark half way".parse(), Ok(quoted));
        let more_than_fits = "9".repeat(400);
        for text in [
            "soon",
            "5 parsecs",
            "-3",
            "NaN",
            "inf",
            "101%",
            "5s 6s",
            "",
            "mark",
            "unix 20%",
            &more_than_fits,
        ] {
            assert!(text.parse::<At>().is_err(), "{text}");
        }
    }
}
