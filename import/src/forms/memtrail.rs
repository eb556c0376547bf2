//! memtrail.data: every block that was live at a new maximum, at a mark or at the end, and
//! their releases. In the numbers of the machine, which is little-endian on all that
//! memtrail runs on:
//!
//! ```text
//! u8 BYTES OF A POINTER, then records of a pointer and a signed size:
//!   +SIZE  a block came: u8 FRAMES, innermost first, each
//!          pointer ADDRESS, pointer OFFSET, u8 MODULE (0: none)
//!          and where a module is named first: pointer LENGTH, PATH
//!   -SIZE  it went
//!   0, 0   the program made a mark
//! ```

use std::collections::HashMap;
use std::io::BufRead;

use memlog_format::api::Api;
use memlog_format::meta::Lack;
use memlog_format::table::{CodeId, StackId};

use super::bytes::{Bytes, Stop};
use super::maps::is_own;
use crate::error::Error;
use crate::segments::bias;
use crate::writer::{LogWriter, ModuleId};

/// It keeps no more frames of a stack, and no more modules.
const MOST_FRAMES: u8 = 32;
const MOST_MODULES: u8 = 128;
/// No file has a longer path.
const LONGEST_PATH: u64 = 4096;

/// The first record of a block: what is written before is a mark or nothing.
pub(super) fn is(head: &[u8]) -> bool {
    let Some((&width @ (4 | 8), mut rest)) = head.split_first() else {
        return false;
    };
    let width = usize::from(width);
    let mut word = || {
        let (word, after) = rest.split_at_checked(width)?;
        rest = after;
        let mut eight = [0; 8];
        eight[..width].copy_from_slice(word);
        Some(u64::from_le_bytes(eight))
    };
    let mut record = || Some((word()?, word()?));
    let mut first = record();
    while first == Some((0, 0)) {
        first = record();
    }
    let is_size = |size: u64| size > 0 && size < 1 << (8 * width - 1);
    match (first, rest) {
        (Some((address, size)), &[frames, ref rest @ ..]) => {
            let module = rest.get(2 * width).copied().unwrap_or(1);
            let frames_fit = (1..=MOST_FRAMES).contains(&frames);
            address != 0 && is_size(size) && frames_fit && module <= 1
        }
        _ => false,
    }
}

pub(super) fn read(input: &mut dyn BufRead, log: &mut LogWriter) -> Result<(), Error> {
    let lacks = [Lack::Times, Lack::Threads, Lack::Functions];
    for lack in lacks.into_iter().chain([Lack::Reallocs, Lack::Gone]) {
        log.lacks(lack);
    }
    let mut file = File {
        bytes: Bytes::new(input),
        width: 8,
        modules: HashMap::new(),
        codes: HashMap::new(),
        frames: Vec::new(),
    };
    // The order of records is all there is of time: a nanosecond stands for each.
    log.start().tick_ns = 1;
    let mut records = 0;
    match file.records(log, &mut records) {
        Ok(()) => {}
        Err(Stop::End) => log.cut_off(format!(
            "the file ends in the middle of record {records}, which is left out"
        )),
        Err(Stop::Error(error)) => return Err(error),
    }
    Ok(())
}

struct File<'i> {
    bytes: Bytes<'i>,
    width: u8,
    modules: HashMap<u8, Module>,
    /// By address: nothing was unloaded as long as memtrail looked.
    codes: HashMap<(u64, u8), CodeId>,
    frames: Vec<(CodeId, bool)>,
}

struct Module {
    path: Vec<u8>,
    is_own: bool,
    id: Option<ModuleId>,
}

impl File<'_> {
    fn records(&mut self, log: &mut LogWriter, records: &mut u64) -> Result<(), Stop> {
        let width = self.bytes.number(1)? as u8;
        if !matches!(width, 4 | 8) {
            return Err(self
                .bytes
                .malformed("4 or 8, the bytes of a pointer", &[width]));
        }
        self.width = width;
        log.start().pointer_bytes = width;
        while !log.has_failed() && !self.bytes.is_at_end()? {
            *records += 1;
            log.time(*records);
            self.record(log)?;
        }
        Ok(())
    }

    fn record(&mut self, log: &mut LogWriter) -> Result<(), Stop> {
        let (address, size) = (self.word()?, self.word()?);
        let size = match self.width {
            4 => i64::from(size as u32 as i32),
            _ => size as i64,
        };
        match (address, size) {
            (0, 0) => log.mark(b"memtrail_snapshot"),
            (0, _) | (_, 0) => {
                let expected = "a block's address and size, or two zeros";
                return Err(self.bytes.malformed(expected, &size.to_le_bytes()));
            }
            (_, ..0) => log.release(address, None, Api::Free),
            (_, 1..) => {
                let stack = self.stack(log)?;
                log.allocate(address, size.unsigned_abs(), None, stack, Api::Malloc);
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Result<u64, Stop> {
        self.bytes.number(self.width.into())
    }

    fn stack(&mut self, log: &mut LogWriter) -> Result<StackId, Stop> {
        let count = self.bytes.number(1)?;
        self.frames.clear();
        for index in 0..count {
            let frame = self.frame(log, index == 0)?;
            self.frames.push(frame);
        }
        // memtrail's own functions stand in for malloc.
        let own = self
            .frames
            .iter()
            .take_while(|&&(_, is_own)| is_own)
            .count();
        let own = own.min(self.frames.len().saturating_sub(1));
        let root = match count >= MOST_FRAMES.into() {
            true => StackId::CUT_TOO_DEEP,
            false => StackId::COMPLETE,
        };
        let callers = self.frames[own..].iter().rev();
        Ok(callers.fold(root, |caller, &(place, _)| log.stack(caller, place)))
    }

    /// A frame, and whether it is memtrail's own.
    fn frame(&mut self, log: &mut LogWriter, is_innermost: bool) -> Result<(CodeId, bool), Stop> {
        let (address, offset) = (self.word()?, self.word()?);
        let number = self.bytes.number(1)? as u8;
        if number > MOST_MODULES {
            return Err(self
                .bytes
                .malformed("a module's number up to 128", &[number]));
        }
        if number != 0 && !self.modules.contains_key(&number) {
            let length = self.word()?;
            if length > LONGEST_PATH {
                let expected = "a path of no more than 4096 bytes";
                return Err(self
                    .bytes
                    .malformed(expected, length.to_string().as_bytes()));
            }
            let path = self.bytes.take(length)?;
            let module = Module {
                is_own: is_own(&path),
                path,
                id: None,
            };
            self.modules.insert(number, module);
        }
        let module = self.modules.get_mut(&number);
        let is_own = module.as_ref().is_some_and(|module| module.is_own);
        let id = module.map(|module| {
            // It is where the file's first byte lies.
            let first = address.wrapping_sub(offset);
            let bias = bias(&(first..first), (0, false), &[]);
            let add = || log.module(&module.path, b"", bias, 0..0);
            *module.id.get_or_insert_with(add)
        });
        let code = *self.codes.entry((address, number)).or_insert_with(|| {
            // Where the hook itself was; of the others where they return to.
            log.place(Some(address), is_innermost, id, &[])
        });
        Ok((code, is_own))
    }
}
