//! The tables as statements that make them: `sqlite3 FILE.db <FILE.sql`. Other logs may go
//! into the same file, before it and after it; of a process that is in it already, what is
//! there is taken out first.

use std::fmt::Write;

use super::SCHEMA;
use super::tables::{Column, Table, Values};

/// So many rows are put in at a time.
const ROWS: usize = 100;

/// What a table is looked up by; rows that are the same in two processes are there once.
fn keys(table: &str) -> &'static str {
    match table {
        "processes" => ", PRIMARY KEY (process)",
        "stacks" => ", PRIMARY KEY (stack_id, place)",
        _ => "",
    }
}

const INDEXES: &str = "\
CREATE INDEX IF NOT EXISTS sites_of_process ON sites (process);
CREATE INDEX IF NOT EXISTS sites_of_stack ON sites (stack_id);
CREATE INDEX IF NOT EXISTS timeline_of_process ON timeline (process, seconds);
";

/// All of it is done, or nothing: it is one transaction.
pub(super) fn text(process: &str, tables: &[Table]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!(
        "-- made by memlog {version}; read it by: sqlite3 FILE.db <THIS\n\
         BEGIN;\nPRAGMA user_version = {SCHEMA};\n"
    );
    for table in tables {
        let columns = table.columns.iter().map(declared).collect::<Vec<_>>();
        let (name, keys) = (table.name, keys(table.name));
        put(
            &mut text,
            format_args!(
                "CREATE TABLE IF NOT EXISTS {name} ({}{keys});\n",
                columns.join(", ")
            ),
        );
    }
    text.push_str(INDEXES);
    for table in tables.iter().filter(|table| table.name != "stacks") {
        put(
            &mut text,
            format_args!(
                "DELETE FROM {} WHERE process = {};\n",
                table.name,
                quoted(process)
            ),
        );
    }
    tables.iter().for_each(|table| rows(&mut text, table));
    text.push_str("COMMIT;\n");
    text
}

fn declared(column: &Column) -> String {
    let kind = match column.values {
        Values::Numbers(_) | Values::Flags(_) => "INTEGER",
        Values::Seconds(_) => "REAL",
        Values::Texts(_) => "TEXT",
    };
    format!("{} {kind}", column.name)
}

fn rows(text: &mut String, table: &Table) {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    for row in 0..table.rows() {
        match row % ROWS {
            0 => put(
                text,
                format_args!(
                    "INSERT OR IGNORE INTO {} ({}) VALUES\n(",
                    table.name,
                    names.join(", ")
                ),
            ),
            _ => text.push_str(",\n("),
        }
        for (at, column) in table.columns.iter().enumerate() {
            if at > 0 {
                text.push(',');
            }
            text.push_str(&value(&column.values, row).unwrap_or_else(|| "NULL".to_owned()));
        }
        text.push(')');
        if row % ROWS == ROWS - 1 || row + 1 == table.rows() {
            text.push_str(";\n");
        }
    }
}

fn value(values: &Values, row: usize) -> Option<String> {
    match values {
        Values::Numbers(numbers) => numbers.get(row)?.map(|number| number.to_string()),
        Values::Flags(flags) => flags.get(row)?.map(|flag| u8::from(flag).to_string()),
        Values::Seconds(seconds) => {
            let seconds = seconds.get(row)?.filter(|seconds| seconds.is_finite())?;
            Some(format!("{seconds:?}"))
        }
        Values::Texts(texts) => texts.get(row)?.as_deref().map(quoted),
    }
}

/// Texts are clean: none has a line's end or a zero.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn put(text: &mut String, what: std::fmt::Arguments) {
    // A String takes everything.
    let _ = text.write_fmt(what);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &'static str, values: Values) -> Column {
        Column { name, values }
    }

    /// Names of an enemy, and numbers at their ends.
    #[test]
    fn values_stay_values() {
        let texts = ["a'); DROP TABLE sites; --", ""];
        let table = Table {
            name: "stacks",
            columns: vec![
                column("stack_id", Values::Numbers(vec![Some(i64::MIN), None])),
                column(
                    "function",
                    Values::Texts(texts.map(|text| Some(text.to_owned())).to_vec()),
                ),
                column("seconds", Values::Seconds(vec![Some(f64::NAN), Some(1e-7)])),
                column("ended", Values::Flags(vec![Some(true), None])),
            ],
        };
        let text = text("it's", &[table]);
        let rows = "(stack_id, function, seconds, ended) VALUES\n\
                    (-9223372036854775808,'a''); DROP TABLE sites; --',NULL,1),\n\
                    (NULL,'',1e-7,NULL);\nCOMMIT;\n";
        assert!(text.ends_with(rows), "{text}");
    }

    #[test]
    fn many_rows_come_in_parts() {
        let count = 2 * ROWS as i64 + 1;
        let numbers = (0..count).map(Some).collect();
        let table = Table {
            name: "timeline",
            columns: vec![column("heap_bytes", Values::Numbers(numbers))],
        };
        let text = text("it's", &[table]);
        assert_eq!(text.matches("INSERT").count(), 3);
        assert_eq!(
            text.lines().filter(|line| line.starts_with('(')).count(),
            count as usize
        );
        assert!(text.contains("DELETE FROM timeline WHERE process = 'it''s';\n"));
    }
}
