//! Rows to the chunks of a file: packed, summed and written by a thread of its own, for
//! who finds them has enough to do.

use std::io::{self, Write};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use memlog_format::chunk::checksum;

use crate::chunk::{self, Extent, Rows};
use crate::column::Column;
use crate::layout::Piece;
use crate::steps::{self, Step, StepsChunk};

/// What was written of a file so far.
pub(crate) struct Writer<W> {
    pub out: W,
    pub offset: u64,
    /// Why writing failed; nothing is written from then on.
    pub failed: Option<io::Error>,
    pub extents: Vec<Extent>,
    pub rows: u64,
    pub steps: Vec<StepsChunk>,
    bytes: Vec<u8>,
}

impl<W: Write> Writer<W> {
    fn write(&mut self, bytes: &[u8]) {
        self.offset += bytes.len() as u64;
        if self.failed.is_none() {
            self.failed = self.out.write_all(bytes).err();
        }
    }

    /// Writes what is put into the bytes.
    fn piece(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> Piece {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        put(&mut bytes);
        let piece = Piece {
            offset: self.offset,
            length: bytes.len() as u64,
            checksum: checksum(&bytes),
        };
        self.write(&bytes);
        self.bytes = bytes;
        piece
    }

    fn steps(&mut self, steps: &[Step]) {
        let piece = self.piece(|bytes| steps::put(steps, bytes));
        self.steps.push(StepsChunk {
            piece,
            steps: steps.len() as u64,
        });
    }

    fn chunk(&mut self, rows: &Rows, is_live: bool) {
        let piece = self.piece(|bytes| chunk::put(rows, is_live, bytes));
        let range = |column: Column| {
            let values = rows.column(column).iter().copied();
            (values.clone().min().unwrap_or(0), values.max().unwrap_or(0))
        };
        self.extents.push(Extent {
            piece,
            rows: rows.len() as u64,
            is_live,
            born: range(Column::Born),
            died: range(Column::Died),
            size: range(Column::Size),
        });
        self.rows += rows.len() as u64;
    }
}

/// Chunks that wait for the other thread, 800 KB each.
const WAITING: usize = 2;

/// What fills a piece of the file.
pub(crate) enum Full {
    /// Rows that are all dead, or all live.
    Rows(Box<Rows>, bool),
    Steps(Vec<Step>),
}

/// Who writes.
pub(crate) enum Writing<W> {
    /// Whoever hands out rows: a small table, or no more threads may be made.
    Here(Writer<W>),
    /// Another thread.
    Beside {
        full: SyncSender<Full>,
        /// Rows that were written, to be filled again.
        empty: Receiver<Rows>,
        thread: JoinHandle<Option<Writer<W>>>,
    },
    /// Nobody, for a moment.
    Nobody,
}

impl<W: Write + Send + 'static> Writing<W> {
    /// Into a file that begins with these bytes.
    pub(crate) fn new(out: W, head: &[u8]) -> Self {
        let mut writer = Writer {
            out,
            offset: 0,
            failed: None,
            extents: Vec::new(),
            rows: 0,
            steps: Vec::new(),
            bytes: Vec::new(),
        };
        writer.write(head);
        Self::Here(writer)
    }

    /// From now on there is more than a little.
    pub(crate) fn go_beside(&mut self) {
        let writer = match std::mem::replace(self, Self::Nobody) {
            Self::Here(writer) => writer,
            other => {
                *self = other;
                return;
            }
        };
        let (full, filled) = sync_channel(WAITING);
        let (emptied, empty) = channel();
        let (give, given) = channel();
        let work = move || write_all(&given, &filled, &emptied);
        *self = match thread::Builder::new().spawn(work) {
            Ok(thread) => {
                // It waits for that.
                let _ = give.send(writer);
                Self::Beside {
                    full,
                    empty,
                    thread,
                }
            }
            Err(_) => Self::Here(writer),
        };
    }

    /// Takes the rows, which are none then.
    pub(crate) fn chunk(&mut self, rows: &mut Rows, is_live: bool) {
        match self {
            Self::Here(writer) => {
                writer.chunk(rows, is_live);
                rows.clear();
            }
            Self::Beside { full, empty, .. } => {
                let next = empty.try_recv().unwrap_or_default();
                // If that thread broke, the end tells why.
                let rows = Box::new(std::mem::replace(rows, next));
                let _ = full.send(Full::Rows(rows, is_live));
            }
            Self::Nobody => {}
        }
    }

    /// Takes steps, none of which come again.
    pub(crate) fn steps(&mut self, steps: Vec<Step>) {
        match self {
            Self::Here(writer) => writer.steps(&steps),
            Self::Beside { full, .. } => {
                let _ = full.send(Full::Steps(steps));
            }
            Self::Nobody => {}
        }
    }

    /// All of it, once everything is written.
    pub(crate) fn end(self) -> io::Result<Writer<W>> {
        let writer = match self {
            Self::Here(writer) => Some(writer),
            Self::Beside { full, thread, .. } => {
                drop(full);
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            }
            Self::Nobody => None,
        };
        writer.ok_or_else(|| io::Error::other("nobody wrote the table"))
    }
}

fn write_all<W: Write>(
    given: &Receiver<Writer<W>>,
    filled: &Receiver<Full>,
    emptied: &Sender<Rows>,
) -> Option<Writer<W>> {
    let mut writer = given.recv().ok()?;
    while let Ok(full) = filled.recv() {
        match full {
            Full::Rows(mut rows, is_live) => {
                writer.chunk(&rows, is_live);
                rows.clear();
                let _ = emptied.send(*rows);
            }
            Full::Steps(steps) => writer.steps(&steps),
        }
    }
    Some(writer)
}
