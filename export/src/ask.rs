//! What people ask of a report: a moment, and how little is worth showing.

use memlog_analysis::{Instant, Moment};

/// A moment of a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// One that is found in every log.
    Known(Moment),
    /// A time since the start.
    Seconds(f64),
    /// A mark that the program set, by its number from 0, and its tick.
    #[allow(missing_docs)]
    Mark { number: u64, tick: u64 },
}

impl When {
    /// The end of the log.
    pub const END: Self = When::Known(Moment::End);

    /// The moment in an analysis that was told of [`When::instant`].
    pub fn moment(self) -> Moment {
        match self {
            When::Known(moment) => moment,
            When::Seconds(_) | When::Mark { .. } => Moment::Chosen,
        }
    }

    /// What an analysis has to be told of; a time is the last tick that is not after it.
    pub fn instant(self, tick_ns: u64) -> Option<Instant> {
        match self {
            When::Known(_) => None,
            // Half a nanosecond more: 0.3 s of ticks of 0.1 s are 3 and not 2.
            When::Seconds(seconds) => Some(Instant::Tick(
                ((seconds * 1e9 + 0.5) / tick_ns as f64) as u64,
            )),
            When::Mark { number, tick } => Some(Instant::Mark { number, tick }),
        }
    }
}

/// A number from 0 to 100, with or without its sign.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>();
    let number = number.ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "give a number from 0 to 100".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_ticks() {
        let third = When::Seconds(0.3).instant(100_000_000);
        assert_eq!(third, Some(Instant::Tick(3)));
        assert_eq!(When::Known(Moment::End).instant(1), None);
    }

    #[test]
    fn percents_are_understood() {
        assert_eq!(percent("2.5%"), Ok(2.5));
        assert!(percent("101").is_err());
        assert!(percent("NaN").is_err());
    }
}
