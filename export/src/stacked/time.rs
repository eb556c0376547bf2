//! Where times stand on an axis, and how they are told.

/// Steps between times, in seconds.
const STEPS: [f64; 14] = [
    60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 10800.0, 21600.0, 43200.0, 86400.0,
    172_800.0, 604_800.0,
];
/// Times on an axis, about.
const MOST: f64 = 9.0;

/// Round times between two.
pub(super) struct Ticks {
    step: f64,
    next: f64,
    to: f64,
}

impl Ticks {
    pub(super) fn new(from: f64, to: f64) -> Self {
        let least = (to - from).max(1e-9) / MOST;
        let step = match least {
            ..=30.0 => decimal(least),
            _ => STEPS
                .into_iter()
                .find(|step| *step >= least)
                .unwrap_or_else(|| decimal(least)),
        };
        Self {
            step,
            next: (from / step).ceil().max(0.0) * step,
            to,
        }
    }

    pub(super) fn step(&self) -> f64 {
        self.step
    }
}

impl Iterator for Ticks {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let tick = self.next;
        self.next += self.step;
        (tick <= self.to + self.step * 1e-6).then_some(tick)
    }
}

/// 1, 2 or 5 of a power of ten, and no less.
fn decimal(least: f64) -> f64 {
    let ten = 10f64.powf(least.log10().floor());
    let digits = [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * ten);
    let mut fitting = digits.filter(|step| *step >= least * 0.999);
    fitting.next().unwrap_or(10.0 * ten)
}

/// `+2.5 s`, `+3:05`, `+2:00:00`
pub(super) fn since(seconds: f64, step: f64) -> String {
    if seconds.abs() < step * 1e-6 {
        return "0".to_owned();
    }
    if seconds < 60.0 {
        let (value, unit) = match step {
            ..1e-3 => (seconds * 1e6, "us"),
            1e-3..1.0 if seconds < 1.0 => (seconds * 1e3, "ms"),
            _ => (seconds, "s"),
        };
        let told = format!("{value:.3}");
        let told = told.trim_end_matches('0').trim_end_matches('.');
        return format!("+{told} {unit}");
    }
    let whole = seconds.round() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    match hours {
        0 => format!("+{minutes}:{seconds:02}"),
        _ => format!("+{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// `14:03:07`, of a time since 1970; with parts of a second where steps are so short.
pub(super) fn time_of_day(unix_seconds: f64, step: f64) -> String {
    // A little more, that 6.9999 is told as 7.
    let seconds = unix_seconds.max(0.0) + 1e-7;
    let whole = seconds as u64;
    let (hours, minutes) = (whole / 3600 % 24, whole / 60 % 60);
    let told = format!("{hours:02}:{minutes:02}:{:02}", whole % 60);
    match step {
        ..1.0 => format!("{told}.{:03}", ((seconds - whole as f64) * 1e3) as u64),
        _ => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_round() {
        let ticks = |from, to| Ticks::new(from, to).collect::<Vec<f64>>();
        assert_eq!(ticks(0.0, 10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(
            ticks(61.0, 600.0),
            [
                120.0, 180.0, 240.0, 300.0, 360.0, 420.0, 480.0, 540.0, 600.0
            ]
        );
        assert!(ticks(0.0, 1e-3).len() > 4);
        assert!(ticks(0.0, 1e8).len() < 12);
    }

    #[test]
    fn times_are_told() {
        assert_eq!(since(0.0, 1.0), "0");
        assert_eq!(since(2.5, 0.5), "+2.5 s");
        assert_eq!(since(0.25, 0.05), "+250 ms");
        assert_eq!(since(185.0, 5.0), "+3:05");
        assert_eq!(since(7200.0, 600.0), "+2:00:00");
        assert_eq!(time_of_day(50_587.0, 1.0), "14:03:07");
        assert_eq!(time_of_day(86_400.25, 0.25), "00:00:00.250");
    }
}
