//! What the tables have.

use memlog_analysis::Measure;
use serde_json::Value;

use super::{Process, SCHEMA};
use crate::flame::{Flame, module_of};
use crate::forms::{Stacks, file_and_line};
use crate::shown::clean;

/// Columns of one length.
pub(super) struct Table {
    pub name: &'static str,
    pub columns: Vec<Column>,
}

pub(super) struct Column {
    pub name: &'static str,
    pub values: Values,
}

/// Nothing stands where a value is not known.
pub(super) enum Values {
    Numbers(Vec<Option<i64>>),
    Seconds(Vec<Option<f64>>),
    Flags(Vec<Option<bool>>),
    Texts(Vec<Option<String>>),
}

impl Table {
    pub(super) fn rows(&self) -> usize {
        match self.columns.first().map(|column| &column.values) {
            Some(Values::Numbers(values)) => values.len(),
            Some(Values::Seconds(values)) => values.len(),
            Some(Values::Flags(values)) => values.len(),
            Some(Values::Texts(values)) => values.len(),
            None => 0,
        }
    }

    /// Adds the rows of another that has the same columns.
    pub(super) fn append(&mut self, other: Self) {
        for (column, more) in self.columns.iter_mut().zip(other.columns) {
            match (&mut column.values, more.values) {
                (Values::Numbers(all), Values::Numbers(more)) => all.extend(more),
                (Values::Seconds(all), Values::Seconds(more)) => all.extend(more),
                (Values::Flags(all), Values::Flags(more)) => all.extend(more),
                (Values::Texts(all), Values::Texts(more)) => all.extend(more),
                _ => debug_assert!(false, "a column has one kind of values"),
            }
        }
    }
}

/// Figures of a process that stand in its row under their own names.
const NUMBERS: [&str; 20] = [
    "pid",
    "parent_pid",
    "rank_parent_pid",
    "start_unix_ns",
    "rss_peak_bytes",
    "rss_peak_live_bytes",
    "rss_peak_live_blocks",
    "rss_peak_mapped_bytes",
    "rss_peak_unseen_bytes",
    "own_rss_bytes",
    "heap_peak_bytes",
    "heap_peak_blocks",
    "end_live_bytes",
    "end_live_blocks",
    "allocations",
    "total_bytes",
    "temporary_allocations",
    "threads",
    "lost_events",
    "cut_stacks",
];
const SECONDS: [&str; 3] = ["duration_seconds", "rss_peak_seconds", "heap_peak_seconds"];

/// One row: the process.
pub(super) fn processes(process: &Process) -> Table {
    let text = |key| process.text(key);
    let words = process
        .figures
        .get("command_line")
        .and_then(Value::as_array);
    let words = words.into_iter().flatten().filter_map(Value::as_str);
    let command = clean(words.collect::<Vec<_>>().join(" ").as_bytes());
    let mut columns = vec![
        texts("process", vec![Some(key(process))]),
        numbers("schema", vec![Some(SCHEMA)]),
        texts("job_id", vec![text("job")]),
        texts("node", vec![text("host")]),
        numbers("rank", vec![process.rank()]),
        texts("program", vec![text("executable")]),
        texts("command_line", vec![Some(command)]),
        texts("log", vec![Some(clean(process.log.as_bytes()))]),
        Column {
            name: "ended",
            values: Values::Flags(vec![process.figures.get("ended").and_then(Value::as_bool)]),
        },
    ];
    let seconds = |key: &str| process.figures.get(key).and_then(Value::as_f64);
    columns.extend(SECONDS.map(|key| Column {
        name: key,
        values: Values::Seconds(vec![seconds(key)]),
    }));
    columns.extend(NUMBERS.map(|key| numbers(key, vec![known(process, key)])));
    Table {
        name: "processes",
        columns,
    }
}

/// A figure; nothing where it is 0 because nobody read it.
fn known(process: &Process, key: &str) -> Option<i64> {
    let number = process.number(key)?;
    (number > 0 || key != "rss_peak_bytes").then_some(number)
}

/// No other process has it, nor another program that the same process executed.
pub(super) fn key(process: &Process) -> String {
    let host = process.text("host").unwrap_or_default();
    match process.imported() {
        Some(content) => content,
        None => format!("{host}.{}", process.image()),
    }
}

/// What stands in a column of sites: the metric, and bytes or blocks of it.
pub(super) const SITES: [(&str, &str, Measure); 9] = [
    ("rss_peak_bytes", "rss-peak", Measure::Bytes),
    ("rss_peak_blocks", "rss-peak", Measure::Blocks),
    ("heap_peak_bytes", "heap-peak", Measure::Bytes),
    ("heap_peak_blocks", "heap-peak", Measure::Blocks),
    ("end_bytes", "end", Measure::Bytes),
    ("end_blocks", "end", Measure::Blocks),
    ("allocated_bytes", "allocated", Measure::Bytes),
    ("allocations", "allocated", Measure::Blocks),
    ("temporary_allocations", "temporary", Measure::Blocks),
];

/// A row for each stack.
pub(super) fn sites(process: &Process, ends: &[u32], ids: &[i64]) -> Table {
    let mut columns = vec![
        texts("process", vec![Some(key(process)); ends.len()]),
        numbers("rank", vec![process.rank(); ends.len()]),
        numbers(
            "stack_id",
            ends.iter()
                .map(|&end| ids.get(end as usize).copied())
                .collect(),
        ),
    ];
    for (name, metric, measure) in SITES {
        // Another tool's file may have bytes alone.
        let is_known = measure != Measure::Blocks || !process.is_unknown("counts");
        let own = process.flame.own(metric).filter(|_| is_known);
        let values = ends.iter().map(|&end| {
            let held = own.and_then(|own| own.get(end as usize));
            held.map(|held| number(held.by(measure)))
        });
        columns.push(numbers(name, values.collect()));
    }
    Table {
        name: "sites",
        columns,
    }
}

/// The heap and resident memory.
pub(super) fn timeline(process: &Process) -> Table {
    let points = process.timeline;
    let of = |bytes: Option<u64>| bytes.map(number);
    Table {
        name: "timeline",
        columns: vec![
            texts("process", vec![Some(key(process)); points.len()]),
            numbers("rank", vec![process.rank(); points.len()]),
            Column {
                name: "seconds",
                values: Values::Seconds(points.iter().map(|point| Some(point.0)).collect()),
            },
            numbers(
                "heap_bytes",
                points.iter().map(|point| of(point.1)).collect(),
            ),
            numbers(
                "rss_bytes",
                points.iter().map(|point| of(point.2)).collect(),
            ),
        ],
    }
}

/// The functions of each stack; place 0 called the allocator.
pub(super) fn stacks(flame: &Flame, ends: &[u32], ids: &[i64]) -> Table {
    let stacks = Stacks { flame, own: &[] };
    let (mut of, mut places) = (Vec::new(), Vec::new());
    let (mut functions, mut files) = (Vec::new(), Vec::new());
    let (mut lines, mut modules) = (Vec::new(), Vec::new());
    let mut sorted: Vec<(i64, u32)> = ends.iter().map(|&end| (ids[end as usize], end)).collect();
    // Equal stacks in equal order, whichever process met them first.
    sorted.sort_unstable();
    for (id, end) in sorted {
        for (place, (_, node)) in stacks.chain(end).enumerate() {
            let name = stacks.name(node);
            let location = name.and_then(|name| name.location.as_deref());
            let (file, line) = location.map_or(("", None), file_and_line);
            let function = stacks.function(node);
            let module = name.and_then(module_of);
            modules.push(module.map(|module| clean(module.as_bytes())));
            of.push(Some(id));
            places.push(Some(place as i64));
            functions.push(Some(function));
            files.push(Some(clean(file.as_bytes())).filter(|file| !file.is_empty()));
            lines.push(line.map(i64::from));
        }
    }
    Table {
        name: "stacks",
        columns: vec![
            numbers("stack_id", of),
            numbers("place", places),
            texts("function", functions),
            texts("file", files),
            numbers("line", lines),
            texts("module", modules),
        ],
    }
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn numbers(name: &'static str, values: Vec<Option<i64>>) -> Column {
    Column {
        name,
        values: Values::Numbers(values),
    }
}

fn texts(name: &'static str, values: Vec<Option<String>>) -> Column {
    Column {
        name,
        values: Values::Texts(values),
    }
}

#[cfg(test)]
mod tests {
    use memlog_analysis::Name;

    use super::*;
    use crate::flame::{Label, Node};

    #[test]
    fn a_place_without_a_name_has_its_file() {
        let names = [("f", Some("a.so")), ("b.so+0x1f", None), ("0x1f", None)];
        let name = |(function, module): (&str, Option<&str>)| Name {
            function: function.to_owned(),
            location: None,
            module: module.map(str::to_owned),
        };
        let nodes = (0..3u32).map(|label| Node {
            label: Label::Named(label),
            caller: label.checked_sub(1),
        });
        let flame = Flame {
            names: names.map(name).into(),
            nodes: nodes.collect(),
            ..Flame::default()
        };
        let table = stacks(&flame, &[2], &[0, 0, 7]);
        let modules = table.columns.iter().find(|column| column.name == "module");
        let Values::Texts(modules) = &modules.expect("a column").values else {
            panic!("texts");
        };
        let modules: Vec<_> = modules.iter().map(Option::as_deref).collect();
        assert_eq!(modules, [None, Some("b.so"), Some("a.so")]);
    }
}
