//! Calls of mallopt: what the program told its allocator, and who did.

use std::path::Path;

use memlog_analysis::StackTable;
use memlog_format::tuned::{MAX_TUNED, Tuned};
use memlog_read::Log;
use serde_json::{Value, json};

use super::named;
use crate::figures::place;
use crate::names::{Labels, Name};
use crate::open::LogTables;
use crate::page::others::Records;
use crate::words::{counted, grouped, second_digits};

/// More are not shown as text.
const MOST_SHOWN: usize = 16;

/// A call.
pub struct Mallopt {
    tuned: Tuned,
    seconds: f64,
    digits: usize,
    stack: Vec<Name>,
}

impl Mallopt {
    /// Those of a log.
    pub fn all(log: &Log, file: &Path) -> anyhow::Result<Vec<Self>> {
        if log.tunings().is_empty() {
            return Ok(Vec::new());
        }
        let (mut table, tables) = (StackTable::default(), LogTables::new(log));
        let stack_of = |tuned: &Tuned| table.stack(tuned.stack, &tables);
        let stacks: Vec<u32> = log.tunings().iter().map(stack_of).collect();
        let digits = second_digits(log.tick_ns(), 3);
        named(log, file, &table, |labels| {
            let calls = log.tunings().iter().zip(stacks);
            let calls = calls.map(|(tuned, stack)| Self {
                tuned: *tuned,
                seconds: log.seconds(tuned.tick),
                digits,
                stack: frames(labels, stack),
            });
            calls.collect()
        })
    }

    /// For programs.
    pub fn figures(&self) -> Value {
        let tuned = &self.tuned;
        json!({
            "seconds": self.seconds,
            "thread": tuned.tid,
            "parameter": tuned.parameter,
            "name": name_of(tuned.parameter),
            "value": tuned.value,
            "is_taken": tuned.is_taken,
            "stack": self.stack.iter().map(place).collect::<Vec<_>>(),
        })
    }

    fn words(&self) -> String {
        let Tuned {
            tid,
            parameter,
            value,
            is_taken,
            ..
        } = self.tuned;
        let name = name_of(parameter).map_or_else(|| parameter.to_string(), str::to_owned);
        let refused = if is_taken { "" } else { " (refused)" };
        let sign = if value < 0 { "-" } else { "" };
        let value = grouped(value.unsigned_abs().into());
        let (seconds, digits) = (self.seconds, self.digits);
        let caller = self.stack.first();
        let caller = caller.map_or(String::new(), |name| {
            let place = name.place().map_or(String::new(), |it| format!(" ({it})"));
            format!(", by {}{place}", name.function)
        });
        format!("{name} = {sign}{value}{refused} at {seconds:.digits$} s by thread {tid}{caller}")
    }
}

/// All of them as text.
pub fn add(records: &mut Records, calls: &[Mallopt]) {
    for call in calls.iter().take(MOST_SHOWN) {
        records.add("mallopt", call.words());
    }
    let rest = calls.len().saturating_sub(MOST_SHOWN) as u64;
    if rest > 0 {
        let more = counted(rest, "more call");
        records.add("mallopt", format!("{more}; --json has them"));
    }
    if calls.len() as u64 >= u64::from(MAX_TUNED) {
        let most = grouped(MAX_TUNED.into());
        records.add(
            "mallopt",
            format!("only the first {most} calls are recorded"),
        );
    }
}

fn frames(labels: &mut Labels, stack: u32) -> Vec<Name> {
    let mut cursor = Labels::innermost(stack);
    let mut found = Vec::new();
    while let Some((label, outer)) = labels.step(cursor) {
        found.push(label);
        cursor = outer;
    }
    let names = labels.names();
    let names = found.iter().filter_map(|label| names.get(*label as usize));
    names.cloned().collect()
}

/// What glibc's malloc.h calls a parameter.
pub fn name_of(parameter: i32) -> Option<&'static str> {
    let name = match parameter {
        1 => "M_MXFAST",
        2 => "M_NLBLKS",
        3 => "M_GRAIN",
        4 => "M_KEEP",
        -1 => "M_TRIM_THRESHOLD",
        -2 => "M_TOP_PAD",
        -3 => "M_MMAP_THRESHOLD",
        -4 => "M_MMAP_MAX",
        -5 => "M_CHECK_ACTION",
        -6 => "M_PERTURB",
        -7 => "M_ARENA_TEST",
        -8 => "M_ARENA_MAX",
        _ => return None,
    };
    Some(name)
}
