//! What people ask of a report: a moment, and how little is worth showing.

use std::fmt;
use std::str::FromStr;

use memlog_analysis::Moment;

/// A moment as people name it: `rss-peak`, `heap-peak`, `end`, or a time since
/// the start as `12.5`, `12.5s`, `300ms` or `2m`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// One that is found in every log.
    Known(Moment),
    /// A time.
    Seconds(f64),
}

impl When {
    /// The end of the log.
    pub const END: Self = When::Known(Moment::End);

    /// The moment in an analysis that was told of [`When::chosen_tick`].
    pub fn moment(self) -> Moment {
        match self {
            When::Known(moment) => moment,
            When::Seconds(_) => Moment::Chosen,
        }
    }

    /// The last tick that is not after a time.
    pub fn chosen_tick(self, tick_ns: u64) -> Option<u64> {
        match self {
            When::Known(_) => None,
            // Half a nanosecond more: 0.3 s of ticks of 0.1 s are 3 and not 2.
            When::Seconds(seconds) => Some(((seconds * 1e9 + 0.5) / tick_ns as f64) as u64),
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            When::Known(Moment::HeapPeak) => out.write_str("heap-peak"),
            When::Known(Moment::End) => out.write_str("end"),
            When::Known(_) => out.write_str("rss-peak"),
            When::Seconds(seconds) => write!(out, "{seconds}s"),
        }
    }
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "rss-peak" => return Ok(When::Known(Moment::RssPeak)),
            "heap-peak" => return Ok(When::Known(Moment::HeapPeak)),
            "end" => return Ok(When::Known(Moment::End)),
            _ => {}
        }
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = text.strip_suffix(unit).unwrap_or(text);
        let factor = match unit {
            "" | "s" => Some(1.0),
            "ms" => Some(1e-3),
            "us" => Some(1e-6),
            "m" | "min" => Some(60.0),
            "h" => Some(3600.0),
            _ => None,
        };
        let seconds = number.parse::<f64>().ok().zip(factor);
        let seconds = seconds.map(|(number, factor)| (number * factor * 1e9).round() / 1e9);
        match seconds.filter(|seconds| seconds.is_finite()) {
            Some(seconds) => Ok(When::Seconds(seconds)),
            None => Err(
                "give rss-peak, heap-peak, end, or a time since the start as 12.5, 12.5s, \
                 300ms or 2m"
                    .into(),
            ),
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
    fn moments_are_understood() {
        let parse = When::from_str;
        assert_eq!(parse("end"), Ok(When::Known(Moment::End)));
        assert_eq!(parse("12.5"), Ok(When::Seconds(12.5)));
        assert_eq!(parse("500ms"), Ok(When::Seconds(0.5)));
        assert_eq!(parse("950ms"), Ok(When::Seconds(0.95)));
        assert_eq!(parse("2m"), Ok(When::Seconds(120.0)));
        assert!(parse("soon").is_err());
        assert!(parse("5 parsecs").is_err());
        assert!(parse("-3").is_err());
        assert!(parse("NaN").is_err() && parse("inf").is_err());
        // More than a number can hold.
        assert!(parse(&"9".repeat(400)).is_err());
    }

    #[test]
    fn times_are_ticks() {
        assert_eq!(When::Seconds(0.3).chosen_tick(100_000_000), Some(3));
        assert_eq!(When::Known(Moment::End).chosen_tick(1), None);
    }

    #[test]
    fn percents_are_understood() {
        assert_eq!(percent("2.5%"), Ok(2.5));
        assert!(percent("101").is_err());
        assert!(percent("NaN").is_err());
    }
}
