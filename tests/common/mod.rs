//! What the tests that compare memlog with the second recorder share.
//!
//! * `verdict`: what a run must be
//! * `tools`: the recorders and the victims, built once; folders; skipping
//! * `gold`: the second recorder's files
//! * `logs`: memlog's logs, in the same shape
//! * `callers`: the callers of a program's large blocks, by name
//! * `cgroup`: a control group with a limit on memory
//! * `compare`: the two event by event
//! * `culled`: what a log that left short lives out must have
//! * `inherit`: what a forked child got from its parent
//! * `pairs`: runs a program under both and finds what belongs together
//! * `stacks`: call stacks, memlog's and libunwind's
//! * `switcher`: switches recording while programs run
//! * `windows`: what a log that was switched must have
#![allow(dead_code)] // each test uses a part of it

pub mod callers;
pub mod cgroup;
pub mod compare;
pub mod culled;
pub mod gold;
pub mod inherit;
pub mod logs;
pub mod pairs;
pub mod stacks;
pub mod switcher;
pub mod tools;
pub mod verdict;
pub mod windows;

use memlog_format::api::Api;

/// Memory came or went, as either recorder saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The block, or the first byte of a mapping.
    pub address: u64,
    /// Bytes asked for; of a mapping, its length. Releases of blocks have 0.
    pub size: u64,
    /// Bytes that the allocator gave; 0 for releases and mappings.
    pub usable: u64,
    /// The caller's thread.
    pub tid: u32,
    /// The entry point, numbered as in the log.
    pub api: u8,
    /// Whether it went.
    pub is_release: bool,
    /// Of a mapping: whether MAP_FIXED was asked for.
    pub is_fixed: bool,
    /// Where it was recorded: a stack in memlog's log, a slot in gold's file.
    pub mark: u64,
}

impl Event {
    /// Whether both recorders mean the same event. glibc had no free_sized and
    /// free_aligned_sized when this was written, nor has the second recorder:
    /// memlog passes them on as free.
    pub fn is_same(&self, other: &Event) -> bool {
        self.plain() == other.plain()
    }

    /// As both recorders tell it.
    pub fn plain(&self) -> Event {
        Event {
            mark: 0,
            api: match self.api {
                api if api == Api::FreeSized as u8 => Api::Free as u8,
                api if api == Api::FreeAlignedSized as u8 => Api::Free as u8,
                api => api,
            },
            ..*self
        }
    }

    /// For messages.
    pub fn show(&self) -> String {
        let name = Api::from_byte(self.api).map_or("?", |api| api.name());
        format!(
            "{name}{} {:#x} size {} usable {} thread {}",
            if self.is_release { " -" } else { " +" },
            self.address,
            self.size,
            self.usable,
            self.tid
        )
    }
}
