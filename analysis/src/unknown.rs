//! Releases of what is not live: released twice, or there before the log began. To
//! tell them apart takes all addresses that were ever allocated. But few logs have
//! such releases. So the first reading notes their addresses alone, and who has any
//! reads the log again, with an eye on those.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// The releases that met nothing, by their addresses.
#[derive(Debug, Default)]
pub struct UnknownReleases {
    addresses: HashMap<u64, Fate, RandomState>,
    /// How many there are.
    pub(crate) count: u64,
    /// How many of them are of what was allocated before, as far as it was read again.
    pub(crate) twice: u64,
}

/// What the second reading knows of an address so far.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    was_allocated: bool,
    is_live: bool,
}

impl UnknownReleases {
    /// A release met nothing.
    #[cold]
    pub(crate) fn note(&mut self, address: u64) {
        self.addresses.insert(address, Fate::default());
        self.count += 1;
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Read again: memory came.
    #[inline]
    pub fn came(&mut self, address: u64) {
        if let Some(fate) = self.addresses.get_mut(&address) {
            (fate.was_allocated, fate.is_live) = (true, true);
        }
    }

    /// Read again: memory came before what is known of its address.
    pub fn came_before(&mut self, address: u64) {
        if let Some(fate) = self.addresses.get_mut(&address) {
            fate.was_allocated = true;
        }
    }

    /// Read again: recording was off. A call that was begun then and ends now gives a block
    /// that nobody saw come, maybe where another one was and went. So of what goes from here
    /// on nobody can say that it went before.
    pub fn forgot(&mut self) {
        self.addresses.clear();
    }

    /// Read again: memory went.
    #[inline]
    pub fn went(&mut self, address: u64) {
        if let Some(fate) = self.addresses.get_mut(&address) {
            let was_live = std::mem::take(&mut fate.is_live);
            self.twice += u64::from(!was_live && fate.was_allocated);
        }
    }
}
