//! The rarer records of an events chunk: a type in the tag's flags, a length,
//! a payload of varints. A reader skips types it does not know.

use crate::Malformed;
use crate::failure::Failure;
use crate::limit::Limit;
pub use crate::limit::MAX_TEXT;
use crate::passed::Passed;
use crate::switch::Switch;
use crate::table::StackId;
use crate::varint::{Reader, Writer};

/// No payload is longer.
pub const MAX_PAYLOAD: usize = 160;
/// Room that a whole record takes at most.
pub const MAX_EXT: usize = MAX_PAYLOAD + 4;

/// Where a figure of resident memory came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RssSource {
    /// getrusage: a high-water mark that exec inherits.
    MaxRss,
    /// /proc/self/statm: the figure of the moment.
    Statm,
    /// VmHWM of /proc/self/status: the high-water mark of this image.
    VmHwm,
}

impl RssSource {
    const fn to_number(self) -> u64 {
        match self {
            RssSource::MaxRss => 0,
            RssSource::Statm => 1,
            RssSource::VmHwm => 2,
        }
    }

    const fn from_number(number: u64) -> Option<Self> {
        match number {
            0 => Some(RssSource::MaxRss),
            1 => Some(RssSource::Statm),
            2 => Some(RssSource::VmHwm),
            _ => None,
        }
    }
}

/// A reading of resident memory, at its place among the stream's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rss {
    /// Where the figures came from.
    pub source: RssSource,
    /// High-water mark, 0 where the source has none.
    pub peak_kb: u64,
    /// Resident now, 0 where the source has none.
    pub now_kb: u64,
    /// The recorder's own part of it.
    pub own_kb: u64,
    /// The global order number of the reading.
    pub stamp: u64,
}

/// What a call on the address space did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// mmap: address, length, prot and flags of the call.
    Map {
        /// First byte.
        address: u64,
        /// Bytes.
        length: u64,
        /// The call's protection.
        prot: u32,
        /// The call's flags.
        flags: u32,
    },
    /// munmap.
    Unmap {
        /// First byte.
        address: u64,
        /// Bytes.
        length: u64,
    },
    /// What mremap takes with it to another place, numbered before the call as
    /// an `Unmap` is; the stream's next `Remap` says where to. Of 0 bytes: a
    /// call that took a number and did nothing.
    Leave {
        /// First byte.
        address: u64,
        /// Bytes.
        length: u64,
    },
    /// mremap.
    Remap {
        /// First byte before.
        old_address: u64,
        /// Bytes that go here, at the old place; 0 where a `Leave` has told of
        /// them, or they stay.
        old_length: u64,
        /// First byte after.
        address: u64,
        /// Bytes after.
        length: u64,
    },
    /// brk or sbrk moved the end of the data segment.
    Break {
        /// End before.
        old_end: u64,
        /// End after.
        end: u64,
    },
}

/// An entry of the second ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// What was done.
    pub mapping: Mapping,
    /// Done by the allocator below a recorded call.
    pub backing: bool,
    /// The ledger's own order number, one sequence for the process.
    pub order: u64,
    /// Who did it.
    pub stack: StackId,
}

/// A rarer record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ext<'a> {
    /// From here on the stream belongs to this thread.
    Thread {
        /// The kernel's id.
        tid: u32,
        /// The name at this moment.
        name: &'a [u8],
    },
    /// A reading of resident memory.
    Rss(Rss),
    /// The process forked.
    Fork {
        /// The child; 0 for one that libc forked inside of another call.
        child: u32,
    },
    /// Events are missing here.
    Loss {
        /// How many, at least.
        events: u64,
        /// A counter's number.
        reason: u8,
    },
    /// The second ledger.
    Ledger(Ledger),
    /// The program or its user marked this moment.
    Mark(&'a [u8]),
    /// A limit on memory was looked at.
    Limit(Limit<'a>),
    /// A call asked for memory and got none.
    Failed(Failure),
    /// Blocks that came and went, and whose events were left out.
    Passed(Passed),
    /// Recording was switched off or on.
    Switch(Switch),
    /// Recording went off amid the realloc that was announced: what it gave is not told.
    Unseen,
    /// From here on what the stream's thread allocates has this tag, up to the next of
    /// these, the next THREAD, or the chunk's end. Empty: none.
    Scope(&'a [u8]),
    /// The record right behind is what the program told of an allocator of its own: see
    /// [`Api::told`](crate::api::Api::told). A reader meets it alone only where none is behind.
    Custom,
    /// A record of a newer memlog.
    Unknown {
        /// Its type, from 1 to 31.
        kind: u8,
        /// Its payload.
        payload: &'a [u8],
    },
}

const THREAD: u8 = 1;
const RSS: u8 = 2;
const FORK: u8 = 3;
const LOSS: u8 = 4;
const MAP: u8 = 5;
const UNMAP: u8 = 6;
const REMAP: u8 = 7;
const BREAK: u8 = 8;
const MARK: u8 = 9;
const LIMIT: u8 = 10;
const FAILED: u8 = 11;
const PASSED: u8 = 12;
const SWITCH: u8 = 13;
/// Of this alone the payload is relative: to the one before in the chunk.
pub(crate) const PASSED_LIKE: u8 = 14;
const UNSEEN: u8 = 15;
const SCOPE: u8 = 16;
pub(crate) const CUSTOM: u8 = 17;

impl<'a> Ext<'a> {
    /// The type in the tag.
    pub(crate) fn kind(&self) -> u8 {
        match self {
            Ext::Thread { .. } => THREAD,
            Ext::Rss(_) => RSS,
            Ext::Fork { .. } => FORK,
            Ext::Loss { .. } => LOSS,
            Ext::Ledger(entry) => match entry.mapping {
                Mapping::Map { .. } => MAP,
                Mapping::Unmap { .. } | Mapping::Leave { .. } => UNMAP,
                Mapping::Remap { .. } => REMAP,
                Mapping::Break { .. } => BREAK,
            },
            Ext::Mark(_) => MARK,
            Ext::Limit(_) => LIMIT,
            Ext::Failed(_) => FAILED,
            Ext::Passed(passed) if passed.blocks > 0 => PASSED_LIKE,
            Ext::Passed(_) => PASSED,
            Ext::Switch(_) => SWITCH,
            Ext::Unseen => UNSEEN,
            Ext::Scope(_) => SCOPE,
            Ext::Custom => CUSTOM,
            Ext::Unknown { kind, .. } => kind & 31,
        }
    }

    pub(crate) fn put(&self, out: &mut Writer) {
        match *self {
            Ext::Thread { tid, name } => {
                out.var(u64::from(tid));
                out.bytes(name.get(..MAX_TEXT).unwrap_or(name));
            }
            Ext::Rss(rss) => {
                let numbers = [
                    rss.source.to_number(),
                    rss.peak_kb,
                    rss.now_kb,
                    rss.own_kb,
                    rss.stamp,
                ];
                numbers.into_iter().for_each(|number| out.var(number));
            }
            Ext::Fork { child } => out.var(u64::from(child)),
            Ext::Loss { events, reason } => {
                out.var(events);
                out.u8(reason);
            }
            Ext::Ledger(entry) => put_ledger(out, &entry),
            Ext::Mark(text) | Ext::Scope(text) => {
                out.bytes(text.get(..MAX_TEXT).unwrap_or(text));
            }
            Ext::Limit(limit) => limit.put(out),
            Ext::Failed(failure) => failure.put(out),
            Ext::Passed(passed) => passed.put(out),
            Ext::Switch(switch) => switch.put(out),
            Ext::Unseen | Ext::Custom => {}
            Ext::Unknown { payload, .. } => out.bytes(payload),
        }
    }

    pub(crate) fn decode(kind: u8, payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut bytes = Reader::new(payload);
        Ok(match kind {
            THREAD => Ext::Thread {
                tid: bytes.var32()?,
                name: bytes.rest(),
            },
            RSS => match RssSource::from_number(bytes.var()?) {
                Some(source) => Ext::Rss(Rss {
                    source,
                    peak_kb: bytes.var()?,
                    now_kb: bytes.var()?,
                    own_kb: bytes.var()?,
                    stamp: bytes.var()?,
                }),
                None => Ext::Unknown { kind, payload },
            },
            FORK => Ext::Fork {
                child: bytes.var32()?,
            },
            LOSS => Ext::Loss {
                events: bytes.var()?,
                reason: bytes.u8()?,
            },
            MAP | UNMAP | REMAP | BREAK => Ext::Ledger(get_ledger(kind, &mut bytes)?),
            MARK => Ext::Mark(bytes.rest()),
            LIMIT => match Limit::decode(&mut bytes)? {
                Some(limit) => Ext::Limit(limit),
                None => Ext::Unknown { kind, payload },
            },
            FAILED => match Failure::decode(&mut bytes)? {
                Some(failure) => Ext::Failed(failure),
                None => Ext::Unknown { kind, payload },
            },
            PASSED => match Passed::decode(&mut bytes)? {
                Some(passed) => Ext::Passed(passed),
                None => Ext::Unknown { kind, payload },
            },
            SWITCH => match Switch::decode(&mut bytes)? {
                Some(switch) => Ext::Switch(switch),
                None => Ext::Unknown { kind, payload },
            },
            UNSEEN => Ext::Unseen,
            SCOPE => Ext::Scope(bytes.rest()),
            CUSTOM => Ext::Custom,
            _ => Ext::Unknown { kind, payload },
        })
    }
}

/// In a ledger's first number: an allocator made the call.
const BACKING: u64 = 1;
/// In an UNMAP's: mremap did it.
const LEAVES: u64 = 2;

fn put_ledger(out: &mut Writer, entry: &Ledger) {
    let leaves = match entry.mapping {
        Mapping::Leave { .. } => LEAVES,
        _ => 0,
    };
    out.var(u64::from(entry.backing) | leaves);
    out.var(entry.order);
    out.var(u64::from(entry.stack.0));
    match entry.mapping {
        Mapping::Map {
            address,
            length,
            prot,
            flags,
        } => [address, length, u64::from(prot), u64::from(flags)]
            .into_iter()
            .for_each(|number| out.var(number)),
        Mapping::Unmap { address, length } | Mapping::Leave { address, length } => {
            out.var(address);
            out.var(length);
        }
        Mapping::Remap {
            old_address,
            old_length,
            address,
            length,
        } => [old_address, old_length, address, length]
            .into_iter()
            .for_each(|number| out.var(number)),
        Mapping::Break { old_end, end } => {
            out.var(old_end);
            out.var(end);
        }
    }
}

fn get_ledger(kind: u8, bytes: &mut Reader) -> Result<Ledger, Malformed> {
    let flags = bytes.var()?;
    let backing = flags & BACKING != 0;
    let order = bytes.var()?;
    let stack = StackId(bytes.var32()?);
    let mapping = match kind {
        MAP => Mapping::Map {
            address: bytes.var()?,
            length: bytes.var()?,
            prot: bytes.var32()?,
            flags: bytes.var32()?,
        },
        UNMAP if flags & LEAVES != 0 => Mapping::Leave {
            address: bytes.var()?,
            length: bytes.var()?,
        },
        UNMAP => Mapping::Unmap {
            address: bytes.var()?,
            length: bytes.var()?,
        },
        REMAP => Mapping::Remap {
            old_address: bytes.var()?,
            old_length: bytes.var()?,
            address: bytes.var()?,
            length: bytes.var()?,
        },
        _ => Mapping::Break {
            old_end: bytes.var()?,
            end: bytes.var()?,
        },
    };
    Ok(Ledger {
        mapping,
        backing,
        order,
        stack,
    })
}
