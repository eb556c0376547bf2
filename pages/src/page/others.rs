//! Calls that failed, what to run next, and what a log says of itself.

use std::path::PathBuf;

/// Calls of one place that got no memory.
pub struct FailedCalls {
    /// The function that was called.
    pub function: &'static str,
    pub calls: u64,
    pub largest_bytes: u64,
    pub errno: u32,
    pub first_seconds: f64,
    /// Of the first.
    pub tid: u32,
    pub thread_name: Option<String>,
    /// Of the largest, from the innermost place out.
    pub stack: Vec<String>,
}

/// Commands that tell more, the most useful first.
pub struct Next {
    /// Each with what it is for.
    pub list: Vec<(&'static str, &'static str)>,
    /// Options that say where the names are, each with a blank behind it.
    pub options: String,
    pub file: PathBuf,
}

/// What a log says of itself.
pub struct Records {
    /// Nothing at the beginning of a page.
    pub title: Option<String>,
    /// How wide the names are.
    pub width: usize,
    pub list: Vec<Record>,
}

impl Records {
    /// At the beginning of a page, with names so wide.
    pub fn named(width: usize) -> Self {
        Self {
            title: None,
            width,
            list: Vec::new(),
        }
    }

    /// Below a title; without names where those have no width.
    pub fn below(title: String, width: usize) -> Self {
        Self {
            title: Some(title),
            ..Self::named(width)
        }
    }

    /// Adds one.
    pub fn add(&mut self, name: &'static str, value: impl Into<String>) {
        self.list.push(Record {
            name,
            value: value.into(),
        });
    }
}

/// One of them.
pub struct Record {
    /// Nothing where it has none, or goes on with the one above.
    pub name: &'static str,
    pub value: String,
}

/// Rows of the same columns, below their titles.
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<String>>,
    /// What was summed up instead of having a row.
    pub rest: Vec<String>,
}

/// A column.
pub struct Column {
    pub title: &'static str,
    /// Words stand on the left, numbers on the right.
    pub is_of_words: bool,
}
