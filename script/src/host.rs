//! Who runs a script: which logs it may ask, and where its words and pictures go.

use std::path::Path;
use std::sync::Arc;

use memlog_pages::blocks::{Desk, Failure};

/// What is done at the desk of a log. It may be done again where the log's table turned
/// out damaged and was made anew.
pub type Job = Arc<dyn Fn(&Desk) -> Result<(), Failure> + Send + Sync>;

/// A log that can be asked, from any thread.
pub trait Asked: Send + Sync {
    /// Does a job at the log's desk, and comes back when it is done. `Err` is a sentence.
    fn ask(&self, job: Job) -> Result<(), String>;
}

/// Who runs a script. Every `Err` is a sentence, which the script fails with.
///
/// Names of files are relative and have no `..` in them, nor any character that is none
/// to print: that is seen to before a host hears of them.
pub trait Host: Send + Sync {
    /// The log that the script is about.
    fn log(&self) -> Result<Arc<dyn Asked>, String>;

    /// Another log, by its name.
    fn load(&self, path: &str) -> Result<Arc<dyn Asked>, String>;

    /// A line that the script prints.
    fn println(&self, line: &str) -> Result<(), String>;

    /// A remark on how far the script is.
    fn note(&self, line: &str) -> Result<(), String>;

    /// Makes a folder and those above it.
    fn make_folder(&self, path: &Path) -> Result<(), String>;

    /// Whether there is such a folder.
    fn has_folder(&self, path: &Path) -> bool;

    /// A picture that the script made.
    fn write(&self, path: &Path, svg: &str) -> Result<(), String>;

    /// Whether the script is to end at once.
    fn is_over(&self) -> bool {
        false
    }
}
