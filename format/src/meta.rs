//! The records of the meta chunks: a type byte, a varint length, a payload.
//! In chunk 0 they start behind the counters, in later ones behind the header.
//! A reader skips types it does not know.

use crate::Malformed;
use crate::kept::{KeptFile, Place, Word};
use crate::resident::{Census, Mapped};
use crate::text::key_of;
pub use crate::text::{Key, Lack, Past};
use crate::tuned::Tuned;
use crate::varint::{Reader, Writer};

/// Longest path or text that is kept; what is longer is cut.
pub const MAX_STRING: usize = 4096;

/// What the log is of and how to read its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Pointer width of the program, in bytes.
    pub pointer_bytes: u8,
    /// 1 on a big-endian machine.
    pub big_endian: bool,
    /// The ELF machine number.
    pub machine: u16,
    /// The process.
    pub pid: u32,
    /// Its parent.
    pub parent_pid: u32,
    /// Wall clock at the start, nanoseconds since 1970.
    pub wall_ns: u64,
    /// Nanoseconds that a tick stands for.
    pub tick_ns: u64,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Logarithm of the number of order cells.
    pub cell_bits: u8,
    /// Set when the allocator tells usable sizes.
    pub has_usable: bool,
}

/// A piece of code mapped into the process, from one load to one unload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module<'a> {
    /// The instance; never used twice.
    pub id: u32,
    /// Runtime address minus the address in the file's own numbering.
    pub bias: u64,
    /// First mapped byte.
    pub low: u64,
    /// First byte past it.
    pub high: u64,
    /// The linker's build-id, empty where there is none.
    pub build_id: &'a [u8],
    /// The file.
    pub path: &'a [u8],
}

/// Where one stream of the parent stood at a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkPoint {
    /// The parent's stream.
    pub stream: u32,
    /// Its chunk at the fork.
    pub sequence: u32,
    /// The bytes committed in that chunk.
    pub committed: u32,
}

/// How the image ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Tick of the end.
    pub tick: u64,
    /// 1 exit handlers, 2 _exit.
    pub how: u8,
    /// VmHWM at the end in kilobytes, 0 if unknown.
    pub vm_hwm_kb: u64,
    /// ru_maxrss at the end in kilobytes.
    pub maxrss_kb: u64,
}

/// How a signal ended the process: written by who had started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Death {
    /// The signal's number.
    pub signal: u8,
    /// Processes of its group that the kernel killed for want of memory while
    /// it ran, or [`Death::UNKNOWN`].
    pub oom_kills: u64,
    /// ru_maxrss of it and all its children in kilobytes, 0 if unknown.
    pub maxrss_kb: u64,
    /// Wall clock, nanoseconds since 1970.
    pub wall_ns: u64,
}

impl Death {
    /// Of a count that nobody could read.
    pub const UNKNOWN: u64 = u64::MAX;

    /// The count, where somebody could.
    pub const fn known_oom_kills(&self) -> Option<u64> {
        match self.oom_kills {
            Self::UNKNOWN => None,
            count => Some(count),
        }
    }
}

/// The name of code that the program made at run time: written by who had
/// started it, for the addresses that stacks have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeName<'a> {
    /// [`Code::lookup_address`](crate::table::Code::lookup_address) of the code.
    pub address: u64,
    /// The line in its file, or 0.
    pub line: u32,
    /// The file, empty where unknown.
    pub file: &'a [u8],
    /// The function, or several that were there in turn.
    pub name: &'a [u8],
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// The first record of every log.
    Start(Start),
    /// A text.
    Text(Key, &'a [u8]),
    /// A module was found.
    Module(Module<'a>),
    /// A module went; `tick` says when this was seen.
    Unload {
        /// The instance.
        id: u32,
        /// When.
        tick: u64,
    },
    /// The log is a forked child's: the parent's process, and one fork point a stream.
    Parent {
        /// The parent.
        pid: u32,
    },
    /// Where one of the parent's streams stood.
    ForkPoint(ForkPoint),
    /// The image ended in an orderly way. The last one counts.
    End(End),
    /// The process was killed by a signal.
    Death(Death),
    /// Code of no file has a name.
    CodeName(CodeName<'a>),
    /// A mapping of a census.
    Mapped(Mapped<'a>),
    /// A census ends.
    Census(Census),
    /// A call of mallopt.
    Tuned(Tuned),
    /// A piece of a name that was put into the log.
    Word(Word<'a>),
    /// A file of code with such names.
    KeptFile(KeptFile<'a>),
    /// An address with such names.
    Place(Place<'a>),
    /// A record of a newer memlog.
    Unknown(u8),
}

const START: u8 = 1;
const TEXT: u8 = 2;
const MODULE: u8 = 3;
const UNLOAD: u8 = 4;
const PARENT: u8 = 5;
const FORK_POINT: u8 = 6;
const END: u8 = 7;
const DEATH: u8 = 8;
const CODE_NAME: u8 = 9;
const MAPPED: u8 = 10;
const CENSUS: u8 = 11;
const TUNED: u8 = 12;
const WORD: u8 = 13;
const KEPT_FILE: u8 = 14;
const PLACE: u8 = 15;

/// A varint that must fit a field narrower than 64 bits.
fn small<T: TryFrom<u64>>(bytes: &mut Reader) -> Result<T, Malformed> {
    let offset = bytes.at();
    T::try_from(bytes.var()?).map_err(|_| Malformed {
        offset,
        expected: "a number that fits its field",
    })
}

fn clip(bytes: &[u8]) -> &[u8] {
    bytes.get(..MAX_STRING).unwrap_or(bytes)
}

impl<'a> Record<'a> {
    fn kind(&self) -> u8 {
        match self {
            Record::Start(_) => START,
            Record::Text(..) => TEXT,
            Record::Module(_) => MODULE,
            Record::Unload { .. } => UNLOAD,
            Record::Parent { .. } => PARENT,
            Record::ForkPoint(_) => FORK_POINT,
            Record::End(_) => END,
            Record::Death(_) => DEATH,
            Record::CodeName(_) => CODE_NAME,
            Record::Mapped(_) => MAPPED,
            Record::Census(_) => CENSUS,
            Record::Tuned(_) => TUNED,
            Record::Word(_) => WORD,
            Record::KeptFile(_) => KEPT_FILE,
            Record::Place(_) => PLACE,
            Record::Unknown(kind) => *kind,
        }
    }

    /// Writes the record into `out`; `None` when it does not fit.
    pub fn encode(&self, out: &mut [u8]) -> Option<usize> {
        // The length comes first and is varint: three bytes are set aside for
        // it, always as many, so that nothing has to be moved or copied.
        const LENGTH_BYTES: usize = 3;
        let (head, body) = out.split_at_mut_checked(1 + LENGTH_BYTES)?;
        let mut payload = Writer::new(body);
        self.put(&mut payload);
        let length = payload.finish()?;
        if length >= 1 << 21 {
            return None;
        }
        let bytes = [
            self.kind(),
            length as u8 | 0x80,
            (length >> 7) as u8 | 0x80,
            (length >> 14) as u8,
        ];
        for (place, byte) in head.iter_mut().zip(bytes) {
            *place = byte;
        }
        Some(1 + LENGTH_BYTES + length)
    }

    fn put(&self, out: &mut Writer) {
        match *self {
            Record::Start(start) => start.put(out),
            Record::Text(key, text) => {
                out.u8(key as u8);
                out.bytes(clip(text));
            }
            Record::Module(module) => {
                [u64::from(module.id), module.bias, module.low, module.high]
                    .into_iter()
                    .for_each(|number| out.var(number));
                out.blob(clip(module.build_id));
                out.blob(clip(module.path));
            }
            Record::Unload { id, tick } => {
                out.var(u64::from(id));
                out.var(tick);
            }
            Record::Parent { pid } => out.var(u64::from(pid)),
            Record::ForkPoint(at) => [at.stream, at.sequence, at.committed]
                .into_iter()
                .for_each(|number| out.var(u64::from(number))),
            Record::End(end) => {
                [end.tick, u64::from(end.how), end.vm_hwm_kb, end.maxrss_kb]
                    .into_iter()
                    .for_each(|number| out.var(number));
            }
            Record::Death(death) => [
                u64::from(death.signal),
                death.oom_kills,
                death.maxrss_kb,
                death.wall_ns,
            ]
            .into_iter()
            .for_each(|number| out.var(number)),
            Record::CodeName(code) => {
                out.var(code.address);
                out.var(u64::from(code.line));
                out.blob(clip(code.file));
                out.bytes(clip(code.name));
            }
            Record::Mapped(mapped) => mapped.put(out),
            Record::Census(census) => census.put(out),
            Record::Tuned(tuned) => tuned.put(out),
            Record::Word(word) => word.put(out),
            Record::KeptFile(file) => file.put(out),
            Record::Place(place) => place.put(out),
            Record::Unknown(_) => {}
        }
    }

    /// Reads the next record, or `None` at the end.
    pub fn next(bytes: &mut Reader<'a>) -> Result<Option<Self>, Malformed> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let offset = bytes.at();
        let kind = bytes.u8()?;
        if kind == 0 {
            return Err(Malformed {
                offset,
                expected: "the type of a record, which is never 0",
            });
        }
        let payload = bytes.blob()?;
        let record = Self::decode(kind, payload).map_err(|error| Malformed { offset, ..error })?;
        Ok(Some(record))
    }

    fn decode(kind: u8, payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut bytes = Reader::new(payload);
        Ok(match kind {
            START => Record::Start(Start::get(&mut bytes)?),
            TEXT => match key_of(bytes.u8()?) {
                Some(key) => Record::Text(key, bytes.rest()),
                None => Record::Unknown(kind),
            },
            MODULE => Record::Module(Module {
                id: bytes.var32()?,
                bias: bytes.var()?,
                low: bytes.var()?,
                high: bytes.var()?,
                build_id: bytes.blob()?,
                path: bytes.blob()?,
            }),
            UNLOAD => Record::Unload {
                id: bytes.var32()?,
                tick: bytes.var()?,
            },
            PARENT => Record::Parent {
                pid: bytes.var32()?,
            },
            FORK_POINT => Record::ForkPoint(ForkPoint {
                stream: bytes.var32()?,
                sequence: bytes.var32()?,
                committed: bytes.var32()?,
            }),
            END => Record::End(End {
                tick: bytes.var()?,
                how: small(&mut bytes)?,
                vm_hwm_kb: bytes.var()?,
                maxrss_kb: bytes.var()?,
            }),
            DEATH => Record::Death(Death {
                signal: small(&mut bytes)?,
                oom_kills: bytes.var()?,
                maxrss_kb: bytes.var()?,
                wall_ns: bytes.var()?,
            }),
            CODE_NAME => Record::CodeName(CodeName {
                address: bytes.var()?,
                line: bytes.var32()?,
                file: bytes.blob()?,
                name: bytes.rest(),
            }),
            MAPPED => Record::Mapped(Mapped::get(&mut bytes)?),
            CENSUS => Record::Census(Census::get(&mut bytes)?),
            TUNED => Record::Tuned(Tuned::get(&mut bytes)?),
            WORD => Record::Word(Word::get(&mut bytes)?),
            KEPT_FILE => Record::KeptFile(KeptFile::get(&mut bytes)?),
            PLACE => Record::Place(Place::get(&mut bytes)?),
            _ => Record::Unknown(kind),
        })
    }
}

impl Start {
    fn put(&self, out: &mut Writer) {
        out.u8(self.pointer_bytes);
        out.u8(u8::from(self.big_endian));
        [
            u64::from(self.machine),
            u64::from(self.pid),
            u64::from(self.parent_pid),
            self.wall_ns,
            self.tick_ns,
            u64::from(self.page_bytes),
            u64::from(self.cell_bits),
            u64::from(self.has_usable),
        ]
        .into_iter()
        .for_each(|number| out.var(number));
    }

    fn get(bytes: &mut Reader) -> Result<Self, Malformed> {
        Ok(Self {
            pointer_bytes: bytes.u8()?,
            big_endian: bytes.u8()? != 0,
            machine: small(bytes)?,
            pid: bytes.var32()?,
            parent_pid: bytes.var32()?,
            wall_ns: bytes.var()?,
            tick_ns: bytes.var()?,
            page_bytes: bytes.var32()?,
            cell_bits: small(bytes)?,
            has_usable: bytes.var()? != 0,
        })
    }
}
