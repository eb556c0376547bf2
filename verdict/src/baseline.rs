//! What earlier runs had, as a file that is kept with the program's sources:
//!
//! ```json
//! {
//!   "schema": "memlog-baseline-1",
//!   "program": "server",
//!   "budgets": [
//!     {"name": "all", "where": null, "peak": [13751024], "rss": [17412096, 17408000]}
//!   ]
//! }
//! ```
//!
//! A measure has a number for each run.

use memlog_export::clean;
use memlog_query::{Expr, parse};
use serde_json::{Map, Value, json};

use crate::measure::Measure;

const SCHEMA: &str = "memlog-baseline-1";
/// More runs would make the test of ranks slow, and take much memory.
pub const MOST_RUNS: usize = 100;

/// What earlier runs had.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baseline {
    /// The program's name, without its folder.
    pub program: String,
    /// By budget.
    pub budgets: Vec<Had>,
}

/// Of a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Had {
    /// What it is called.
    pub name: String,
    /// Its filter, as it is meant: one that is spelt otherwise is the same.
    pub filter: Option<Expr>,
    /// By measure what each run had.
    pub runs: Vec<(Measure, Vec<u64>)>,
}

impl Had {
    /// What the runs had.
    pub fn of(&self, measure: Measure) -> Option<&[u64]> {
        let mut runs = self.runs.iter();
        let found = runs.find(|(one, _)| *one == measure);
        found.map(|(_, runs)| runs.as_slice())
    }
}

impl Baseline {
    /// That of a budget.
    pub fn of(&self, name: &str) -> Option<&Had> {
        self.budgets.iter().find(|had| had.name == name)
    }

    /// Whether it is of the program of that name. A hash that cargo puts behind the names of
    /// tests is another one with each compiler.
    pub fn is_of(&self, program: &str) -> bool {
        let program = clean(program.as_bytes());
        without_hash(&self.program) == without_hash(&program)
    }

    /// How many runs it has, at most.
    pub fn runs(&self) -> usize {
        let runs = self.budgets.iter().flat_map(|had| &had.runs);
        runs.map(|(_, runs)| runs.len()).max().unwrap_or(0)
    }

    /// As a file.
    pub fn text(&self) -> String {
        let budgets = self.budgets.iter().map(|had| {
            let mut object = Map::new();
            object.insert("name".into(), had.name.as_str().into());
            let filter = had.filter.as_ref().map(ToString::to_string);
            object.insert("where".into(), filter.into());
            let runs = had.runs.iter();
            object.extend(runs.map(|(measure, runs)| (measure.word().into(), json!(runs))));
            Value::from(object)
        });
        let whole = json!({
            "schema": SCHEMA,
            "program": self.program,
            "budgets": budgets.collect::<Vec<_>>(),
        });
        format!("{whole:#}\n")
    }

    /// That of a file; what is wrong with it, in a sentence.
    pub fn read(text: &str) -> Result<Self, String> {
        let whole: Value = serde_json::from_str(text)
            .map_err(|error| format!("it is no JSON: {}", clean(error.to_string().as_bytes())))?;
        if whole["schema"] != SCHEMA {
            return Err(format!("its schema is not {SCHEMA}"));
        }
        let text = |value: &Value| Some(clean(value.as_str()?.as_bytes()));
        let budgets = whole["budgets"].as_array();
        let budgets = budgets.ok_or("it has no list of budgets")?;
        let read = budgets.iter().map(|one| {
            let name = text(&one["name"]).ok_or("a budget lacks its name")?;
            let all = Measure::ALL.into_iter();
            let runs = all.filter(|measure| !one[measure.word()].is_null());
            let runs = runs.map(|measure| {
                let runs = runs_of(&one[measure.word()]);
                let runs = runs.ok_or_else(|| {
                    format!(
                        "{} of the budget {name} is no list of 1 to {MOST_RUNS} whole numbers",
                        measure.word()
                    )
                });
                Ok((measure, runs?))
            });
            let filter = one["where"].as_str().map(parse).transpose();
            Ok(Had {
                filter: filter
                    .map_err(|error| format!("where of the budget {name} is no filter: {error}"))?,
                runs: runs.collect::<Result<_, String>>()?,
                name,
            })
        });
        Ok(Self {
            budgets: read.collect::<Result<_, String>>()?,
            program: text(&whole["program"]).ok_or("it lacks the name of its program")?,
        })
    }
}

fn without_hash(name: &str) -> &str {
    let is_hash =
        |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match name.rsplit_once('-') {
        Some((name, hash)) if is_hash(hash) => name,
        _ => name,
    }
}

fn runs_of(value: &Value) -> Option<Vec<u64>> {
    let runs: Option<Vec<u64>> = value.as_array()?.iter().map(Value::as_u64).collect();
    runs.filter(|runs| (1..=MOST_RUNS).contains(&runs.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back() {
        let had = |name: &str, filter: Option<&str>| Had {
            name: name.to_owned(),
            filter: filter.map(|filter| parse(filter).expect("a filter")),
            runs: vec![(Measure::Peak, vec![1, u64::MAX]), (Measure::Rss, vec![7])],
        };
        let baseline = Baseline {
            program: "server".to_owned(),
            budgets: vec![had("all", None), had("parser", Some("leaked"))],
        };
        assert_eq!(Baseline::read(&baseline.text()), Ok(baseline));
    }

    #[test]
    fn it_is_of_its_program() {
        let is_of = |program: &str, other| {
            let baseline = Baseline {
                program: clean(program.as_bytes()),
                budgets: Vec::new(),
            };
            baseline.is_of(other)
        };
        assert!(is_of("server", "server"));
        assert!(is_of("a\u{1b}b", "a\u{1b}b"));
        assert!(is_of("words-0123456789abcdef", "words-fedcba9876543210"));
        for other in [
            "",
            "servers",
            "server-2",
            "client",
            "server-0123456789abcdeg",
        ] {
            assert!(!is_of("server", other), "{other}");
        }
    }

    #[test]
    fn what_is_no_baseline_is_refused() {
        let with = |budget: &str| {
            format!("{{\"schema\": \"memlog-baseline-1\", \"budgets\": [{budget}]}}")
        };
        for (text, told) in [
            (String::new(), "no JSON"),
            ("[]".into(), "its schema is not"),
            (
                "{\"schema\": \"memlog-baseline-1\"}".into(),
                "no list of budgets",
            ),
            (with("{}"), "lacks its name"),
            (
                with("{\"name\": \"all\", \"peak\": []}"),
                "peak of the budget all",
            ),
            (
                with("{\"name\": \"all\", \"rss\": [1.5]}"),
                "rss of the budget all",
            ),
            (
                with("{\"name\": \"all\", \"rss\": [-1]}"),
                "rss of the budget all",
            ),
            (
                with("{\"name\": \"all\", \"rss\": 5}"),
                "rss of the budget all",
            ),
            (
                with("{\"name\": \"all\", \"where\": \"size >> 1\"}"),
                "where of the budget all is no filter",
            ),
            (with("{\"name\": \"all\"}"), "lacks the name of its program"),
        ] {
            let wrong = Baseline::read(&text).expect_err(&text);
            assert!(wrong.contains(told), "{text}: {wrong}");
        }
    }
}
