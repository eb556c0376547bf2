//! Names of code that many logs have: looked up once, wherever each process had it.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use memlog_analysis::{ModuleKey, Name, Site};
use memlog_symbols::{Machine, ModuleSpec};

use super::{in_file, spec_of};

/// By machine and file, and by place in that.
type Known = HashMap<(Option<Machine>, ModuleSpec), HashMap<(u64, bool), Vec<Name>>>;

/// Names that were found for some log.
#[derive(Default)]
pub struct KnownNames(RwLock<Known>);

impl KnownNames {
    /// Those of a site; `look_up` finds what nobody asked for yet.
    pub(super) fn of(
        &self,
        machine: Option<Machine>,
        (site, module): (&Site, &ModuleKey),
        look_up: impl FnOnce() -> Vec<Name>,
    ) -> Vec<Name> {
        let file = (machine, spec_of(module));
        let place = (in_file(site, module), site.exact);
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = known.get(&file).and_then(|places| places.get(&place));
        if let Some(names) = found {
            return names.clone();
        }
        drop(known);
        let names = look_up();
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let places = known.entry(file).or_default();
        places.insert(place, names.clone());
        names
    }
}
