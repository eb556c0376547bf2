//! Parts of the program's addresses that calls mapped: what comes, and what goes of it.

use std::collections::{BTreeMap, HashMap};

use memlog_format::api::Api;
use memlog_format::ext::{Ledger, Mapping};

/// What mmap was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its protection. What mprotect made of it is not seen.
    pub prot: u32,
    /// Its flags.
    pub flags: u32,
}

/// A part of what a call mapped; most often all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area<T> {
    /// Behind its last byte.
    pub end: u64,
    /// mmap, mremap or brk.
    pub api: Api,
    /// Of mremap that of what it moved; nothing where the log does not have it.
    pub access: Option<Access>,
    /// Whether an allocator mapped it below a recorded call.
    pub backing: bool,
    /// What is kept with it.
    pub of: T,
}

impl<T> Area<T> {
    /// Whether it was mapped without any access.
    pub fn is_reserved(&self) -> bool {
        self.access.is_some_and(|access| access.prot == 0)
    }
}

/// What a call did to an area, which begins at `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<T> {
    /// It came.
    Came {
        /// Its first byte.
        start: u64,
        /// The area.
        area: Area<T>,
    },
    /// A part of it went; what lies before and behind that stays.
    Went {
        /// Its first byte.
        start: u64,
        /// The area.
        area: Area<T>,
        /// The first byte that went.
        from: u64,
        /// Behind the last byte that went.
        to: u64,
    },
}

/// The mapped areas by their first byte.
#[derive(Debug)]
pub struct Areas<T> {
    areas: BTreeMap<u64, Area<T>>,
    /// By stream what an mremap takes with it that is not through.
    left: HashMap<u32, Option<Access>>,
}

impl<T> Default for Areas<T> {
    fn default() -> Self {
        Self {
            areas: BTreeMap::new(),
            left: HashMap::new(),
        }
    }
}

impl<T: Copy> Areas<T> {
    /// A call by the thread that has this stream. `of` is kept with what it maps.
    pub fn take(&mut self, stream: u32, entry: &Ledger, of: T, told: &mut impl FnMut(Change<T>)) {
        let new = |api, access| Area {
            end: 0,
            api,
            access,
            backing: entry.backing,
            of,
        };
        match entry.mapping {
            Mapping::Map {
                address,
                length,
                prot,
                flags,
            } => {
                let access = Some(Access { prot, flags });
                self.map(address, length, new(Api::Mmap, access), told);
            }
            Mapping::Unmap { address, length } => self.unmap(address, length, told),
            Mapping::Leave { address, length } => {
                match length {
                    0 => self.left.remove(&stream),
                    _ => self.left.insert(stream, self.access_at(address)),
                };
                self.unmap(address, length, told);
            }
            Mapping::Remap {
                old_address,
                old_length,
                address,
                length,
            } => {
                let left = self.left.remove(&stream).filter(|_| old_length == 0);
                let access = left.unwrap_or_else(|| self.access_at(old_address));
                self.unmap(old_address, old_length, told);
                self.map(address, length, new(Api::Mremap, access), told);
            }
            Mapping::Break { old_end, end } if end > old_end => {
                const READ_WRITE: u32 = 3;
                let access = Some(Access {
                    prot: READ_WRITE,
                    flags: 0,
                });
                self.map(old_end, end - old_end, new(Api::Brk, access), told);
            }
            Mapping::Break { old_end, end } => self.unmap(end, old_end - end, told),
        }
    }

    /// All of them go.
    pub fn clear(&mut self, told: &mut impl FnMut(Change<T>)) {
        self.unmap(0, u64::MAX, told);
    }

    /// All of them, with their first bytes.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Area<T>)> {
        self.areas.iter().map(|(&start, area)| (start, area))
    }

    fn access_at(&self, address: u64) -> Option<Access> {
        let (_, area) = self.areas.range(..=address).next_back()?;
        area.access.filter(|_| area.end > address)
    }

    fn map(&mut self, start: u64, length: u64, new: Area<T>, told: &mut impl FnMut(Change<T>)) {
        self.unmap(start, length, told);
        let end = start.saturating_add(length);
        if end > start {
            let area = Area { end, ..new };
            self.areas.insert(start, area);
            told(Change::Came { start, area });
        }
    }

    fn unmap(&mut self, from: u64, length: u64, told: &mut impl FnMut(Change<T>)) {
        if length == 0 {
            return;
        }
        let to = from.saturating_add(length);
        while let Some((&start, &area)) = self.areas.range(..to).next_back() {
            if area.end <= from {
                return;
            }
            self.areas.remove(&start);
            for (low, high) in [(start, from), (to, area.end)] {
                if low < high {
                    self.areas.insert(low, Area { end: high, ..area });
                }
            }
            told(Change::Went {
                start,
                area,
                from: from.max(start),
                to: to.min(area.end),
            });
            if start < from {
                return;
            }
        }
    }
}
