//! The text of the memlog of 2015, which `memlog dump` prints as well. Fields are apart by
//! tabs; a FRAME is `FILE (SYMBOL+0xOFFSET) [0xPC (0xPC_IN_FILE)]`, innermost first:
//!
//! ```text
//! M: SIZE 0xPOINTER<tab>SECONDS MAXRSS_KB THREAD ARENA_KB MMAP_KB{<tab>FRAME}    it came
//! F: 0xPOINTER<tab>the same                                                      it went
//! THREAD: NAME<tab>the same five                     MAP:, UNMAP:, FAILED: are not read
//! ```

use std::collections::HashMap;
use std::io::BufRead;

use memlog_format::api::Api;
use memlog_format::meta::Lack;
use memlog_format::table::{CodeId, StackId};

use crate::error::Error;
use crate::lines::Lines;
use crate::places::Given;
use crate::writer::{LogWriter, ModuleId};

/// What lines begin with.
const TAGS: [&[u8]; 6] = [b"M", b"F", b"THREAD", b"MAP", b"UNMAP", b"FAILED"];

pub(super) fn is(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or(head);
    split(line, b": ").is_some_and(|(tag, rest)| {
        let begins = match tag {
            b"F" | b"UNMAP" => rest.starts_with(b"0x"),
            b"THREAD" => true,
            _ => rest.first().is_some_and(u8::is_ascii_digit),
        };
        let moment = rest.split(|&byte| byte == b'\t').nth(1);
        TAGS.contains(&tag) && begins && moment.and_then(Moment::of).is_some()
    })
}

pub(super) fn read(input: &mut dyn BufRead, log: &mut LogWriter) -> Result<(), Error> {
    let mut lines = Lines::new(input);
    let mut file = File::default();
    log.lacks(Lack::Functions);
    log.lacks(Lack::Reallocs);
    while !log.has_failed()
        && let Some(line) = lines.next()?
    {
        if file.take(line, log).is_none() && !line.is_empty() {
            let (at, expected) = (lines.at(), "a line as memlog prints it");
            log.leave_out(&Error::malformed(at, expected, lines.last()));
        }
    }
    if file.others > 0 {
        log.remark(format!(
            "lines of MAP:, UNMAP: and FAILED: are left out, {} of them",
            file.others
        ));
    }
    if let Some(cut) = lines.cut() {
        log.cut_off(cut);
    }
    Ok(())
}

#[derive(Default)]
struct File {
    has_clock: bool,
    thread: Option<u32>,
    /// The names of threads that have one.
    names: HashMap<u32, Box<[u8]>>,
    maxrss_kb: u64,
    /// By path and bias.
    modules: HashMap<(Box<[u8]>, u64), ModuleId>,
    /// By their texts.
    places: HashMap<Box<[u8]>, CodeId>,
    frames: Vec<CodeId>,
    others: u64,
}

impl File {
    /// One line; nothing where it makes no sense.
    fn take(&mut self, line: &[u8], log: &mut LogWriter) -> Option<()> {
        let (tag, rest) = split(line, b": ")?;
        if !TAGS.contains(&tag) {
            return None;
        }
        let mut fields = rest.split(|&byte| byte == b'\t');
        let what = fields.next()?;
        let moment = Moment::of(fields.next()?)?;
        match tag {
            b"M" => {
                let (size, address) = split(what, b" ")?;
                let (size, address) = (decimal(size)?, hex(address)?);
                let stack = self.stack(fields, log)?;
                self.come_to(&moment, log);
                let stack = stack.unwrap_or(StackId::NONE);
                log.allocate(address, size, None, stack, Api::Malloc);
            }
            b"F" => {
                let address = hex(what)?;
                let stack = self.stack(fields, log)?;
                self.come_to(&moment, log);
                log.release(address, stack, Api::Free);
            }
            b"THREAD" => {
                self.names.insert(moment.thread, what.into());
                self.thread = None;
                self.come_to(&moment, log);
            }
            _ => self.others += 1,
        }
        Some(())
    }

    fn come_to(&mut self, moment: &Moment, log: &mut LogWriter) {
        if !self.has_clock {
            self.has_clock = true;
            log.start().tick_ns = moment.tick_ns;
        }
        log.time(moment.ns);
        if self.thread != Some(moment.thread) {
            self.thread = Some(moment.thread);
            let name = self.names.get(&moment.thread).map_or(&[][..], |name| name);
            log.thread(moment.thread, name);
        }
        if moment.maxrss_kb > self.maxrss_kb {
            self.maxrss_kb = moment.maxrss_kb;
            log.resident(0, moment.maxrss_kb);
        }
    }

    /// The stack of some frames; none where there are none.
    fn stack<'l>(
        &mut self,
        fields: impl Iterator<Item = &'l [u8]>,
        log: &mut LogWriter,
    ) -> Option<Option<StackId>> {
        let mut frames = std::mem::take(&mut self.frames);
        frames.clear();
        for field in fields {
            let place = match self.places.get(field) {
                Some(&place) => place,
                None => self.place(field, log)?,
            };
            frames.push(place);
        }
        let outwards = frames.iter().rev();
        let stack = outwards.fold(StackId::COMPLETE, |caller, &place| log.stack(caller, place));
        let has_some = !frames.is_empty();
        self.frames = frames;
        Some(has_some.then_some(stack))
    }

    fn place(&mut self, text: &[u8], log: &mut LogWriter) -> Option<CodeId> {
        let frame = Frame::of(text)?;
        let module = (frame.file != b"?").then(|| {
            let bias = frame.pc.wrapping_sub(frame.pc_in_file);
            let known = self.modules.entry((frame.file.into(), bias));
            *known.or_insert_with(|| log.module(frame.file, b"", bias, 0..0))
        });
        let name = Given {
            function: frame.symbol.unwrap_or_default(),
            file: b"",
            line: u32::try_from(frame.offset).unwrap_or(0),
        };
        let names = frame.symbol.map(|_| name);
        let place = log.place(Some(frame.pc), false, module, names.as_slice());
        self.places.insert(text.into(), place);
        Some(place)
    }
}

/// What stands behind each event.
struct Moment {
    ns: u64,
    /// As its digits tell.
    tick_ns: u64,
    maxrss_kb: u64,
    thread: u32,
}

impl Moment {
    fn of(text: &[u8]) -> Option<Self> {
        let mut words = text.split(|&byte| byte == b' ');
        let (seconds, part) = split(words.next()?, b".")?;
        let digits = u32::try_from(part.len()).ok()?;
        let tick_ns = 10u64.pow(9u32.checked_sub(digits)?);
        let (seconds, part) = (decimal(seconds)?, decimal(part)?);
        let ns = seconds.checked_mul(1_000_000_000)?;
        Some(Self {
            ns: ns.checked_add(part * tick_ns)?,
            tick_ns,
            maxrss_kb: decimal(words.next()?)?,
            thread: u32::try_from(decimal(words.next()?)?).ok()?,
        })
    }
}

/// A place of a stack as it is written.
struct Frame<'l> {
    file: &'l [u8],
    /// None where it is not known.
    symbol: Option<&'l [u8]>,
    offset: u64,
    pc: u64,
    pc_in_file: u64,
}

impl<'l> Frame<'l> {
    fn of(text: &'l [u8]) -> Option<Self> {
        let (what, addresses) = split_last(text.strip_suffix(b"]")?, b" [")?;
        let (pc, pc_in_file) = match split(addresses, b" (") {
            Some((pc, within)) => (hex(pc)?, hex(within.strip_suffix(b")")?)?),
            None => (hex(addresses)?, hex(addresses)?),
        };
        let (file, symbol) = match what.strip_suffix(b")") {
            Some(what) => split_last(what, b"(")?,
            None => (what, &b"?"[..]),
        };
        let (symbol, offset) = match split_last(symbol, b"+") {
            Some((symbol, offset)) => (symbol, hex(offset)?),
            None => (symbol, 0),
        };
        Some(Self {
            file: file.trim_ascii_end(),
            symbol: (!matches!(symbol, b"" | b"?")).then_some(symbol),
            offset,
            pc,
            pc_in_file,
        })
    }
}

fn split<'l>(text: &'l [u8], at: &[u8]) -> Option<(&'l [u8], &'l [u8])> {
    let index = text.windows(at.len()).position(|part| part == at)?;
    Some((&text[..index], &text[index + at.len()..]))
}

fn split_last<'l>(text: &'l [u8], at: &[u8]) -> Option<(&'l [u8], &'l [u8])> {
    let index = text.windows(at.len()).rposition(|part| part == at)?;
    Some((&text[..index], &text[index + at.len()..]))
}

fn decimal(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(text).ok()?.parse().ok())?
}

fn hex(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x")?;
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    is_number.then(|| u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())?
}
