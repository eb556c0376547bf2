//! heaptrack's files: what its interpreter leaves, and what its recorder writes for that. A
//! line each, numbers in hex, numbers of things by the order of their lines:
//!
//! ```text
//! v VERSION FORM                       s STRING, of form 3 s LENGTH STRING: 1, 2, ...
//! X COMMAND LINE                       i ADDRESS MODULE {FUNCTION FILE LINE}: 1, 2, ...
//! I PAGE_BYTES PAGES                   t PLACE CALLER: 1, 2, ...
//! c MILLISECONDS, R PAGES resident     a SIZE STACK: 0, 1, ...; + A, - A
//! the recorder's:  x EXECUTABLE  m FILE ADDRESS {OFFSET LENGTH}, m -
//!                  t ADDRESS CALLER   + SIZE STACK POINTER   - POINTER
//! ```

use std::io::BufRead;

use memlog_format::api::Api;
use memlog_format::meta::{Key, Lack};
use memlog_format::table::{CodeId, StackId};

use super::heaptrack_raw::Mapped;
use crate::error::Error;
use crate::lines::Lines;
use crate::places::Given;
use crate::writer::{LogWriter, ModuleId};

/// The highest form that is known.
const FORM: u64 = 3;
/// From this one on strings have their length before them.
const SIZED: u64 = 3;

pub(super) fn is(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n');
    let is_version = |line: &[u8]| {
        let mut fields = Fields(line.strip_prefix(b"v ").unwrap_or_default());
        fields.hex().is_some()
    };
    let is_next = |line: &[u8]| matches!(line, [b'x' | b'X' | b'I' | b'#' | b'A', b' ', ..]);
    lines.next().is_some_and(is_version) && lines.next().is_some_and(is_next)
}

pub(super) fn read(input: &mut dyn BufRead, log: &mut LogWriter) -> Result<(), Error> {
    let mut lines = Lines::new(input);
    let mut file = File::default();
    log.start().tick_ns = 1_000_000;
    log.lacks(Lack::Threads);
    log.lacks(Lack::Functions);
    log.lacks(Lack::Reallocs);
    while !log.has_failed()
        && let Some(line) = lines.next()?
    {
        // As heaptrack has it: what is so short says nothing, and a `#` begins a remark.
        let (tag, taken) = match *line {
            [] | [_] | [_, _] | [b'#', ..] => continue,
            [b'v', b' ', ref rest @ ..] => (b'v', file.version(Fields(rest))?),
            [tag, b' ', ref rest @ ..] => (tag, file.take(tag, rest, log)),
            _ => (0, None),
        };
        if taken.is_none() {
            let (at, expected) = (lines.at(), "a line as heaptrack writes it");
            let error = Error::malformed(at, expected, lines.last());
            // Later lines count on what these define.
            if matches!(tag, b's' | b'i' | b't' | b'a') {
                return Err(error);
            }
            log.leave_out(&error);
        }
    }
    if let Some(cut) = lines.cut() {
        log.cut_off(cut);
    }
    Ok(())
}

/// Blocks of one size and stack.
struct Info {
    size: u64,
    stack: StackId,
    /// Where those that are live lie, the youngest last.
    live: Vec<u64>,
}

#[derive(Default)]
struct File {
    form: u64,
    strings: Vec<Box<[u8]>>,
    places: Vec<CodeId>,
    stacks: Vec<StackId>,
    infos: Vec<Info>,
    /// By the numbers of their names.
    modules: std::collections::HashMap<u64, ModuleId>,
    /// Of the recorder's own form.
    mapped: Option<Mapped>,
}

impl File {
    fn version(&mut self, mut fields: Fields) -> Result<Option<()>, Error> {
        let _ = fields.hex();
        self.form = fields.hex().unwrap_or(0);
        if self.form > FORM {
            return Err(Error::Version {
                tool: "heaptrack",
                found: self.form,
                known: FORM,
            });
        }
        Ok(Some(()))
    }

    /// One line; nothing where it makes no sense.
    fn take(&mut self, tag: u8, rest: &[u8], log: &mut LogWriter) -> Option<()> {
        let mut fields = Fields(rest);
        match tag {
            b'+' => self.came(fields, log),
            b'-' => self.went(fields, log),
            b'c' => {
                log.time(fields.hex()?.saturating_mul(1_000_000));
                Some(())
            }
            b'R' => {
                let page_bytes = u64::from(log.start().page_bytes);
                let kb = fields.hex()?.saturating_mul(page_bytes) / 1024;
                if kb > 0 {
                    log.resident(kb, 0);
                }
                Some(())
            }
            b's' => {
                let text = if self.form >= SIZED {
                    fields.sized()?
                } else {
                    rest
                };
                self.strings.push(text.into());
                Some(())
            }
            b'i' => self.place(fields, log),
            b't' => self.stack(fields, log),
            b'a' => {
                let (size, stack) = (fields.hex()?, fields.hex()?);
                let stack = self.stack_of(stack)?;
                let live = Vec::new();
                self.infos.push(Info { size, stack, live });
                Some(())
            }
            b'I' => {
                let page_bytes = u32::try_from(fields.hex()?).ok()?;
                log.start().page_bytes = page_bytes.max(1);
                Some(())
            }
            b'X' => {
                words(rest, self.mapped.is_none(), log);
                Some(())
            }
            b'x' => {
                let path = if self.form >= SIZED {
                    fields.sized()?
                } else {
                    rest
                };
                log.text(Key::Executable, path);
                self.mapped = Some(Mapped::new(path));
                Some(())
            }
            b'm' => {
                let is_sized = self.form >= SIZED;
                self.mapped.as_mut()?.take(fields, is_sized, log)
            }
            b'A' => {
                log.lacks(Lack::Before);
                log.remark("recording began in a program that ran already".to_owned());
                Some(())
            }
            b'S' => Some(()),
            _ => None,
        }
    }

    fn string(&self, number: u64) -> Option<&[u8]> {
        match number.checked_sub(1) {
            None => Some(b""),
            Some(index) => Some(self.strings.get(usize::try_from(index).ok()?)?),
        }
    }

    fn stack_of(&self, number: u64) -> Option<StackId> {
        match number.checked_sub(1) {
            None => Some(StackId::NONE),
            Some(index) => self.stacks.get(usize::try_from(index).ok()?).copied(),
        }
    }

    fn place(&mut self, mut fields: Fields, log: &mut LogWriter) -> Option<()> {
        let (address, module) = (fields.hex()?, fields.hex()?);
        let path = self.string(module)?;
        let module = match path {
            [] => None,
            path => {
                let path = path.to_vec();
                let known = self.modules.entry(module);
                Some(*known.or_insert_with(|| log.module(&path, b"", 0, 0..0)))
            }
        };
        let mut names = Vec::new();
        while let Some(function) = fields.hex() {
            let (file, line) = (fields.hex().unwrap_or(0), fields.hex().unwrap_or(0));
            names.push(Given {
                function: self.string(function)?,
                file: self.string(file)?,
                line: if file > 0 {
                    line.min(u32::MAX.into()) as u32
                } else {
                    0
                },
            });
        }
        // The file's own numbering is not known, so that names cannot be looked up there.
        let shown = format!("{address:#x}");
        let unknown = Given {
            function: shown.as_bytes(),
            ..Given::default()
        };
        names.retain(|name| !name.function.is_empty());
        if names.is_empty() {
            names.push(unknown);
        }
        self.places
            .push(log.place(Some(address), true, module, &names));
        Some(())
    }

    fn stack(&mut self, mut fields: Fields, log: &mut LogWriter) -> Option<()> {
        let (place, caller) = (fields.hex()?, fields.hex()?);
        let caller = match caller {
            0 => StackId::COMPLETE,
            caller => self.stack_of(caller)?,
        };
        let place = match &self.mapped {
            // The recorder writes return addresses less one.
            Some(mapped) => log.place(Some(place), true, mapped.at(place), &[]),
            None => {
                let index = usize::try_from(place.checked_sub(1)?).ok()?;
                *self.places.get(index)?
            }
        };
        self.stacks.push(log.stack(caller, place));
        Some(())
    }

    fn came(&mut self, mut fields: Fields, log: &mut LogWriter) -> Option<()> {
        let first = fields.hex()?;
        if self.mapped.is_some() {
            let (stack, address) = (self.stack_of(fields.hex()?)?, fields.hex()?);
            log.allocate(address, first, None, stack, Api::Malloc);
            return Some(());
        }
        let info = self.infos.get_mut(usize::try_from(first).ok()?)?;
        log.lacks(Lack::Lifetimes);
        let address = log.made_up_address(info.size);
        log.allocate(address, info.size, None, info.stack, Api::Malloc);
        info.live.push(address);
        Some(())
    }

    fn went(&mut self, mut fields: Fields, log: &mut LogWriter) -> Option<()> {
        let number = fields.hex()?;
        if self.mapped.is_some() {
            log.release(number, None, Api::Free);
            return Some(());
        }
        let info = self.infos.get_mut(usize::try_from(number).ok()?)?;
        // Of blocks alike the youngest: what goes right after it came was it.
        let address = info.live.pop().unwrap_or(0);
        log.release(address, None, Api::Free);
        Some(())
    }
}

/// The program's arguments, as far as blanks tell them apart.
fn words(text: &[u8], has_executable: bool, log: &mut LogWriter) {
    let words = text
        .split(|&byte| byte == b' ')
        .filter(|word| !word.is_empty());
    let line: Vec<u8> = words
        .clone()
        .flat_map(|word| [word, b"\0"].concat())
        .collect();
    log.text(Key::CommandLine, &line);
    if let Some(first) = words.clone().next().filter(|_| has_executable) {
        log.text(Key::Executable, first);
    }
}

/// What is left of a line, field by field.
pub(super) struct Fields<'l>(pub(super) &'l [u8]);

impl<'l> Fields<'l> {
    /// The next field; nothing at the end.
    pub(super) fn word(&mut self) -> Option<&'l [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let end = self.0.iter().position(|&byte| byte == b' ');
        let (word, rest) = match end {
            Some(end) => (&self.0[..end], &self.0[end + 1..]),
            None => (self.0, &[][..]),
        };
        self.0 = rest;
        Some(word)
    }

    /// The next field, a number in hex.
    pub(super) fn hex(&mut self) -> Option<u64> {
        let word = self.word()?;
        let is_number = (1..=16).contains(&word.len());
        is_number.then_some(())?;
        word.iter().try_fold(0, |number, &byte| {
            let digit = char::from(byte).to_digit(16)?;
            Some(number << 4 | u64::from(digit))
        })
    }

    /// A text with its length before it.
    pub(super) fn sized(&mut self) -> Option<&'l [u8]> {
        let length = usize::try_from(self.hex()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest.strip_prefix(b" ").unwrap_or(rest);
        Some(text)
    }
}
