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
    codes: HashMap<u64, CodeId>,
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
        let own = addresses.iter().take_while(|&&address| {
            let mapped = self.at(address.wrapping_sub(1));
            mapped.is_some_and(|at| self.files[at].is_own)
        });
        let own = own.count().min(addresses.len().saturating_sub(1));
        addresses[own..]
            .iter()
            .rev()
            .fold(StackId::COMPLETE, |caller, &address| {
                let place = self.place(log, address);
                log.stack(caller, place)
            })
    }

    fn at(&self, address: u64) -> Option<usize> {
        self.files
            .iter()
            .position(|mapped| mapped.range.contains(&address))
    }

    /// The place of a return address.
    pub(super) fn place(&mut self, log: &mut LogWriter, address: u64) -> CodeId {
        if let Some(&code) = self.codes.get(&address) {
            return code;
        }
        let at = self.at(address.wrapping_sub(1));
        let module = at.map(|at| self.module(log, at));
        let code = log.place(Some(address), false, module, &[]);
        self.codes.insert(address, code);
        code
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
