//! Which stacks count: those that have a function or module, or have not.

use regex::Regex;

use super::labels::Labels;
use crate::names::Name;

/// What a command is asked about it. Each may be given more than once, and
/// then any of them is enough.
#[derive(clap::Args)]
pub struct Filter {
    /// Only stacks with a function that matches this regular expression
    #[arg(short, long, value_name = "RE")]
    include: Vec<Regex>,
    /// No stack with a function that matches
    #[arg(short = 'x', long, value_name = "RE")]
    exclude: Vec<Regex>,
    /// Only stacks through a program or library whose name matches
    #[arg(long, value_name = "RE")]
    include_module: Vec<Regex>,
    /// No stack through a program or library whose name matches
    #[arg(long, value_name = "RE")]
    exclude_module: Vec<Regex>,
}

/// What a label says to each of the four, known once it was asked.
type Verdict = [bool; 4];

/// A filter at work.
pub struct Sieve<'f> {
    filter: &'f Filter,
    verdicts: Vec<Option<Verdict>>,
    path: Vec<u32>,
}

impl<'f> Sieve<'f> {
    pub fn new(filter: &'f Filter) -> Self {
        Self {
            filter,
            verdicts: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Whether a stack counts.
    pub fn keeps(&mut self, stack: u32, labels: &mut Labels) -> bool {
        if self.filter.is_none() {
            return true;
        }
        self.path.clear();
        labels.path(stack, &mut self.path);
        let mut found = Verdict::default();
        for at in 0..self.path.len() {
            let label = self.path[at];
            for (any, one) in found.iter_mut().zip(self.verdict(label, labels)) {
                *any |= one;
            }
        }
        let [include, exclude, include_module, exclude_module] = found;
        (include || self.filter.include.is_empty())
            && (include_module || self.filter.include_module.is_empty())
            && !exclude
            && !exclude_module
    }

    fn verdict(&mut self, label: u32, labels: &Labels) -> Verdict {
        let at = label as usize;
        if at >= self.verdicts.len() {
            self.verdicts.resize(labels.names().len(), None);
        }
        *self.verdicts[at].get_or_insert_with(|| self.filter.of(&labels.names()[at]))
    }
}

impl Filter {
    /// Whether nothing was asked.
    pub fn is_none(&self) -> bool {
        let all = [
            &self.include,
            &self.exclude,
            &self.include_module,
            &self.exclude_module,
        ];
        all.iter().all(|list| list.is_empty())
    }

    fn of(&self, name: &Name) -> Verdict {
        let any = |list: &[Regex], text: &str| list.iter().any(|one| one.is_match(text));
        let module = name.module.as_deref().unwrap_or_default();
        [
            any(&self.include, &name.function),
            any(&self.exclude, &name.function),
            any(&self.include_module, module),
            any(&self.exclude_module, module),
        ]
    }
}
