//! Modules of a text in the form of /proc/self/maps, and code in them.

use std::collections::HashMap;
use std::ops::Range;

use memlog_format::table::{CodeId, StackId};

use super::split;
use crate::segments::bias;
use crate::writer::{LogWriter, ModuleId};

/// What is mapped, and the code there.
#[derive(Default)]
pub(super) struct Maps {
    /// In the order of their lines.
    files: Vec<Mapped>,
    codes: HashMap<u64, (CodeId, bool)>,
}

/// A file that is mapped, in as many parts as may be.
struct Mapped {
    range: Range<u64>,
    path: Vec<u8>,
    /// Its first part, where that lies in the file, and whether it has code.
    first: (Range<u64>, u64, bool),
    /// The recorder or allocator whose frames are no callers.
    is_own: bool,
    module: Option<ModuleId>,
}

impl Maps {
    /// A line of the text; others than of files are passed over.
    pub(super) fn line(&mut self, line: &[u8]) {
        let Some((range, is_code, offset, path)) = parse(line) else {
            return;
        };
        let last = self.files.last_mut().filter(|last| last.path == path);
        // Of small files all parts may begin on the first page.
        let is_part = |last: &&mut Mapped| match offset {
            0 => last.range.end == range.start,
            _ => last.range.end <= range.start,
        };
        if let Some(last) = last.filter(is_part) {
            last.range.end = range.end;
            return;
        }
        self.files.push(Mapped {
            first: (range.clone(), offset, is_code),
            range,
            path: path.to_vec(),
            is_own: is_own(path),
            module: None,
        });
    }

    /// Another text, which counts from now on. What lies where it lay is the same module.
    pub(super) fn renew<'t>(&mut self, lines: impl Iterator<Item = &'t [u8]>) {
        let before = std::mem::take(self);
        lines.for_each(|line| self.line(line));
        for file in &mut self.files {
            let same = before
                .files
                .iter()
                .find(|known| (&known.first, &known.path) == (&file.first, &file.path));
            file.module = same.and_then(|known| known.module);
        }
    }

    /// The stack of return addresses, the innermost first, without the frames of the
    /// recorder or allocator itself.
    pub(super) fn stack(&mut self, log: &mut LogWriter, addresses: &[u64]) -> StackId {
        let mut stack = Frames::default();
        stack.replace(log, self, usize::MAX, addresses);
        stack.id()
    }

    fn at(&self, address: u64) -> Option<usize> {
        self.files
            .iter()
            .position(|mapped| mapped.range.contains(&address))
    }

    /// The place of a return address.
    pub(super) fn place(&mut self, log: &mut LogWriter, address: u64) -> CodeId {
        self.found(log, address).0
    }

    /// The same, and whether it is the recorder's or allocator's own.
    fn found(&mut self, log: &mut LogWriter, address: u64) -> (CodeId, bool) {
        if let Some(&found) = self.codes.get(&address) {
            return found;
        }
        let at = self.at(address.wrapping_sub(1));
        let is_own = at.is_some_and(|at| self.files[at].is_own);
        let module = at.map(|at| self.module(log, at));
        let code = log.place(Some(address), false, module, &[]);
        self.codes.insert(address, (code, is_own));
        (code, is_own)
    }

    fn module(&mut self, log: &mut LogWriter, at: usize) -> ModuleId {
        let mapped = &mut self.files[at];
        let (path, range) = (&mapped.path, mapped.range.clone());
        let (first, offset, is_code) = &mapped.first;
        *mapped.module.get_or_insert_with(|| {
            let bias = bias(first, (*offset, *is_code), &log.segments(path));
            log.module(path, b"", bias, range)
        })
    }
}

/// A stack whose inner frames come and go. What stays costs nothing: where the frames were
/// found once they are, whatever was mapped elsewhere since.
#[derive(Default)]
pub(super) struct Frames(Vec<Frame>);

struct Frame {
    /// The stack up to here, from the outermost frame in.
    stack: StackId,
    /// The same without the recorder's own frames at its inner end, but for the outermost.
    without_own: StackId,
}

impl Frames {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// So many of the innermost frames are these now, the innermost first.
    pub(super) fn replace(
        &mut self,
        log: &mut LogWriter,
        maps: &mut Maps,
        replaced: usize,
        addresses: &[u64],
    ) {
        self.0.truncate(self.0.len().saturating_sub(replaced));
        for &address in addresses.iter().rev() {
            let (place, is_own) = maps.found(log, address);
            let last = self.0.last();
            let stack = log.stack(last.map_or(StackId::COMPLETE, |last| last.stack), place);
            let without_own = match last {
                Some(last) if is_own => last.without_own,
                _ => stack,
            };
            self.0.push(Frame { stack, without_own });
        }
    }

    /// The stack.
    pub(super) fn id(&self) -> StackId {
        self.0
            .last()
            .map_or(StackId::COMPLETE, |last| last.without_own)
    }
}

/// `start-end perms offset device inode path`
fn parse(line: &[u8]) -> Option<(Range<u64>, bool, u64, &[u8])> {
    let mut rest = line;
    let mut word = || {
        let (word, after) = split(rest.trim_ascii_start(), b' ')?;
        rest = after;
        Some(word)
    };
    let (range, permissions, offset) = (word()?, word()?, word()?);
    let (_, _) = (word()?, word()?);
    let (start, end) = split(range, b'-')?;
    let range = hex(start)?..hex(end)?;
    let path = rest.trim_ascii();
    path.starts_with(b"/")
        .then_some((range, permissions.contains(&b'x'), hex(offset)?, path))
}

pub(super) fn hex(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    u64::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

/// Libraries that stand in for malloc: what lies in them did not ask for memory.
pub(super) fn is_own(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let own: [&[u8]; 5] = [
        b"libjemalloc",
        b"libtcmalloc",
        b"libmemtrail",
        b"libbytehound",
        b"libmemory_profiler",
    ];
    own.iter().any(|own| name.starts_with(own))
}
