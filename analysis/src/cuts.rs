//! Where stacks are cut: in which code their outermost frame lies, and what
//! was allocated by such stacks.

use std::collections::HashMap;

use memlog_format::table::StackId;

use crate::counts::Held;
use crate::tally::Tally;

/// The code at which stacks end that lack outer frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CutIn {
    /// In this module, by its index.
    Module(u32),
    /// In code of no file.
    NoFile,
    /// They have no frame at all.
    NoFrame,
}

/// Stacks that are cut in one module for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cuts {
    /// Where.
    pub place: CutIn,
    /// Why: the root of the stacks.
    pub root: StackId,
    /// All that was allocated by such stacks.
    pub allocated: Held,
}

impl Tally {
    /// Where stacks are cut, most allocations first. Stacks of which the log
    /// lacks a record are not among them.
    pub fn cuts(&self) -> Vec<Cuts> {
        let stacks = self.stacks();
        let outermost = stacks.outermost();
        let mut sums: HashMap<(CutIn, StackId), Held> = HashMap::new();
        for (stack, held) in self.allocated() {
            let Some(root) = stacks.root_of(stack).filter(|root| root.is_cut()) else {
                continue;
            };
            let site = outermost.get(stack as usize).copied().flatten();
            let place = match site.and_then(|site| stacks.sites().get(site as usize)) {
                None => CutIn::NoFrame,
                Some(site) => site.module.map_or(CutIn::NoFile, CutIn::Module),
            };
            let sum = sums.entry((place, root)).or_default();
            sum.bytes = sum.bytes.saturating_add(held.bytes);
            sum.blocks = sum.blocks.saturating_add(held.blocks);
        }
        let cuts = sums.into_iter().map(|((place, root), allocated)| Cuts {
            place,
            root,
            allocated,
        });
        let mut cuts: Vec<_> = cuts.collect();
        cuts.sort_unstable_by_key(|cut| {
            let place = match cut.place {
                CutIn::Module(module) => u64::from(module),
                CutIn::NoFile => u64::MAX - 1,
                CutIn::NoFrame => u64::MAX,
            };
            (std::cmp::Reverse(cut.allocated.blocks), place, cut.root)
        });
        cuts
    }
}
