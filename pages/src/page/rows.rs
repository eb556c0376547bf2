//! Rows of an answer, as people see them.

use memlog_answers::By;

use crate::names::Name;

/// Rows below the titles of their columns. What they are about stands last, and takes
/// the room that is left.
#[derive(Default)]
pub struct Rows {
    /// A sentence above.
    pub title: String,
    /// What stands last.
    pub last: Last,
    /// A title for each column.
    pub columns: Vec<String>,
    /// Columns that are left out, the first first, until the others have room.
    pub gives_way: Vec<&'static str>,
    /// A cell for each column.
    pub rows: Vec<Vec<String>>,
    /// What was left out, and what it comes to.
    pub rest: Vec<Rest>,
}

/// The title of a column of signed amounts: more, or less, than before.
pub const GREW: &str = "grew";

/// What stands last in a row, and how it gets shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Last {
    /// Its end gives way.
    #[default]
    Text,
    /// A function's name: what is amid it.
    Name,
    /// A path: its folders.
    Path,
    /// Functions that called each other: their names, then the outermost.
    Stack,
    /// A bar, perhaps with a remark behind it: all bars get shorter.
    Bar,
}

/// A line below the rows.
pub enum Rest {
    /// Broken between its words.
    Sentence(String),
    /// A place of a stack.
    Frame(Name),
}

impl From<String> for Rest {
    fn from(sentence: String) -> Self {
        Self::Sentence(sentence)
    }
}

impl Last {
    /// What blocks have in common.
    pub fn of(by: By) -> Self {
        match by.of_release().unwrap_or(by) {
            By::Function | By::Type => Self::Name,
            By::File | By::Line => Self::Path,
            By::Stack => Self::Stack,
            _ => Self::Text,
        }
    }
}

/// Titles of columns.
pub fn titles(titles: &[&str]) -> Vec<String> {
    titles.iter().map(|title| (*title).to_owned()).collect()
}
