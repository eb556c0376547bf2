//! What a place is called.

/// A name at an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// The function, or module and offset where it has no name.
    pub function: String,
    /// File and line, as the compiler knew them: the same wherever it is asked.
    pub location: Option<String>,
    /// The program or library, without its folder.
    pub module: Option<String>,
}

impl Name {
    /// File and line, or the module.
    pub fn place(&self) -> Option<&str> {
        self.location.as_deref().or(self.module.as_deref())
    }
}
