//! Rows of an answer, as people see them.

/// Rows below the titles of their columns. What they are about stands last, and takes
/// the room that is left.
#[derive(Default)]
pub struct Rows {
    /// A sentence above.
    pub title: String,
    /// Whether what stands last is a function's name, which can be shortened amid it;
    /// else its end gives way.
    pub is_of_names: bool,
    /// A title for each column.
    pub columns: Vec<&'static str>,
    /// A cell for each column.
    pub rows: Vec<Vec<String>>,
    /// What was left out, and what it comes to.
    pub rest: Vec<String>,
}
