//! How often a user wants to see what was live.

use memlog_analysis::{Every, Excess, MOST, MOST_CHANGES, Snapshots};
use memlog_query::{Bytes, Length};

use crate::open::Analysis;
use crate::words::{Advice, grouped};

/// When snapshots are taken. Marks are snapshots in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// At no other moments.
    Marks,
    /// At these too.
    Every(Every),
}

/// Units of time; all others are of bytes. So 1m is a minute, and 1M a mebibyte.
const OF_TIME: [&str; 7] = ["ns", "us", "ms", "s", "m", "min", "h"];

/// A time as `10s`, or bytes as `1GiB`. A bare number could be either.
pub fn every(text: &str) -> Result<Every, String> {
    let last = |c: char| !c.is_ascii_alphabetic();
    let unit = text.rsplit(last).next().unwrap_or_default();
    let every = match unit {
        "" => None,
        unit if OF_TIME.contains(&unit) => match text.parse() {
            Ok(Length::Ns(ns)) => Some(Every::Ns(ns)),
            _ => None,
        },
        _ => text.parse().ok().map(|Bytes(bytes)| Every::Churn(bytes)),
    };
    every
        .filter(|every| !matches!(every, Every::Ns(0) | Every::Churn(0)))
        .ok_or_else(|| {
            "give a time with its unit, as 10s, 500ms or 2m, or bytes that came and went, \
             as 1GiB or 64M"
                .into()
        })
}

/// As it is typed.
pub fn typed(every: Every) -> String {
    let (amount, units): (u64, &[(u64, &str)]) = match every {
        Every::Ns(ns) => (
            ns,
            &[(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")],
        ),
        Every::Churn(bytes) => (
            bytes,
            &[
                (1 << 40, "TiB"),
                (1 << 30, "GiB"),
                (1 << 20, "MiB"),
                (1 << 10, "KiB"),
            ],
        ),
    };
    let fits = units.iter().find(|(unit, _)| amount.is_multiple_of(*unit));
    match (fits, every) {
        (Some((unit, name)), _) => format!("{}{name}", amount / unit),
        (None, Every::Ns(_)) => format!("{amount}ns"),
        (None, Every::Churn(_)) => format!("{amount}B"),
    }
}

/// None yet, for a log with such a clock.
pub fn taken(pace: Pace, tick_ns: u64) -> anyhow::Result<Snapshots> {
    let every = match pace {
        Pace::Marks => None,
        Pace::Every(every) => Some(every),
    };
    match every {
        Some(every @ Every::Ns(ns)) if ns < tick_ns => {
            let tick = typed(Every::Ns(tick_ns));
            Err(Advice::error(
                format!(
                    "--every {} is less than a step of the log's clock, {tick}",
                    typed(every)
                ),
                format!("give --every {tick} or more, or bytes as --every 1MiB"),
            ))
        }
        every => Ok(Snapshots::new(every, tick_ns)),
    }
}

/// Whether there are any, and not too many.
pub fn check(pace: Pace, analysis: &Analysis) -> anyhow::Result<()> {
    let Some(snapshots) = &analysis.snapshots else {
        return Ok(());
    };
    if pace == Pace::Marks && snapshots.count() == 0 {
        return Err(Advice::error(
            "the program set no marks, so there are no snapshots",
            "say how often to take one: --every 10s, or --every 1GiB of bytes that came and went",
        ));
    }
    match snapshots.excess(analysis.summary.end_tick) {
        None => Ok(()),
        Some(excess) => Err(too_many(excess)),
    }
}

fn too_many(excess: Excess) -> anyhow::Error {
    let wrong = match excess.is_of_snapshots {
        true => format!(
            "there would be more than {} snapshots",
            grouped(MOST as u64)
        ),
        false => format!(
            "the snapshots would take more than 160 MiB: more than {} changes of stacks",
            grouped(MOST_CHANGES as u64)
        ),
    };
    let hint = match excess.fewer {
        Some(every) => format!("give a larger distance: --every {}", typed(rounded(every))),
        None => "they are marks of the program: let it set fewer".into(),
    };
    Advice::error(wrong, hint)
}

/// Up to what is easy to type.
fn rounded(every: Every) -> Every {
    match every {
        Every::Churn(bytes) => Every::Churn(
            bytes
                .max(1 << 10)
                .checked_next_power_of_two()
                .unwrap_or(bytes),
        ),
        Every::Ns(ns) => {
            let mut unit = 1_000;
            while unit < ns && unit < u64::MAX / 10 {
                unit *= 10;
            }
            Every::Ns(ns.div_ceil(unit / 10) * (unit / 10))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_understood() {
        for (text, expected) in [
            ("10s", Every::Ns(10_000_000_000)),
            ("500ms", Every::Ns(500_000_000)),
            ("1m", Every::Ns(60_000_000_000)),
            ("1h30m", Every::Ns(5_400_000_000_000)),
            ("0.5s", Every::Ns(500_000_000)),
            ("1M", Every::Churn(1 << 20)),
            ("1MiB", Every::Churn(1 << 20)),
            ("1.5GiB", Every::Churn(3 << 29)),
            ("64k", Every::Churn(1 << 16)),
            ("10B", Every::Churn(10)),
        ] {
            assert_eq!(every(text), Ok(expected), "{text}");
            assert_eq!(every(&typed(expected)), Ok(expected), "{text}");
        }
        for text in [
            "",
            "10",
            "0s",
            "0MiB",
            "s",
            "10 parsecs",
            "-1s",
            "5%",
            "1.5B",
        ] {
            assert!(every(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_advised_is_easy_to_type() {
        for (exact, easy) in [
            (Every::Ns(12_345_678), "20ms"),
            (Every::Ns(1_099_511_627_776), "2000s"),
            (Every::Churn(500_000_001), "512MiB"),
            (Every::Churn(3), "1KiB"),
        ] {
            assert_eq!(typed(rounded(exact)), easy);
        }
    }
}
