//! Unwind tables that the program registers at run time, for code that no
//! file holds: `__register_frame`.
//! A registered table stays mapped until it is deregistered; that is the
//! contract of the call that registered it.

use super::cfi::{self, Description};
use crate::platform::ground::Ground;
use crate::platform::maps;
use crate::platform::sys::{Os, Sys};

/// Tables kept at most.
const MAX_TABLES: usize = Os::SIZES.tables;

/// The tables registered at the moment.
pub struct Registered {
    starts: [u64; MAX_TABLES],
    count: usize,
}

impl Registered {
    /// Takes a table in.
    pub fn add(&mut self, start: u64) {
        let free = self.starts.iter().take(self.count).position(|&at| at == 0);
        let place = free.unwrap_or(self.count);
        if let Some(slot) = self.starts.get_mut(place) {
            *slot = start;
            self.count = self.count.max(place + 1);
        }
    }

    /// Lets a table go.
    pub fn remove(&mut self, start: u64) {
        for slot in self.starts.iter_mut().take(self.count) {
            if *slot == start {
                *slot = 0;
            }
        }
    }

    /// Whether there is any.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The description of an address in one of them.
    #[inline(never)]
    pub fn describe(
        &self,
        ground: &Ground,
        address: u64,
        buffer: &mut [u8],
    ) -> Option<Description> {
        let tables = self.starts.iter().take(self.count);
        tables
            .filter(|&&start| start != 0)
            .find_map(|&start| describe_in(ground, start, address, buffer))
    }
}

/// Looks through one table, which ends with a zero length or its mapping.
fn describe_in(
    ground: &Ground,
    start: u64,
    address: u64,
    buffer: &mut [u8],
) -> Option<Description> {
    let region = maps::region_of(ground, start, buffer);
    cfi::describe_in_table(start, region.high, address)
}
