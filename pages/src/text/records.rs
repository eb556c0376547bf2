//! Lines of a name and a value, and rows of columns.

use serde_json::{Map, Value};

use crate::page::others::{Records, Table};

/// A line each, below a title if there is one.
pub fn of(records: &Records) -> String {
    let width = records.width;
    let indent = match records.title {
        Some(_) => "  ",
        None => "",
    };
    let title = records.title.iter().map(|title| format!("\n{title}\n"));
    let lines = records.list.iter().map(|record| {
        let line = format!("{indent}{:width$} {}", record.name, record.value);
        match width {
            0 => format!("{indent}{}\n", record.value),
            _ => line + "\n",
        }
    });
    title.chain(lines).collect()
}

/// Its columns as wide as they have to be; those that are empty in all rows are none.
pub fn table(table: &Table) -> String {
    let is_empty = |at: usize| table.rows.iter().all(|row| row[at].is_empty());
    let shown: Vec<usize> = (0..table.columns.len())
        .filter(|&at| !is_empty(at))
        .collect();
    let titles = table.columns.iter().map(|column| column.title.to_owned());
    let titles: Vec<String> = titles.collect();
    let rows = || std::iter::once(&titles).chain(&table.rows);
    let width = |at: usize| rows().map(|row| row[at].chars().count()).max();
    let widths = (0..table.columns.len()).map(|at| width(at).unwrap_or(0));
    let widths: Vec<usize> = widths.collect();
    let lines = rows().map(|row| {
        let cells = shown.iter().map(|&at| {
            let width = widths[at];
            match table.columns[at].is_of_words {
                true => format!("{:width$}", row[at]),
                false => format!("{:>width$}", row[at]),
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        line.trim_end().to_owned() + "\n"
    });
    let rest = table.rest.iter().map(|line| format!("{line}\n"));
    lines.chain(rest).collect()
}

/// One line a figure, names of nested ones joined by dots.
pub fn figures(prefix: &str, figures: &Map<String, Value>) -> String {
    let lines = figures.iter().map(|(name, value)| {
        let name = format!("{prefix}{name}");
        match value {
            Value::Object(inner) => self::figures(&format!("{name}."), inner),
            Value::Array(list) => list.iter().map(|value| figure(&name, value)).collect(),
            value => figure(&name, value),
        }
    });
    lines.collect()
}

fn figure(name: &str, value: &Value) -> String {
    let text = value.as_str().map_or(value.to_string(), str::to_owned);
    format!("{name:<40} {text}\n")
}
