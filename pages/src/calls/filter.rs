//! Which stacks count: those that have a function or module, or have not.

use regex::Regex;

use super::paths::Paths;
use crate::names::Name;

/// What a command is asked about it. Each may be given more than once, and
/// then any of them is enough.
#[derive(Default, clap::Args)]
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

/// What a label, or any label of a line, says to each of the four.
type Verdict = [bool; 4];

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

    /// Of each line whether its stacks count. A line is asked for its own label
    /// only: what its callers said is known.
    pub fn keeps(&self, paths: &Paths, names: &[Name]) -> Vec<bool> {
        if self.is_none() {
            return vec![true; paths.lines().len()];
        }
        let names: Vec<Verdict> = names.iter().map(|name| self.of(name)).collect();
        let mut lines: Vec<Verdict> = Vec::with_capacity(paths.lines().len());
        for line in paths.lines() {
            let callers = lines.get(line.callers as usize);
            let mut found = callers.copied().unwrap_or_default();
            let own = names.get(line.label as usize).copied().unwrap_or_default();
            for (any, one) in found.iter_mut().zip(own) {
                *any |= one;
            }
            lines.push(found);
        }
        lines
            .into_iter()
            .map(|found| self.lets_through(found))
            .collect()
    }

    fn lets_through(&self, found: Verdict) -> bool {
        let [include, exclude, include_module, exclude_module] = found;
        (include || self.include.is_empty())
            && (include_module || self.include_module.is_empty())
            && !exclude
            && !exclude_module
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
