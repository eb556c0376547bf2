//! What was checked, and how it came out.

use memlog_export::numbers::counted;

use crate::compare::{Compared, Outcome};
use crate::measure::Measure;

/// All that was checked.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Programs or logs.
    pub subjects: Vec<Subject>,
    /// What a reader has to know besides.
    pub notes: Vec<String>,
    /// The folder of the sources: files below it are told from here.
    pub root: String,
    /// The file of the budgets from that folder, if it is below it.
    pub budgets: Option<String>,
}

/// A program, in one run or several, or a log.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// The program.
    pub name: String,
    /// The logs, a run each.
    pub logs: Vec<String>,
    /// That the program failed, in sentences.
    pub failures: Vec<String>,
    /// Of each limit and each measure of the baseline.
    pub verdicts: Vec<Verdict>,
    /// What a reader has to know besides.
    pub notes: Vec<String>,
}

/// Whether a measure is as it should be.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What the budget is called.
    pub budget: String,
    /// Which of all budgets that is.
    pub place: usize,
    /// Which blocks, as a filter; all if there is none.
    pub filter: Option<String>,
    /// What was measured.
    pub measure: Measure,
    /// What it should be.
    pub against: Against,
    /// What it was in each run; nothing if nobody knows.
    pub runs: Vec<Option<u64>>,
    /// The run that tells: the one with most.
    pub worst: usize,
    /// How it came out.
    pub state: State,
    /// Who had it, those that had most first. Only of what is not as it should be.
    pub places: Vec<Place>,
}

/// What a measure should be.
#[derive(Clone, Debug)]
pub enum Against {
    /// At most that.
    Limit(u64),
    /// No more than earlier runs had.
    Baseline(Compared),
    /// No more than earlier runs had, and one of both is not known.
    Unknown,
}

/// How a verdict came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Held,
    /// More than it should be.
    Broken,
    /// Not more as far as is known, and that is not all: why.
    Unproven(String),
    /// It was more than the baseline, and this may be noise: why.
    Undecided(String),
}

/// Somebody who asked for memory.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The function, file and line.
    pub frame: Frame,
    /// Its callers, from inside out, of the stack that had most.
    pub callers: Vec<Frame>,
    /// What it had.
    pub bytes: u64,
    /// In so many blocks, if that is known.
    pub blocks: Option<u64>,
    /// In percent of all of them.
    pub share: f64,
}

/// A place in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The function.
    pub function: String,
    /// File and line.
    pub location: Option<String>,
    /// The program or library.
    pub module: Option<String>,
}

/// A line of a source file below the folder of the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// From that folder.
    pub file: String,
    /// From 1.
    pub line: u64,
}

impl Report {
    /// Whether all is as it should be.
    pub fn is_held(&self) -> bool {
        self.subjects.iter().all(Subject::is_held)
    }

    /// All verdicts with their subjects.
    pub fn verdicts(&self) -> impl Iterator<Item = (&Subject, &Verdict)> {
        let subjects = self.subjects.iter();
        subjects.flat_map(|one| one.verdicts.iter().map(move |verdict| (one, verdict)))
    }

    /// All that is said besides.
    pub fn all_notes(&self) -> impl Iterator<Item = &String> {
        let subjects = self.subjects.iter().flat_map(|one| &one.notes);
        subjects.chain(&self.notes)
    }

    /// In one line.
    pub fn summary(&self) -> String {
        let count = |of: fn(&State) -> bool| {
            let states = self.verdicts().map(|(_, verdict)| &verdict.state);
            states.filter(|state| of(state)).count() as u64
        };
        let all = counted(self.verdicts().count() as u64, "check");
        let failures = self.subjects.iter().map(|one| one.failures.len() as u64);
        let parts = [
            (count(|state| *state == State::Broken), "broken"),
            (
                count(|state| matches!(state, State::Unproven(_))),
                "not proven",
            ),
            (
                count(|state| matches!(state, State::Undecided(_))),
                "not decided",
            ),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let mut parts: Vec<_> = parts
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        match failures.sum::<u64>() {
            0 => {}
            1 => parts.push("the program failed".into()),
            count => parts.push(format!("the program failed in {}", counted(count, "run"))),
        }
        match parts.is_empty() {
            true if self.verdicts().next().is_none() => "no limit was checked".to_owned(),
            true => format!("{all}, all held"),
            false => format!("{all}: {}", parts.join(", ")),
        }
    }
}

impl Subject {
    /// Whether all is as it should be.
    pub fn is_held(&self) -> bool {
        self.failures.is_empty() && self.verdicts.iter().all(Verdict::is_fine)
    }
}

impl Verdict {
    /// Whether it is no reason to fail.
    pub fn is_fine(&self) -> bool {
        matches!(self.state, State::Held | State::Undecided(_))
    }

    /// Its state in one word.
    pub fn word(&self) -> &'static str {
        match self.state {
            State::Held => "held",
            State::Broken => "BROKEN",
            State::Unproven(_) => "UNPROVEN",
            State::Undecided(_) => "undecided",
        }
    }

    /// What it is about: the measure, and the budget if that is not of all.
    pub fn title(&self) -> String {
        match self.budget.as_str() {
            crate::Budget::ALL => self.measure.title().to_owned(),
            name => format!("{name}: {}", self.measure.title()),
        }
    }

    /// What it was in the run that tells.
    pub fn measured(&self) -> Option<u64> {
        self.runs.get(self.worst).copied().flatten()
    }

    /// What was measured, what it should be, and by how much it is more.
    pub fn sentence(&self) -> String {
        let told = |amount| self.measure.told(amount);
        let mut sentence = match &self.against {
            Against::Limit(limit) => {
                let runs = match self.runs.len() {
                    0 | 1 => String::new(),
                    count => format!(" in the worst of {count} runs"),
                };
                let measured = self.measured();
                let over = measured.and_then(|measured| measured.checked_sub(*limit));
                let over = over.filter(|over| *over > 0).map(|over| {
                    let percent = match limit {
                        0 => String::new(),
                        limit => format!(" ({:.1} %)", 100.0 * over as f64 / *limit as f64),
                    };
                    format!(", {}{percent} over", told(over))
                });
                let measured = measured.map_or("not known".to_owned(), told);
                let over = over.unwrap_or_default();
                format!("{measured}{runs}, limit {}{over}", told(*limit))
            }
            Against::Baseline(compared) => self.against_baseline(compared),
            Against::Unknown => {
                let measured = self.measured().map_or("not known".to_owned(), told);
                format!("{measured}, baseline not known")
            }
        };
        if let State::Unproven(why) | State::Undecided(why) = &self.state {
            sentence += &format!("; {why}");
        }
        sentence
    }

    fn against_baseline(&self, compared: &Compared) -> String {
        let told = |amount| self.measure.told(amount);
        let (base, new) = (compared.base_median, compared.new_median);
        let runs = |count: usize| match count {
            0 | 1 => String::new(),
            count => format!(", median of {count}"),
        };
        let change = match (compared.percent(), new.cmp(&base)) {
            (_, std::cmp::Ordering::Equal) => "the same".to_owned(),
            (Some(percent), _) => format!("{percent:+.1} %"),
            (None, _) => format!("+{}", told(new)),
        };
        let p = match compared.outcome {
            Outcome::GrewBeyondNoise(p) | Outcome::Noise(p) => format!(", p = {p:.4}"),
            _ => String::new(),
        };
        format!(
            "{}{}, baseline {}{}: {change} (tolerance {} %{p})",
            told(new),
            runs(self.runs.len()),
            told(base),
            runs(compared.base.len()),
            compared.tolerance
        )
    }

    /// Where a reader is sent: the first place that is in the user's sources.
    pub fn source(&self, root: &str) -> Option<Source> {
        self.places.iter().find_map(|place| place.source(root))
    }
}

impl Place {
    /// Its line, or that of the first caller in the user's sources.
    pub fn source(&self, root: &str) -> Option<Source> {
        let frames = std::iter::once(&self.frame).chain(&self.callers);
        frames.into_iter().find_map(|frame| frame.source(root))
    }
}

impl Frame {
    /// `function [file:line]`, the file from the folder of the sources if it is below that.
    pub fn told(&self, root: &str) -> String {
        let source = self.source(root);
        let source = source.map(|Source { file, line }| format!("{file}:{line}"));
        let place = source.as_ref().or(self.location.as_ref());
        match place.or(self.module.as_ref()) {
            Some(place) => format!("{} [{place}]", self.function),
            None => self.function.clone(),
        }
    }

    fn source(&self, root: &str) -> Option<Source> {
        let (file, line) = self.location.as_deref()?.rsplit_once(':')?;
        let line = line.parse().ok().filter(|line| *line > 0)?;
        let below = match file.strip_prefix('/') {
            None => file,
            Some(_) => {
                let below = file.strip_prefix(root.trim_end_matches('/'))?;
                below.strip_prefix('/')?
            }
        };
        // What leads out of the folder again is not below it.
        let parts = below.split('/').filter(|part| !matches!(*part, "" | "."));
        let parts: Vec<&str> = parts.collect();
        let is_below = !parts.is_empty() && !parts.contains(&"..");
        is_below.then(|| Source {
            file: parts.join("/"),
            line,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_below_their_folder() {
        let of = |location: &str| {
            let frame = Frame {
                location: Some(location.to_owned()),
                ..Frame::default()
            };
            frame
                .source("/home/me/x")
                .map(|found| (found.file, found.line))
        };
        let found = |file: &str, line| Some((file.to_owned(), line));
        assert_eq!(of("/home/me/x/src/a.c:12"), found("src/a.c", 12));
        assert_eq!(of("src/./a.c:3"), found("src/a.c", 3));
        for outside in [
            "/home/me/xy/a.c:12",
            "/usr/include/a.h:1",
            "/home/me/x/../y/a.c:1",
            "../a.c:1",
            "a.c",
            "a.c:0",
            "a.c:-1",
            "/home/me/x:1",
            ":1",
        ] {
            assert_eq!(of(outside), None, "{outside}");
        }
    }
}
