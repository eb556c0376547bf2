//! For scripts. `doc/STATS.md` says what the keys mean.

use serde_json::{Value, json as value};

use crate::compare::Outcome;
use crate::report::{Against, Frame, Place, Report, State, Verdict};

/// The report as JSON.
pub fn json(report: &Report) -> String {
    let subjects = report.subjects.iter().map(|subject| {
        let verdicts = subject.verdicts.iter();
        value!({
            "program": subject.name,
            "logs": subject.logs,
            "held": subject.is_held(),
            "failures": subject.failures,
            "checks": verdicts.map(|one| verdict(one, &report.root)).collect::<Vec<_>>(),
            "notes": subject.notes,
        })
    });
    let whole = value!({
        "schema": "memlog-check-1",
        "held": report.is_held(),
        "summary": report.summary(),
        "programs": subjects.collect::<Vec<_>>(),
        "notes": report.notes,
    });
    format!("{whole:#}\n")
}

fn verdict(one: &Verdict, root: &str) -> Value {
    let (limit, baseline) = match &one.against {
        Against::Limit(limit) => (Some(*limit), Value::Null),
        Against::Unknown => (None, Value::Null),
        Against::Baseline(compared) => {
            let p = match compared.outcome {
                Outcome::GrewBeyondNoise(p) | Outcome::Noise(p) => Some(p),
                _ => None,
            };
            let baseline = value!({
                "runs": compared.base,
                "median": compared.base_median,
                "new_median": compared.new_median,
                "percent": compared.percent(),
                "tolerance_percent": compared.tolerance,
                "p": p,
            });
            (None, baseline)
        }
    };
    let why = match &one.state {
        State::Unproven(why) | State::Undecided(why) => Some(why),
        _ => None,
    };
    value!({
        "budget": one.budget,
        "where": one.filter,
        "measure": one.measure.word(),
        "state": one.word().to_lowercase(),
        "held": one.is_fine(),
        "measured": one.measured(),
        "runs": one.runs,
        "limit": limit,
        "baseline": baseline,
        "why": why,
        "sentence": one.sentence(),
        "places": one.places.iter().map(|one| place(one, root)).collect::<Vec<_>>(),
    })
}

fn place(one: &Place, root: &str) -> Value {
    let source = one.source(root);
    value!({
        "function": one.frame.function,
        "location": one.frame.location,
        "module": one.frame.module,
        "bytes": one.bytes,
        "blocks": one.blocks,
        "share_percent": one.share,
        "source": source.map(|source| value!({ "file": source.file, "line": source.line })),
        "callers": one.callers.iter().map(frame).collect::<Vec<_>>(),
    })
}

fn frame(one: &Frame) -> Value {
    value!({
        "function": one.function,
        "location": one.location,
        "module": one.module,
    })
}
