//! How a script ended, and what it made.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::chosen::Selection;

/// What a script made, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// It printed a line.
    Line(String),
    /// It drew a picture.
    Picture {
        /// Under which name.
        path: String,
        /// As SVG.
        svg: String,
    },
}

/// How a script ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why.
    pub end: End,
    /// After how long.
    pub elapsed: Duration,
    /// The list that its last expression was, if it was one.
    pub selection: Option<Selection>,
}

/// Why a script ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It came to its end.
    Done,
    /// It called exit, with this.
    Exit(i64),
    /// It could not go on.
    Failed(Fault),
}

/// What is wrong with a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// A sentence.
    pub message: String,
    /// Where, from 1, as far as that is known.
    pub line: Option<usize>,
    /// In characters, from 1.
    pub column: Option<usize>,
    /// Whether it could not even begin.
    pub is_syntax: bool,
}

impl Fault {
    /// As compilers say it: `FILE:LINE:COLUMN: sentence`, the line, and a caret.
    pub fn told<'f>(&'f self, file: &'f str, code: &'f str) -> impl fmt::Display + 'f {
        Told {
            fault: self,
            file,
            code,
        }
    }
}

struct Told<'f> {
    fault: &'f Fault,
    file: &'f str,
    code: &'f str,
}

/// Of a long line so much is shown.
const MOST_SHOWN: usize = 160;

impl fmt::Display for Told<'_> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let Fault {
            message,
            line,
            column,
            ..
        } = self.fault;
        write!(out, "{}:", self.file)?;
        for place in line.iter().chain(column) {
            write!(out, "{place}:")?;
        }
        write!(out, " {message}")?;
        let text = line.and_then(|line| self.code.lines().nth(line.saturating_sub(1)));
        let (Some(text), Some(column)) = (text, *column) else {
            return Ok(());
        };
        let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
        let from = column.saturating_sub(MOST_SHOWN);
        let shown = text.chars().skip(from).take(MOST_SHOWN).map(plain);
        let shown: String = shown.collect();
        let width = column - from;
        write!(out, "\n  {shown}\n  {:>width$}", "^")
    }
}

/// The same for programs, as bytehound's server says it. `kept` gives the address and the
/// checksum of a picture by its place in the output.
pub fn to_json(
    outcome: &Outcome,
    output: &[Output],
    kept: impl Fn(usize) -> (String, String),
) -> Value {
    let output = output.iter().enumerate().map(|(place, one)| match one {
        Output::Line(line) => json!({ "kind": "println", "value": line }),
        Output::Picture { path, .. } => {
            let (url, checksum) = kept(place);
            json!({
                "kind": "image",
                "path": path,
                "basename": path.rsplit('/').next(),
                "url": url,
                "checksum": checksum,
            })
        }
    });
    let mut keys = json!({
        "elapsed": outcome.elapsed.as_secs_f64(),
        "output": output.collect::<Vec<_>>(),
    });
    match &outcome.end {
        End::Done => keys["status"] = "ok".into(),
        End::Exit(code) => {
            keys["status"] = "ok".into();
            keys["exit"] = (*code).into();
        }
        End::Failed(fault) => {
            keys["status"] = "error".into();
            keys["message"] = fault.message.as_str().into();
            keys["line"] = fault.line.into();
            keys["column"] = fault.column.into();
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_told_with_its_place() {
        let fault = |line, column| Fault {
            message: "it is wrong".into(),
            line,
            column,
            is_syntax: false,
        };
        let told = |fault: Fault, code: &str| fault.told("a.rhai", code).to_string();
        assert_eq!(
            told(fault(Some(2), Some(3)), "one\n\ttwo\n"),
            "a.rhai:2:3: it is wrong\n   two\n    ^"
        );
        assert_eq!(told(fault(None, None), "one"), "a.rhai: it is wrong");
        assert_eq!(
            told(fault(Some(9), Some(1)), "x"),
            "a.rhai:9:1: it is wrong"
        );
        let long = "x".repeat(1000);
        assert!(told(fault(Some(1), Some(900)), &long).len() < 400);
    }
}
