//! What a tree counts, and how much of each stack it shows.

use crate::page::tree::By;
use crate::words::Advice;

/// What a command that shows a tree is asked about it.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Form {
    /// Who holds memory; or of the whole run: who allocated most bytes, who made most
    /// allocations, who made most temporary ones (freed before the thread's next
    /// allocation), or who freed most bytes
    #[arg(long, value_name = "WHAT", default_value = "live", value_enum)]
    pub(super) by: By,
    /// What the program mapped itself (mmap), which is in no heap, by who made it map more
    #[arg(long, conflicts_with = "by")]
    pub mapped: bool,
    /// Give each place a line with its figures, also where it only passes on what one other asked for
    #[arg(long)]
    pub no_fold: bool,
    /// Show what called main, or the first function of a thread
    #[arg(long)]
    pub show_below_main: bool,
}

impl Default for Form {
    /// Who holds memory, at a moment.
    fn default() -> Self {
        Self {
            by: By::Live,
            mapped: false,
            no_fold: false,
            show_below_main: false,
        }
    }
}

impl Form {
    /// What is counted.
    pub fn by(self) -> By {
        match self.mapped {
            true => By::Mapped,
            false => self.by,
        }
    }

    /// All there is: for programs, which leave out themselves what they do not want.
    pub fn whole(self) -> Self {
        Self {
            no_fold: true,
            show_below_main: true,
            ..self
        }
    }

    /// Refuses an option that asks for a moment where the whole run is counted, and a
    /// filter of blocks where none are.
    pub fn check(self, moment: Option<&str>, has_filter: bool) -> anyhow::Result<()> {
        if self.mapped && has_filter {
            return Err(Advice::error(
                "--mapped shows no blocks, and --where asks for some",
                "leave out one of them; -i and --include-module choose by function and library",
            ));
        }
        check(self.by(), moment)
    }
}

/// See [`Form::check`].
pub fn check(by: By, moment: Option<&str>) -> anyhow::Result<()> {
    let Some(moment) = moment.filter(|_| !by.is_of_moment()) else {
        return Ok(());
    };
    let by = by.name();
    Err(Advice::error(
        format!("--by {by} counts the whole run, and {moment} asks for a moment"),
        format!(
            "leave out {moment} to count the run; or leave out --by {by} to see what was live then"
        ),
    ))
}
