//! jitdump: what run-time compilers write for `perf inject --jit`. The machine
//! that wrote it gives the order of bytes.
//!
//! ```text
//! header:  "JiTD" as a number | u32 version, total size, machine, pad, pid | u64 time, flags
//! record:  u32 kind, total size | u64 time | the rest by kind
//!   0 LOAD   u32 pid, tid | u64 vma, address, size, index | name, 0 | code
//!   1 MOVE   u32 pid, tid | u64 vma, old address, new address, size, index
//!   2 DEBUG  u64 address, count | count times: u64 address | u32 line, discriminator | file, 0
//!   3 CLOSE
//! ```
//!
//! DEBUG stands before the LOAD that it is for. A file's name of 0xFF 0x00 is
//! that of the line before.

use std::collections::HashMap;

use super::MadeNames;

const MAGIC: u32 = 0x4A69_5444;
const HEADER: usize = 40;
const RECORD: usize = 16;
const LOAD: u32 = 0;
const MOVE: u32 = 1;
const DEBUG: u32 = 2;
const CLOSE: u32 = 3;
/// Lines of one function that are looked at.
const MOST_LINES: u64 = 1 << 20;
/// Functions that may move on, by their index.
const MOST_FUNCTIONS: usize = 1 << 20;

struct Numbers<'a> {
    bytes: &'a [u8],
    is_big: bool,
}

impl<'a> Numbers<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        let bytes = *self.take(4)?.first_chunk()?;
        Some(match self.is_big {
            true => u32::from_be_bytes(bytes),
            false => u32::from_le_bytes(bytes),
        })
    }

    fn u64(&mut self) -> Option<u64> {
        let bytes = *self.take(8)?.first_chunk()?;
        Some(match self.is_big {
            true => u64::from_be_bytes(bytes),
            false => u64::from_le_bytes(bytes),
        })
    }

    /// Up to a zero byte.
    fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.bytes.iter().position(|&byte| byte == 0)?;
        let text = self.take(length)?;
        self.take(1)?;
        Some(text)
    }
}

/// Addresses of a function with their lines, in the file's order.
type Lines<'a> = Vec<(u64, &'a [u8], u32)>;

struct Function<'a> {
    name: &'a [u8],
    /// Where it was when its lines were written.
    low: u64,
    lines: Lines<'a>,
}

/// Gives names what the file says, in its order.
pub(super) fn read(bytes: &[u8], names: &mut MadeNames) -> Result<(), String> {
    let (is_big, header) = header(bytes)?;
    let mut rest = bytes.get(header..).unwrap_or(&[]);
    let mut functions: HashMap<u64, Function> = HashMap::new();
    let mut lines: Option<(u64, Lines)> = None;
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let damaged = |what: &str| format!("jitdump: at byte {at} there is {what}");
        let mut record = Numbers {
            bytes: rest,
            is_big,
        };
        let (Some(kind), Some(size)) = (record.u32(), record.u32()) else {
            return Err(damaged("a part of a record"));
        };
        let size = size as usize;
        if size < RECORD || size > rest.len() {
            return Err(damaged("a record that does not fit"));
        }
        let mut body = Numbers {
            bytes: &rest[RECORD..size],
            is_big,
        };
        rest = &rest[size..];
        let is_good = match kind {
            LOAD => load(&mut body, &mut lines, &mut functions, names),
            MOVE => moved(&mut body, &mut functions, names),
            DEBUG => debug(&mut body).map(|found| lines = Some(found)),
            CLOSE => return Ok(()),
            _ => Some(()),
        };
        is_good.ok_or_else(|| damaged("a record that is too short"))?;
    }
    Ok(())
}

/// The order of bytes, and how long the header is.
fn header(bytes: &[u8]) -> Result<(bool, usize), String> {
    let magic = bytes.first_chunk::<4>();
    let is_big = match magic {
        Some(magic) if u32::from_le_bytes(*magic) == MAGIC => false,
        Some(magic) if u32::from_be_bytes(*magic) == MAGIC => true,
        _ => return Err("it does not begin as a jitdump does".into()),
    };
    let mut numbers = Numbers { bytes, is_big };
    let size = numbers.take(8).and_then(|_| numbers.u32());
    match size {
        Some(size) if size as usize >= HEADER && size as usize <= bytes.len() => {
            Ok((is_big, size as usize))
        }
        _ => Err("the header of the jitdump does not fit".into()),
    }
}

fn load<'a>(
    body: &mut Numbers<'a>,
    lines: &mut Option<(u64, Lines<'a>)>,
    functions: &mut HashMap<u64, Function<'a>>,
    names: &mut MadeNames,
) -> Option<()> {
    body.take(16)?;
    let (low, size, index) = (body.u64()?, body.u64()?, body.u64()?);
    let name = body.text()?;
    let lines = lines.take().filter(|(address, _)| *address == low);
    let function = Function {
        name,
        low,
        lines: lines.map_or(Vec::new(), |(_, lines)| lines),
    };
    names.name(low, size, name, |address| function.line(address));
    if functions.len() < MOST_FUNCTIONS {
        functions.insert(index, function);
    }
    Some(())
}

fn moved(
    body: &mut Numbers,
    functions: &mut HashMap<u64, Function>,
    names: &mut MadeNames,
) -> Option<()> {
    body.take(24)?;
    let (low, size, index) = (body.u64()?, body.u64()?, body.u64()?);
    if let Some(function) = functions.get(&index) {
        let back = function.low.wrapping_sub(low);
        names.name(low, size, function.name, |address| {
            function.line(address.wrapping_add(back))
        });
    }
    Some(())
}

fn debug<'a>(body: &mut Numbers<'a>) -> Option<(u64, Lines<'a>)> {
    let (address, count) = (body.u64()?, body.u64()?);
    let mut lines = Vec::new();
    let mut last: &[u8] = &[];
    for _ in 0..count.min(MOST_LINES) {
        let (at, line) = (body.u64()?, body.u32()?);
        body.u32()?;
        let file = body.text()?;
        last = if file == [0xFF] { last } else { file };
        lines.push((at, last, line));
    }
    lines.sort_by_key(|(at, ..)| *at);
    Some((address, lines))
}

impl<'a> Function<'a> {
    /// The file and line of an address: of the last line that begins before.
    fn line(&self, address: u64) -> Option<(&'a [u8], u32)> {
        let behind = self.lines.partition_point(|(at, ..)| *at <= address);
        let (_, file, line) = self.lines.get(behind.checked_sub(1)?)?;
        Some((file, *line))
    }
}
