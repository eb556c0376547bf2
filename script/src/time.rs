//! Durations of scripts.

use std::fmt;

use memlog_query::{Length, Moment};

/// A duration, or a moment as one since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Duration {
    pub ns: u64,
}

/// Units that durations are told in, with the words for them.
const UNITS: [(u64, &str); 7] = [
    (86_400_000_000_000, "d"),
    (3_600_000_000_000, "h"),
    (60_000_000_000, "m"),
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "us"),
    (1, "ns"),
];

impl Duration {
    /// So many of a unit. `Err` is a sentence.
    pub fn of(count: i64, unit_ns: u64) -> Result<Self, String> {
        let count = u64::try_from(count).map_err(|_| negative())?;
        let ns = count.checked_mul(unit_ns).ok_or_else(too_long)?;
        Ok(Self { ns })
    }

    /// The same of a part of one.
    pub fn of_part(count: f64, unit_ns: u64) -> Result<Self, String> {
        let ns = count * unit_ns as f64;
        match ns {
            _ if ns.is_nan() || ns < 0.0 => Err(negative()),
            _ if ns >= u64::MAX as f64 => Err(too_long()),
            // What is a whole number but for the last bit is meant to be one.
            _ => Ok(Self {
                ns: (ns + 1e-3).floor() as u64,
            }),
        }
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            ns: self.ns.saturating_add(other.ns),
        }
    }

    /// None is shorter than nothing.
    pub fn minus(self, other: Self) -> Self {
        Self {
            ns: self.ns.saturating_sub(other.ns),
        }
    }

    pub fn times(self, factor: f64) -> Result<Self, String> {
        Self::of_part(factor, self.ns)
    }

    pub fn seconds(self) -> f64 {
        self.ns as f64 / 1e9
    }

    pub fn moment(self) -> Moment {
        Moment::SinceStartNs(self.ns)
    }

    pub fn length(self) -> Length {
        Length::Ns(self.ns)
    }

    /// As a script says it: `s(1) + ms(500)`.
    pub fn code(self) -> String {
        if self.ns == 0 {
            return "s(0)".to_owned();
        }
        let mut parts = Vec::new();
        let mut rest = self.ns;
        // Scripts have no days, and nothing shorter than a microsecond but as a part.
        for (unit, word) in UNITS.into_iter().skip(1).take(5) {
            let count = rest / unit;
            rest %= unit;
            match (count, word, rest) {
                (_, "us", 1..) => {
                    parts.push(format!("us({}.{rest:03})", count));
                }
                (0, ..) => {}
                _ => parts.push(format!("{word}({count})")),
            }
        }
        parts.join(" + ")
    }
}

fn negative() -> String {
    "a duration is not negative".to_owned()
}

fn too_long() -> String {
    "this duration is too long".to_owned()
}

/// `1h 2m 3s`
impl fmt::Display for Duration {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        if self.ns == 0 {
            return out.write_str("0s");
        }
        let mut rest = self.ns;
        let mut blank = "";
        for (unit, word) in UNITS {
            let count = rest / unit;
            rest %= unit;
            if count > 0 {
                write!(out, "{blank}{count}{word}")?;
                blank = " ";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_told() {
        let told = |ns| Duration { ns }.to_string();
        assert_eq!(told(0), "0s");
        assert_eq!(told(90_061_000_000_000), "1d 1h 1m 1s");
        assert_eq!(told(1_500_000), "1ms 500us");
        let code = |ns| Duration { ns }.code();
        assert_eq!(code(1_500_000_000), "s(1) + ms(500)");
        assert_eq!(code(90_061_000_000_000), "h(25) + m(1) + s(1)");
        assert_eq!(code(1_000_010), "ms(1) + us(0.010)");
    }

    #[test]
    fn sums_stay_within_bounds() {
        let one = Duration::of(1, 1_000_000_000).expect("a second");
        let Ok(part) = one.times(0.98) else { panic!() };
        assert_eq!(part.ns, 980_000_000);
        assert_eq!(part.minus(one).ns, 0);
        assert!(Duration::of(-1, 1).is_err());
        assert!(Duration::of(i64::MAX, 1_000_000_000).is_err());
        assert!(one.times(-0.5).is_err());
        assert!(one.times(f64::NAN).is_err());
        assert!(one.times(1e300).is_err());
    }
}
