//! Whether memory stayed within its limits, or within what a baseline had, and how that
//! is told: to people, to continuous integration, to code scanners.
//!
//! It is handed what was measured and knows no log, no file and no program.
//!
//! Storeys, from the top; none knows one above it:
//!
//! * `forms`: a report as text, JSON, JUnit, SARIF, Markdown and annotations
//! * [`Report`]: what was checked, and the verdicts
//! * [`judge`]: runs against limits and against a baseline
//! * [`Baseline`]: what earlier runs had, as a file; [`budgets_of`]: limits, as a file
//! * `compare`: whether runs hold more than others did; `rank`: the test in it
//! * [`Budget`], [`Measure`]: what is limited, and what can be
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod baseline;
mod budget;
mod budget_file;
mod compare;
pub mod forms;
mod judge;
mod measure;
mod rank;
mod report;

pub use baseline::{Baseline, Had, MOST_RUNS};
pub use budget::{Budget, amount_of};
pub use budget_file::{Wrong, budgets_of};
pub use compare::{ALPHA, Compared, Outcome, compare};
pub use judge::{Gaps, Measured, Rule, judge};
pub use measure::{Amounts, Measure};
pub use report::{Against, Frame, Place, Report, Source, State, Subject, Verdict};
